/** `GET …/traces/histogram`: how many traces began when, and what they cost or how long they took. */
import { sumsWithin, withUsage } from '../filter/fields.ts';
import { Parameters } from '../filter/parameters.ts';
import { hasSpan, IS_FAILED, spansOf } from '../filter/trace-spans.ts';
import { json, PROJECT, type RequestContext, readRoute } from '../server/route.ts';
import { hasFilter, reachOf } from './completeness.ts';
import {
  allOf,
  conditionsOf,
  environmentCondition,
  integerOf,
  END_NS,
  type Range,
  rangeOf,
  wordOf,
} from './question.ts';
import type { Histogram, HistogramBucket } from './shapes/traces.ts';
import { sumsOfUsage } from './trace-rows.ts';

/** With conditions on spans, or with a figure of spans, only this many of the newest traces are read. */
const SAMPLE = 5000;
const HEAVY_SAMPLE = 500;
const duration = (
  within: string,
): string => `(SELECT greatest(max(coalesce(s.end_time_unix_nano, s.start_time_unix_nano)) - t.first_ns, 0)
  FROM sluice.spans s WHERE ${spansOf('s', within)})`;

type Measure = 'count' | 'error' | 'cost' | 'duration';

/** The value of a bucket beside its number of traces. `t`: a trace, `u`: its usage, joined for the cost. */
const VALUES: Readonly<Record<Measure, (within: string) => string>> = {
  count: () => 'NULL::int4',
  error: (within) => `count(*) FILTER (WHERE ${hasSpan(IS_FAILED, within)})::int4`,
  cost: () => 'coalesce(sum(u.total_cost), 0)::numeric(30, 8)::text',
  duration: (within) => `(percentile_disc(0.95) WITHIN GROUP (ORDER BY ${duration(within)}))::text`,
};

export const showHistogram = readRoute(
  `${PROJECT}/traces/histogram`,
  ['q', 'env', 'from', 'to', 'buckets', 'by', 'archived'],
  async (context) => {
    const { project, query, reader } = context;
    const parameters = new Parameters();
    const { trace, row, sums, implied, isHeavy } = conditionsOf(context, 'span', parameters);
    const buckets = integerOf(query.get('buckets'), { name: 'buckets', byDefault: 60, lowest: 1, highest: 500 });
    const measure = wordOf(context, 'by', ['count', 'error', 'cost', 'duration']);
    const asked = rangeOf(context);
    const { reply, completeness } = await reachOf(context, { of: 'traces', ...asked, isDetailed: hasFilter(context) });
    if (reply !== null) return reply;
    const range = await closedRange(context, asked);
    const width = (range.until - range.from + BigInt(buckets) - 1n) / BigInt(buckets);
    const isSampled = measure !== 'count' || row.length > 0 || sums.length > 0;
    const traces = allOf([...trace, ...environmentCondition(context, 't.environment', parameters)]);
    const place = (value: unknown): string => parameters.add(value);
    const within = `>= ${place(String(range.from))}::int8`;
    const some = row.length === 0 ? [] : [hasSpan(allOf(row), within)];
    const sample = isHeavy ? HEAVY_SAMPLE : SAMPLE;
    const text = `
  WITH sample AS MATERIALIZED (
    SELECT t.project, t.trace_id, t.environment, t.first_ns, t.last_ns, t.created_at FROM sluice.traces t
    WHERE t.project = ${place(project)}::text AND t.first_ns ${within}
      AND t.first_ns <= ${place(String(range.until - 1n))}::int8 AND ${traces}
    ${isSampled ? `ORDER BY t.first_ns DESC LIMIT ${place(sample)}::int4` : ''}
  ), ${sumsOfUsage(reader.views, `${place(project)}::text`, 'sample')}, counted AS (
    SELECT (t.first_ns - ${place(String(range.from))}::int8) / ${place(String(width))}::int8 AS bucket, count(*)::int4 AS traces,
      ${VALUES[measure](within)} AS value
    FROM sample t ${measure === 'cost' ? 'LEFT JOIN usage_sums u ON u.trace_id = t.trace_id' : ''}
    WHERE ${allOf([...some, ...withUsage(sumsWithin([...implied, ...sums], within), reader.views, 'usage_sums')])} GROUP BY 1
  )
  SELECT (SELECT count(*) FROM sample)::int4 AS examined, (SELECT min(first_ns) FROM sample) AS reached,
    coalesce((SELECT json_agg(json_build_array(bucket, traces, value) ORDER BY bucket) FROM counted), '[]') AS buckets`;
    const [found] = await reader.query(text, parameters.values);
    const examined = Number(found?.['examined']);
    const reached = found?.['reached'] ?? null;
    const counts = found?.['buckets'] as readonly (readonly [number, number, unknown])[];
    const histogram: Histogram = {
      from: String(range.from),
      to: String(range.until),
      bucket_ns: String(width),
      sampled: isSampled && examined === sample,
      examined,
      reached: reached === null ? null : String(reached),
      buckets: counts.map(([bucket, traces, value]) => ({
        start_time_unix_nano: String(range.from + BigInt(bucket) * width),
        trace_count: traces,
        ...figureOf(measure, value),
      })),
    };
    return json({ ...histogram, ...completeness });
  },
);

function figureOf(measure: Measure, value: unknown): Partial<HistogramBucket> {
  switch (measure) {
    case 'count':
      return {};
    case 'error':
      return { error_count: Number(value) };
    case 'cost':
      return { total_cost: String(value) };
    case 'duration':
      return { p95_duration_ns: String(value) };
  }
}

/** An open end of the range is that of the stored traces. */
async function closedRange({ project, reader }: RequestContext, { from, until }: Range): Promise<Range> {
  if (from > 0n && until < END_NS) return { from, until };
  const [row] = await reader.query(
    `SELECT (SELECT first_ns FROM sluice.traces WHERE project = $1::text AND first_ns IS NOT NULL ORDER BY first_ns LIMIT 1) AS first,
       (SELECT first_ns FROM sluice.traces WHERE project = $1::text AND first_ns IS NOT NULL ORDER BY first_ns DESC LIMIT 1) AS last`,
    [project],
  );
  const first = from > 0n ? from : BigInt(String(row?.['first'] ?? 0));
  const last = until < END_NS ? until : BigInt(String(row?.['last'] ?? 0)) + 1n;
  return { from: first, until: last > first ? last : first + 1n };
}
