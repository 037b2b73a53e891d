/** The HTTP server of the console: connections, limits of requests, and answers to requests that cannot be parsed. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionHandler } from '../../../component/listening.ts';
import { HttpConnections } from '../../../net/http-connections.ts';
import { ConsoleError } from '../errors.ts';
import { rawError } from './sending.ts';

const MAX_HEADER_BYTES = 16 * 1024;
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
const KEEP_ALIVE_MS = 65_000;
const TIMEOUT_CHECK_MS = 1000;
/** Open requests are aborted at the stop; this is the time for their answers. */
const STOP_MS = 1000;

export type Serve = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

export class ConsoleServer implements ConnectionHandler {
  readonly #server: Server;
  readonly #connections: HttpConnections;

  /** With `begin`, accepted connections are given to it, and later to `serve`. */
  constructor(serve: Serve, begin?: (connection: Socket) => void) {
    const server = createServer(
      {
        maxHeaderSize: MAX_HEADER_BYTES,
        headersTimeout: HEADERS_TIMEOUT_MS,
        requestTimeout: REQUEST_TIMEOUT_MS,
        keepAliveTimeout: KEEP_ALIVE_MS,
        connectionsCheckingInterval: TIMEOUT_CHECK_MS,
        // The console checks Host itself, so that this answer has its headers too.
        requireHostHeader: false,
      },
      (request, response) => void serve(request, response),
    );
    server.on('checkExpectation', (request, response) => void serve(request, response));
    server.on('clientError', (error: NodeJS.ErrnoException, connection: Socket) => refuse(error, connection));
    this.#server = server;
    this.#connections = new HttpConnections(server, begin ?? ((connection) => this.serve(connection)));
  }

  accept(connection: Socket): void {
    this.#connections.accept(connection);
  }

  /** Reads requests from the connection. */
  serve(connection: Socket): void {
    this.#server.emit('connection', connection);
  }

  async stop(): Promise<void> {
    this.#server.closeIdleConnections();
    await this.#connections.close(AbortSignal.timeout(STOP_MS));
  }
}

/** The request cannot be parsed, so there is no response object. */
function refuse(error: NodeJS.ErrnoException, connection: Socket): void {
  if (!connection.writable || error.code === 'ECONNRESET') {
    connection.destroy();
    return;
  }
  const [refusal, reason] = refusalOf(error.code);
  connection.end(rawError(refusal, reason), () => connection.destroy());
}

function refusalOf(code: string | undefined): readonly [ConsoleError, string] {
  if (code === 'HPE_HEADER_OVERFLOW') return [new ConsoleError('headers_too_large'), 'Request Header Fields Too Large'];
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return [new ConsoleError('request_timeout'), 'Request Timeout'];
  return [new ConsoleError('request_invalid'), 'Bad Request'];
}
