/**
 * A meter that holds back how gauges are read until it is released: while new components start beside running ones, the
 * figures must go on being those of the running ones, and a start that fails must leave no trace in them.
 */
import type { Counter, Histogram, Meter } from '../../component/meter.ts';

export class StagedMeter implements Meter {
  readonly #meter: Meter;
  #held: (() => void)[] | null = [];

  constructor(meter: Meter) {
    this.#meter = meter;
  }

  counter(name: string, help: string): Counter {
    return this.#meter.counter(name, help);
  }

  histogram(name: string, help: string, bounds: readonly number[]): Histogram {
    return this.#meter.histogram(name, help, bounds);
  }

  gauge(name: string, help: string, read: () => number): void {
    const register = (): void => this.#meter.gauge(name, help, read);
    if (this.#held === null) register();
    else this.#held.push(register);
  }

  release(): void {
    for (const register of this.#held ?? []) register();
    this.#held = null;
  }
}
