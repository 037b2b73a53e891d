/**
 * The OTLP/HTTP server: bare node:http, hardened. One request travels one way through `#export`: route, admit, media type,
 * declared length, body, inflate, deliver, answer. A refusal before the body was read to its end closes the connection, so
 * that no unread byte is ever swallowed or taken for the next request.
 */
import { hash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Logger } from '../../component/logger.ts';
import type { Counter, Histogram, Meter } from '../../component/meter.ts';
import type { Pipeline } from '../../component/receiver.ts';
import { diagnosticOf, Rejection, UserError } from '../../errors.ts';
import type { Encoding, Signal } from '../../model/context.ts';
import { answerRejection, answerSuccess, type CommonHeaders, malformedRequestAnswer } from './answer.ts';
import { declaredLength, readBody } from './body.ts';
import { ByteBudget } from './byte-budget.ts';
import { inflate } from './inflate.ts';
import { type ContentEncoding, encodingOf, requireContentEncoding, requireEncoding } from './media-type.ts';
import type { HttpOptions } from './options.ts';

const ROUTES: ReadonlyMap<string, Signal> = new Map([
  ['/v1/traces', 'traces'],
  ['/v1/logs', 'logs'],
  ['/v1/metrics', 'metrics'],
]);

const SIGNAL_TAGS: Readonly<Record<Signal, number>> = { traces: 0, logs: 1, metrics: 2 };
const HEALTHY = Buffer.from('{"ok":true}');
/** Node looks for late headers and bodies this often; its default of 30 s would make the limits meaningless. */
const TIMEOUT_CHECK_MS = 1000;
/** Node's own limit on a whole request stands behind our limit on the body. */
const REQUEST_TIMEOUT_SLACK_MS = 5000;
/** Rows of a request take about as much room as its expanded body. */
const ROWS_PER_BODY_BYTE = 1;
/** A refused sender that keeps sending is cut off after this. */
const LINGER_MS = 500;

export class HttpServer {
  readonly #options: HttpOptions;
  readonly #pipelines: ReadonlyMap<Signal, Pipeline>;
  readonly #logger: Logger;
  readonly #budget: ByteBudget;
  readonly #server: Server;
  readonly #common: CommonHeaders;
  readonly #refusals: Counter;
  readonly #acknowledged: Histogram;
  #stopping = false;
  #inFlight = 0;

  constructor(options: HttpOptions, pipelines: ReadonlyMap<Signal, Pipeline>, logger: Logger, meter: Meter) {
    this.#options = options;
    this.#pipelines = pipelines;
    this.#logger = logger;
    this.#budget = new ByteBudget(options.max_in_flight_size);
    this.#common = options.sunset === undefined ? {} : { Sunset: new Date(options.sunset).toUTCString() };
    this.#refusals = meter.counter('sluice_refusals', 'Requests refused, by signal and diagnostic code.');
    this.#acknowledged = meter.histogram(
      'sluice_acknowledge_seconds',
      'Time from the request line to the answer of accepted requests.',
      ACKNOWLEDGE_BOUNDS,
    );
    meter.gauge(
      'sluice_bytes_in_flight',
      'Bytes reserved by requests that are not answered yet.',
      () => this.#budget.reservedBytes,
    );
    meter.gauge('sluice_requests_in_flight', 'Requests that are not answered yet.', () => this.#inFlight);
    this.#server = this.#createServer();
  }

