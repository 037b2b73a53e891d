/** The daemon's metrics, kept in memory and printed in the Prometheus text format. */
import type { Counter, Histogram, Meter } from '../../component/meter.ts';
import { type Family, type Labels, printFamilies } from './families.ts';

/**
 * The limit of label combinations of a metric. Label values are closed sets, so more of them are a bug and are ignored.
 */
const MAX_SERIES = 1000;

interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** The `constant` labels are on every line. */
  lines(constant: Labels): readonly string[];
  total(): number;
  values(): readonly Series[];
}

interface Series {
  readonly labels: Labels;
  readonly value: number;
}

export class Registry implements Meter {
  readonly #metrics = new Map<string, Metric>();
  readonly #constant: Labels;

  /** The `constant` labels are on every line, for example the number of the worker. */
  constructor(constant: Labels = NO_LABELS) {
    this.#constant = constant;
  }

  counter(name: string, help: string): Counter {
    return this.#register(name, () => new CounterMetric(name, help), CounterMetric);
  }

  histogram(name: string, help: string, bounds: readonly number[]): Histogram {
    return this.#register(name, () => new HistogramMetric(name, help, bounds), HistogramMetric);
  }

  /** A second registration replaces the first: the newer component is the running one. */
  gauge(name: string, help: string, read: () => number): void {
    this.#metrics.set(name, {
      name,
      help,
      type: 'gauge',
      lines: (constant) => [`${name}${printLabels(constant)} ${printNumber(read())}`],
      total: read,
      values: () => [{ labels: NO_LABELS, value: read() }],
    });
  }

  /** Over all labels: the value of a counter or gauge, the count of a histogram. Zero for an unknown metric. */
  total(name: string): number {
    return this.#metrics.get(name)?.total() ?? 0;
  }

  /** The values of a counter, or the counts of a histogram, by one label. */
  by(name: string, label: string): Readonly<Record<string, number>> {
    const totals: Record<string, number> = {};
    for (const { labels, value } of this.#metrics.get(name)?.values() ?? []) {
      const key = labels[label] ?? '';
      totals[key] = (totals[key] ?? 0) + value;
    }
    return totals;
  }

  /** The counts of a histogram over all labels, by the upper bound of their bucket; the last one is `+Inf`. */
  buckets(name: string): Readonly<Record<string, number>> {
    const metric = this.#metrics.get(name);
    return metric instanceof HistogramMetric ? metric.buckets() : {};
  }

  /** The Prometheus text exposition format, version 0.0.4. */
  print(): string {
    return printFamilies(this.families());
  }

  families(): readonly Family[] {
    return [...this.#metrics.values()].map((metric) => ({
      name: metric.name,
      help: metric.help,
      type: metric.type,
      lines: metric.lines(this.#constant),
    }));
  }

  /** Components share a metric by its name. */
  #register<M extends Metric>(name: string, make: () => M, type: new (...parts: never[]) => M): M {
    const known = this.#metrics.get(name);
    if (known instanceof type) return known;
    if (known !== undefined) throw new Error(`the metric ${name} is already of another type`);
    const metric = make();
    this.#metrics.set(name, metric);
    return metric;
  }
}

class CounterMetric implements Metric, Counter {
  readonly name: string;
  readonly help: string;
  readonly type = 'counter';
  readonly #series = new Map<string, { readonly labels: Labels; value: number }>();

  constructor(name: string, help: string) {
    this.name = name;
    this.help = help;
  }

  add(value: number, labels: Labels = NO_LABELS): void {
    const key = keyOf(labels);
    const known = this.#series.get(key);
    if (known !== undefined) known.value += value;
    else if (this.#series.size < MAX_SERIES) this.#series.set(key, { labels, value });
  }

  total(): number {
    return sum(this.values());
  }

  values(): readonly Series[] {
    return [...this.#series.values()];
  }

  lines(constant: Labels): readonly string[] {
    return [...this.#series.values()].map(
      ({ labels, value }) => `${this.name}${printLabels({ ...labels, ...constant })} ${printNumber(value)}`,
    );
  }
}

interface Distribution {
  readonly counts: number[];
  sum: number;
  count: number;
}

class HistogramMetric implements Metric, Histogram {
  readonly name: string;
  readonly help: string;
  readonly type = 'histogram';
  readonly #bounds: readonly number[];
  readonly #series = new Map<string, { readonly labels: Labels; readonly distribution: Distribution }>();

  constructor(name: string, help: string, bounds: readonly number[]) {
    this.name = name;
    this.help = help;
    this.#bounds = bounds;
  }

  record(value: number, labels: Labels = NO_LABELS): void {
    const distribution = this.#distribution(labels);
    if (distribution === null) return;
    const bucket = this.#bounds.findIndex((bound) => value <= bound);
    const index = bucket < 0 ? this.#bounds.length : bucket;
    distribution.counts[index] = (distribution.counts[index] ?? 0) + 1;
    distribution.sum += value;
    distribution.count++;
  }

  total(): number {
    return sum(this.values());
  }

  values(): readonly Series[] {
    return [...this.#series.values()].map(({ labels, distribution }) => ({ labels, value: distribution.count }));
  }

  buckets(): Readonly<Record<string, number>> {
    const bounds = [...this.#bounds, Number.POSITIVE_INFINITY];
    const series = [...this.#series.values()];
    return Object.fromEntries(
      bounds.map((bound, index) => [
        printNumber(bound),
        series.reduce((total, { distribution }) => total + (distribution.counts[index] ?? 0), 0),
      ]),
    );
  }

  lines(constant: Labels): readonly string[] {
    return [...this.#series.values()].flatMap(({ labels, distribution }) =>
      this.#print({ ...labels, ...constant }, distribution),
    );
  }

  #distribution(labels: Labels): Distribution | null {
    const key = keyOf(labels);
    const known = this.#series.get(key);
    if (known !== undefined) return known.distribution;
    if (this.#series.size >= MAX_SERIES) return null;
    const distribution = { counts: new Array<number>(this.#bounds.length + 1).fill(0), sum: 0, count: 0 };
    this.#series.set(key, { labels, distribution });
    return distribution;
  }

  #print(labels: Labels, distribution: Distribution): string[] {
    let cumulative = 0;
    const buckets = [...this.#bounds.map(printNumber), '+Inf'].map((bound, index) => {
      cumulative += distribution.counts[index] ?? 0;
      return `${this.name}_bucket${printLabels({ ...labels, le: bound })} ${cumulative}`;
    });
    const suffix = printLabels(labels);
    return [
      ...buckets,
      `${this.name}_sum${suffix} ${printNumber(distribution.sum)}`,
      `${this.name}_count${suffix} ${distribution.count}`,
    ];
  }
}

const NO_LABELS: Labels = {};

const sum = (series: readonly Series[]): number => series.reduce((total, { value }) => total + value, 0);

/** The key of a series. The label names of a metric are always the same, so the values are enough. */
function keyOf(labels: Labels): string {
  let key = '';
  for (const name in labels) key += `${labels[name]}\0`;
  return key;
}

function printLabels(labels: Labels): string {
  const entries = Object.entries(labels);
  if (entries.length === 0) return '';
  return `{${entries.map(([name, value]) => `${name}="${value.replace(/[\\"\n]/g, (c) => (c === '\n' ? '\\n' : `\\${c}`))}"`).join(',')}}`;
}

function printNumber(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  if (value === Number.NEGATIVE_INFINITY) return '-Inf';
  return String(value);
}
