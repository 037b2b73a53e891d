/** `GET …/traces/{trace}`: the header of one trace; and `GET /traces/{trace}`, which finds its project. */
import { DAY_MS } from '../../../pdata/time-units.ts';
import { ConsoleError } from '../errors.ts';
import { API, json, jsonText, PROJECT, readRoute } from '../server/route.ts';
import { withCompleteness } from './completeness.ts';
import { traceIdOf } from './question.ts';
import { findTrace, valuesOf } from './stored-trace.ts';
import { nameText } from './texts.ts';
import { countedUsage, TRACE_MEMBERS, traceJoins } from './trace-rows.ts';

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

const LOG_COUNT =
  'SELECT count(*)::int4 AS logs FROM sluice.logs l WHERE l.project = $1::text AND l.trace_id = $2::bytea AND l.received_at >= $3::timestamptz';
/** Log records of a trace that is this old may be in most partitions, so the plan for all of them is kept. */
const OLD_MS = 100 * DAY_MS;

/** Computes once, for the sums and the models, which usage counts. */
const header = (views: string): string => `
  WITH ${countedUsage(views, 'ARRAY[$2::bytea]')}
  SELECT (json_build_object(${TRACE_MEMBERS}, 'project', t.project,
    'tool_step_count', f.tool_step_count, 'retrieval_count', f.retrieval_count,
    'log_count', $5::int4,
    'services', coalesce(f.services[1:${SHOWN_SERVICES}], '{}'),
    'input_cost', u.input_cost::text, 'output_cost', u.output_cost::text, 'models', (${MODELS}),
    'created_at', to_char(t.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))::text AS header
  FROM sluice.traces t ${traceJoins('BETWEEN $3::int8 AND $4::int8')}
  WHERE t.project = $1::text AND t.trace_id = $2::bytea`;

export const showTrace = readRoute(`${PROJECT}/traces/{trace}`, [], async (context) => {
  const { reader, leftOut } = context;
  const trace = await findTrace(context);
  const logsOf = [trace.project, trace.id, trace.logsSince];
  const isOld = Number(trace.logsSince) < context.now() - OLD_MS;
  const count = await (isOld ? reader.prepared(LOG_COUNT, logsOf) : reader.query(LOG_COUNT, logsOf));
  const [row] = await reader.query(header(reader.views), [...valuesOf(trace), count[0]?.['logs']]);
  if (row === undefined) throw new ConsoleError('not_found');
  return jsonText(withCompleteness(String(row['header']), leftOut === null ? {} : { unread: leftOut.why }));
});

export const placeTrace = readRoute(`${API}/traces/{trace}`, [], async (context) => {
  const id = traceIdOf(context);
  const [row] = await context.reader.query('SELECT project FROM sluice.traces WHERE trace_id = $1::bytea', [id]);
  const project = row === undefined ? null : String(row['project']);
  const { projects } = context.caller;
  if (project === null || (projects !== null && !projects.includes(project))) throw new ConsoleError('not_found');
  return json({ trace_id: id.toString('hex'), project });
});