  async start(): Promise<void> {
    const { host, port } = splitEndpoint(this.#options.endpoint);
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', (error: NodeJS.ErrnoException) => reject(listenError(error, this.#options.endpoint)));
      this.#server.listen({ host, port }, () => resolve());
    });
    this.#logger.info({ endpoint: this.address }, 'listening for OTLP/HTTP');
  }

  /** `host:port` as bound; the port differs from the configured one when that was 0. */
  get address(): string {
    const address = this.#server.address() as AddressInfo | null;
    if (address === null) return this.#options.endpoint;
    return address.family === 'IPv6' ? `[${address.address}]:${address.port}` : `${address.address}:${address.port}`;
  }

  /** Stops accepting, lets what is in flight finish, and cuts the rest when the deadline aborts. */
  async stop(deadline: AbortSignal): Promise<void> {
    this.#stopping = true;
    if (!this.#server.listening) return;
    await new Promise<void>((resolve) => {
      const cut = (): void => this.#server.closeAllConnections();
      this.#server.close(() => {
        deadline.removeEventListener('abort', cut);
        resolve();
      });
      this.#server.closeIdleConnections();
      if (deadline.aborted) cut();
      else deadline.addEventListener('abort', cut, { once: true });
    });
  }

  #createServer(): Server {
    const server = createServer({
      headersTimeout: this.#options.read_header_timeout,
      requestTimeout: this.#options.read_timeout + REQUEST_TIMEOUT_SLACK_MS,
      keepAliveTimeout: this.#options.idle_timeout,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      maxHeaderSize: this.#options.max_header_size,
      requireHostHeader: false,
      noDelay: true,
    });
    // The size of the headers is bounded; a bound on their number would drop the rest silently.
    server.maxHeadersCount = 0;
    server.maxConnections = this.#options.max_connections;
    const serve = (request: IncomingMessage, response: ServerResponse): void => void this.#serve(request, response);
    server.on('request', serve);
    server.on('checkContinue', serve);
    server.on('checkExpectation', serve);
    server.on('clientError', answerMalformed);
    return server;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#inFlight++;
    response.on('error', () => undefined); // The client left; what was stored stays stored.
    try {
      await this.#route(request, response);
    } catch (error) {
      // Nothing above may throw; if it does, the client must not be left waiting, nor be told that anything was stored.
      this.#logger.error({ error }, 'a request failed in the receiver');
      request.socket.destroy();
    } finally {
      this.#inFlight--;
    }
  }

  async #route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = request.url ?? '/';
    const query = url.indexOf('?');
    const path = query < 0 ? url : url.slice(0, query);
    if (request.method === 'GET' && path === '/health') {
      response
        .writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': HEALTHY.length, ...closing(request) })
        .end(HEALTHY);
      return;
    }
    const signal = request.method === 'POST' ? ROUTES.get(path) : undefined;
    const pipeline = signal === undefined ? undefined : this.#pipelines.get(signal);
    if (signal === undefined || pipeline === undefined) {
      this.#refuse(request, response, 'none', 'json', new Rejection('not_found'));
      return;
    }
    await this.#export(request, response, signal, pipeline);
  }

  async #export(request: IncomingMessage, response: ServerResponse, signal: Signal, pipeline: Pipeline): Promise<void> {
    const started = performance.now();
    const reservation = this.#budget.open();
    try {
      if (this.#stopping) throw new Rejection('shutting_down');
      const admission = await pipeline.admit({ signal, authorization: request.headers.authorization });
      const encoding = requireEncoding(request.headers['content-type']);
      const contentEncoding = requireContentEncoding(request.headers['content-encoding']);
      const length = declaredLength(request, this.#options.max_request_body_size);
      if (isExpectingContinue(request)) response.writeContinue();
      const limits = { bytes: this.#options.max_request_body_size, timeoutMs: this.#options.read_timeout };
      const raw = await readBody(request, length, limits, reservation);
      if (raw.length === 0) throw new Rejection('empty_payload');
      const body = await this.#expand(raw, contentEncoding);
      reservation.add(body.length * ROWS_PER_BODY_BYTE);
      const acceptance = await admission.deliver({
        body,
        encoding,
        replayKey: replayKey(signal, encoding, contentEncoding, raw),
        maxNestingDepth: this.#options.max_nesting_depth,
      });
      answerSuccess(response, signal, encoding, acceptance, { ...this.#common, ...closing(request) });
      this.#acknowledged.record((performance.now() - started) / 1000, { signal });
    } catch (error) {
      const rejection = error instanceof Rejection ? error : this.#unexpected(error);
      const encoding = encodingOf(request.headers['content-type']) ?? 'protobuf';
      this.#refuse(request, response, signal, encoding, rejection);
    } finally {
      reservation.close();
    }
  }

  async #expand(raw: Buffer, contentEncoding: ContentEncoding): Promise<Buffer> {
    const limit = this.#options.max_decompressed_size;
    if (contentEncoding === 'gzip') return inflate(raw, limit);
    if (raw.length > limit) throw new Rejection('body_too_large', { limit_bytes: limit, received_bytes: raw.length });
    return raw;
  }

  #unexpected(error: unknown): Rejection {
    this.#logger.error({ error }, 'a request failed unexpectedly');
    return new Rejection('decode_failed');
  }

  #refuse(
    request: IncomingMessage,
    response: ServerResponse,
    signal: Signal | 'none',
    encoding: Encoding,
    rejection: Rejection,
  ): void {
    const code = diagnosticOf(rejection.code);
    this.#refusals.add(1, { signal, code });
    this.#logger.info(
      { signal, code, status: rejection.refusal.status, details: rejection.details },
      'request refused',
    );
    if (response.headersSent || response.destroyed) return;
    const unread = !request.complete;
    answerRejection(response, rejection, encoding, this.#common, unread || this.#stopping);
    if (unread) closeAfterAnswer(request, response);
  }
}

