/** The names of metrics, and one metric over time. */
import t, { type Test } from 'tap';
import { showMetric } from '../../../../src/extensions/console/api/metric-series.ts';
import { listMetrics } from '../../../../src/extensions/console/api/metrics.ts';
import type { MetricSeriesAnswer } from '../../../../src/extensions/console/api/shapes/metrics.ts';
import { BASE_NS, metricRow, startReading } from '../../../support/console-reading.ts';
import { MINUTE_MS } from '../../../../src/pdata/time-units.ts';

const reading = await startReading(t);
const nsAt = (ms: number): string => String(BASE_NS + BigInt(ms) * 1_000_000n);
const START = { start_time_unix_nano: nsAt(-3_600_000) };

interface Asking {
  readonly by?: string;
  readonly interval?: string;
  readonly from?: string;
  readonly to?: string;
}

const query = (name: string, asking: Asking = {}) => ({
  name,
  from: nsAt(0),
  to: nsAt(10 * MINUTE_MS),
  interval: '1m',
  ...asking,
});
const ask = (name: string, asking?: Asking): Promise<MetricSeriesAnswer> =>
  reading.ask(showMetric, { query: query(name, asking) });
/** Minute and value of each point of the first series. */
const values = ({ series }: MetricSeriesAnswer): readonly unknown[] =>
  (series[0]?.points ?? []).map(([time, value]) => [Number((BigInt(time) - BASE_NS) / 60_000_000_000n), value]);
const close = (t: Test, found: number | null | undefined, wanted: number): void => {
  t.ok(found != null && Math.abs(found - wanted) <= Math.abs(wanted) * 1e-9, `${found} is ${wanted}`);
};

/** One point a minute. */
const counter = (name: string, points: readonly (number | null)[], more: object = {}): readonly object[] =>
  points.flatMap((value, at) =>
    value === null
      ? []
      : [
          metricRow({
            name,
            type: 'sum',
            temporality: 'cumulative',
            is_monotonic: true,
            value_double: value,
            at: at * MINUTE_MS,
            ...START,
            ...more,
          }),
        ],
  );

t.test('metrics are listed by name, those of other projects are not', async (t) => {
  await reading.insert('metric_points', [
    metricRow({ name: 'b', type: 'sum', unit: '1', value_int: 1, at: 1 }),
    metricRow({ name: 'b', type: 'sum', unit: '1', value_int: 2, at: 3 }),
    metricRow({ name: 'a', type: 'histogram', count: 2, sum: 5, at: 1 }),
    metricRow({ name: 'foreign', project: 'other', type: 'gauge' }),
  ]);
  const { items, more } = await reading.ask(listMetrics);
  t.match(items, [
    { name: 'a', type: 'histogram' },
    { name: 'b', unit: '1', last_time_unix_nano: nsAt(3) },
  ]);
  t.equal(items.length, 2);
  t.equal(more, false);
  t.same((await reading.ask(listMetrics, { project: 'empty' })).items, []);
});

t.test('a cumulative counter: increases, a gap, a reset, and a point before the range', async (t) => {
  await reading.insert('metric_points', [
    ...counter('requests', [10, 15, null, null, 21, 4, 9]),
    metricRow({
      name: 'requests',
      type: 'sum',
      temporality: 'cumulative',
      is_monotonic: true,
      value_double: 7,
      at: -MINUTE_MS,
      ...START,
    }),
  ]);
  const answer = await ask('requests');
  t.same(values(answer), [
    [0, 3],
    [1, 5],
    [4, 6],
    [5, 4],
    [6, 5],
  ]);
  t.match(answer, { form: 'count', type: 'sum', resets: 1, cut: false, points_examined: 6, series_count: 1 });
});

t.test('a counter without a point before: the first value is unknown, unless it began in the range', async (t) => {
  await reading.insert('metric_points', [
    ...counter('old', [100, 103]),
    ...counter('new', [100, 103], { start_time_unix_nano: nsAt(0) }),
  ]);
  t.same(values(await ask('old')), [
    [0, null],
    [1, 3],
  ]);
  t.same(values(await ask('new')), [
    [0, 100],
    [1, 3],
  ]);
});

t.test('a start that moves is a reset, although the value grew', async (t) => {
  const before = counter('restarted', [5]);
  const after = counter('restarted', [null, 8], { start_time_unix_nano: nsAt(30_000) });
  await reading.insert('metric_points', [...before, ...after]);
  const answer = await ask('restarted');
  t.same(values(answer), [
    [0, null],
    [1, 8],
  ]);
  t.equal(answer.resets, 1);
});

