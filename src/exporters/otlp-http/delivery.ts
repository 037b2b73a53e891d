/**
 * Sends the queue of one destination: the oldest entries first, one request at a time, until the queue is empty. A
 * failure blocks the entries behind it, so the order is kept. An entry that the remote refuses permanently becomes a
 * dead letter.
 *
 * States: free (another process holds the queue) → idle (the queue is empty) → sending → idle, or waiting for the next
 * attempt. After a database fault the process releases the queue and starts again.
 */
import type { Logger } from '../../component/logger.ts';
import { maskSecrets } from '../../component/masked-text.ts';
import type { DestinationQueue, WaitingEntry } from '../../component/capabilities/outbox.ts';
import type { Signal } from '../../pdata/context.ts';
import { longestPause, nextAttempt, type RetryOptions } from './retry.ts';
import type { Attempt } from './sender.ts';

/** The most entries that are read and sent at once. */
const MAX_ENTRIES = 64;
/**
 * How long an idle queue waits. It bounds the delay until entries of other replicas or a released queue are noticed.
 */
const IDLE_MS = 1000;
/** The longest pause before the clock is read again: clocks may be set. */
const PAUSE_MS = 1000;
/** The pause after a database fault. */
const FAULT_MS = 1000;

/** A pause before the next step. A new entry ends it only if that entry can be sent now. */
interface Pause {
  readonly ms: number;
  readonly wakeable: boolean;
}

const AT_ONCE: Pause = { ms: 0, wakeable: false };
const EMPTY: Pause = { ms: IDLE_MS, wakeable: true };
const HELD_ELSEWHERE: Pause = { ms: IDLE_MS, wakeable: false };
const FAULT: Pause = { ms: FAULT_MS, wakeable: false };

export interface DeliveryParts {
  readonly queue: DestinationQueue;
  readonly retry: RetryOptions;
  readonly maxBatchBytes: number;
  readonly logger: Logger;
  readonly events: DeliveryEvents;
  now(): number;
  /** In [0, 1). */
  chance(): number;
  send(signal: Signal, body: Buffer, abort: AbortSignal): Promise<Attempt>;
  /** Resolves after that time, or when `wake` aborts. */
  pause(ms: number, wake: AbortSignal): Promise<void>;
}

/** The events that are counted. */
export interface DeliveryEvents {
  attempted(result: 'delivered' | 'refused' | 'throttled' | 'unavailable' | 'unreachable' | 'timeout'): void;
  delivered(entries: readonly WaitingEntry[], rejected: number): void;
  deadLettered(entries: readonly WaitingEntry[], reason: 'refused' | 'elapsed'): void;
}

export class Delivery {
  readonly #parts: DeliveryParts;
  readonly #abort = new AbortController();
  readonly #halt = new AbortController();
  #alarm = new AbortController();
  #running: Promise<void> | null = null;
  /**
   * A refused group is sent again in ever smaller parts up to its last entry, so that only the failing entry is
   * dead-lettered.
   */
  #bisection: { readonly entries: number; readonly until: bigint } | null = null;
  #failing = false;
  #faulted = false;

  constructor(parts: DeliveryParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Called when an entry was added. */
  wake(): void {
    this.#alarm.abort();
  }

  /**
   * Lets the current request end until `deadline`. The next holder of the queue sends a request again that is cut off
   * at that time.
   */
  async stop(deadline: AbortSignal): Promise<void> {
    this.#halt.abort();
    this.wake();
    const cut = (): void => this.#abort.abort();
    if (deadline.aborted) cut();
    deadline.addEventListener('abort', cut, { once: true });
    await this.#running;
    deadline.removeEventListener('abort', cut);
  }

  get #stopping(): boolean {
    return this.#halt.signal.aborted;
  }

