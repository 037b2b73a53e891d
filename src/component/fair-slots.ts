/**
 * Work of many holders on few slots: each holder waits in a queue of its own, and free slots go round the holders. One holder
 * alone gets all slots; a newcomer waits for one piece of work at most, however much others have queued.
 */
import { Rejection } from '../errors.ts';

export interface FairSlotsOptions {
  /** Pieces of work at once. */
  readonly slots: number;
  /** Most pieces that may wait for one holder. */
  readonly mostWaiting: number;
  /** What the work is, for the hint of a refusal. */
  readonly what: string;
}

type Start = () => void;

export class FairSlots {
  readonly #options: FairSlotsOptions;
  /** In the order of their next turn; only holders that wait. */
  readonly #waiting = new Map<string, Start[]>();
  #running = 0;

  constructor(options: FairSlotsOptions) {
    this.#options = options;
  }

  get running(): number {
    return this.#running;
  }

  /** Rejects with `overloaded` when too much waits for the holder; otherwise with what the work rejects with. */
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

  /** The slot passes on without becoming free in between. */
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
