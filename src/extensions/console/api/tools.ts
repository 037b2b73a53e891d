/** `GET …/tools`: calls, errors and times of tool steps by tool, among the newest of a range. */
import { Parameters } from '../filter/parameters.ts';
import { jsonText, PROJECT, readRoute } from '../server/route.ts';
import { hasFilter, reachOf, withCompleteness } from './completeness.ts';
import { allOf, boundedRangeOf, conditionsOf, environmentCondition } from './question.ts';
import { matchingSpans, traceOfSpan } from './trace-rows.ts';
import { DAY_MS } from '../../../pdata/time-units.ts';

const DAYS = 31;
/** How many of the newest tool steps are counted. */
const SAMPLE = 20_000;
const HEAVY_SAMPLE = 2000;
const SHOWN = 100;
const LONGEST_NAME = 256;

export const listTools = readRoute(`${PROJECT}/tools`, ['q', 'env', 'from', 'to', 'archived'], async (context) => {
  const { project, reader } = context;
  const { from, until } = boundedRangeOf(context, { days: DAYS, defaultMs: DAY_MS });
  const reading = { of: 'traces', from, until, isDetailed: hasFilter(context) } as const;
  const { reply, completeness } = await reachOf(context, reading);
  if (reply !== null) return reply;
  const parameters = new Parameters();
  const { trace, row, sums, implied, isHeavy } = conditionsOf(context, 'span', parameters);
  const environment = environmentCondition(context, 's.environment', parameters);
  const place = (value: unknown): string => parameters.add(value);
  const of = `${place(project)}::text`;
  const sample = place(isHeavy ? HEAVY_SAMPLE : SAMPLE);
  const [found] = await reader.query(
    `WITH newest AS NOT MATERIALIZED (
       SELECT s.* FROM sluice.spans s
       WHERE s.project = ${of} AND s.start_time_unix_nano >= ${place(String(from))}::int8
         AND s.start_time_unix_nano < ${place(String(until))}::int8 AND s.category = 'tool_step' AND ${allOf(environment)}
       ORDER BY s.start_time_unix_nano DESC LIMIT ${sample}::int4
     ), seen AS MATERIALIZED (
       SELECT left(s.tool_name, ${LONGEST_NAME}) AS tool, s.status = 'error' OR s.is_error IS TRUE AS failed,
         s.duration_ns / 1000000.0::float8 AS ms, s.trace_id, s.span_id, ${allOf([...implied, ...row, ...trace])} AS matches
       FROM newest s ${traceOfSpan(implied)}
     ), ${matchingSpans(sums, reader.views, of)}, tools AS (
       SELECT tool, count(*) AS call_count, count(*) FILTER (WHERE failed) AS error_count,
         percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY ms) AS times, max(ms) AS max_ms,
         (array_agg(json_build_object('trace_id', encode(trace_id, 'hex'), 'span_id', encode(span_id, 'hex'))
           ORDER BY ms DESC NULLS LAST, trace_id, span_id))[1] AS slowest
       FROM matching GROUP BY tool
     )
     SELECT json_build_object('from', ${place(String(from))}::text, 'to', ${place(String(until))}::text,
       'examined', (SELECT count(*) FROM seen), 'complete', (SELECT count(*) FROM seen) < ${sample}::int4,
       'items', (SELECT coalesce(json_agg(json_build_object('tool', tool, 'call_count', call_count, 'error_count', error_count,
           'p50_ms', times[1], 'p95_ms', times[2], 'max_ms', max_ms, 'slowest', slowest)
         ORDER BY times[2] DESC NULLS LAST, call_count DESC, tool), '[]')
         FROM (SELECT * FROM tools ORDER BY times[2] DESC NULLS LAST, call_count DESC, tool LIMIT ${SHOWN}) tools))::text AS tools`,
    parameters.values,
  );
  return jsonText(withCompleteness(String(found?.['tools']), completeness));
});
