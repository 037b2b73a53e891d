/**
 * Serves one request over HTTP, in the order of the contract: route, admit, media type, declared length, body, inflate,
 * deliver, answer. A refusal before the end of the body closes the connection, so that no unread byte is read as the
 * next request. When the server is busy, it reads a short body first and keeps the connection.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { maskedError } from '../../component/masked-text.ts';
import type { Admission, Delivery, Pipeline } from '../../component/receiver.ts';
import { Rejection, type RefusalDetails, type Sender } from '../../errors.ts';
import { MEDIA_TYPES, type Signal } from '../../pdata/context.ts';
import { answerRejection, answerSuccess, type CommonHeaders } from './answer.ts';
import { Cors } from './cors.ts';
import { declaredLength, readBody } from './body.ts';
import type { ByteBudget, Reservation } from './byte-budget.ts';
import { addressOf } from '../../net/address-of.ts';
import type { PacedConnection } from '../../net/paced-connection.ts';
import { targetOf } from '../../net/request-target.ts';
import { InFlight } from './in-flight.ts';
import { compressionOf } from './compression.ts';
import { requireContentEncoding, requireEncoding } from './media-type.ts';
import type { HttpOptions } from './http-options.ts';
import type { Reception } from './reception.ts';
import { replayKey } from './replay-key.ts';
import { HEALTH_PATH, routesOf } from './routes.ts';
import { discardIfShort, hasBody, isExpectingContinue } from './unread-body.ts';
import {
  identifiedEncoding,
  isAmbiguous,
  requireNames,
  requireOneEnd,
  requireOneKey,
  requireOneReading,
} from './one-reading.ts';

const HEALTHY = Buffer.from('{"ok":true}');
/** Longer than any that an SDK makes of its variables. */
const LONGEST_LOGGED_PATH = 200;
const BASE_ENDPOINT = 'Give SDKs the endpoint without /v1/traces, /v1/logs or /v1/metrics: they append it.';
const WHOLE_ENDPOINT =
  'Use OTEL_EXPORTER_OTLP_ENDPOINT, to which SDKs append the path. The variables of one signal, and most options in code, take a whole URL such as http://127.0.0.1:4318/v1/traces.';

/** One request, its answer, and their connection. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly connection: PacedConnection;
  /** Whether the body is known not to be valid HTTP. */
  isBroken(): boolean;
  /** Whether the connection ends with the server. It does not when another server serves it after a reload. */
  isClosing(): boolean;
}

export class HttpRequests {
  readonly inFlight = new InFlight();
  readonly #options: HttpOptions;
  readonly #reception: Reception;
  readonly #budget: ByteBudget;
  readonly #common: CommonHeaders;
  readonly #routes: ReadonlyMap<string, Signal>;
  readonly #cors: Cors | null;
  #stopping = false;

  constructor(options: HttpOptions, reception: Reception, budget: ByteBudget) {
    this.#options = options;
    this.#reception = reception;
    this.#budget = budget;
    this.#routes = routesOf(options);
    this.#cors = options.cors === undefined ? null : new Cors(options.cors);
    this.#common = options.sunset === undefined ? {} : { Sunset: new Date(options.sunset).toUTCString() };
  }

  /** Never rejects. */
  async serve(exchange: Exchange): Promise<void> {
    const { request, response } = exchange;
    this.inFlight.begin();
    this.#reception.begin();
    response.on('error', () => undefined); // The client disconnected. Stored data stays stored.
    try {
      await this.#route(exchange);
    } catch (error) {
      // A bug: the client must not wait, and must not get an answer that says that its data is stored.
      this.#reception.logger.error({ error: maskedError(error) }, 'a request failed in the receiver');
      request.socket.destroy();
    } finally {
      this.inFlight.end();
      this.#reception.end();
    }
  }

  /** Counts and logs a refusal of a request that `serve` does not see. */
  note(rejection: Rejection, connection: Socket): void {
    this.#reception.refuse('none', rejection, { sender: null, peer: addressOf(connection) });
  }

  get isStopping(): boolean {
    return this.#stopping;
  }

  /** From now on requests are refused with `shutting_down`. */
  stop(): void {
    this.#stopping = true;
  }

