/**
 * The daemon's metrics, for components. Names follow the Collector (`otelcol_…`) where it has an equivalent, otherwise
 * `sluice_…`. Label values come from closed sets, never from the bytes of a client.
 */
export interface Counter {
  add(value: number, labels?: Readonly<Record<string, string>>): void;
}

export interface Histogram {
  record(value: number, labels?: Readonly<Record<string, string>>): void;
}

export interface Meter {
  counter(name: string, help: string): Counter;
  histogram(name: string, help: string, bounds: readonly number[]): Histogram;
  /** `read` is called at each scrape. */
  gauge(name: string, help: string, read: () => number): void;
}
