/**
 * Shares a few slots between many holders. Each holder has its own queue, and free slots are given to the holders in
 * turn. One holder alone gets all slots; another one waits for at most one piece of work, however long the other queues
 * are.
 */
import { Rejection } from '../errors.ts';

export interface FairSlotsOptions {
  /** Pieces of work that run at once. */
  readonly slots: number;
  /** Most pieces of work that wait for one holder. */
  readonly mostWaiting: number;
  /** The name of the work, for the hint of a refusal. */
  readonly what: string;
}

type Start = () => void;

export class FairSlots {
  readonly #options: FairSlotsOptions;
  /** In the order in which they get slots; only holders with waiting work. */
  readonly #waiting = new Map<string, Start[]>();
  #running = 0;

  constructor(options: FairSlotsOptions) {
    this.#options = options;
  }

  get running(): number {
    return this.#running;
  }

  /** Rejects with `overloaded` when the queue of the holder is full; otherwise settles like the work. */
  async run<T>(holder: string, work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#options.slots) await this.#turn(holder);
    else this.#running++;
    try {
      return await work();
    } finally {
      this.#next();
    }
  }

  #turn(holder: string): Promise<void> {
    const queue = this.#waiting.get(holder) ?? [];
    if (queue.length >= this.#options.mostWaiting)
      throw new Rejection('overloaded', { hint: `${queue.length} wait for ${this.#options.what}` });
    this.#waiting.set(holder, queue);
    return new Promise((resolve) => queue.push(resolve));
  }

  /** Passes the slot to the next holder without freeing it in between. */
  #next(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#running--;
      return;
    }
    const [holder, queue] = next;
    const start = queue.shift();
    this.#waiting.delete(holder);
    if (queue.length > 0) this.#waiting.set(holder, queue);
    start?.();
  }
}
