/** The HTTP server of the console: connections, limits of requests, and answers to requests that cannot be parsed. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionHandler } from '../../../component/listening.ts';
import { ConnectionShares } from '../../../net/connection-shares.ts';
import { type Beginning, HttpConnections } from '../../../net/http-connections.ts';
import { RequestPacing } from '../../../net/request-pacing.ts';
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
  readonly #pacing: RequestPacing;
  readonly #connections: HttpConnections;
  readonly #shares: ConnectionShares;

  /** `limit`: of open connections. With `secure`, accepted connections are given to it, and later to `serve`. */
  constructor(serve: Serve, limit: number, secure?: Beginning) {
    this.#shares = new ConnectionShares(limit);
    const server = createServer({
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      // The console checks Host itself, so that this answer has its headers too.
      requireHostHeader: false,
    });
    this.#pacing = new RequestPacing(server);
    const begin = (request: IncomingMessage, response: ServerResponse): void => this.#begin(serve, request, response);
    server.on('request', begin);
    server.on('checkExpectation', begin);
    server.on('clientError', (error: NodeJS.ErrnoException, connection: Socket) => refuse(error, connection));
    this.#server = server;
    this.#connections = new HttpConnections(server, secure ?? { accept: (connection) => this.serve(connection) });
  }

  accept(connection: Socket): void {
    if (this.#shares.add(connection)) this.#connections.accept(connection);
  }

  /** Reads requests from the connection. */
  serve(connection: Socket): void {
    this.#server.emit('connection', connection);
    this.#pacing.adopt(connection);
  }

  async stop(): Promise<void> {
    this.#server.closeIdleConnections();
    await this.#connections.close(AbortSignal.timeout(STOP_MS));
  }

  #begin(serve: Serve, request: IncomingMessage, response: ServerResponse): void {
    const connection = this.#pacing.begin(request, response);
    if (connection === null) return;
    // Only a client whose requests are refused is read at the limited rate.
    response.once('finish', () => {
      if (response.statusCode < 400) connection.noteProgress();
    });
    void serve(request, response);
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