t.test('two instances are two streams: their counters do not reset each other', async (t) => {
  const of = (instance: string) => ({ service_name: 'web', resource: { 'service.instance.id': instance } });
  await reading.insert('metric_points', [
    ...counter('shared', [1000, 1001, 1002], of('one')),
    ...counter('shared', [5, 15, 25], of('two')),
  ]);
  const answer = await ask('shared', { by: 'service' });
  t.same(answer.series[0]?.key, { service: 'web' });
  t.same(values(answer), [
    [0, null],
    [1, 11],
    [2, 11],
  ]);
  t.equal(answer.resets, 0);
});

t.test('delta sums are added up; other sums are levels', async (t) => {
  const delta = { temporality: 'delta', is_monotonic: true };
  await reading.insert('metric_points', [
    ...counter('deltas', [3, 0, 5], delta),
    ...counter('deltas', [1], { ...delta, attributes: { x: 1 } }),
    ...counter('queue', [4, 2], { is_monotonic: false, attributes: { n: 'a' } }),
    ...counter('queue', [10, 11], { is_monotonic: false, attributes: { n: 'b' } }),
  ]);
  t.same(values(await ask('deltas', { by: 'none' })), [
    [0, 4],
    [1, 0],
    [2, 5],
  ]);
  const queue = await ask('queue', { by: 'none' });
  t.equal(queue.form, 'level');
  t.same(values(queue), [
    [0, 14],
    [1, 13],
  ]);
});

t.test('gauges: mean, least and most of an interval; values that are no numbers are left out', async (t) => {
  const gauge = (value: number | string, at: number) =>
    metricRow({ name: 'heat', type: 'gauge', value_double: value, at });
  await reading.insert('metric_points', [
    ...[1, 2, 6].map((value, at) => gauge(value, at * 1_000)),
    ...['NaN', 'Infinity', 1.7e308, 1.7e308].map((value, at) => gauge(value, at * 1_000)),
  ]);
  const { series, form } = await ask('heat');
  t.equal(form, 'level');
  t.same(series[0]?.points[0]?.slice(1, 5), [3, 1, 6, 3]);
});

t.test('values near zero and far from it', async (t) => {
  const gauge = (name: string, value: number, at: number) =>
    metricRow({ name, type: 'gauge', value_double: value, at });
  await reading.insert('metric_points', [
    ...[1e289, -1e289, 1e280].map((value, at) => gauge('far', value, at)),
    ...[5e-324, 5e-324, -5e-324].map((value, at) => gauge('near', value, at)),
    histogram('near-histogram', 0, [3, 4], { sum: 5e-324 }, [5e-324]),
    histogram('near-histogram', 1, [3, 4], { sum: 5e-324 }, [1e-310]),
    histogram('near-histogram', 2, [1e18, 1e19], { sum: 5e-324, count: 9e18 }, [1e-250, 1.0000000000000002e-250]),
    metricRow({
      ...{ name: 'near-exponential', type: 'exponential_histogram', temporality: 'delta', count: 9e18, sum: 5e-324 },
      buckets: {
        ...{ scale: 20, zero_count: '9000000000000000000', zero_threshold: 5e-324 },
        positive: { offset: -2_147_483_648, bucket_counts: ['18446744073709551615'] },
        negative: { offset: -2_147_483_648, bucket_counts: ['1'] },
      },
      ...START,
    }),
  ]);
  for (const name of ['far', 'near', 'near-histogram', 'near-exponential'])
    t.equal((await ask(name)).series.length, 1, name);
  close(t, (await ask('far')).series[0]?.points[0]?.[1], 1e280 / 3);
});

const histogram = (
  name: string,
  at: number,
  buckets: readonly number[],
  more: object = {},
  bounds: readonly unknown[] = [1, 2, 4],
): object =>
  metricRow({
    name,
    type: 'histogram',
    temporality: 'delta',
    count: buckets.reduce((sum, n) => sum + n, 0),
    sum: 10,
    buckets: { explicit_bounds: bounds, bucket_counts: buckets.map(String) },
    at: at * MINUTE_MS,
    ...START,
    ...more,
  });

t.test('quantiles of a delta histogram, merged over streams', async (t) => {
  await reading.insert('metric_points', [
    histogram('took', 0, [5, 3, 0, 0], { service_name: 'web' }),
    histogram('took', 0, [5, 7, 0, 0], { service_name: 'api' }),
    histogram('took', 1, [0, 0, 0, 3], { service_name: 'web' }),
  ]);
  const { series, form } = await ask('took', { by: 'none' });
  t.equal(form, 'distribution');
  const [first, second] = series[0]?.points ?? [];
  t.same(first?.slice(4, 6), [20, 20]);
  close(t, first?.[6], 1);
  close(t, first?.[7], 1.9);
  t.same(second?.slice(6), [4, 4, 4], 'above the last limit nothing more is known');
});

