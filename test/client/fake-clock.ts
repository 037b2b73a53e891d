/** A clock that a test moves. */
import type { Clock } from '../../src/client/clock.ts';
import { PATIENCE_MS } from '../support/patience.ts';

interface Timer {
  readonly delayMs: number;
  readonly at: number;
  readonly task: () => void;
}

const START_MS = Date.UTC(2026, 0, 1);

export class FakeClock implements Clock {
  readonly #timers = new Set<Timer>();
  readonly #watchers = new Set<() => void>();
  #elapsedMs = 0;

  wallMs(): number {
    return START_MS + this.#elapsedMs;
  }

  monotonicMs(): number {
    return this.#elapsedMs;
  }

  after(delayMs: number, task: () => void): () => void {
    const timer = { delayMs, at: this.#elapsedMs + delayMs, task };
    this.#timers.add(timer);
    for (const look of this.#watchers) look();
    return () => void this.#timers.delete(timer);
  }

  /** The delays of the timers that have not run. */
  get waiting(): readonly number[] {
    return [...this.#timers].map(({ delayMs }) => delayMs);
  }

  /** Moves the time, and runs what is due in order. */
  advance(ms: number): void {
    const end = this.#elapsedMs + ms;
    for (;;) {
      const [next] = [...this.#timers].filter(({ at }) => at <= end).sort((one, other) => one.at - other.at);
      if (next === undefined) break;
      this.#timers.delete(next);
      this.#elapsedMs = next.at;
      next.task();
    }
    this.#elapsedMs = end;
  }

  /** Waits for a timer with this delay, and moves the time to it. */
  async pass(delayMs: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const patience = setTimeout(() => {
        reject(new Error(`no timer of ${delayMs} ms; there are ${this.waiting.join(', ')}`));
      }, PATIENCE_MS);
      const look = (): void => {
        if (!this.waiting.includes(delayMs)) return;
        this.#watchers.delete(look);
        clearTimeout(patience);
        resolve();
      };
      this.#watchers.add(look);
      look();
    });
    const timer = [...this.#timers].find((each) => each.delayMs === delayMs);
    if (timer !== undefined) this.advance(timer.at - this.#elapsedMs);
  }
}
