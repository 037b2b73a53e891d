/**
 * Sends one body to one address: at most three attempts, 100 ms and 500 ms apart, also after network errors. The limits
 * are those of the contract (Errors, rule 5).
 */
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { STATUS_CODES } from 'node:http';
import { type Clock, waitMs } from './clock.ts';
import { ExportFailure, messageOf } from './failure.ts';
import { type Answer, post } from './post.ts';
import { statusMessage } from './status-message.ts';

/** The pauses between the attempts, in milliseconds. */
const RETRY_DELAYS_MS: readonly number[] = [100, 500];
const RETRYABLE_STATUSES: readonly number[] = [429, 502, 503, 504];
/** An attempt without an answer ends after this, so that a hanging server leaves time for another attempt. */
const ATTEMPT_TIMEOUT_MS = 10_000;
/**
 * New requests wait for the `Retry-After` of an earlier answer at most this long. The server may ask to wait until the
 * next month, and its quota may be raised before.
 */
const MAX_HOLD_MS = 60_000;

/** Without a message the answer is that of another port, or for another path. */
const WRONG_PATH = new Set([404, 405]);
const BASE_URL = 'the endpoint must be the base URL of the port for OTLP/HTTP, 4318 by default, without /v1/…';

export interface TransportOptions {
  readonly url: URL;
  readonly key: string;
  readonly clock: Clock;
  /** Keep connections open between requests. */
  readonly keepAlive: boolean;
}

export interface Delivery {
  readonly body: Uint8Array;
  readonly encoding: 'gzip' | 'identity';
  /** False for what would count twice: it is sent once. */
  readonly repeatable: boolean;
  /** The moment on the monotonic clock at which to give up. */
  readonly deadline: number;
}

export class Transport {
  readonly #options: TransportOptions;
  readonly #agent: HttpAgent;
  /** The moment on the monotonic clock before which the server wants no request. */
  #heldUntil = Number.NEGATIVE_INFINITY;

  constructor(options: TransportOptions) {
    this.#options = options;
    const Agent = options.url.protocol === 'https:' ? HttpsAgent : HttpAgent;
    this.#agent = new Agent({ keepAlive: options.keepAlive });
  }

  /** Resolves when the server has stored the body. Rejects with an `ExportFailure`. */
  async send(delivery: Delivery): Promise<void> {
    await this.#waitForServer(delivery.deadline);
    const delays = delivery.repeatable ? RETRY_DELAYS_MS : [];
    for (const delayMs of delays) {
      const failure = await this.#attempt(delivery);
      if (failure === undefined) return;
      if (!failure.retryable) throw failure;
      const pauseMs = Math.max(delayMs, failure.retryAfterMs ?? 0);
      if (this.#now() + pauseMs >= delivery.deadline) throw failure;
      await waitMs(this.#options.clock, pauseMs);
    }
    const failure = await this.#attempt(delivery);
    if (failure !== undefined) throw failure;
  }

  /** Closes idle connections. */
  close(): void {
    this.#agent.destroy();
  }

  #now(): number {
    return this.#options.clock.monotonicMs();
  }

  async #waitForServer(deadline: number): Promise<void> {
    const pauseMs = this.#heldUntil - this.#now();
    if (pauseMs <= 0) return;
    if (this.#heldUntil >= deadline) {
      const seconds = Math.ceil(pauseMs / 1000);
      throw new ExportFailure(`the server asked for a pause, which lasts ${seconds} s longer`, { reason: 'held back' });
    }
    await waitMs(this.#options.clock, pauseMs);
  }

  async #attempt({ body, encoding, deadline }: Delivery): Promise<ExportFailure | undefined> {
    const { clock, url, key } = this.#options;
    const timeoutMs = Math.min(ATTEMPT_TIMEOUT_MS, deadline - this.#now());
    if (timeoutMs <= 0) return new ExportFailure('no time was left to send', { reason: 'timeout' });
    const headers = {
      authorization: `Bearer ${key}`,
      'content-type': 'application/x-protobuf',
      'content-encoding': encoding,
      'content-length': String(body.length),
    };
    try {
      return this.#failureOf(await post(clock, { url, headers, body, agent: this.#agent, timeoutMs }));
    } catch (error) {
      return new ExportFailure(`${url.origin} cannot be reached: ${messageOf(error)}${adviceFor(error)}`, {
        reason: 'network',
        retryable: true,
      });
    }
  }

  #failureOf({ status, retryAfter, body }: Answer): ExportFailure | undefined {
    if (status >= 200 && status < 300) return undefined;
    const retryable = RETRYABLE_STATUSES.includes(status);
    const pauseMs = retryable ? retryAfterMs(retryAfter, this.#options.clock.wallMs()) : undefined;
    if (pauseMs !== undefined) this.#heldUntil = this.#now() + Math.min(pauseMs, MAX_HOLD_MS);
    const text = `${status} ${STATUS_CODES[status] ?? ''}`.trim();
    const message = statusMessage(body) || (WRONG_PATH.has(status) ? BASE_URL : '');
    return new ExportFailure(`the server answered ${text}${message === '' ? '' : `: ${message}`}`, {
      reason: `status ${status}`,
      retryable,
      retryAfterMs: pauseMs,
    });
  }
}

/** What the error of an answer in another protocol does not tell. */
function adviceFor(error: unknown): string {
  const { code = '' } = error as NodeJS.ErrnoException;
  if (code.startsWith('HPE_')) return '; this may be the port for gRPC: the one for HTTP is 4318 by default';
  return code === 'EPROTO' ? '; if the port has no TLS, the endpoint must begin with http://' : '';
}

/**
 * The `Retry-After` header (RFC 9110, 10.2.3), which has seconds or a date, in milliseconds. Undefined without a
 * readable value. A date in the past is zero.
 */
function retryAfterMs(value: string | undefined, wallMs: number): number | undefined {
  const text = value?.trim() ?? '';
  if (/^\d+$/u.test(text)) return Number(text) * 1000;
  // Dates have words. Date.parse also reads numbers as years.
  const date = /[a-z]/iu.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - wallMs);
}
