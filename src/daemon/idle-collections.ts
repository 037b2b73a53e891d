/**
 * Gives memory back when the process has become idle: garbage of the start or of the last load, and the young
 * generation (32 MiB), which the engine shrinks only in a full collection that follows some seconds with few
 * allocations. So an idle period begins with several collections, and has no more.
 */
import { beginCollection } from '../service/collect-garbage.ts';

const TICK_MS = 10_000;
/** Processor time of the process in a tick, below which it is idle. */
const IDLE_US = 200_000;
const COLLECTIONS = 3;

export class IdleCollections {
  readonly #process: Pick<NodeJS.Process, 'cpuUsage'>;
  readonly #begin: () => void;
  #usage: NodeJS.CpuUsage;
  #left = COLLECTIONS;

  constructor(process: Pick<NodeJS.Process, 'cpuUsage'>, begin: () => void = beginCollection) {
    this.#process = process;
    this.#begin = begin;
    this.#usage = process.cpuUsage();
  }

  start(): void {
    setInterval(() => this.tick(), TICK_MS).unref();
  }

  /** Must be called in equal intervals. */
  tick(): void {
    const { user, system } = this.#process.cpuUsage(this.#usage);
    if (user + system >= IDLE_US) this.#left = COLLECTIONS;
    else if (this.#left > 0) {
      this.#left--;
      this.#begin();
    }
    this.#usage = this.#process.cpuUsage();
  }
}