const ACKNOWLEDGE_BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** 33 bytes: which signal, media type and content encoding, then the SHA-256 of the bytes as they came. */
function replayKey(signal: Signal, encoding: Encoding, contentEncoding: ContentEncoding, raw: Buffer): Uint8Array {
  const tag = SIGNAL_TAGS[signal] * 4 + (encoding === 'json' ? 2 : 0) + (contentEncoding === 'gzip' ? 1 : 0);
  return Buffer.concat([Buffer.from([tag]), hash('sha256', raw, 'buffer')]);
}

function isExpectingContinue(request: IncomingMessage): boolean {
  return request.headers.expect?.toLowerCase() === '100-continue';
}

/** An accepted or harmless request whose body we did not look at (a GET with a body) must not keep its connection either. */
function closing(request: IncomingMessage): Record<string, string> {
  return request.complete || !hasBody(request) ? {} : { Connection: 'close' };
}

function hasBody(request: IncomingMessage): boolean {
  return request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;
}

/**
 * Closes a connection whose request was not read to its end. What the sender still has in flight is thrown away for a moment
 * first: closing at once would reset the connection, and the reset can overtake the answer.
 */
function closeAfterAnswer(request: IncomingMessage, response: ServerResponse): void {
  const socket: Socket = request.socket;
  response.on('finish', () => {
    const timer = setTimeout(() => socket.destroy(), LINGER_MS);
    timer.unref();
    socket.once('close', () => clearTimeout(timer));
  });
  request.resume();
}

function answerMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  socket.end(malformedRequestAnswer(error.code === 'HPE_HEADER_OVERFLOW' ? 431 : 400), () => socket.destroy());
}

function splitEndpoint(endpoint: string): { host: string; port: number } {
  const colon = endpoint.lastIndexOf(':');
  return { host: endpoint.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(endpoint.slice(colon + 1)) };
}

function listenError(error: NodeJS.ErrnoException, endpoint: string): Error {
  if (error.code === 'EADDRINUSE') {
    return new UserError(
      `${endpoint} is already in use`,
      'Stop the other program, or set receivers.otlp.protocols.http.endpoint to a free address.',
    );
  }
  if (error.code === 'EACCES')
    return new UserError(`not allowed to listen on ${endpoint}`, 'Choose a port above 1023.');
  if (error.code === 'EADDRNOTAVAIL' || error.code === 'ENOTFOUND') {
    return new UserError(`${endpoint} is not an address of this machine`, 'Use 127.0.0.1 or 0.0.0.0 as the host.');
  }
  return error;
}
