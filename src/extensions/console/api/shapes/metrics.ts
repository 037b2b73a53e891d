/** Metrics by name, and the series of one. */
import type { Nanoseconds, PartOfRange } from './answers.ts';

/** `GET …/metrics` */
export interface MetricNames extends PartOfRange {
  readonly items: readonly MetricName[];
  /** Whether there are more names than are answered. */
  readonly more: boolean;
}

export interface MetricName {
  readonly name: string;
  readonly type: string;
  readonly unit: string | null;
  readonly description: string | null;
  readonly temporality: string | null;
  readonly last_time_unix_nano: Nanoseconds | null;
}

/** `level`: gauges, and sums that also fall. `count`: increases of monotonic sums. `distribution`: the others. */
export type MetricForm = 'level' | 'count' | 'distribution';

/** `GET …/metrics/series?name&from&to&interval&by` */
export interface MetricSeriesAnswer extends PartOfRange {
  readonly name: string;
  readonly from: Nanoseconds;
  readonly to: Nanoseconds;
  /** A Go duration; points start at multiples of it since 1970. */
  readonly interval: string;
  readonly by: string;
  /** Null, like the next ones: there is no such metric. */
  readonly type: string | null;
  readonly unit: string | null;
  readonly description: string | null;
  readonly temporality: string | null;
  readonly is_monotonic: boolean | null;
  /** The time of the newest point, also outside of the range. */
  readonly last_time_unix_nano: Nanoseconds | null;
  readonly form: MetricForm;
  /** How many of the newest stored points were read, and back to which time. */
  readonly points_examined: number;
  readonly reached: Nanoseconds | null;
  /** Whether there are more points than were read. */
  readonly cut: boolean;
  /** How often a cumulative value restarted. */
  readonly resets: number;
  readonly series_count: number;
  /** Content. Names of attributes by which the series can be grouped. */
  readonly attribute_names: readonly string[];
  /** At most 50. */
  readonly series: readonly MetricSeries[];
}

export interface MetricSeries {
  readonly key: MetricKey;
  /** Points without a value are left out. */
  readonly points: readonly MetricPoint[];
}

/** `value` is of the groups by environment and attribute. */
export interface MetricKey {
  readonly service?: string | null;
  readonly value?: string | null;
  /** Content. */
  readonly attributes?: Readonly<Record<string, unknown>>;
}

/**
 * The value of a level is its mean (gauges) or total, that of a count its increase, that of a distribution its mean.
 * `count` is the number of observations of a distribution, else of stored points.
 */
export type MetricPoint = readonly [
  time: Nanoseconds,
  value: number | null,
  min: number | null,
  max: number | null,
  count: number | null,
  sum: number | null,
  p50: number | null,
  p95: number | null,
  p99: number | null,
];
