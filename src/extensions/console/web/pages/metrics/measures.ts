/** What the page shows of the points of a metric. */
import type { MetricForm, MetricKey, MetricPoint } from '../../../api/shapes/metrics.ts';
import { exactText } from '../../../../../pdata/exact-json.ts';
import { visible } from '../../text/visible.ts';
import { UNKNOWN, bytes, count, exactly, tookMs } from '../../text/figures.ts';

export interface Measure {
  readonly id: string;
  readonly name: string;
  readonly of: (point: MetricPoint, seconds: number) => number | null;
  /** In the unit of the metric, else a number. */
  readonly hasUnit: boolean;
  /** Whether values of series can be added. */
  readonly isSum: boolean;
  readonly perSecond?: true;
}

type At = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8;

const at = (id: string, name: string, index: At, more: Partial<Measure> = {}): Measure => ({
  id,
  name,
  of: (point) => point[index],
  hasUnit: true,
  isSum: false,
  ...more,
});

const rate = (id: string, name: string, index: At, hasUnit: boolean): Measure => ({
  ...at(id, name, index, { hasUnit, isSum: true, perSecond: true }),
  of: (point, seconds) => (point[index] === null ? null : (point[index] ?? 0) / seconds),
});

/** The first one is shown unless the reader chooses another. */
export const MEASURES: Readonly<Record<MetricForm, readonly [Measure, ...Measure[]]>> = {
  level: [at('mean', 'Value', 1), at('min', 'Least', 2), at('max', 'Most', 3)],
  count: [rate('rate', 'Per second', 1, true), at('increase', 'Increase', 1, { isSum: true })],
  distribution: [
    at('p95', 'p95', 7),
    at('p50', 'p50', 6),
    at('p99', 'p99', 8),
    at('mean', 'Mean', 1),
    rate('rate', 'Observations per second', 4, false),
    at('count', 'Observations', 4, { hasUnit: false, isSum: true }),
    at('sum', 'Sum', 5, { isSum: true }),
  ],
};

const MS: Readonly<Record<string, number>> = { s: 1_000, ms: 1, us: 1e-3, ns: 1e-6, min: 60_000, h: 3_600_000 };
const NO_UNITS = ['', '1'];
/** Characters of a unit beside each number. The head of the metric has all of it. */
const LONGEST_UNIT = 12;

/** Units as UCUM writes them; `{request}` is a comment. */
export function formatOf(measure: Measure, unit: string | null): (value: number | null) => string {
  const plain = (unit ?? '').replace(/\{[^}]*\}/gu, '');
  const suffix = measure.perSecond === true ? '/s' : '';
  return (value) => {
    if (value === null) return UNKNOWN;
    const ms = MS[plain];
    if (!measure.hasUnit || NO_UNITS.includes(plain)) return short(value) + suffix;
    if (ms !== undefined && value >= 0) return tookMs(value * ms) + suffix;
    if (plain === 'By' && value >= 0) return bytes(Math.round(value)) + suffix;
    return `${short(value)} ${visible(plain.length > LONGEST_UNIT ? `${plain.slice(0, LONGEST_UNIT - 1)}…` : plain)}${suffix}`;
  };
}

/** Three digits are enough for an axis and a table. */
function short(value: number): string {
  if (Number.isInteger(value) && Math.abs(value) < 10_000) return exactly(value);
  return Math.abs(value) >= 1_000
    ? `${value < 0 ? '−' : ''}${count(Math.abs(value))}`
    : String(Number(value.toPrecision(3)));
}

export function nameOf({ service, value, attributes }: MetricKey): string {
  const texts = Object.entries(attributes ?? {}).map(
    ([name, each]) => `${name}=${typeof each === 'string' ? each : exactText(each)}`,
  );
  if (value !== undefined) return value ?? 'no value';
  const all = [...(service === undefined ? [] : [service ?? 'no service']), ...texts];
  return all.length === 0 ? 'all series' : all.join(' ');
}
