/** `GET …/traces/histogram`: how many traces began when. */
import { withUsage } from '../filter/fields.ts';
import { Parameters } from '../filter/parameters.ts';
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
import type { Histogram } from './shapes.ts';
import { spansOf, sumsOfUsage } from './trace-rows.ts';

/** With conditions on spans, or with errors, only as many of the newest traces are looked at. */
const SAMPLE = 5000;
const HEAVY_SAMPLE = 500;
const HAS_ERROR = `EXISTS (SELECT FROM sluice.spans s WHERE ${spansOf('s')} AND (s.status = 'error' OR s.is_error) OFFSET 0)`;

export const showHistogram = readRoute(`${PROJECT}/traces/histogram`, async (context) => {
  const { project, query, reader } = context;
  const parameters = new Parameters();
  const { trace, row, sums, isHeavy } = conditionsOf(context, 'span', parameters);
  const buckets = integerOf(query.get('buckets'), { name: 'buckets', byDefault: 60, lowest: 1, highest: 500 });
  const byError = wordOf(context, 'by', ['count', 'error']) === 'error';
  const asked = rangeOf(context);
  const { reply, completeness } = await reachOf(context, { of: 'traces', ...asked, isDetailed: hasFilter(context) });
  if (reply !== null) return reply;
  const range = await closedRange(context, asked);
  const width = (range.until - range.from + BigInt(buckets) - 1n) / BigInt(buckets);
  const isSampled = byError || row.length > 0 || sums.length > 0;
  const some =
    row.length === 0 ? [] : [`EXISTS (SELECT FROM sluice.spans s WHERE ${spansOf('s')} AND ${allOf(row)} OFFSET 0)`];
  const traces = allOf([...trace, ...environmentCondition(context, 't.environment', parameters)]);
  const place = (value: unknown): string => parameters.add(value);
  const sample = isHeavy ? HEAVY_SAMPLE : SAMPLE;
  const text = `
  WITH sample AS MATERIALIZED (
    SELECT t.project, t.trace_id, t.environment, t.first_ns, t.last_ns FROM sluice.traces t
    WHERE t.project = ${place(project)}::text AND t.first_ns >= ${place(String(range.from))}::int8
      AND t.first_ns <= ${place(String(range.until - 1n))}::int8 AND ${traces}
    ${isSampled ? `ORDER BY t.first_ns DESC LIMIT ${place(sample)}::int4` : ''}
  ), ${sumsOfUsage(reader.views, `${place(project)}::text`, 'sample')}, counted AS (
    SELECT (t.first_ns - ${place(String(range.from))}::int8) / ${place(String(width))}::int8 AS bucket, count(*)::int4 AS traces,
      ${byError ? `count(*) FILTER (WHERE ${HAS_ERROR})::int4` : 'NULL::int4'} AS errors
    FROM sample t WHERE ${allOf([...some, ...withUsage(sums, reader.views, 'usage_sums')])} GROUP BY 1
  )
  SELECT (SELECT count(*) FROM sample)::int4 AS examined, (SELECT min(first_ns) FROM sample) AS reached,
    coalesce((SELECT json_agg(json_build_array(bucket, traces, errors) ORDER BY bucket) FROM counted), '[]') AS buckets`;
  const [found] = await reader.query(text, parameters.values);
  const examined = Number(found?.['examined']);
  const reached = found?.['reached'] ?? null;
  const counts = found?.['buckets'] as readonly (readonly [number, number, number | null])[];
  const histogram: Histogram = {
    from: String(range.from),
    to: String(range.until),
    bucket_ns: String(width),
    sampled: isSampled && examined === sample,
    examined,
    reached: reached === null ? null : String(reached),
    buckets: counts.map(([bucket, traces, errors]) => ({
      start_time_unix_nano: String(range.from + BigInt(bucket) * width),
      trace_count: traces,
      ...(errors === null ? {} : { error_count: errors }),
    })),
  };
  return json({ ...histogram, ...completeness });
});

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