  async #route(exchange: Exchange): Promise<void> {
    const { request, response } = exchange;
    const path = targetOf(request.url ?? '')?.path ?? '';
    if (request.method === 'GET' && path === HEALTH_PATH) {
      const headers = { 'Content-Type': 'application/json', 'Content-Length': HEALTHY.length };
      response.writeHead(200, { ...headers, ...this.#headersFor(exchange) }).end(HEALTHY);
      return;
    }
    const route = this.#routes.get(path);
    if (route !== undefined && this.#cors?.isPreflight(request) === true) {
      response.writeHead(204, { ...this.#cors.preflight(request), ...this.#closing(exchange) }).end();
      return;
    }
    const signal = request.method === 'POST' ? route : undefined;
    const pipeline = signal === undefined ? undefined : this.#reception.pipelines.get(signal);
    if (signal === undefined || pipeline === undefined) {
      this.#refuse(exchange, 'none', new Rejection('not_found', this.#unknownRoute(request, path)));
      return;
    }
    await this.#export(exchange, pipeline);
  }

  /** For the log and `sluice tap`. Most often an SDK appended its path to an endpoint that already had one, or none. */
  #unknownRoute({ method }: IncomingMessage, path: string): RefusalDetails {
    if (this.#routes.has(path))
      return { cause: method === 'POST' ? `no pipeline receives ${path}` : `${path} takes POST only` };
    const received = path.length > LONGEST_LOGGED_PATH ? {} : { received: path };
    const isDoubled = [...this.#routes.keys()].some((route) => path.endsWith(route));
    const hint = isDoubled ? BASE_ENDPOINT : path === '/' && method === 'POST' ? WHOLE_ENDPOINT : undefined;
    return { cause: 'unknown path', ...received, ...(hint === undefined ? {} : { hint }) };
  }

  async #export(exchange: Exchange, pipeline: Pipeline): Promise<void> {
    const { request, response } = exchange;
    const started = performance.now();
    const { signal } = pipeline;
    let reservation: Reservation | null = null;
    let admission: Admission | null = null;
    let refusal: Rejection | undefined;
    try {
      if (this.#stopping) throw new Rejection('shutting_down');
      requireNames(request);
      requireOneKey(request.rawHeaders);
      admission = await pipeline.admit({
        signal,
        transport: 'http',
        authorization: request.headers.authorization,
      });
      exchange.connection.mark('reading', admission.project);
      reservation = this.#budget.open(admission.project);
      const delivery = await this.#read(exchange, signal, reservation);
      exchange.connection.mark('working', admission.project);
      const acceptance = await admission.deliver(delivery);
      exchange.connection.noteProgress();
      answerSuccess(response, signal, delivery.encoding, acceptance, {
        ...this.#common,
        ...this.#headersFor(exchange),
      });
      this.#reception.acknowledge(signal, started);
    } catch (error) {
      refusal = this.#reception.rejectionOf(error);
      if (refusal.code === 'overloaded' || refusal.code === 'ingestion_failed') await discardIfShort(request);
      this.#refuse(exchange, signal, refusal, admission?.sender);
    } finally {
      if (admission !== null) exchange.connection.mark('idle', admission.project);
      admission?.release(refusal);
      reservation?.close();
    }
  }

  /** A separate method, so that references to the body end before the request is delivered. */
  async #read(exchange: Exchange, signal: Signal, reservation: Reservation): Promise<Delivery> {
    const { request, response } = exchange;
    requireOneReading(request);
    const encoding = requireEncoding(request.headers['content-type']);
    const contentEncoding = requireContentEncoding(request.headers['content-encoding']);
    const length = declaredLength(request, this.#options.max_request_body_size);
    if (exchange.isBroken()) throw new Rejection('invalid_body', { cause: 'the body is not valid HTTP' });
    if (isExpectingContinue(request)) response.writeContinue();
    const limits = { bytes: this.#options.max_request_body_size, timeoutMs: this.#options.read_timeout };
    const raw = await readBody(request, length, limits, reservation);
    requireOneEnd(request);
    if (raw.length === 0) throw new Rejection('empty_payload');
    return {
      body: raw,
      gzip: compressionOf(raw, contentEncoding, this.#options.max_decompressed_size),
      release: () => reservation.close(),
      encoding,
      replayKey: replayKey(signal, { mediaType: MEDIA_TYPES[encoding], contentEncoding }, raw),
      maxNestingDepth: this.#options.max_nesting_depth,
    };
  }

  #refuse(exchange: Exchange, signal: Signal | 'none', rejection: Rejection, sender: Sender | null = null): void {
    const { request, response, connection } = exchange;
    if (rejection.refusal.status >= 500) connection.noteProgress();
    const { authorization } = request.headers;
    this.#reception.refuse(signal, rejection, { sender, peer: addressOf(request.socket), authorization });
    if (response.headersSent || response.destroyed) return;
    const encoding = identifiedEncoding(request) ?? 'protobuf';
    const headers = { ...this.#common, ...this.#headersFor(exchange) };
    const closes = !request.complete || isAmbiguous(request);
    answerRejection(response, rejection, encoding, closes ? { ...headers, Connection: 'close' } : headers);
    if (closes) connection.close();
  }

  /** Closes the connection when the request has an unread body, for example a GET with a body. */
  #closing({ request, connection, isClosing }: Exchange): Record<string, string> {
    const unread = (!request.complete && hasBody(request)) || isAmbiguous(request);
    if (unread) connection.close();
    return unread || isClosing() || !this.#options.keep_alives_enabled ? { Connection: 'close' } : {};
  }

  #headersFor(exchange: Exchange): Record<string, string> {
    return this.#cors === null
      ? this.#closing(exchange)
      : { ...this.#closing(exchange), ...this.#cors.headersFor(exchange.request) };
  }
}
