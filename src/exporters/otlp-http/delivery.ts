/**
 * Sending one destination's lane: the oldest entries first, one request at a time, until nothing waits. What fails blocks what
 * is behind it, so order is kept; what the remote will never take is put aside.
 *
 * States: free (another process has the lane) → idle (nothing waits) → sending → idle, or waiting for the next attempt. A fault
 * of the database gives the lane up and begins again.
 */
import type { Logger } from '../../component/logger.ts';
import type { OutboxLane, WaitingEntry } from '../../component/capabilities/outbox.ts';
import type { Signal } from '../../pdata/context.ts';
import { longestPause, nextAttempt, type RetryOptions } from './retry.ts';
import type { Attempt } from './sender.ts';

/** Entries looked at, and sent together, at once. */
const MAX_ENTRIES = 64;
/** Nothing waited: other replicas' entries, and a lane that became free, are noticed this late at most. */
const IDLE_MS = 1000;
/** The longest nap before the clock is looked at again; clocks may be set. */
const NAP_MS = 1000;
/** After a fault of the database. */
const FAULT_MS = 1000;

/** How long nothing is to be done. What is added ends it only where that changes something. */
interface Rest {
  readonly ms: number;
  readonly wakeable: boolean;
}

const GO_ON: Rest = { ms: 0, wakeable: false };
const EMPTY: Rest = { ms: IDLE_MS, wakeable: true };
const HELD_ELSEWHERE: Rest = { ms: IDLE_MS, wakeable: false };
const FAULT: Rest = { ms: FAULT_MS, wakeable: false };

export interface DeliveryParts {
  readonly lane: OutboxLane;
  readonly retry: RetryOptions;
  readonly maxBatchBytes: number;
  readonly logger: Logger;
  readonly events: DeliveryEvents;
  now(): number;
  /** In [0, 1). */
  chance(): number;
  send(signal: Signal, body: Buffer, abort: AbortSignal): Promise<Attempt>;
  /** Resolves after that time, or when `wake` aborts. */
  nap(ms: number, wake: AbortSignal): Promise<void>;
}

/** What is counted. */
export interface DeliveryEvents {
  attempted(result: 'delivered' | 'refused' | 'throttled' | 'unavailable' | 'unreachable' | 'timeout'): void;
  delivered(entries: readonly WaitingEntry[], rejected: number): void;
  buried(entries: readonly WaitingEntry[], reason: 'refused' | 'elapsed'): void;
}

export class Delivery {
  readonly #parts: DeliveryParts;
  readonly #abort = new AbortController();
  readonly #halt = new AbortController();
  #alarm = new AbortController();
  #running: Promise<void> | null = null;
  /** A group that was refused is sent in ever smaller parts, up to its last entry: only the culprit must suffer. */
  #careful: { readonly entries: number; readonly until: bigint } | null = null;
  #failing = false;
  #faulted = false;

