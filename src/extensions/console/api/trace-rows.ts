/** Traces as rows of a list: the SQL that computes a row of a trace `t` and writes it as JSON. */
import { withUsage } from '../filter/fields.ts';
import { MODEL, spansOf } from '../filter/trace-spans.ts';
import type { RequestReader } from '../server/route.ts';
import { allOf } from './question.ts';
import { nameText } from './texts.ts';

/** The value of the first span that has one. `f` has its start: to sort the values of all spans takes longer. */
const firstValue = (column: string, within: string): string =>
  `(SELECT ${nameText(`s.${column}`)} FROM sluice.spans s WHERE ${spansOf('s', within)} AND s.start_time_unix_nano = f.${column}_ns
      AND s.${column} IS NOT NULL ORDER BY s.span_id LIMIT 1) AS ${column}`;
const startOfFirst = (column: string): string =>
  `min(s.start_time_unix_nano) FILTER (WHERE s.${column} IS NOT NULL) AS ${column}_ns`;

/**
 * Common table expressions: `counted`, the usage that counts of these traces of the project `$1`, and `used`, its sums
 * by trace. All traces of a request are given at once: many traces may share the id of one response, and each would
 * read the records of all. Only the columns that are read are kept.
 */
export const countedUsage = (views: string, ids: string): string =>
  counted(`${views}.trace_usage_of($1::text, ${ids})`);
/** As `countedUsage`, for traces of several projects: a relation with the columns `project` and `trace_id`. */
export const countedUsageOf = (views: string, traces: string): string =>
  counted(`(SELECT project, array_agg(trace_id) AS ids FROM ${traces} GROUP BY project) p
    CROSS JOIN LATERAL ${views}.trace_usage_of(p.project, p.ids) c`);

const counted = (from: string): string =>
  `counted AS (
    SELECT trace_id, signal, span_id, provider, model, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, reasoning_tokens,
      input_cost, output_cost, total_cost FROM ${from}
  ), used AS MATERIALIZED (
    SELECT trace_id, sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens, sum(cache_read_tokens) AS cache_read_tokens,
      sum(input_cost) AS input_cost, sum(output_cost) AS output_cost, sum(total_cost) AS total_cost,
      count(*) FILTER (WHERE total_cost IS NULL) AS unpriced_count
    FROM counted GROUP BY trace_id)`;

/** Sums of the same for the traces of the relation `of`. It is computed only where a condition reads it. */
export const sumsOfUsage = (views: string, project: string, of: string): string =>
  `usage_sums AS MATERIALIZED (
    SELECT c.trace_id, sum(c.total_cost) AS total_cost, sum(c.total_tokens) AS total_tokens
    FROM ${views}.trace_usage_of(${project}, ARRAY(SELECT trace_id FROM ${of})) c GROUP BY 1)`;

/** The trace `t` of the span `s`. Its claim is read only where conditions on the whole trace need its times. */
export const traceOfSpan = (implied: readonly string[]): string =>
  implied.length === 0
    ? 'CROSS JOIN LATERAL (SELECT s.trace_id, s.environment) t'
    : `LEFT JOIN sluice.traces claim ON claim.trace_id = s.trace_id AND claim.project = s.project
    CROSS JOIN LATERAL (SELECT s.project, s.trace_id, s.environment, claim.first_ns, claim.last_ns, claim.created_at) t`;

/**
 * Relations that end in `matching`: the rows of the relation `seen`, which has `trace_id` and `matches`, of traces that
 * meet the conditions `sums`. These are checked once for a trace.
 */
export function matchingSpans(sums: readonly string[], views: string, project: string): string {
  if (sums.length === 0) return 'matching AS NOT MATERIALIZED (SELECT * FROM seen WHERE matches)';
  return `wanted AS MATERIALIZED (
    SELECT t.* FROM sluice.traces t WHERE t.project = ${project} AND t.trace_id IN (SELECT trace_id FROM seen WHERE matches)
  ), ${sumsOfUsage(views, project, 'wanted')}, matching AS MATERIALIZED (
    SELECT * FROM seen WHERE matches AND trace_id IN (
      SELECT t.trace_id FROM wanted t WHERE ${allOf(withUsage(sums, views, 'usage_sums'))})
  )`;
}

/**
 * Joins to a relation `t` of traces: figures `f`, ids `i`, the root or earliest span `r`, usage `u`, with the
 * expressions of `countedUsage`. The spans of a trace are read once: figures are added up by service and model, of
 * which there are few, and single spans are found by their start. `within`: that of `spansOf`.
 */
