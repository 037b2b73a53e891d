/**
 * The daemon's own metrics as components see them. Names follow the Collector (`otelcol_…`) where it has one, else `sluice_…`.
 * Label values come from closed sets of ours, never from a client's bytes.
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
  /** `read` is called at every scrape. */
  gauge(name: string, help: string, read: () => number): void;
}
