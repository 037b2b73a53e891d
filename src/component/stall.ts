/** Notices that writes take very long, because their disk does not answer, and reports it. */
import type { Logger } from './logger.ts';

/** Writes that take longer stall. SDKs wait 10 s for their answer. */
const STALL_MS = 5000;

export class Stall {
  readonly #path: string;
  readonly #logger: Logger;
  readonly #afterMs: number;
  readonly #callbacks = new Set<() => void>();
  /** Writes that take too long at present. */
  #overdue = 0;
  #sinceMs = 0;

  /** `path`: what is written. */
  constructor(path: string, logger: Logger, afterMs = STALL_MS) {
    this.#path = path;
    this.#logger = logger;
    this.#afterMs = afterMs;
  }

  /** Whether a write takes too long at present. */
  get active(): boolean {
    return this.#overdue > 0;
  }

  /** Calls back each time `active` becomes true. Returns the function that unsubscribes. */
  on(callback: () => void): () => void {
    this.#callbacks.add(callback);
    return () => void this.#callbacks.delete(callback);
  }

  async watch<T>(write: () => Promise<T>): Promise<T> {
    let isOverdue = false;
    const timer = setTimeout(() => {
      isOverdue = true;
      if (this.#overdue++ === 0) this.#begin();
    }, this.#afterMs);
    try {
      return await write();
    } finally {
      clearTimeout(timer);
      if (isOverdue && --this.#overdue === 0) this.#end();
    }
  }

  #begin(): void {
    this.#sinceMs = performance.now() - this.#afterMs;
    this.#logger.error(
      { path: this.#path, fix: 'Check the disk, or the server of a network file system.' },
      'the disk does not answer: requests are answered 503 until it does',
    );
    for (const callback of this.#callbacks) callback();
  }

  #end(): void {
    const seconds = Math.round((performance.now() - this.#sinceMs) / 1000);
    this.#logger.info({ path: this.#path, seconds }, 'the disk answers again');
  }
}
