/**
 * Limits the calls that HTTP/2 connections begin. node:http2 reads a connection up to 32 times in an iteration of the
 * event loop, 64 KiB each, and gives every call in these bytes at once: thousands, whose answers take seconds. Here a
 * connection serves few calls in an iteration. The rest waits, and the connection is not read further until it is
 * served. Connections without an accepted call, and those whose calls are all refused, share a limited rate, and one of
 * them begins calls in an iteration. Frames that are no part of a message count for that rate by their bytes:
 * node:http2 gives no event for them. A connection with many of them for its accepted calls gets the limited rate too.
 * Connections that sent many have a rate of their own, so that new ones do not wait until their work is paid for.
 */
import type { Duplex } from 'node:stream';

/** A connection serves this many calls in an iteration. */
const MOST_CALLS = 64;
/** After this many calls in a row that are refused for a reason of the client, a connection gets the limited rate. */
const MOST_REFUSED = 64;
/** The work of all connections with the limited rate in a tick: calls that begin, calls that are served, and reads. */
const RATED_UNITS = 8;
const TICK_MS = 10;
/** So many bytes that are no part of a message are a unit of work. */
const UNIT_BYTES = 8192;
/** After so many units of them since its last accepted call, a connection with the limited rate counts as heavy. */
const LIGHT_UNITS = 16;
/**
 * After this many such bytes beyond those of its accepted calls, a connection gets the limited rate. It is more than
 * the flow-control window of a connection: bytes of messages count until their call is admitted.
 */
const MOST_OVERHEAD_BYTES = 2_097_152;
/** An accepted call may need this many of them. Its headers usually take some hundred. */
const CALL_BYTES = 16_384;
/** The interval in which connections are checked for such bytes, and the one while all are proven and silent. */
const CHECK_MS = 100;
const IDLE_CHECK_MS = 1000;

/** What reads the connection for node:http2. The types of Node do not have it. */
interface Handle {
  readonly bytesRead?: number;
  readStop(): void;
  readStart(): void;
}

/** Connections with a limited rate, and the work that they may do. */
class RatedQueue {
  readonly #waiting: PacedCalls[] = [];
  /** Below zero when calls began before they could be counted. */
  #units = RATED_UNITS;
  #countedMs = performance.now();
  #isScheduled = false;

  add(calls: PacedCalls): void {
    this.#waiting.push(calls);
    this.#schedule();
  }

  /** The time before it pays for no more than a tick of it. */
  charge(units: number): void {
    this.#units = this.#unitsLeft() - units;
  }

