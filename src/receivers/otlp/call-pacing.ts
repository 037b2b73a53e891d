/**
 * Limits the calls that HTTP/2 connections begin. node:http2 reads a connection up to 32 times in an iteration of the
 * event loop, 64 KiB each, and gives every call in these bytes at once: thousands, whose answers take seconds. Here a
 * connection serves few calls in an iteration. The rest waits, and the connection is not read further until it is
 * served. Connections without an accepted call, and those whose calls are all refused, share a limited rate, and one of
 * them is read in an iteration. Frames that begin no call count for that rate by their bytes: node:http2 gives no event
 * for them.
 */
import type { Duplex } from 'node:stream';

/** A connection serves this many calls in an iteration. */
const MOST_CALLS = 64;
/** After this many calls in a row that are refused for a reason of the client, a connection gets the limited rate. */
const MOST_REFUSED = 64;
/** The work of all connections with the limited rate in a tick: calls that begin, calls that are served, and reads. */
const RATED_UNITS = 16;
const TICK_MS = 10;
/** So many bytes that begin no call are a unit of work. */
const UNIT_BYTES = 8192;
/** The interval in which silent connections are checked for bytes. */
const SILENT_MS = 100;

/** What reads the connection for node:http2. The types of Node do not have it. */
interface Handle {
  readonly bytesRead?: number;
  readStop(): void;
  readStart(): void;
}

/** Shared by the connections of one server. Waiting connections continue in their order. */
export class CallPacing {
  /** One of them continues in each iteration. */
  readonly #stopped: PacedCalls[] = [];
  /** Those with the limited rate. */
  readonly #rated: PacedCalls[] = [];
  /** Those with the limited rate that are read, and have sent little. */
  readonly #silent = new Set<PacedCalls>();
  #silentTimer: NodeJS.Timeout | null = null;
  /** Below zero when calls began before they could be counted. */
  #units = RATED_UNITS;
  #countedMs = performance.now();
  #iteration = 0;
  #isScheduled = false;
  #isRatedScheduled = false;

  get iteration(): number {
    this.#schedule();
    return this.#iteration;
  }

  /** Arranges a later call of `goOn`. */
  await(calls: PacedCalls): void {
    if (calls.isRated) {
      this.#rated.push(calls);
      this.#scheduleRated();
    } else {
      this.#stopped.push(calls);
      this.#schedule();
    }
  }

  /** Counts work of a connection with the limited rate. */
  charge(units: number): void {
    this.#units -= units;
  }

  /** Charges what the connection, which has the limited rate, sends without a call, and stops it then. */
  watch(calls: PacedCalls): void {
    setImmediate(() => this.#check(calls));
  }

  #check(calls: PacedCalls): void {
    if (calls.isClosed || !calls.isReading || !calls.isRated || calls.isKnown) {
      this.#silent.delete(calls);
      return;
    }
    const units = Math.floor(calls.takeBytes() / UNIT_BYTES);
    if (units > 0) {
      this.#silent.delete(calls);
      this.charge(units);
      calls.stop();
      return;
    }
    this.#silent.add(calls);
    this.#silentTimer ??= setTimeout(() => {
      this.#silentTimer = null;
      for (const each of [...this.#silent]) this.#check(each);
    }, SILENT_MS).unref();
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

  #scheduleRated(): void {
    if (this.#isRatedScheduled) return;
    this.#isRatedScheduled = true;
    const run = (): void => this.#runRated();
    if (this.#unitsLeft() > 0) setImmediate(run);
    else setTimeout(run, TICK_MS);
  }

  #unitsLeft(): number {
    const ticks = Math.floor((performance.now() - this.#countedMs) / TICK_MS);
    this.#countedMs += ticks * TICK_MS;
    this.#units = Math.min(RATED_UNITS, this.#units + ticks * RATED_UNITS);
    return this.#units;
  }

  #runRated(): void {
    this.#isRatedScheduled = false;
    let isReading = false;
    // Those that continue wait again behind the others.
    for (let count = this.#rated.length; count > 0 && this.#unitsLeft() > 0 && !isReading; count--) {
      const calls = firstOpen(this.#rated);
      if (calls === undefined) break;
      this.charge(Math.max(1, calls.goOn(this.#units)));
      isReading = calls.isReading;
    }
    if (this.#rated.length > 0) this.#scheduleRated();
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
  /** Whether a call had a valid key. */
  #isAdmitted = false;
  #bytes = 0;

  constructor(connection: Duplex, pacing: CallPacing) {
    this.#connection = connection;
    this.#pacing = pacing;
    this.stop();
  }

  get isClosed(): boolean {
    return this.#connection.destroyed;
  }

  /** Whether it has the limited rate. */
  get isRated(): boolean {
    return !this.#isProven || this.#refused >= MOST_REFUSED;
  }

  get isReading(): boolean {
    return !this.#isStopped;
  }

  /** Whether a call was admitted, and its calls are not refused: a large message may be on the way. */
  get isKnown(): boolean {
    return this.#isAdmitted && this.#refused < MOST_REFUSED;
  }

  /** The bytes that were read since the last call. */
  takeBytes(): number {
    const before = this.#bytes;
    this.#bytes = this.#connection._handle?.bytesRead ?? 0;
    return this.#bytes - before;
  }

  /** A call has a valid key. */
  admitted(): void {
    this.#isAdmitted = true;
  }

  /** Serves a call, now or later. */
  begin(serve: () => void): void {
    const { iteration } = this.#pacing;
    if (iteration !== this.#iteration) this.#begun = 0;
    this.#iteration = iteration;
    if (this.isRated) this.#pacing.charge(1);
    if (this.#isStopped || this.#refused >= MOST_REFUSED || this.#begun >= MOST_CALLS) {
      this.#waiting.push(serve);
      this.stop();
      return;
    }
    this.#begun++;
    if (!this.#isProven) this.stop();
    serve();
  }

  /** A call was answered. `isRefused`: it was refused for a reason of the client. */
  end(isRefused: boolean): void {
    this.#refused = isRefused ? this.#refused + 1 : 0;
    if (!isRefused) this.#isProven = true;
  }

  /** Serves at most `limit` waiting calls, and reads on when none is left. Returns their number. */
  goOn(limit: number): number {
    const serves = this.#waiting.splice(0, limit);
    for (const serve of serves) serve();
    if (this.#waiting.length > 0) {
      this.#pacing.await(this);
    } else {
      this.#isStopped = false;
      this.#connection._handle?.readStart();
      if (this.isRated && !this.isKnown) this.#pacing.watch(this);
    }
    return serves.length;
  }

  /**
   * Reads the connection if it is not stopped here. After an error of the protocol node:http2 (Node 20) stops the
   * reading for good and gives no event, so the end of the connection would never be seen.
   */
  readOn(): void {
    if (!this.#isStopped) this.#connection._handle?.readStart();
  }

  /** Stops reading, until it is the connection's turn. */
  stop(): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#connection._handle?.readStop();
    this.#pacing.await(this);
  }
}
