/**
 * Limits the calls that HTTP/2 connections begin. node:http2 reads a connection up to 32 times in an iteration of the
 * event loop, 64 KiB each, and begins every call in these bytes at once: eight connections that send tiny calls without
 * a pause occupied the loop for more than ten seconds. A connection with too many calls continues in a later iteration.
 * Connections whose calls are all refused get a part of the time only.
 */
import type { Duplex } from 'node:stream';

/** A connection that begins this many calls in an iteration is not read further in it. */
const MOST_CALLS = 64;
/** After this many calls in a row that are refused for a reason of the client, a connection waits after each read. */
const MOST_REFUSED = 64;
/** The connections with refused calls only wait this multiple of the time that the last of them took. */
const PAUSE_FACTOR = 3;

/** What reads the connection for node:http2. The types of Node do not have it. */
interface Handle {
  readStop(): void;
  readStart(): void;
}

/** Shared by the connections of one server. In each iteration one connection of each list continues, in its order. */
export class CallPacing {
  readonly #stopped: PacedCalls[] = [];
  readonly #refused: PacedCalls[] = [];
  /** The time before which no connection with refused calls continues. */
  #refusedFromMs = 0;
  #iteration = 0;
  #startedMs = 0;
  #isScheduled = false;
  /** Whether a connection with refused calls was read in this iteration. */
  #hasRefused = false;
  #isPausing = false;

  /** The number of this iteration. */
  get iteration(): number {
    this.#schedule();
    return this.#iteration;
  }

  /** Arranges a later call of `resume`. */
  await(calls: PacedCalls): void {
    if (calls.isRefused) this.#hasRefused = true;
    (calls.isRefused ? this.#refused : this.#stopped).push(calls);
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#startedMs = performance.now();
    setImmediate(() => this.#next());
  }

  #next(): void {
    const now = performance.now();
    this.#isScheduled = false;
    this.#iteration++;
    if (this.#hasRefused) this.#refusedFromMs = now + PAUSE_FACTOR * (now - this.#startedMs);
    this.#hasRefused = false;
    this.#stopped.shift()?.resume();
    if (now >= this.#refusedFromMs) this.#refused.shift()?.resume();
    if (this.#stopped.length > 0) this.#schedule();
    else if (this.#refused.length > 0) this.#scheduleRefused(this.#refusedFromMs - now);
  }

  #scheduleRefused(delayMs: number): void {
    if (delayMs <= 0) {
      this.#schedule();
      return;
    }
    if (this.#isPausing) return;
    this.#isPausing = true;
    const end = (): void => {
      this.#isPausing = false;
      this.#schedule();
    };
    setTimeout(end, delayMs).unref();
  }
}

/** The calls of one connection. */
export class PacedCalls {
  readonly #connection: Duplex & { readonly _handle?: Handle | null };
  readonly #pacing: CallPacing;
  #iteration = 0;
  #begun = 0;
  #isStopped = false;
  /** The number of refused calls in a row. */
  #refused = 0;

  constructor(connection: Duplex, pacing: CallPacing) {
    this.#connection = connection;
    this.#pacing = pacing;
  }

  get isRefused(): boolean {
    return this.#refused >= MOST_REFUSED;
  }

  /** A call begins. */
  begin(): void {
    const { iteration } = this.#pacing;
    if (iteration !== this.#iteration) this.#begun = 0;
    this.#iteration = iteration;
    this.#begun++;
    if (this.#isStopped || (this.#begun < MOST_CALLS && !this.isRefused)) return;
    this.#isStopped = true;
    this.#connection._handle?.readStop();
    this.#pacing.await(this);
  }

  /** A call has ended. `isRefused`: for a reason of the client. */
  end(isRefused: boolean): void {
    this.#refused = isRefused ? this.#refused + 1 : 0;
  }

  resume(): void {
    this.#isStopped = false;
    this.#connection._handle?.readStart();
  }
}
