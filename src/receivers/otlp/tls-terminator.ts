/**
 * Ends TLS for a server that is handed its connections: takes them as they were accepted, gives them on once they are secured.
 * Looks after its certificates: changed files serve the next connection, and no open one is closed for them.
 */
import { createServer, type Server, type TLSSocket } from 'node:tls';
import type { Socket } from 'node:net';
import type { Host } from '../../component/component.ts';
import { UserError } from '../../errors.ts';
import { type Certificates, readCertificates, type TlsMaterial } from './certificates.ts';
import type { TlsOptions } from './tls-options.ts';

/** A client that has not finished the handshake by then is cut off. */
const HANDSHAKE_TIMEOUT_MS = 10_000;

export interface Protocol {
  /** What the client must want to speak, as it is registered for ALPN. */
  readonly name: 'http/1.1' | 'h2';
  /** `accepted` is the connection below it; null where the two cannot be matched, as over a Unix domain socket. */
  secured(connection: TLSSocket, accepted: Socket | null): void;
}

export class TlsTerminator {
  readonly #options: TlsOptions;
  readonly #host: Host;
  readonly #protocol: Protocol;
  #server: Server | null = null;
  #material: TlsMaterial | null = null;
  #timer: NodeJS.Timeout | null = null;
  /** Connections before the end of their handshake, by the address of the client. */
  readonly #handshaking = new Map<string, Socket>();
  /** What was logged last, so that a fault is told once and not every minute. */
  #told = '';

  constructor(options: TlsOptions, host: Host, protocol: Protocol) {
    this.#options = options;
    this.#host = host;
    this.#protocol = protocol;
  }

  /** Throws a `UserError` when the files are of no use. */
  start(): void {
    const certificates = readCertificates(this.#options, this.#host);
    const [fault] = certificates.faults.filter(({ severity }) => severity === 'error');
    if (certificates.material === null) throw new UserError(fault?.message ?? 'no certificate', fault?.hint ?? null);
    this.#tell(certificates);
    this.#material = certificates.material;
    this.#server = this.#createServer(certificates.material);
    const { reload_interval: interval } = this.#options;
    if (interval > 0) this.#timer = setInterval(() => this.#reload(), interval).unref();
  }

  accept(connection: Socket): void {
    // Who closes one side of a TLS connection has closed it.
    connection.allowHalfOpen = false;
    if (this.#server === null) {
      connection.destroy();
      return;
    }
    const peer = peerOf(connection);
    if (peer !== null) {
      this.#handshaking.set(peer, connection);
      connection.once('close', () => this.#handshaking.delete(peer));
    }
    this.#server.emit('connection', connection);
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
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
      const peer = peerOf(connection);
      const accepted = peer === null ? undefined : this.#handshaking.get(peer);
      if (peer !== null) this.#handshaking.delete(peer);
      this.#protocol.secured(connection, accepted ?? null);
    });
    server.on('tlsClientError', (error, connection) => {
      this.#host.logger.debug({ error }, 'a client and this server did not agree on TLS');
      connection.destroy();
    });
    return server;
  }

  #reload(): void {
    const certificates = readCertificates(this.#options, this.#host);
    const { material } = certificates;
    this.#tell(certificates);
    if (material === null || this.#server === null || isSame(material, this.#material)) return;
    this.#material = material;
    this.#server.setSecureContext(material);
    const expires = new Date(certificates.expires).toISOString();
    this.#host.logger.info({ expires }, 'new certificates are in use');
  }

  #tell({ faults }: Certificates): void {
    const told = faults.map(({ message }) => message).join('\n');
    if (told === this.#told) return;
    this.#told = told;
    for (const { severity, message, hint } of faults) {
      if (severity === 'warning') this.#host.logger.warn({ hint }, message);
      else this.#host.logger.error({ hint }, `${message}; the certificates in use stay`);
    }
  }
}

/** Null for a Unix domain socket, and for a connection that is closed already. */
function peerOf({ remoteAddress, remotePort }: Socket): string | null {
  return remoteAddress === undefined || remotePort === undefined ? null : `${remoteAddress} ${remotePort}`;
}

const isSame = (one: TlsMaterial, other: TlsMaterial | null): boolean =>
  other !== null &&
  one.cert.equals(other.cert) &&
  one.key.equals(other.key) &&
  (one.ca ?? NOTHING).equals(other.ca ?? NOTHING);

const NOTHING = Buffer.alloc(0);