export const traceJoins = (within = ''): string => `
  CROSS JOIN LATERAL (
    SELECT coalesce(sum(g.span_count), 0) AS span_count, coalesce(sum(g.error_count), 0) AS error_count,
      coalesce(sum(g.model_call_count), 0) AS model_call_count, coalesce(sum(g.tool_step_count), 0) AS tool_step_count,
      coalesce(sum(g.retrieval_count), 0) AS retrieval_count, min(g.start_ns) AS start_ns,
      CASE WHEN count(*) > 0 THEN greatest(max(g.end_ns) - min(g.start_ns), 0) END AS duration_ns, min(g.root_ns) AS root_ns,
      array_agg(DISTINCT ${nameText('g.model')}) FILTER (WHERE g.model IS NOT NULL) AS models,
      array_agg(DISTINCT ${nameText('g.service_name')}) FILTER (WHERE g.service_name IS NOT NULL) AS services,
      min(g.agent) AS agent, min(g.user_id_ns) AS user_id_ns, min(g.conversation_id_ns) AS conversation_id_ns
    FROM (
      SELECT s.service_name, CASE WHEN s.usage_scope IS NOT NULL THEN ${MODEL} END AS model,
        count(*) AS span_count, count(*) FILTER (WHERE s.status = 'error' OR s.is_error) AS error_count,
        count(*) FILTER (WHERE s.category = 'model_call') AS model_call_count,
        count(*) FILTER (WHERE s.category = 'tool_step') AS tool_step_count,
        count(*) FILTER (WHERE s.category = 'retrieval') AS retrieval_count,
        min(s.start_time_unix_nano) AS start_ns, max(coalesce(s.end_time_unix_nano, s.start_time_unix_nano)) AS end_ns,
        min(s.start_time_unix_nano) FILTER (WHERE s.parent_span_id IS NULL) AS root_ns,
        min(${nameText('s.agent_name')}) AS agent, ${startOfFirst('user_id')}, ${startOfFirst('conversation_id')}
      FROM sluice.spans s WHERE ${spansOf('s', within)} GROUP BY 1, 2
    ) g
  ) f
  CROSS JOIN LATERAL (SELECT ${firstValue('user_id', within)}, ${firstValue('conversation_id', within)}) i
  LEFT JOIN LATERAL (
    SELECT ${nameText('s.name')} AS name, ${nameText('s.service_name')} AS service_name, s.parent_span_id IS NULL AS is_root FROM sluice.spans s
    WHERE ${spansOf('s', within)} AND s.start_time_unix_nano = coalesce(f.root_ns, f.start_ns) AND (s.parent_span_id IS NULL) = (f.root_ns IS NOT NULL)
    ORDER BY s.span_id LIMIT 1
  ) r ON true
  LEFT JOIN used u ON u.trace_id = t.trace_id`;

/** A row names at most this many models. */
const SHOWN_MODELS = 4;

/** The members of a row, as arguments of `json_build_object`. */
export const TRACE_MEMBERS = `'trace_id', encode(t.trace_id, 'hex'), 'name', r.name, 'complete', r.is_root IS TRUE, 'service', r.service_name,
    'environment', t.environment, 'start_time_unix_nano', f.start_ns::text, 'duration_ns', f.duration_ns::text,
    'span_count', f.span_count, 'error_count', f.error_count, 'model_call_count', f.model_call_count,
    'agent', f.agent, 'user_id', i.user_id, 'conversation_id', i.conversation_id, 'input_tokens', u.input_tokens,
    'cache_read_tokens', u.cache_read_tokens, 'output_tokens', u.output_tokens, 'total_cost', u.total_cost::text,
    'unpriced_count', coalesce(u.unpriced_count, 0)`;

export const TRACE_JSON = `json_build_object(${TRACE_MEMBERS},
    'models', coalesce(f.models[1:${SHOWN_MODELS}], '{}'), 'model_count', coalesce(cardinality(f.models), 0))`;

const TIMES = `
  SELECT min(first_ns) AS first, max(last_ns) AS last FROM sluice.traces WHERE project = $1::text AND trace_id = ANY ($2::bytea[])`;

/**
 * Rows by their ids, in this order. A trace that was removed meanwhile is left out, and one whose spans have expired:
 * its claim stays until the next maintenance, or as long as its log records.
 */
export async function readTraceRows(
  reader: RequestReader,
  project: string,
  ids: readonly Buffer[],
): Promise<readonly string[]> {
  if (ids.length === 0) return [];
  const [times] = await reader.query(TIMES, [project, ids]);
  const [row] = await reader.query(
    `WITH ${countedUsage(reader.views, '$2::bytea[]')}
     SELECT string_agg(${TRACE_JSON}::text, E'\\n' ORDER BY o.at) AS items FROM unnest($2::bytea[]) WITH ORDINALITY o (id, at)
     JOIN sluice.traces t ON t.trace_id = o.id AND t.project = $1::text ${traceJoins('BETWEEN $3::int8 AND $4::int8')} WHERE f.span_count > 0`,
    [project, ids, times?.['first'], times?.['last']],
  );
  return linesOf(row?.['items']);
}

/** JSON texts have no line ends of their own. */
export const linesOf = (text: unknown): readonly string[] => (typeof text === 'string' ? text.split('\n') : []);
