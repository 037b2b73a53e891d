/** `GET …/facets`: the values of some fields among the newest spans, with counts. */
import { ConsoleError } from '../errors.ts';
import { Parameters } from '../filter/parameters.ts';
import { jsonText, PROJECT, type RequestContext, readRoute } from '../server/route.ts';
import { hasFilter, reachOf, withCompleteness } from './completeness.ts';
import { allOf, conditionsOf, environmentCondition, rangeOf } from './question.ts';
import { sharedStateOf } from './shared-state.ts';
import { MODEL } from '../filter/trace-spans.ts';
import { matchingSpans, traceOfSpan } from './trace-rows.ts';

/** How many of the newest spans are counted. */
const SAMPLE = 20_000;
const HEAVY_SAMPLE = 2000;
const VALUES = 50;
const LONGEST_VALUE = 256;
/** Ranges that differ by less share a cached answer. */
const KEY_NS = 10_000_000_000n;

const COLUMNS: Readonly<Record<string, string>> = {
  service: 's.service_name',
  model: MODEL,
  provider: 's.provider',
  tool: 's.tool_name',
  agent: 's.agent_name',
  user: 's.user_id',
  conversation: 's.conversation_id',
  category: 's.category',
  operation: 's.operation',
  error: 's.error_type',
  env: 's.environment',
  name: 's.name',
  kind: 's.kind',
  status: 's.status',
  dialect: 's.dialect',
};
const DEFAULT_FIELDS = 'service,model,provider,tool,agent,user,category,error,env';

export const listFacets = readRoute(
  `${PROJECT}/facets`,
  ['fields', 'q', 'env', 'from', 'to', 'archived'],
  async (context) => {
    const { caller, project, query } = context;
    const fields = fieldsOf(context);
    const { from, until } = rangeOf(context);
    const reading = { of: 'traces', from, until, isDetailed: hasFilter(context) } as const;
    const { reply, completeness } = await reachOf(context, reading);
    if (reply !== null) return reply;
    const { recent } = sharedStateOf(context.people);
    const range = [from, until].map((ns) => String(ns / KEY_NS));
    const question = [project, ...range, query.get('q') ?? '', query.get('env') ?? '', String(caller.seesContent)];
    const key = JSON.stringify(['facets', ...fields, ...question]);
    const kept = recent.find(key, performance.now());
    if (kept !== null) return jsonText(withCompleteness(kept, completeness));
    const { text, complete } = await countValues(context, fields);
    // Few spans are counted again: the first spans of a project would otherwise have no facets for seconds.
    if (!complete) recent.keep(key, text, performance.now());
    return jsonText(withCompleteness(text, completeness));
  },
);

function fieldsOf({ query }: RequestContext): readonly string[] {
  const names = [...new Set((query.get('fields') || DEFAULT_FIELDS).split(','))];
  if (names.every((name) => Object.hasOwn(COLUMNS, name))) return names;
  throw new ConsoleError('request_invalid', { message: `\`fields\` takes: ${Object.keys(COLUMNS).join(', ')}.` });
}

interface Counts {
  /** The answer as JSON. */
  readonly text: string;
  /** Whether all spans of the range were counted. */
  readonly complete: boolean;
}

async function countValues(context: RequestContext, fields: readonly string[]): Promise<Counts> {
  const { project, reader } = context;
  const parameters = new Parameters();
  const { trace, row, sums, implied, isHeavy } = conditionsOf(context, 'span', parameters);
  const { from, until } = rangeOf(context);
  const place = (value: unknown): string => parameters.add(value);
  const sample = isHeavy ? HEAVY_SAMPLE : SAMPLE;
  const environment = environmentCondition(context, 's.environment', parameters);
  const of = `${place(project)}::text`;
  const columns = fields.map((name, at) => `left(${COLUMNS[name]}, ${LONGEST_VALUE}) AS f${at}`).join(', ');
  const counts = fields.map(
    (name, at) => `'${name}', (SELECT coalesce(json_agg(json_build_object('value', f${at}, 'count', n)
      ORDER BY n DESC, f${at}), '[]') FROM (
        SELECT f${at}, count(*) AS n FROM matching WHERE f${at} IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ${VALUES}) c)`,
  );
  const text = `
  WITH newest AS NOT MATERIALIZED (
    SELECT s.* FROM sluice.spans s
    WHERE s.project = ${of} AND s.start_time_unix_nano >= ${place(String(from))}::int8
      AND s.start_time_unix_nano <= ${place(String(until - 1n))}::int8 AND ${allOf(environment)}
    ORDER BY s.start_time_unix_nano DESC LIMIT ${place(sample)}::int4
  ), seen AS MATERIALIZED (
    SELECT s.trace_id, ${columns}, ${allOf([...implied, ...row, ...trace])} AS matches
    FROM newest s ${traceOfSpan(implied)}
  ), ${matchingSpans(sums, reader.views, of)},
  size AS MATERIALIZED (SELECT count(*) AS examined, count(*) < ${place(sample)}::int4 AS complete FROM seen)
  SELECT complete, json_build_object('examined', examined, 'complete', complete,
    'fields', json_build_object(${counts.join(', ')}))::text AS facets
  FROM size`;
  const [found] = await reader.query(text, parameters.values);
  return { text: String(found?.['facets']), complete: found?.['complete'] === true };
}
