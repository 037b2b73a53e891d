/**
 * Start-time fair queueing of passes that share one or a few arenas: the next pass is of the project with the least
 * time since it became active. A project has at most one pass in progress in a queue, so that it never holds every
 * arena.
 */

/** The virtual time that the queues of one process share: that of the project that was served last. */
export interface VirtualClock {
  now: number;
}

/** Projects without passes that are remembered. */
const MAX_IDLE_FLOWS = 1024;

/** The passes of one project. */
export interface Flow<Item> {
  readonly project: string;
  readonly waiting: Item[];
  running: Item | null;
  /** Milliseconds of the project's passes, plus the virtual time at which it became active. */
  virtualMs: number;
}

export class FairQueue<Item> {
  readonly #clock: VirtualClock;
  readonly #places: number;
  readonly #mayBegin: (project: string, item: Item) => boolean;
  readonly #flows = new Map<string, Flow<Item>>();
  /** The first `#activeCount` are those with a pass in progress or waiting. */
  readonly #active: Flow<Item>[] = [];
  #activeCount = 0;
  #running = 0;
  #waiting = 0;

  /** `places`: the limit of passes in progress. `mayBegin`: asked before each pass begins. */
  constructor(clock: VirtualClock, places: number, mayBegin: (project: string, item: Item) => boolean) {
    this.#clock = clock;
    this.#places = places;
    this.#mayBegin = mayBegin;
  }

  /** Begins the pass, if no other pass of its project or of this queue is before it. Null when it has to wait. */
  start(project: string, item: Item): Flow<Item> | null {
    if (this.#waiting > 0 || this.#running >= this.#places || !this.#mayBegin(project, item)) return null;
    const flow = this.#flowOf(project);
    if (flow.running !== null) return null;
    this.#activate(flow);
    flow.running = item;
    this.#running++;
    return flow;
  }

  add(project: string, item: Item): void {
    const flow = this.#flowOf(project);
    if (flow.running === null && flow.waiting.length === 0) this.#activate(flow);
    flow.waiting.push(item);
    this.#waiting++;
  }

  #flowOf(project: string): Flow<Item> {
    let flow = this.#flows.get(project);
    if (flow === undefined) {
      flow = { project, waiting: [], running: null, virtualMs: 0 };
      this.#flows.set(project, flow);
    }
    return flow;
  }

  #activate(flow: Flow<Item>): void {
    flow.virtualMs = this.#clock.now;
    this.#active[this.#activeCount++] = flow;
  }

  /** Whether a pass of the flow is in progress, or can begin. */
  isRunnable(flow: Flow<Item>): boolean {
    return flow.running !== null || this.#running < this.#places;
  }

  /**
   * The flow to serve next, and the virtual time that orders it among those of other queues; null when no pass can
   * begin or continue. The virtual time of a project whose pass may not begin does not fall behind, so that it is not
   * served before all others later.
   */
  next(): { readonly flow: Flow<Item>; readonly urgencyMs: number } | null {
    let next: Flow<Item> | null = null;
    let urgencyMs = Number.POSITIVE_INFINITY;
    for (let index = 0; index < this.#activeCount; index++) {
      const flow = this.#active[index] as Flow<Item>;
      if (flow.running === null && !this.#mayBegin(flow.project, flow.waiting[0] as Item)) {
        flow.virtualMs = Math.max(flow.virtualMs, this.#clock.now);
        continue;
      }
      // A pass in progress is as urgent as the passes that wait for its place.
      urgencyMs = Math.min(urgencyMs, flow.virtualMs);
      if (this.isRunnable(flow) && (next === null || flow.virtualMs < next.virtualMs)) next = flow;
    }
    return next === null ? null : { flow: next, urgencyMs };
  }

  /** Takes the flow's oldest waiting pass, which is then in progress. */
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

  /** The pass in progress has ended. */
  end(flow: Flow<Item>): void {
    flow.running = null;
    this.#running--;
    if (flow.waiting.length > 0) return;
    this.#activeCount--;
    this.#active[this.#active.indexOf(flow)] = this.#active[this.#activeCount] as Flow<Item>;
    if (this.#flows.size - this.#activeCount > MAX_IDLE_FLOWS) this.#forgetIdle();
  }

  #forgetIdle(): void {
    this.#flows.clear();
    this.#active.length = this.#activeCount;
    for (const flow of this.#active) this.#flows.set(flow.project, flow);
  }
}