t.test('quantiles of a cumulative histogram: increases, a reset, and other limits', async (t) => {
  const cumulative = { temporality: 'cumulative' };
  const of = (at: number, buckets: readonly number[], bounds?: readonly unknown[]) =>
    histogram('lasted', at, buckets, cumulative, bounds);
  await reading.insert('metric_points', [
    of(0, [100, 0, 0, 0]),
    of(1, [100, 10, 0, 0]),
    of(2, [0, 0, 4, 0]),
    of(3, [0, 0, 4, 20], [1, 2, 5]),
  ]);
  const answer = await ask('lasted');
  const points = answer.series[0]?.points ?? [];
  t.same(points[0]?.slice(4), [null, null, null, null, null]);
  close(t, points[1]?.[6], 1.5);
  close(t, points[2]?.[6], 3);
  t.same(points[3]?.slice(6), [null, null, null]);
  t.equal(points[3]?.[4], 20);
  t.equal(answer.resets, 1);
});

t.test('exponential histograms, with hostile scales and limits', async (t) => {
  const exponential = (name: string, buckets: object, at = 0): object =>
    metricRow({
      name,
      type: 'exponential_histogram',
      temporality: 'delta',
      count: 4,
      sum: 10,
      buckets,
      at,
      ...START,
    });
  const side = (offset: number, ...counts: readonly number[]) => ({ offset, bucket_counts: counts.map(String) });
  await reading.insert('metric_points', [
    exponential('exp', { scale: 0, zero_count: '1', zero_threshold: 0, negative: side(0, 1), positive: side(1, 1, 1) }),
    exponential('wild', {
      scale: 2_000_000_000,
      zero_count: '1',
      zero_threshold: 1e308,
      positive: side(2_147_483_647, 3),
    }),
    exponential('wild', { scale: -2_000_000_000, zero_count: '0', positive: side(2_147_483_647, 3) }, 1),
    histogram('odd', 0, [1, 2, 3, 4], {}, [-1e308, 'Infinity', 'NaN']),
  ]);
  const [point] = (await ask('exp')).series[0]?.points ?? [];
  close(t, point?.[7], 7.2);
  t.equal((await ask('wild')).series.length, 1);
  t.equal((await ask('odd')).series.length, 1);
});

t.test('series by attribute, and no attribute without the right to content', async (t) => {
  await reading.insert('metric_points', [
    ...counter('routes', [0, 1], { attributes: { route: '/', code: 200 } }),
    ...counter('routes', [0, 5], { attributes: { route: '/a', code: 200 } }),
    ...counter('routes', [0, 7], { attributes: { route: '/a', code: 500 } }),
  ]);
  const answer = await ask('routes', { by: 'attr.route' });
  t.same(answer.attribute_names, ['code', 'route']);
  t.same(
    answer.series.map(({ key, points }) => [key, points.at(-1)?.[1]]),
    [
      [{ value: '/a' }, 12],
      [{ value: '/' }, 1],
    ],
  );
  t.equal((await ask('routes')).series.length, 3);
  const hidden = await reading.ask(showMetric, { query: query('routes'), seesContent: false });
  t.same(hidden.attribute_names, []);
  t.same(
    hidden.series.map(({ key }: { key: unknown }) => key),
    [{ service: null }],
  );
  const refusal = await reading.refusal(showMetric, {
    query: query('routes', { by: 'attr.route' }),
    seesContent: false,
  });
  t.equal(refusal?.code, 'forbidden');
});

t.test('limits: series, points, intervals, unknown names', async (t) => {
  const many = Array.from({ length: 60 }, (_, at) =>
    metricRow({ name: 'many', type: 'gauge', value_int: at, attributes: { at } }),
  );
  await reading.insert('metric_points', many);
  const answer = await ask('many');
  t.same([answer.series_count, answer.series.length], [60, 50]);
  t.same(answer.series[0]?.key.attributes, { at: 59 });
  t.match(await ask('none of these'), { type: null, series: [], points_examined: 0 });
  t.equal((await ask('many', { interval: '' })).interval, '10s');
  t.equal((await reading.refusal(showMetric, { query: query('many', { interval: '1ms' }) }))?.code, 'range_invalid');
  t.equal(
    (await reading.refusal(showMetric, { query: query('many', { by: 'constructor' }) }))?.code,
    'request_invalid',
  );
});
