/** `GET …/traces/{trace}`: the header of one trace; and `GET /traces/{trace}`, which finds its project. */
import { ConsoleError } from '../errors.ts';
import { API, json, jsonText, PROJECT, readRoute } from '../server/route.ts';
import { withCompleteness } from './completeness.ts';
import { traceIdOf } from './question.ts';
import { nameText } from './texts.ts';
import { countedUsage, TRACE_JOINS, TRACE_MEMBERS } from './trace-rows.ts';

/** The most services of a trace that are listed. */
const SHOWN_SERVICES = 50;

/** The most models of a trace that are listed. */
const SHOWN_MODELS = 200;
/** One row per model, the most expensive first. */
const MODELS = `
  SELECT coalesce(json_agg(m ORDER BY m.total_cost::numeric DESC NULLS LAST, m.call_count DESC), '[]') FROM (
    SELECT ${nameText('c.provider')} AS provider, ${nameText('c.model')} AS model, count(*) AS call_count, sum(c.input_tokens) AS input_tokens, sum(c.output_tokens) AS output_tokens,
      sum(c.cache_read_tokens) AS cache_read_tokens, sum(c.cache_write_tokens) AS cache_write_tokens,
      sum(c.reasoning_tokens) AS reasoning_tokens, sum(c.total_cost)::text AS total_cost,
      count(*) FILTER (WHERE c.total_cost IS NULL) AS unpriced_count
    FROM counted c GROUP BY 1, 2 ORDER BY sum(c.total_cost) DESC NULLS LAST, count(*) DESC LIMIT ${SHOWN_MODELS}) m`;

/** Computes once, for the sums and the models, which usage counts. */
const header = (views: string): string => `
  WITH ${countedUsage(views, 'ARRAY[$2::bytea]')}
  SELECT (json_build_object(${TRACE_MEMBERS}, 'project', t.project,
    'tool_step_count', f.tool_step_count, 'retrieval_count', f.retrieval_count,
    'log_count', (SELECT count(*) FROM sluice.logs l WHERE l.trace_id = t.trace_id AND l.project = t.project),
    'services', coalesce(f.services[1:${SHOWN_SERVICES}], '{}'),
    'input_cost', u.input_cost::text, 'output_cost', u.output_cost::text, 'models', (${MODELS}),
    'created_at', to_char(t.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))::text AS header
  FROM sluice.traces t ${TRACE_JOINS}
  WHERE t.project = $1::text AND t.trace_id = $2::bytea`;

export const showTrace = readRoute(`${PROJECT}/traces/{trace}`, async (context) => {
  const { reader, project, leftOut } = context;
  const [row] = await reader.prepared(header(reader.views), [project, traceIdOf(context)]);
  if (row === undefined) throw new ConsoleError('not_found');
  return jsonText(withCompleteness(String(row['header']), leftOut === null ? {} : { unread: leftOut.why }));
});

export const placeTrace = readRoute(`${API}/traces/{trace}`, async (context) => {
  const id = traceIdOf(context);
  const [row] = await context.reader.query('SELECT project FROM sluice.traces WHERE trace_id = $1::bytea', [id]);
  const project = row === undefined ? null : String(row['project']);
  const { projects } = context.caller;
  if (project === null || (projects !== null && !projects.includes(project))) throw new ConsoleError('not_found');
  return json({ trace_id: id.toString('hex'), project });
});
