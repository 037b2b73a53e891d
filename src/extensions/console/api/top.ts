/** `GET …/traces/top`: the traces that begin in a range with the highest cost, tokens, duration or number of errors. */
import { jsonText, PROJECT, readRoute } from '../server/route.ts';
import { hasFilter, reachOf, withCompleteness } from './completeness.ts';
import { boundedRangeOf, environmentsOf, limitOf, wordOf } from './question.ts';
import type { TopMeasure } from './shapes/traces.ts';
import { readTraceRows } from './trace-rows.ts';
import { statementOf } from '../filter/parameters.ts';
import { DAY_MS } from '../../../pdata/time-units.ts';
import { IS_FAILED } from '../filter/trace-spans.ts';

const HIGHEST_LIMIT = 100;
/** The longest range. Usage has an index of its own; the other orders read every span. */
const DAYS: Readonly<Record<TopMeasure, number>> = { cost: 31, tokens: 31, duration: 1, errors: 1 };

/** Traces that begin in the range from `$2` to `$3` and have later spans, and the time of the last one. Few do. */
const LONGER = `
  SELECT array_agg(trace_id) AS ids, max(last_ns) AS last_ns FROM sluice.traces
  WHERE project = $1::text AND first_ns >= $2::int8 AND first_ns < $3::int8 AND last_ns >= $3::int8`;

// With `hasLonger`, `$6` and `$7` are the row of the statement above. Without it, no later partition is planned.
const ofUsage = (views: string, column: string, hasLonger: boolean): string => `
  SELECT c.trace_id, sum(c.${column}) AS measure FROM (
    SELECT trace_id, ${column} FROM ${views}.counted_usage_between($1::text, $2::int8, $3::int8)${
      hasLonger
        ? ` WHERE trace_id <> ALL ($6::bytea[])
    UNION ALL SELECT trace_id, ${column} FROM ${views}.trace_usage_of($1::text, $6::bytea[])`
        : ''
    }
  ) c WHERE c.trace_id IS NOT NULL AND c.${column} > 0 GROUP BY 1`;

const ofSpans = (measure: string, condition: string, hasLonger: boolean): string => `
  SELECT s.trace_id, ${measure} AS measure FROM (
    SELECT * FROM sluice.spans WHERE project = $1::text AND start_time_unix_nano >= $2::int8 AND start_time_unix_nano < $3::int8${
      hasLonger
        ? `
    UNION ALL SELECT * FROM sluice.spans
    WHERE project = $1::text AND trace_id = ANY ($6::bytea[]) AND start_time_unix_nano BETWEEN $3::int8 AND $7::int8`
        : ''
    }
  ) s WHERE ${condition} GROUP BY 1`;

const MEASURES: Readonly<Record<TopMeasure, (views: string, hasLonger: boolean) => string>> = {
  cost: (views, hasLonger) => ofUsage(views, 'total_cost', hasLonger),
  tokens: (views, hasLonger) => ofUsage(views, 'total_tokens', hasLonger),
  duration: (_views, hasLonger) =>
    ofSpans(
      'max(coalesce(s.end_time_unix_nano, s.start_time_unix_nano)) - min(s.start_time_unix_nano)',
      'true',
      hasLonger,
    ),
  errors: (_views, hasLonger) => ofSpans('count(*)', IS_FAILED, hasLonger),
};

export const listTop = readRoute(
  `${PROJECT}/traces/top`,
  ['env', 'from', 'to', 'by', 'limit', 'archived'],
  async (context) => {
    const { project, reader } = context;
    const by = wordOf(context, 'by', ['cost', 'duration', 'tokens', 'errors']);
    const { from, until } = boundedRangeOf(context, { days: DAYS[by], defaultMs: DAY_MS });
    const limit = limitOf(context, HIGHEST_LIMIT, HIGHEST_LIMIT);
    const reading = { of: 'traces', from, until, isDetailed: hasFilter(context) } as const;
    const { reply, completeness } = await reachOf(context, reading);
    if (reply !== null) return reply;
    const [longer] = await reader.query(LONGER, [project, String(from), String(until)]);
    const hasLonger = longer?.['ids'] !== null;
    const { text, values } = statementOf(
      `WITH top AS MATERIALIZED (
       SELECT t.project, t.trace_id, t.environment, t.first_ns, t.last_ns, m.measure FROM (${MEASURES[by](reader.views, hasLonger)}) m
       JOIN sluice.traces t ON t.trace_id = m.trace_id AND t.project = $1::text
       WHERE t.first_ns >= $2::int8 AND t.first_ns < $3::int8 AND ($5::text[] IS NULL OR t.environment = ANY ($5::text[]))
       ORDER BY m.measure DESC, t.first_ns DESC, t.trace_id LIMIT $4::int4)
     SELECT ARRAY(SELECT trace_id FROM top t ORDER BY t.measure DESC, t.first_ns DESC, t.trace_id) AS ids`,
      [project, String(from), String(until), limit, environmentsOf(context), longer?.['ids'], longer?.['last_ns']],
    );
    const [row] = await reader.query(text, values);
    const items = await readTraceRows(reader, project, row?.['ids'] as readonly Buffer[]);
    return jsonText(withCompleteness(`{"by":"${by}","items":[${items.join(',')}]}`, completeness));
  },
);
