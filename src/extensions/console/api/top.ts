/** `GET …/traces/top`: the traces of a range with the highest cost, tokens, duration or number of errors. */
import { jsonText, PROJECT, readRoute } from '../server/route.ts';
import { hasFilter, reachOf, withCompleteness } from './completeness.ts';
import { boundedRangeOf, environmentsOf, limitOf, wordOf } from './question.ts';
import type { TopMeasure } from './shapes.ts';
import { readTraceRows } from './trace-rows.ts';
import { DAY_MS } from '../../../pdata/time-units.ts';
import { IS_FAILED } from '../filter/trace-spans.ts';

const HIGHEST_LIMIT = 100;
/** The longest range. Usage has an index of its own; the other orders read every span. */
const DAYS: Readonly<Record<TopMeasure, number>> = { cost: 31, tokens: 31, duration: 1, errors: 1 };

const ofUsage = (views: string, column: string): string => `
  SELECT c.trace_id, sum(c.${column}) AS measure FROM ${views}.counted_usage_between($1::text, $2::int8, $3::int8) c
  WHERE c.trace_id IS NOT NULL AND c.${column} > 0 GROUP BY 1`;

const ofSpans = (measure: string, condition: string): string => `
  SELECT s.trace_id, ${measure} AS measure FROM sluice.spans s
  WHERE s.project = $1::text AND s.start_time_unix_nano >= $2::int8 AND s.start_time_unix_nano < $3::int8 AND ${condition} GROUP BY 1`;

const MEASURES: Readonly<Record<TopMeasure, (views: string) => string>> = {
  cost: (views) => ofUsage(views, 'total_cost'),
  tokens: (views) => ofUsage(views, 'total_tokens'),
  duration: () =>
    ofSpans('max(coalesce(s.end_time_unix_nano, s.start_time_unix_nano)) - min(s.start_time_unix_nano)', 'true'),
  errors: () => ofSpans('count(*)', IS_FAILED),
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
    const [row] = await reader.query(
      `WITH top AS MATERIALIZED (
       SELECT t.project, t.trace_id, t.environment, t.first_ns, t.last_ns, m.measure FROM (${MEASURES[by](reader.views)}) m
       JOIN sluice.traces t ON t.trace_id = m.trace_id AND t.project = $1::text
       WHERE $5::text[] IS NULL OR t.environment = ANY ($5::text[])
       ORDER BY m.measure DESC, t.first_ns DESC, t.trace_id LIMIT $4::int4)
     SELECT ARRAY(SELECT trace_id FROM top t ORDER BY t.measure DESC, t.first_ns DESC, t.trace_id) AS ids`,
      [project, String(from), String(until), limit, environmentsOf(context)],
    );
    const items = await readTraceRows(reader, project, row?.['ids'] as readonly Buffer[]);
    return jsonText(withCompleteness(`{"by":"${by}","items":[${items.join(',')}]}`, completeness));
  },
);
