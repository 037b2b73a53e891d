/**
 * Gives memory back when the process has become idle: garbage of the start or of the last load, and the young
 * generation (32 MiB), which the engine shrinks only in a full collection that follows some seconds with few
 * allocations. So an idle period begins with several collections, the last of which returns more memory, and has no
 * more: those that the engine would begin remove compiled code, which the next load needs.
 */
import { constants, PerformanceObserver } from 'node:perf_hooks';
import { allowSteps, beginCollection } from '../service/collect-garbage.ts';
import { beginReducingCollection } from './heap.ts';

/** Shorter than the five seconds after which the engine finds that there are few allocations. */
const TICK_MS = 2_000;
/** Processor time of the process in a tick, below which it is idle. A slow machine takes 20 to 40 ms without a load. */
const IDLE_US = 80_000;
/** Idle ticks before each collection. */
const TICKS = 5;
const COLLECTIONS = 3;

/** An entry of `PerformanceObserver`; the types of Node.js have no details of it. */
interface GcEntry {
  readonly detail: { readonly kind: number };
}

interface Engine {
  beginCollection(): void;
  beginReducingCollection(): void;
  allowSteps(allowed: boolean): void;
}

export class IdleCollections {
  readonly #process: Pick<NodeJS.Process, 'cpuUsage'>;
  readonly #engine: Engine;
  #usage: NodeJS.CpuUsage;
  #idleTicks = 0;
  /** Whether a collection of this class has not ended. */
  #isCollecting = false;

  constructor(
    process: Pick<NodeJS.Process, 'cpuUsage'>,
    engine: Engine = { beginCollection, beginReducingCollection, allowSteps },
  ) {
    this.#process = process;
    this.#engine = engine;
    this.#usage = process.cpuUsage();
  }

  start(): void {
    setInterval(() => this.tick(), TICK_MS).unref();
    new PerformanceObserver((list) => {
      for (const { detail } of list.getEntries() as unknown as GcEntry[])
        this.collected(detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR);
    }).observe({ entryTypes: ['gc'] });
  }

  /** Must be called in equal intervals. */
  tick(): void {
    if (this.#isBusy()) {
      this.#idleTicks = 0;
      this.#engine.allowSteps(true);
    } else {
      this.#idleTicks++;
      const isDue = this.#idleTicks % TICKS === 0 && this.#idleTicks <= TICKS * COLLECTIONS;
      this.#engine.allowSteps(isDue);
      this.#isCollecting = isDue;
      if (this.#idleTicks === TICKS * COLLECTIONS) this.#engine.beginReducingCollection();
      else if (isDue) this.#engine.beginCollection();
    }
    this.#usage = this.#process.cpuUsage();
  }

  /** Must be called after each collection of the engine. */
  collected(isFull: boolean): void {
    if (this.#isCollecting && isFull) {
      this.#isCollecting = false;
      this.#engine.allowSteps(false);
      // The time of the collection itself is no load.
      this.#usage = this.#process.cpuUsage();
    } else if (this.#isBusy()) this.#engine.allowSteps(true);
  }

  #isBusy(): boolean {
    const { user, system } = this.#process.cpuUsage(this.#usage);
    return user + system >= IDLE_US;
  }
}
