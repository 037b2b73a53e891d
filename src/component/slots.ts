/** Runs a few pieces of work at once. The others wait in order, and a limited number of them. */
import { Rejection } from '../errors.ts';

export interface SlotsOptions {
  /** Pieces of work that run at once. */
  readonly atOnce: number;
  readonly mostWaiting: number;
  /** The name of the work, for the hint of a refusal. */
  readonly what: string;
}

export class Slots {
  readonly #options: SlotsOptions;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(options: SlotsOptions) {
    this.#options = options;
  }

  /** Rejects with `overloaded` when too many wait; otherwise settles like the work. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#options.atOnce) await this.#turn();
    else this.#running++;
    try {
      return await work();
    } finally {
      this.#next();
    }
  }

  #turn(): Promise<void> {
    const { length } = this.#waiting;
    if (length >= this.#options.mostWaiting)
      throw new Rejection('overloaded', { hint: `${length} wait for ${this.#options.what}` });
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Passes the slot on without freeing it in between. */
  #next(): void {
    const start = this.#waiting.shift();
    if (start === undefined) this.#running--;
    else start();
  }
}
