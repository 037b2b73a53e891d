/** Notices that the work on a file takes very long, because its disk does not answer, and reports it. */
import type { Logger } from '../../component/logger.ts';

export class Stall {
  readonly #path: string;
  readonly #logger: Logger;
  readonly #afterMs: number;
  readonly #callbacks = new Set<() => void>();
  #active = false;

  constructor(path: string, logger: Logger, afterMs: number) {
    this.#path = path;
    this.#logger = logger;
    this.#afterMs = afterMs;
  }

  /** Whether the work takes very long at present. */
  get active(): boolean {
    return this.#active;
  }

  /** Calls back each time `active` becomes true. Returns the function that unsubscribes. */
  on(callback: () => void): () => void {
    this.#callbacks.add(callback);
    return () => void this.#callbacks.delete(callback);
  }

  /** One work at a time. */
  async watch(work: () => Promise<void>): Promise<void> {
    const started = performance.now();
    const timer = setTimeout(() => this.#begin(), this.#afterMs);
    try {
      await work();
    } finally {
      clearTimeout(timer);
      if (this.#active) this.#end(performance.now() - started);
    }
  }

  #begin(): void {
    this.#active = true;
    this.#logger.error(
      { path: this.#path, fix: 'Check the disk, or the server of a network file system.' },
      'the disk does not answer: requests are answered 503 until it does',
    );
    for (const callback of this.#callbacks) callback();
  }

  #end(ms: number): void {
    this.#active = false;
    this.#logger.warn({ path: this.#path, seconds: Math.round(ms / 1000) }, 'the disk answers again');
  }
}