  async #run(): Promise<void> {
    while (!this.#stopping) {
      // An entry that is added from now on ends the following pause.
      this.#alarm = new AbortController();
      const rest = await this.#attempt();
      if (rest.ms > 0 && !this.#stopping) {
        await this.#parts.pause(rest.ms, rest.wakeable ? this.#alarm.signal : this.#halt.signal);
      }
    }
    await this.#parts.queue.release();
  }

  async #attempt(): Promise<Pause> {
    try {
      const rest = (await this.#parts.queue.acquire()) ? await this.step() : HELD_ELSEWHERE;
      this.#faulted = false;
      return rest;
    } catch (error) {
      await this.#parts.queue.release();
      // Logged once for each outage of the database.
      if (!this.#stopping && !this.#faulted)
        this.#parts.logger.warn({ error }, 'the outbox cannot be read; trying again');
      this.#faulted = true;
      return FAULT;
    }
  }

  /**
   * Reads the queue once and sends at most one request. Returns the pause before the next step. The caller holds the
   * queue.
   */
  async step(): Promise<Pause> {
    const limit = this.#bisection?.entries ?? MAX_ENTRIES;
    const [head, ...rest] = await this.#parts.queue.waiting(limit);
    if (head === undefined) return EMPTY;
    if (this.#bisection !== null && head.sequence > this.#bisection.until) this.#bisection = null;
    const pauseMs = (head.nextAttemptMs ?? 0) - this.#parts.now();
    if (pauseMs > 0 && pauseMs <= longestPause(this.#parts.retry))
      return { ms: Math.min(pauseMs, PAUSE_MS), wakeable: false };
    const batch = [head, ...companionsOf(head, rest, this.#parts.maxBatchBytes)];
    const bodies = await this.#parts.queue.bodies(batch);
    // Another process has just removed some of the entries.
    if (bodies.length < batch.length) return AT_ONCE;
    await this.#settle(batch, await this.#parts.send(head.signal, Buffer.concat(bodies), this.#abort.signal));
    return AT_ONCE;
  }

  async #settle(batch: readonly WaitingEntry[], attempt: Attempt): Promise<void> {
    const { events, queue, logger } = this.#parts;
    events.attempted(attempt.kind === 'failed' ? attempt.result : attempt.kind);
    if (attempt.kind === 'failed') return this.#postpone(batch, attempt);
    if (attempt.kind === 'refused') return this.#refuse(batch, attempt);
    if (attempt.partial.rejected > 0 || attempt.partial.message !== '') {
      logger.warn(
        // The remote may quote data of the request.
        { ...attempt.partial, message: maskSecrets(attempt.partial.message), records: recordsOf(batch) },
        'the remote accepted a request in part, or sent a warning',
      );
    }
    if (this.#failing) logger.info({}, 'the remote accepts requests again');
    this.#failing = false;
    await queue.delivered(batch);
    events.delivered(batch, attempt.partial.rejected);
  }

  async #postpone(batch: readonly WaitingEntry[], attempt: Attempt & { readonly kind: 'failed' }): Promise<void> {
    const { chance, events, queue, logger, retry } = this.#parts;
    const nowMs = this.#parts.now();
    const [head] = batch;
    const failure = {
      attempts: (head?.attempts ?? 0) + 1,
      firstAttemptMs: head?.firstAttemptMs ?? nowMs,
      retryAfterMs: attempt.retryAfterMs,
      nowMs,
    };
    const nextAttemptMs = nextAttempt(retry, failure, chance());
    const { cause, error, result } = attempt;
    if (nextAttemptMs === null) {
      await queue.deadLetter(batch, { nowMs, error });
      events.deadLettered(batch, 'elapsed');
      logger.error(
        { cause, result, records: recordsOf(batch) },
        'a request was retried for too long; it is a dead letter now',
      );
      return;
    }
    // Logged once for each outage; the metrics count each attempt.
    if (!this.#failing)
      logger.warn({ cause, result, retryInMs: nextAttemptMs - nowMs }, 'the remote does not accept requests now');
    this.#failing = true;
    await queue.failed(batch, { nowMs, nextAttemptMs, error });
  }

  async #refuse(
    batch: readonly WaitingEntry[],
    { cause, error }: Attempt & { readonly kind: 'refused' },
  ): Promise<void> {
    const { events, queue, logger } = this.#parts;
    const last = batch.at(-1);
    if (batch.length > 1 && last !== undefined) {
      const until = this.#bisection?.until ?? last.sequence;
      this.#bisection = { entries: Math.floor(batch.length / 2), until };
      return;
    }
    await queue.deadLetter(batch, { nowMs: this.#parts.now(), error });
    events.deadLettered(batch, 'refused');
    logger.error(
      { cause, records: recordsOf(batch) },
      'the remote refuses a request; it is a dead letter now, see `sluice outbox dead`',
    );
  }
}

/** The entries behind the first one that may be sent in the same request: protobuf messages merge by concatenation. */
function companionsOf(head: WaitingEntry, rest: readonly WaitingEntry[], maxBytes: number): readonly WaitingEntry[] {
  let bytes = head.bytes;
  const end = rest.findIndex((entry) => {
    bytes += entry.bytes;
    return entry.signal !== head.signal || entry.project !== head.project || bytes > maxBytes;
  });
  return end < 0 ? rest : rest.slice(0, end);
}

const recordsOf = (entries: readonly WaitingEntry[]): number => entries.reduce((sum, { records }) => sum + records, 0);
