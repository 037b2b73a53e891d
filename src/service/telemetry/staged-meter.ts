/**
 * A meter that registers gauges only when it is released. While new components start during a reload, the gauges still
 * read the running ones, and a failed start does not change them.
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
