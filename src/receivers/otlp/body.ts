/**
 * Reads a request's raw body into one buffer that grows as bytes arrive, up to the limit. A declared length alone
 * reserves nothing, so a client that declares much and sends little uses little memory.
 */
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { Rejection } from '../../errors.ts';
import { partOf } from '../../pdata/buffer-view.ts';
import type { Reservation } from './byte-budget.ts';

/** The least capacity of the buffer. It has room for as much as has arrived, so each byte is copied once on average. */
const FIRST_BYTES = 16384;
/** The minimum average rate of a body after the grace time. A slow mobile connection is several times faster. */
const LEAST_BYTES_PER_SECOND = 1024;
const GRACE_MS = 5000;

export interface BodyLimits {
  readonly bytes: number;
  readonly timeoutMs: number;
}

/** The declared length; null when the body is chunked. Throws `body_too_large`. */
export function declaredLength(request: IncomingMessage, limitBytes: number): number | null {
  const header = request.headers['content-length'];
  if (header === undefined) return request.headers['transfer-encoding'] === undefined ? 0 : null;
  const length = Number(header);
  if (length > limitBytes) throw new Rejection('body_too_large', { limit_bytes: limitBytes, received_bytes: length });
  return length;
}

/**
 * Resolves with the whole raw body. It belongs to the reservation and must not be used after its `close`. Rejects with
 * `body_too_large`, `overloaded`, or `invalid_body` when the stream ends early, fails, or is too slow.
 */
export function readBody(
  request: Readable,
  declared: number | null,
  limits: BodyLimits,
  reservation: Reservation,
): Promise<Buffer> {
  const body = new ArrivingBody(declared, limits, reservation);
  return new Promise((resolve, reject) => {
    const finish = (error: unknown): void => {
      watch.stop();
      request.off('data', take).off('end', end).off('aborted', broken).off('error', broken).off('close', broken);
      if (error !== null) request.pause();
      if (error === null) resolve(body.bytes);
      else reject(error);
    };
    const take = (chunk: Buffer): void => {
      try {
        body.add(chunk);
      } catch (error) {
        finish(error);
      }
    };
    const end = (): void => finish(null);
    const broken = (): void => finish(new Rejection('invalid_body', { cause: 'the stream broke off' }));
    const watch = new ArrivalWatch(limits.timeoutMs, body, (cause) => finish(new Rejection('invalid_body', { cause })));
    request.on('data', take).on('end', end).on('aborted', broken).on('error', broken).on('close', broken);
  });
}

class ArrivingBody {
  readonly #declared: number | null;
  readonly #limits: BodyLimits;
  readonly #reservation: Reservation;
  #buffer: Buffer = Buffer.alloc(0);
  length = 0;

  constructor(declared: number | null, limits: BodyLimits, reservation: Reservation) {
    this.#declared = declared;
    this.#limits = limits;
    this.#reservation = reservation;
  }

  get bytes(): Buffer {
    return partOf(this.#buffer, 0, this.length);
  }

  /** Throws `body_too_large` or `overloaded`. */
  add(chunk: Buffer): void {
    const length = this.length + chunk.length;
    if (length > this.#limits.bytes)
      throw new Rejection('body_too_large', { limit_bytes: this.#limits.bytes, received_bytes: length });
    if (length > this.#buffer.length) this.#buffer = this.#reservation.grow(this.#roomFor(length), this.length);
    chunk.copy(this.#buffer, this.length);
    this.length = length;
  }

  #roomFor(length: number): number {
    const room = Math.max(length * 2, FIRST_BYTES);
    return Math.max(length, Math.min(room, this.#declared ?? this.#limits.bytes));
  }
}

/** Ends a body that takes too long in total or arrives too slowly. One timer, started again only after it has fired. */
class ArrivalWatch {
  readonly #started = performance.now();
  readonly #timeoutMs: number;
  readonly #body: { readonly length: number };
  readonly #end: (cause: string) => void;
  #timer: NodeJS.Timeout;

  constructor(timeoutMs: number, body: { readonly length: number }, end: (cause: string) => void) {
    this.#timeoutMs = timeoutMs;
    this.#body = body;
    this.#end = end;
    this.#timer = setTimeout(() => this.#look(), Math.min(timeoutMs, GRACE_MS));
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #look(): void {
    const passedMs = Math.ceil(performance.now() - this.#started);
    const allowedMs = Math.max(GRACE_MS, (this.#body.length / LEAST_BYTES_PER_SECOND) * 1000);
    if (passedMs >= this.#timeoutMs) this.#end('the body took too long');
    else if (passedMs >= allowedMs) this.#end(`less than ${LEAST_BYTES_PER_SECOND} bytes a second arrived`);
    else this.#timer = setTimeout(() => this.#look(), Math.ceil(Math.min(allowedMs, this.#timeoutMs) - passedMs));
  }
}
