/**
 * The way of one request over HTTP, in the order of the contract: route, admit, media type, declared length, body, inflate,
 * deliver, answer. A refusal before the body was read to its end closes the connection, so that no unread byte is ever
 * swallowed or taken for the next request; who comes at a bad moment has a short body read first and may stay.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Admission, Delivery, Pipeline } from '../../component/receiver.ts';
import { Rejection } from '../../errors.ts';
import type { Encoding, Signal } from '../../model/context.ts';
import { MEDIA_TYPES } from '../../otlp/status.ts';
import { answerRejection, answerSuccess, type CommonHeaders } from './answer.ts';
import { Cors } from './cors.ts';
import { declaredLength, readBody } from './body.ts';
import type { ByteBudget, Reservation } from './byte-budget.ts';
import { InFlight } from './in-flight.ts';
import { prepareBody } from './inflate.ts';
import { encodingOf, requireContentEncoding, requireEncoding } from './media-type.ts';
import type { HttpOptions } from './http-options.ts';
import type { Reception } from './reception.ts';
import { replayKey } from './replay-key.ts';
import { HEALTH_PATH, routesOf } from './routes.ts';
import { closeAfterAnswer, discardIfShort, isExpectingContinue } from './unread-body.ts';

const HEALTHY = Buffer.from('{"ok":true}');
/** Rows of a request take about as much room as its expanded body. */
const ROWS_PER_BODY_BYTE = 1;

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
  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.inFlight.begin();
    this.#reception.begin();
    response.on('error', () => undefined); // The client left; what was stored stays stored.
    try {
      await this.#route(request, response);
    } catch (error) {
      // Nothing above may throw; if it does, the client must not be left waiting, nor be told that anything was stored.
      this.#reception.logger.error({ error }, 'a request failed in the receiver');
      request.socket.destroy();
    } finally {
      this.inFlight.end();
      this.#reception.end();
    }
  }

  /** From here on requests are told to come back, and answers close their connection. */
  stop(): void {
    this.#stopping = true;
  }

  async #route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = request.url ?? '/';
    const query = url.indexOf('?');
    const path = query < 0 ? url : url.slice(0, query);
    if (request.method === 'GET' && path === HEALTH_PATH) {
      const headers = { 'Content-Type': 'application/json', 'Content-Length': HEALTHY.length };
      response.writeHead(200, { ...headers, ...this.#headersFor(request) }).end(HEALTHY);
      return;
    }
    const route = this.#routes.get(path);
    if (route !== undefined && this.#cors?.isPreflight(request) === true) {
      response.writeHead(204, { ...this.#cors.preflight(request), ...this.#closing(request) }).end();
      return;
    }
    const signal = request.method === 'POST' ? route : undefined;
    const pipeline = signal === undefined ? undefined : this.#reception.pipelines.get(signal);
    if (signal === undefined || pipeline === undefined) {
      this.#refuse(request, response, 'none', new Rejection('not_found'));
      return;
    }
    await this.#export(request, response, pipeline);
  }

  async #export(request: IncomingMessage, response: ServerResponse, pipeline: Pipeline): Promise<void> {
    const started = performance.now();
    const { signal } = pipeline;
    const reservation = this.#budget.open();
    let admission: Admission | null = null;
    let refusal: Rejection | undefined;
    try {
      if (this.#stopping) throw new Rejection('shutting_down');
      admission = await pipeline.admit({
        signal,
        transport: 'http',
        authorization: request.headers.authorization,
      });
      const delivery = await this.#read(request, response, signal, reservation);
      const acceptance = await admission.deliver(delivery);
      answerSuccess(response, signal, delivery.encoding, acceptance, { ...this.#common, ...this.#headersFor(request) });
      this.#reception.acknowledge(signal, started);
    } catch (error) {
      refusal = this.#reception.rejectionOf(error);
      if (refusal.code === 'overloaded') await discardIfShort(request);
      this.#refuse(request, response, signal, refusal);
    } finally {
      admission?.release(refusal);
      reservation.close();
    }
  }

  /** In a method of its own: what it holds of the body while it reads must not outlive it. */
  async #read(
    request: IncomingMessage,
    response: ServerResponse,
    signal: Signal,
    reservation: Reservation,
  ): Promise<Delivery> {
    const encoding = requireEncoding(request.headers['content-type']);
    const contentEncoding = requireContentEncoding(request.headers['content-encoding']);
    const length = declaredLength(request, this.#options.max_request_body_size);
    if (isExpectingContinue(request)) response.writeContinue();
    const limits = { bytes: this.#options.max_request_body_size, timeoutMs: this.#options.read_timeout };
    const raw = await readBody(request, length, limits, reservation);
    if (raw.length === 0) throw new Rejection('empty_payload');
    const { body, gzip } = await prepareBody(raw, contentEncoding, {
      limitBytes: this.#options.max_decompressed_size,
      reserve: (bytes) => reservation.expand(bytes * ROWS_PER_BODY_BYTE),
    });
    return {
      body,
      gzip,
      encoding,
      replayKey: replayKey(signal, { mediaType: MEDIA_TYPES[encoding], contentEncoding }, raw),
      maxNestingDepth: this.#options.max_nesting_depth,
    };
  }

  #refuse(request: IncomingMessage, response: ServerResponse, signal: Signal | 'none', rejection: Rejection): void {
    this.#reception.refuse(signal, rejection);
    if (response.headersSent || response.destroyed) return;
    const unread = !request.complete;
    const encoding: Encoding = encodingOf(request.headers['content-type']) ?? 'protobuf';
    const headers = { ...this.#common, ...this.#headersFor(request) };
    answerRejection(response, rejection, encoding, unread ? { ...headers, Connection: 'close' } : headers);
    if (unread) closeAfterAnswer(request, response);
  }

  /** An accepted or harmless request whose body we did not look at (a GET with a body) must not keep its connection either. */
  #closing(request: IncomingMessage): Record<string, string> {
    const read = request.complete || !hasBody(request);
    return read && !this.#stopping && this.#options.keep_alives_enabled ? {} : { Connection: 'close' };
  }

  #headersFor(request: IncomingMessage): Record<string, string> {
    return this.#cors === null
      ? this.#closing(request)
      : { ...this.#closing(request), ...this.#cors.headersFor(request) };
  }
}

function hasBody(request: IncomingMessage): boolean {
  return request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;
}
