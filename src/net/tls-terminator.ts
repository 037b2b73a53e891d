/**
 * Terminates TLS for a server: takes accepted connections, and passes them on after the handshake. Reloads its
 * certificates: new connections use changed files, and open connections stay.
 */
import { createServer, type Server, type TLSSocket } from 'node:tls';
import type { Socket } from 'node:net';
import type { Host } from '../component/component.ts';
import { UserError } from '../errors.ts';
import { type Certificates, readCertificates, type TlsMaterial } from './certificates.ts';
import { addressOf } from './address-of.ts';
import { HandshakePacing } from './handshake-pacing.ts';
import type { TlsOptions } from './tls-options.ts';

/** The time limit of a handshake with the wait before it. */
const HANDSHAKE_TIMEOUT_MS = 10_000;
/** Handshakes that have begun and wait for their clients. */
const MOST_HANDSHAKES = 1000;
/** A client that has ended its side and takes no byte of its answers for this time is disconnected. */
const ENDED_UNREAD_MS = 5000;

export interface Protocol {
  /** The ALPN name of the protocol that the client must offer. */
  readonly name: 'http/1.1' | 'h2';
  /** Gets failed handshakes, for example of clients that speak another protocol. */
  failed(error: NodeJS.ErrnoException, peer: string | null): void;
  /** `accepted` is the connection under it. */
  secured(connection: TLSSocket, accepted: Socket): void;
}

export class TlsTerminator {
  readonly #options: TlsOptions;
  readonly #host: Host;
  readonly #protocol: Protocol;
  #server: Server | null = null;
  #material: TlsMaterial | null = null;
  #timer: NodeJS.Timeout | null = null;
  /** Connections before the end of their handshake. */
  readonly #handshaking = new Set<Socket>();
  /** Connections after their handshake. */
  readonly #secured = new Set<TLSSocket>();
  #cutsUnused = false;
  readonly #pacing = new HandshakePacing({ durationMs: HANDSHAKE_TIMEOUT_MS, unfinished: MOST_HANDSHAKES });
  /** The faults that were logged last, so that a fault is logged once and not at every check. */
  #logged = '';

  constructor(options: TlsOptions, host: Host, protocol: Protocol) {
    this.#options = options;
    this.#host = host;
    this.#protocol = protocol;
  }

  /** Throws a `UserError` when the files cannot be used. */
  start(): void {
    const certificates = readCertificates(this.#options, this.#host);
    const [fault] = certificates.faults.filter(({ severity }) => severity === 'error');
    if (certificates.material === null) throw new UserError(fault?.message ?? 'no certificate', fault?.hint ?? null);
    this.#log(certificates);
    this.#material = certificates.material;
    this.#server = this.#createServer(certificates.material);
    const { reload_interval: interval } = this.#options;
    if (interval > 0) this.#timer = setInterval(() => this.#reload(), interval).unref();
  }

  accept(connection: Socket): void {
    // TLS does not use half-closed connections.
    connection.allowHalfOpen = false;
    const server = this.#server;
    if (server === null || this.#cutsUnused) {
      connection.destroy();
      return;
    }
    this.#handshaking.add(connection);
    connection.once('close', () => this.#handshaking.delete(connection));
    this.#pacing.add(connection, () => server.emit('connection', connection));
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  /** Cuts connections before the end of their handshake, now and later, and those of which no byte was passed on. */
  cutUnused(): void {
    this.#cutsUnused = true;
    for (const connection of this.#handshaking) connection.destroy();
    for (const connection of this.#secured) if (connection.bytesRead === 0) connection.destroy();
  }

  #createServer(material: TlsMaterial): Server {
    const server = createServer({
      ...material,
      requestCert: material.ca !== undefined,
      rejectUnauthorized: material.ca !== undefined,
      ALPNProtocols: [this.#protocol.name],
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
      noDelay: true,
    });
    server.on('secureConnection', (connection) => {
      // As for accepted connections: a protocol may drop its own listener before the end.
      connection.on('error', () => undefined);
      const accepted = acceptedUnder(connection);
      this.#handshaking.delete(accepted);
      this.#pacing.end(accepted);
      this.#secured.add(connection);
      connection.once('close', () => this.#secured.delete(connection));
      connection.once('end', () => endUnread(connection, accepted));
      this.#protocol.secured(connection, accepted);
    });
    server.on('tlsClientError', (error, connection) => {
      this.#host.logger.debug({ error }, 'a TLS handshake with a client failed');
      this.#protocol.failed(error, addressOf(connection));
      connection.destroy();
    });
    return server;
  }

  #reload(): void {
    const certificates = readCertificates(this.#options, this.#host);
    const { material } = certificates;
    this.#log(certificates);
    if (material === null || this.#server === null || isSame(material, this.#material)) return;
    this.#material = material;
    this.#server.setSecureContext(material);
    const expires = new Date(certificates.expires).toISOString();
    this.#host.logger.info({ expires }, 'new certificates are in use');
  }

  #log({ faults }: Certificates): void {
    const faultsText = faults.map(({ message }) => message).join('\n');
    if (faultsText === this.#logged) return;
    this.#logged = faultsText;
    for (const { severity, message, hint } of faults) {
      if (severity === 'warning') this.#host.logger.warn({ hint }, message);
      else this.#host.logger.error({ hint }, `${message}; the certificates in use stay`);
    }
  }
}

/**
 * Cuts the connection of a client that has ended its side and takes nothing more. node:tls does not notice every client
 * that is gone: when the session tickets after the handshake cannot be written, later writes wait without an error.
 */
function endUnread(connection: TLSSocket, accepted: Socket): void {
  let before = accepted.bytesWritten;
  const timer = setInterval(() => {
    if (accepted.bytesWritten === before) connection.destroy();
    before = accepted.bytesWritten;
  }, ENDED_UNREAD_MS).unref();
  connection.once('close', () => clearInterval(timer));
}

/** The types of Node do not have this property. */
const acceptedUnder = (connection: TLSSocket): Socket =>
  (connection as TLSSocket & { readonly _parent: Socket })._parent;

const isSame = (one: TlsMaterial, other: TlsMaterial | null): boolean =>
  other !== null &&
  one.cert.equals(other.cert) &&
  one.key.equals(other.key) &&
  (one.ca ?? NOTHING).equals(other.ca ?? NOTHING);

const NOTHING = Buffer.alloc(0);
