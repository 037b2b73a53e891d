/**
 * Passes of several projects that share one or a few memories, by start-time fair queueing: the project that has had the least
 * time since it became active comes next. A project has at most one pass in progress here, so that it never holds every memory.
 */

/** The virtual time that the queues of one process share: how far the project that was served last had come. */
export interface VirtualClock {
  now: number;
}

/** One project while it has passes here. */
export interface Flow<Item> {
  readonly project: string;
  readonly waiting: Item[];
  running: Item | null;
  /** The milliseconds that the project has had, counted from the virtual time at which it became active. */
  virtualMs: number;
}

export class FairQueue<Item> {
  readonly #clock: VirtualClock;
  readonly #places: number;
  readonly #flows = new Map<string, Flow<Item>>();
  #running = 0;
  #waiting = 0;

  /** `places`: the passes that may be in progress at a time. */
  constructor(clock: VirtualClock, places: number) {
    this.#clock = clock;
    this.#places = places;
  }

  add(project: string, item: Item): Flow<Item> {
    let flow = this.#flows.get(project);
    if (flow === undefined) {
      flow = { project, waiting: [], running: null, virtualMs: this.#clock.now };
      this.#flows.set(project, flow);
    }
    flow.waiting.push(item);
    this.#waiting++;
    return flow;
  }

  /** Passes that have not begun. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Whether a pass of the flow is in progress, or can begin. */
  isRunnable(flow: Flow<Item>): boolean {
    return flow.running !== null || this.#running < this.#places;
  }

  /** The flow to be served next, and the virtual time that orders it among those of other queues; null when nothing is left. */
  next(): { readonly flow: Flow<Item>; readonly urgencyMs: number } | null {
    let next: Flow<Item> | null = null;
    let urgencyMs = Number.POSITIVE_INFINITY;
    for (const flow of this.#flows.values()) {
      // A pass in progress is as urgent as the passes that wait for its place.
      urgencyMs = Math.min(urgencyMs, flow.virtualMs);
      if (this.isRunnable(flow) && (next === null || flow.virtualMs < next.virtualMs)) next = flow;
    }
    return next === null ? null : { flow: next, urgencyMs };
  }

  /** Takes the flow's oldest pass that waits; it is in progress from here on. */
  begin(flow: Flow<Item>): Item {
    const item = flow.waiting.shift();
    if (item === undefined || flow.running !== null) throw new Error('the flow has no pass to begin');
    flow.running = item;
    this.#running++;
    this.#waiting--;
    return item;
  }

  charge(flow: Flow<Item>, ms: number): void {
    this.#clock.now = Math.max(this.#clock.now, flow.virtualMs);
    flow.virtualMs += ms;
  }

  /** The pass in progress is over. */
  end(flow: Flow<Item>): void {
    flow.running = null;
    this.#running--;
    if (flow.waiting.length === 0) this.#flows.delete(flow.project);
  }
}
