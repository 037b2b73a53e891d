/**
 * The daemon's metrics, for components. Names follow the Collector (`otelcol_…`) where it has an equivalent, otherwise
 * `sluice_…`. Label values come from closed sets, never from the bytes of a client.
 */
import type { Signal } from '../pdata/context.ts';

/** The Collector's name of the records of each signal, as in `otelcol_receiver_accepted_spans`. */
export const RECORD_NOUNS = {
  traces: 'spans',
  logs: 'log_records',
  metrics: 'metric_points',
} as const satisfies Record<Signal, string>;

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
