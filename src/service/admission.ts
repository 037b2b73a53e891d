/**
 * Admission control, and the order of the passes. A pass is advanced in slices of a few milliseconds, and the event
 * loop is polled between two slices: the process reads the next headers and answers health checks during long passes.
 * Small bodies have their own tables and never wait for the end of a large one. Within a size, projects share the time
 * evenly. A waiting request has been read and is limited by the receivers' byte budget; its waiting time is limited
 * here.
 */
import { ALWAYS_ADMITTED, ExpectedWait } from '../component/expected-wait.ts';
import type { Steps } from '../pdata/steps.ts';
import { FairQueue, type Flow, type VirtualClock } from './fair-queue.ts';
import { MAX_POLLS_MS, PollCycle } from './poll-cycle.ts';

/** No pass begins or continues when passes have taken this long since the last poll. */
const SLICE_MS = 2;
/**
 * The slice of passes of the largest bodies. A commit takes several polls, one for each answer of the database, so the
 * other requests wait for as many slices.
 */
const LONG_SLICE_MS = 1;
/**
 * The first slice of a pass may be longer by this time, in which most passes end without being divided. Those of the
 * largest bodies do not.
 */
const OVERRUN_MS = 3;
/**
 * Under load, passes get at least this part of the time that the polls took, whatever the number of requests refused
 * there.
 */
const PASSES_PART = 1 / 3;

/**
 * A pass waits for the room of its rows for this long. Then it begins without the room, and is refused when there is
 * still none. With the waits before and after it, the answer comes before SDKs give up, after 10 s.
 */
const MAX_HOLD_MS = 3000;
/** While passes wait for room, and no room is released, their time is checked at this interval. */
const HOLD_CHECK_MS = 500;

/** The fixed time of a pass, as that of so many bytes. */
const PASS_BYTES = 4096;

/** Passes of one range of body sizes. */
export interface SizeClass<Place> {
  /** The largest body of this class, in bytes. */
  readonly limitBytes: number;
  /** Its passes take many slices. They begin after what has arrived meanwhile. */
  readonly isLong?: boolean;
  /** The arenas for passes of this class. */
  readonly places: readonly Place[];
}

export interface AdmissionOptions<Place> {
  /** Milliseconds of a monotonic clock. */
  now(): number;
  /** Calls back after the event loop has been polled once. */
  afterPoll(callback: () => void): void;
  /** Calls back once, after so many milliseconds. */
  after(ms: number, callback: () => void): void;
  /** Whether the rows of a body of this size would find room now. While they would not, its pass does not begin. */
  hasRoom(project: string, bytes: number): boolean;
  /** From the smallest to the largest. */
  readonly classes: readonly SizeClass<Place>[];
}

/**
 * A request that waits for its pass or is in progress. It refers to a body, so no reference to it may remain after its
 * end.
 */
interface Pass<Place> {
  readonly bytes: number;
  /** When the pass begins without room. */
  readonly holdUntilMs: number;
  /** Not a generator function: the engine makes a prototype and a map for each, which only a full collection frees. */
  begin(place: Place): Steps<unknown>;
  succeed(result: unknown): void;
  fail(error: unknown): void;
  place: Place | null;
  steps: Steps<unknown> | null;
  elapsedMs: number;
}

interface SizeQueue<Place> {
  readonly limitBytes: number;
  readonly isLong: boolean;
  readonly queue: FairQueue<Pass<Place>>;
  /** The first `freeCount` are free. An array that becomes empty with each request would be allocated anew. */
  readonly free: Place[];
  freeCount: number;
}

/** Null when none is free, which is a fault of the queue. */
function takePlace<Place>(sizeQueue: SizeQueue<Place>): Place | null {
  if (sizeQueue.freeCount === 0) return null;
  sizeQueue.freeCount--;
  return sizeQueue.free[sizeQueue.freeCount] ?? null;
}

