/**
 * Logs connections of clients that speak another protocol than the port, such as gRPC to the HTTP port. The client sees
 * only a broken connection, so the log is where the operator finds the cause. One line for each cause and minute.
 */
import type { Socket } from 'node:net';
import { addressOf } from '../../net/address-of.ts';
import type { Logger } from '../../component/logger.ts';

/** A client that retries in a loop must not fill the log. */
const INTERVAL_MS = 60_000;
/** The first byte of a TLS handshake record. */
const TLS_HANDSHAKE = 0x16;
/** Error codes of OpenSSL for a client that sends no TLS. */
const WITHOUT_TLS = new Set(['ERR_SSL_HTTP_REQUEST', 'ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG']);
/** The error code of OpenSSL for a client that offers only other protocols (ALPN). */
const OTHER_PROTOCOL = 'ERR_SSL_NO_APPLICATION_PROTOCOL';

const CAUSES = {
  http2: {
    message: 'a client speaks HTTP/2, probably gRPC, to the OTLP/HTTP port',
    hint: 'Set OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf in the client, or give it the gRPC endpoint (protocols.grpc, port 4317 by default).',
  },
  http1: {
    message: 'a client does not speak HTTP/2 to the OTLP/gRPC port',
    hint: 'Give the client the HTTP endpoint (protocols.http, port 4318 by default), or set OTEL_EXPORTER_OTLP_PROTOCOL=grpc. A client that uses TLS needs protocols.grpc.tls here.',
  },
  tls: {
    message: 'a client uses TLS on a port without TLS',
    hint: 'Write http:// in the endpoint of the client, or configure protocols.http.tls.',
  },
  no_tls: {
    message: 'a client does not use TLS on a port with TLS',
    hint: 'Write https:// in the endpoint of the client.',
  },
} as const;

type Cause = keyof typeof CAUSES;

export class ForeignClients {
  readonly #logger: Logger;
  readonly #now: () => number;
  /** The time of the last line of each cause, and the connections since then. */
  readonly #reported = new Map<Cause, { readonly atMs: number; unreported: number }>();

  /** `now`: milliseconds of a monotonic clock. */
  constructor(logger: Logger, now: () => number = () => performance.now()) {
    this.#logger = logger;
    this.#now = now;
  }

  report(cause: Cause, peer: string | null): void {
    const last = this.#reported.get(cause);
    if (last !== undefined && this.#now() - last.atMs < INTERVAL_MS) {
      last.unreported++;
      return;
    }
    this.#reported.set(cause, { atMs: this.#now(), unreported: 0 });
    const { message, hint } = CAUSES[cause];
    const repeated = last === undefined || last.unreported === 0 ? {} : { since_last_line: last.unreported };
    this.#logger.warn({ peer, ...repeated, hint }, message);
  }

  /** For an error of the parser of node:http. */
  reportHttpError(error: NodeJS.ErrnoException & { readonly rawPacket?: Buffer }, socket: Socket): void {
    if (error.code === 'HPE_PAUSED_H2_UPGRADE') this.report('http2', addressOf(socket));
    else if (error.code === 'HPE_INVALID_METHOD' && error.rawPacket?.[0] === TLS_HANDSHAKE)
      this.report('tls', addressOf(socket));
  }

  /** For a failed TLS handshake on the port of a protocol. */
  reportTlsError({ code = '' }: NodeJS.ErrnoException, protocol: 'http/1.1' | 'h2', peer: string | null): void {
    if (WITHOUT_TLS.has(code)) this.report('no_tls', peer);
    else if (code === OTHER_PROTOCOL) this.report(protocol === 'h2' ? 'http1' : 'http2', peer);
  }
}