  constructor(parts: DeliveryParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Something was added. */
  wake(): void {
    this.#alarm.abort();
  }

  /** Lets the request on its way end until `deadline`; what is cut off then is sent again by whoever goes on. */
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
      // What is added from here on ends the rest that follows.
      this.#alarm = new AbortController();
      const rest = await this.#attempt();
      if (rest.ms > 0 && !this.#stopping) {
        await this.#parts.nap(rest.ms, rest.wakeable ? this.#alarm.signal : this.#halt.signal);
      }
    }
    await this.#parts.lane.release();
  }

  async #attempt(): Promise<Rest> {
    try {
      const rest = (await this.#parts.lane.acquire()) ? await this.step() : HELD_ELSEWHERE;
      this.#faulted = false;
      return rest;
    } catch (error) {
      await this.#parts.lane.release();
      // Once for each time the database goes away.
      if (!this.#stopping && !this.#faulted) this.#parts.logger.warn({ error }, 'the outbox cannot be read; trying on');
      this.#faulted = true;
      return FAULT;
    }
  }

  /** One look at the lane and at most one request; how long to wait before the next. For a holder of the lane. */
  async step(): Promise<Rest> {
    const limit = this.#careful?.entries ?? MAX_ENTRIES;
    const [head, ...rest] = await this.#parts.lane.waiting(limit);
    if (head === undefined) return EMPTY;
    if (this.#careful !== null && head.sequence > this.#careful.until) this.#careful = null;
    const pauseMs = (head.nextAttemptMs ?? 0) - this.#parts.now();
    if (pauseMs > 0 && pauseMs <= longestPause(this.#parts.retry))
      return { ms: Math.min(pauseMs, NAP_MS), wakeable: false };
    const batch = [head, ...companionsOf(head, rest, this.#parts.maxBatchBytes)];
    const bodies = await this.#parts.lane.bodies(batch);
    // Somebody removed some of them just now.
    if (bodies.length < batch.length) return GO_ON;
    await this.#settle(batch, await this.#parts.send(head.signal, Buffer.concat(bodies), this.#abort.signal));
    return GO_ON;
  }

  async #settle(batch: readonly WaitingEntry[], attempt: Attempt): Promise<void> {
    const { events, lane, logger } = this.#parts;
    events.attempted(attempt.kind === 'failed' ? attempt.result : attempt.kind);
    if (attempt.kind === 'failed') return this.#postpone(batch, attempt);
    if (attempt.kind === 'refused') return this.#refuse(batch, attempt);
    if (attempt.partial.rejected > 0 || attempt.partial.message !== '') {
      logger.warn(
        { ...attempt.partial, records: recordsOf(batch) },
        'the remote took a request in part, or warns of it',
      );
    }
    if (this.#failing) logger.info({}, 'the remote takes requests again');
    this.#failing = false;
    await lane.delivered(batch);
    events.delivered(batch, attempt.partial.rejected);
  }

  async #postpone(batch: readonly WaitingEntry[], attempt: Attempt & { readonly kind: 'failed' }): Promise<void> {
    const { chance, events, lane, logger, retry } = this.#parts;
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
      await lane.bury(batch, { nowMs, error });
      events.buried(batch, 'elapsed');
      logger.error(
        { cause, result, records: recordsOf(batch) },
        'a request was tried for too long; it is a dead letter now',
      );
      return;
    }
    // Once for each outage: what follows is in the metrics.
    if (!this.#failing)
      logger.warn({ cause, result, retryInMs: nextAttemptMs - nowMs }, 'the remote cannot take requests now');
    this.#failing = true;
    await lane.failed(batch, { nowMs, nextAttemptMs, error });
  }

  async #refuse(
    batch: readonly WaitingEntry[],
    { cause, error }: Attempt & { readonly kind: 'refused' },
  ): Promise<void> {
    const { events, lane, logger } = this.#parts;
    const last = batch.at(-1);
    if (batch.length > 1 && last !== undefined) {
      const until = this.#careful?.until ?? last.sequence;
      this.#careful = { entries: Math.floor(batch.length / 2), until };
      return;
    }
    await lane.bury(batch, { nowMs: this.#parts.now(), error });
    events.buried(batch, 'refused');
    logger.error(
      { cause, records: recordsOf(batch) },
      'the remote refuses a request; it is a dead letter now, see `sluice outbox dead`',
    );
  }
}

/** Those right behind the head that may go in the same request: protobuf joins requests by concatenation. */
function companionsOf(head: WaitingEntry, rest: readonly WaitingEntry[], maxBytes: number): readonly WaitingEntry[] {
  let bytes = head.bytes;
  const end = rest.findIndex((entry) => {
    bytes += entry.bytes;
    return entry.signal !== head.signal || entry.project !== head.project || bytes > maxBytes;
  });
  return end < 0 ? rest : rest.slice(0, end);
}

const recordsOf = (entries: readonly WaitingEntry[]): number => entries.reduce((sum, { records }) => sum + records, 0);
