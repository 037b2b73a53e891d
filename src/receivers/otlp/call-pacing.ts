/**
 * Limits the calls that HTTP/2 connections begin. node:http2 reads a connection up to 32 times in an iteration of the
 * event loop, 64 KiB each, and gives every call in these bytes at once: thousands, whose answers take seconds. Here a
 * connection serves few calls in an iteration. The rest waits, and the connection is not read further until it is
 * served. Of the connections without an accepted call, one is read in an iteration. Connections
 * whose calls are all refused get a limited rate in all.
 */
import type { Duplex } from 'node:stream';

/** A connection serves this many calls in an iteration. */
const MOST_CALLS = 64;
/** After this many calls in a row that are refused for a reason of the client, a connection gets the limited rate. */
const MOST_REFUSED = 64;
/** The calls of all connections with the limited rate in a tick. */
const REFUSED_CALLS = 16;
const REFUSED_TICK_MS = 10;

/** What reads the connection for node:http2. The types of Node do not have it. */
interface Handle {
  readStop(): void;
  readStart(): void;
}

/** Shared by the connections of one server. Waiting connections continue in their order. */
export class CallPacing {
  /** One of them continues in each iteration. */
  readonly #stopped: PacedCalls[] = [];
  readonly #refused: PacedCalls[] = [];
  #iteration = 0;
  #isScheduled = false;
  #isTicking = false;

  /** The number of this iteration. */
  get iteration(): number {
    this.#schedule();
    return this.#iteration;
  }

  /** Arranges a later call of `goOn`. */
  await(calls: PacedCalls): void {
    if (calls.isRefused) {
      this.#refused.push(calls);
      this.#scheduleTick();
    } else {
      this.#stopped.push(calls);
      this.#schedule();
    }
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#iteration++;
      firstOpen(this.#stopped)?.goOn(MOST_CALLS);
      if (this.#stopped.length > 0) this.#schedule();
    });
  }

  #scheduleTick(): void {
    if (this.#isTicking) return;
    this.#isTicking = true;
    setTimeout(() => this.#tick(), REFUSED_TICK_MS);
  }

  #tick(): void {
    this.#isTicking = false;
    let left = REFUSED_CALLS;
    // Those that continue wait again behind the others.
    for (let count = this.#refused.length; count > 0 && left > 0; count--)
      left -= firstOpen(this.#refused)?.goOn(left) ?? 0;
    if (this.#refused.length > 0) this.#scheduleTick();
  }
}

/** Takes the first connection that has not closed, and the closed ones before it. */
function firstOpen(queue: PacedCalls[]): PacedCalls | undefined {
  const at = queue.findIndex(({ isClosed }) => !isClosed);
  return queue.splice(0, at < 0 ? queue.length : at + 1)[at];
}

/** The calls of one connection. */
export class PacedCalls {
  readonly #connection: Duplex & { readonly _handle?: Handle | null };
  readonly #pacing: CallPacing;
  readonly #waiting: (() => void)[] = [];
  #iteration = 0;
  #begun = 0;
  #isStopped = false;
  /** The number of refused calls in a row. */
  #refused = 0;
  /** Whether a call was not refused. */
  #isProven = false;

  constructor(connection: Duplex, pacing: CallPacing) {
    this.#connection = connection;
    this.#pacing = pacing;
    this.#stop();
  }

  get isClosed(): boolean {
    return this.#connection.destroyed;
  }

  get isRefused(): boolean {
    return this.#refused >= MOST_REFUSED;
  }

  /** Serves a call, now or later. */
  begin(serve: () => void): void {
    const { iteration } = this.#pacing;
    if (iteration !== this.#iteration) this.#begun = 0;
    this.#iteration = iteration;
    if (this.#isStopped || this.isRefused || this.#begun >= MOST_CALLS) {
      this.#waiting.push(serve);
      this.#stop();
      return;
    }
    this.#begun++;
    if (!this.#isProven) this.#stop();
    serve();
  }

  /** A call was answered. `isRefused`: it was refused for a reason of the client. */
  end(isRefused: boolean): void {
    this.#refused = isRefused ? this.#refused + 1 : 0;
    if (!isRefused) this.#isProven = true;
  }

  /** Serves at most `limit` waiting calls, and reads on when none is left. Returns the number, at least 1. */
  goOn(limit: number): number {
    const serves = this.#waiting.splice(0, limit);
    for (const serve of serves) serve();
    if (this.#waiting.length > 0) {
      this.#pacing.await(this);
    } else {
      this.#isStopped = false;
      this.#connection._handle?.readStart();
    }
    return Math.max(serves.length, 1);
  }

  /**
   * Reads the connection if it is not stopped here. After an error of the protocol node:http2 (Node 20) stops the
   * reading for good and gives no event, so the end of the connection would never be seen.
   */
  readOn(): void {
    if (!this.#isStopped) this.#connection._handle?.readStart();
  }

  #stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#connection._handle?.readStop();
    this.#pacing.await(this);
  }
}