export class AdmissionControl<Place> {
  readonly #now: () => number;
  readonly #afterPoll: (callback: () => void) => void;
  readonly #after: (ms: number, callback: () => void) => void;
  readonly #queues: readonly SizeQueue<Place>[];
  readonly #wait = new ExpectedWait('pass');
  readonly #polls: PollCycle;
  /** Passes that have not ended, and those of them that have not begun. */
  #open = 0;
  #waiting = 0;
  #scheduled = false;
  #checksHold = false;
  /** The time of passes since the last poll. */
  #sliceMs = 0;
  /** The end of the last slice, if passes were left then. */
  #busySince: number | null = null;

  constructor({ now, afterPoll, after, hasRoom, classes }: AdmissionOptions<Place>) {
    this.#now = now;
    this.#afterPoll = afterPoll;
    this.#after = after;
    this.#polls = new PollCycle(now);
    const clock: VirtualClock = { now: 0 };
    const mayBegin = (project: string, { bytes, holdUntilMs }: Pass<Place>): boolean =>
      hasRoom(project, bytes) || now() >= holdUntilMs;
    this.#queues = classes.map(({ limitBytes, isLong = false, places }) => ({
      limitBytes,
      isLong,
      queue: new FairQueue<Pass<Place>>(clock, places.length, mayBegin),
      free: [...places],
      freeCount: places.length,
    }));
  }

  /** The number of requests whose pass has not begun. */
  get waiting(): number {
    return this.#waiting;
  }

  /** The expected wait in milliseconds for a request of the project now. */
  expectedWaitMs(project: string): number {
    return this.#wait.of(project);
  }

  /** Throws `overloaded` when a request of the project would wait too long. */
  admit(project: string): void {
    this.#polls.noteArrival();
    this.#wait.requireShortForMany(project);
  }

  /**
   * Runs the pass of a request in a place for bodies of its size: at once when no other pass is before it and its rows
   * would find room, otherwise in its turn. The pass gets the `limitBytes` of the place. A body that is larger must run
   * again with its true size: it `hasWaited` for room then, and does not wait for it a second time.
   */
  run<Result>(
    project: string,
    bytes: number,
    begin: (place: Place, limitBytes: number) => Steps<Result>,
    { hasWaited = false } = {},
  ): Promise<Result> {
    const sizeQueue = this.#queueFor(bytes);
    return new Promise<Result>((resolve, reject) => {
      const pass: Pass<Place> = {
        bytes,
        holdUntilMs: hasWaited ? 0 : this.#now() + MAX_HOLD_MS,
        begin: (place) => begin(place, sizeQueue.limitBytes),
        succeed: resolve as (result: unknown) => void,
        fail: reject,
        place: null,
        steps: null,
        elapsedMs: 0,
      };
      this.#wait.add(project, bytes + PASS_BYTES);
      this.#open++;
      if (!this.#scheduled) this.#startPolls();
      const beginsNow = this.#sliceMs < SLICE_MS && !sizeQueue.isLong;
      const flow = beginsNow ? sizeQueue.queue.start(project, pass) : null;
      if (flow === null) {
        sizeQueue.queue.add(project, pass);
        this.#waiting++;
        return;
      }
      this.#advance(sizeQueue, flow, SLICE_MS);
    });
  }

  /** Rows have been released, so passes that wait for room may begin. */
  noteRoom(): void {
    if (this.#waiting > 0 && !this.#scheduled) this.#startPolls();
  }

  #queueFor(bytes: number): SizeQueue<Place> {
    const sizeQueue = this.#queues.find(({ limitBytes }) => bytes <= limitBytes) ?? this.#queues.at(-1);
    if (sizeQueue === undefined) throw new Error('admission control without size classes');
    return sizeQueue;
  }

  /** Runs steps of the flow's pass until it ends, or passes have taken `untilMs` since the last poll. */
  #advance(sizeQueue: SizeQueue<Place>, flow: Flow<Pass<Place>>, untilMs: number): void {
    const started = this.#now();
    const pass = flow.running ?? this.#begin(sizeQueue, flow);
    pass.place ??= takePlace(sizeQueue);
    const overrunMs = pass.steps === null && !sizeQueue.isLong ? OVERRUN_MS : 0;
    const deadline = started + untilMs - this.#sliceMs + overrunMs;
    const isOver = this.#step(pass, deadline);
    const ended = this.#now();
    pass.elapsedMs += ended - started;
    this.#sliceMs += ended - started;
    const pollMs = Math.min(started - (this.#busySince ?? started), MAX_POLLS_MS);
    this.#wait.measure(ended - started, pollMs);
    sizeQueue.queue.charge(flow, ended - started);
    if (isOver) this.#end(sizeQueue, flow, pass);
    this.#busySince = this.#open > 0 ? ended : null;
  }

  #begin(sizeQueue: SizeQueue<Place>, flow: Flow<Pass<Place>>): Pass<Place> {
    this.#waiting--;
    return sizeQueue.queue.begin(flow);
  }

  /** Returns whether the pass has ended, with any outcome. */
  #step(pass: Pass<Place>, deadline: number): boolean {
    try {
      if (pass.place === null) throw new Error('a pass began without a place');
      pass.steps ??= pass.begin(pass.place);
      do {
        const step = pass.steps.next();
        if (step.done !== true) continue;
        pass.succeed(step.value);
        return true;
      } while (this.#now() < deadline);
      return false;
    } catch (error) {
      pass.fail(error);
      return true;
    }
  }

  #end(sizeQueue: SizeQueue<Place>, flow: Flow<Pass<Place>>, pass: Pass<Place>): void {
    this.#open--;
    sizeQueue.queue.end(flow);
    if (pass.place !== null) sizeQueue.free[sizeQueue.freeCount++] = pass.place;
    this.#wait.remove(flow.project, pass.bytes + PASS_BYTES, pass.elapsedMs);
  }

  #startPolls(): void {
    this.#polls.begin();
    this.#schedulePoll();
  }

  #schedulePoll(): void {
    this.#scheduled = true;
    this.#afterPoll(() => {
      if (this.#polls.continues(this.#isLoaded)) this.#schedulePoll();
      else this.#runSlice();
    });
  }

  get #isLoaded(): boolean {
    return this.#waiting >= ALWAYS_ADMITTED;
  }

  /** The time limit for the passes of this slice. */
  #sliceLimitMs(): number {
    return this.#isLoaded ? Math.max(SLICE_MS, this.#polls.elapsedMs * PASSES_PART) : SLICE_MS;
  }

  #runSlice(): void {
    this.#scheduled = false;
    this.#sliceMs = 0;
    const limit = this.#sliceLimitMs();
    for (;;) {
      const next = this.#next();
      if (next === null) {
        this.#hold();
        return;
      }
      const { isLong } = next.sizeQueue;
      if (this.#sliceMs >= (isLong && !this.#isLoaded ? LONG_SLICE_MS : limit)) break;
      // Passes in progress alternate within a slice as well.
      this.#advance(next.sizeQueue, next.flow, Math.min(limit, this.#sliceMs + (isLong ? LONG_SLICE_MS : SLICE_MS)));
    }
    if (this.#open > 0 && !this.#scheduled) this.#startPolls();
  }

  /** All passes that are left wait for room. This time says nothing about the time of passes. */
  #hold(): void {
    this.#busySince = null;
    if (this.#waiting === 0 || this.#checksHold) return;
    this.#checksHold = true;
    this.#after(HOLD_CHECK_MS, () => {
      this.#checksHold = false;
      this.noteRoom();
    });
  }

  #next(): { readonly sizeQueue: SizeQueue<Place>; readonly flow: Flow<Pass<Place>> } | null {
    let found: { readonly sizeQueue: SizeQueue<Place>; readonly flow: Flow<Pass<Place>> } | null = null;
    let leastMs = Number.POSITIVE_INFINITY;
    for (const sizeQueue of this.#queues) {
      const next = sizeQueue.queue.next();
      if (next === null || next.urgencyMs >= leastMs) continue;
      leastMs = next.urgencyMs;
      found = { sizeQueue, flow: next.flow };
    }
    return found;
  }
}