  #unitsLeft(): number {
    const ticks = Math.floor((performance.now() - this.#countedMs) / TICK_MS);
    this.#countedMs += ticks * TICK_MS;
    this.#units = Math.min(RATED_UNITS, this.#units + ticks * RATED_UNITS);
    return this.#units;
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    const run = (): void => this.#run();
    if (this.#unitsLeft() > 0) setImmediate(run);
    else setTimeout(run, TICK_MS);
  }

  #run(): void {
    this.#isScheduled = false;
    let isReading = false;
    // Those that continue wait again behind the others.
    for (let count = this.#waiting.length; count > 0 && this.#unitsLeft() > 0 && !isReading; count--) {
      const calls = firstOpen(this.#waiting);
      if (calls === undefined) break;
      this.charge(Math.max(1, calls.serveWaiting(this.#units)));
      isReading = calls.isReading;
    }
    if (this.#waiting.length > 0) this.#schedule();
  }
}

/** Shared by the connections of one server. Waiting connections continue in their order. */
export class CallPacing {
  /** One of them continues in each iteration. */
  readonly #stopped: PacedCalls[] = [];
  /** The connections with the limited rate: those that sent many bytes that are no part of a message, and others. */
  readonly #heavy = new RatedQueue();
  readonly #light = new RatedQueue();
  /** The connections with the limited rate that are read. */
  readonly #read = new Set<PacedCalls>();
  /** The connections of `#read` that are not read in this iteration. */
  readonly #paused: PacedCalls[] = [];
  /** The iteration in which others were paused last. */
  #pausedIn = -1;
  #checkTimer: NodeJS.Timeout | null = null;
  /** Whether the timer has the longer interval. */
  #isIdle = false;
  #iteration = 0;
  #isScheduled = false;

  /** The number of this iteration. */
  get iteration(): number {
    this.#schedule();
    return this.#iteration;
  }

  /** Arranges a later call of `serveWaiting`. */
  await(calls: PacedCalls): void {
    if (calls.isRated) {
      (calls.isHeavy ? this.#heavy : this.#light).add(calls);
    } else {
      this.#stopped.push(calls);
      this.#schedule();
    }
  }

  /** A connection with the limited rate has begun a call. */
  chargeCall(calls: PacedCalls): void {
    (calls.isHeavy ? this.#heavy : this.#light).charge(1);
  }

  /** A connection with the limited rate has begun a call. The others that are read continue in the next iteration. */
  pauseOthers(calls: PacedCalls): void {
    // Once in an iteration: a read may begin thousands of calls, and there may be thousands of connections.
    if (this.#pausedIn === this.iteration) return;
    this.#pausedIn = this.#iteration;
    for (const other of this.#read) {
      if (other === calls || !other.isRated) continue;
      other.pause();
      this.#paused.push(other);
    }
  }

  /** Checks what the connection sends besides messages, now and later, until it is stopped. */
  watch(calls: PacedCalls): void {
    this.#read.add(calls);
    setImmediate(() => this.#check(calls));
    if (this.#isIdle && this.#checkTimer !== null) clearTimeout(this.#checkTimer);
    if (this.#isIdle || this.#checkTimer === null) this.#checkLater(false);
  }

  #checkLater(isIdle: boolean): void {
    this.#isIdle = isIdle;
    const check = (): void => {
      this.#checkTimer = null;
      let isSilent = true;
      for (const calls of [...this.#read]) if (this.#check(calls) || calls.isRated) isSilent = false;
      if (this.#read.size > 0) this.#checkLater(isSilent);
    };
    this.#checkTimer = setTimeout(check, isIdle ? IDLE_CHECK_MS : CHECK_MS).unref();
  }

  /** Whether it has sent something. Stops it when that is work for the limited rate. */
  #check(calls: PacedCalls): boolean {
    if (calls.isClosed || !calls.isReading) {
      this.#read.delete(calls);
      return false;
    }
    const hasSent = calls.countBytes();
    const units = calls.isRated ? calls.takeUnits() : 0;
    if (units > 0) {
      this.#read.delete(calls);
      const light = calls.takeLight(units);
      this.#light.charge(light);
      this.#heavy.charge(units - light);
      calls.stop();
    }
    return hasSent;
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#iteration++;
      for (const calls of this.#paused.splice(0)) calls.readOn();
      firstOpen(this.#stopped)?.serveWaiting(MOST_CALLS);
      if (this.#stopped.length > 0) this.#schedule();
    });
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
  #bytesRead = 0;
  /** Bytes that were read and are no part of a message, without those that were charged. */
  #overhead = 0;
  #lightUnits = LIGHT_UNITS;

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

  /** Whether it has sent many bytes that are no part of a message. */
  get isHeavy(): boolean {
    return this.#lightUnits === 0;
  }

  get isReading(): boolean {
    return !this.#isStopped;
  }

  /** Counts the bytes that were read since the last call. Returns whether there were any. */
  countBytes(): boolean {
    const before = this.#bytesRead;
    this.#bytesRead = this.#connection._handle?.bytesRead ?? before;
    this.#overhead += this.#bytesRead - before;
    if (this.#overhead >= MOST_OVERHEAD_BYTES) this.#isProven = false;
    return this.#bytesRead > before;
  }

  /** The work of the bytes that are no part of a message. Must be charged. */
  takeUnits(): number {
    const units = Math.max(0, Math.floor(this.#overhead / UNIT_BYTES));
    this.#overhead -= units * UNIT_BYTES;
    return units;
  }

  /** The part of these units before it is heavy. */
  takeLight(units: number): number {
    const light = Math.min(units, this.#lightUnits);
    this.#lightUnits -= light;
    return light;
  }

  /** Bytes of the message of an admitted call have arrived. */
  received(bytes: number): void {
    this.#overhead -= bytes;
  }

  /** Serves a call, now or later. */
  begin(serve: () => void): void {
    const { iteration } = this.#pacing;
    if (iteration !== this.#iteration) this.#begun = 0;
    this.#iteration = iteration;
    if (this.isRated) {
      this.#pacing.chargeCall(this);
      this.#pacing.pauseOthers(this);
    }
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
    if (isRefused) return;
    this.#isProven = true;
    this.#lightUnits = LIGHT_UNITS;
    if (this.#overhead > 0) this.#overhead = Math.max(0, this.#overhead - CALL_BYTES);
  }

  /** Serves at most `limit` waiting calls, and continues to read when none is left. Returns their number. */
  serveWaiting(limit: number): number {
    const serves = this.#waiting.splice(0, limit);
    for (const serve of serves) serve();
    if (this.#waiting.length > 0) {
      this.#pacing.await(this);
    } else {
      this.#isStopped = false;
      this.#connection._handle?.readStart();
      this.#pacing.watch(this);
    }
    return serves.length;
  }

  /** Stops reading until `readOn`. */
  pause(): void {
    this.#connection._handle?.readStop();
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
