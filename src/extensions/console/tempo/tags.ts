/** Names and values of attributes, for completion in Grafana: those that the newest spans of the range have. */
import { neededReach } from '../api/completeness.ts';
import { allOf } from '../api/question.ts';
import { FilterError } from '../filter/filter.ts';
import { Parameters } from '../filter/parameters.ts';
import { json, type Reply, type RequestContext, type Route } from '../server/route.ts';
import { type AttributeName, attributeNamed, INTRINSICS, RESOURCE_COLUMNS, SPAN_COLUMNS } from './attributes.ts';
import { compileQuery, textOf } from './compile.ts';
import { numberOf, rangeOf, refusingQueries } from './question.ts';
import { parseQuery } from './traceql.ts';
import { tempoRoute } from './tempo-route.ts';

/** The most of the newest spans that are read. */
const SAMPLE = 2000;
const MAX_NAMES = 5000;
const DEFAULT_VALUES = 1000;
const LONGEST_VALUE = 256;

interface TagScope {
  readonly name: 'resource' | 'span' | 'intrinsic';
  readonly tags: readonly string[];
}

/** A route over a sample of the newest spans. */
const sampleRoute = (path: string, handle: (context: RequestContext) => Promise<Reply>): Route =>
  tempoRoute(path, async (context) => {
    const reading = { of: 'traces', ...rangeOf(context), isDetailed: true } as const;
    return (await neededReach(context, reading)).reply ?? handle(context);
  });

export const listTags = sampleRoute('/v2/search/tags', async (context) => {
  const wanted = context.query.get('scope') ?? '';
  const scopes = await readTags(context);
  return json({ scopes: scopes.filter(({ name }) => ['', 'none', name].includes(wanted)), metrics: {} });
});

export const listTagNames = sampleRoute('/search/tags', async (context) => {
  const names = (await readTags(context)).flatMap(({ tags }) => tags);
  return json({ tagNames: [...new Set(names)].sort(), metrics: {} });
});

export const listTagValues = sampleRoute('/v2/search/tag/{tag}/values', async (context) =>
  json({ tagValues: await readValues(context, false), metrics: {} }),
);

/** Names have no scope here. */
export const listPlainTagValues = sampleRoute('/search/tag/{tag}/values', async (context) =>
  json({ tagValues: (await readValues(context, true)).map(({ value }) => value), metrics: {} }),
);

async function readTags(context: RequestContext): Promise<readonly TagScope[]> {
  const limit = numberOf(context, 'limit', MAX_NAMES, MAX_NAMES);
  const parameters = new Parameters();
  const sample = sampleOf(context, parameters);
  const keysOf = (
    value: string,
  ): string => `ARRAY(SELECT DISTINCT left(k, ${LONGEST_VALUE}) AS k FROM sample s, jsonb_object_keys(
    CASE jsonb_typeof(${value}) WHEN 'object' THEN ${value} END) k ORDER BY 1 LIMIT ${limit})`;
  // The names of attributes are content, as their values are.
  const ofSpans = context.caller.seesContent ? keysOf('s.attributes') : `'{}'::text[]`;
  const resource = 'coalesce(s.resource, (SELECT r.body FROM sluice.resources r WHERE r.id = s.resource_id))';
  const text = `WITH sample AS MATERIALIZED (${sample})
    SELECT ${ofSpans} AS spans, ARRAY(SELECT DISTINCT left(k, ${LONGEST_VALUE}) AS k FROM (SELECT DISTINCT ${resource} AS body FROM sample s) d,
      jsonb_object_keys(CASE jsonb_typeof(d.body) WHEN 'object' THEN d.body END) k ORDER BY 1 LIMIT ${limit}) AS resources`;
  const [row] = await context.reader.query(text, parameters.values);
  const merged = (known: object, found: unknown): readonly string[] =>
    [...new Set([...Object.keys(known), ...((found ?? []) as readonly string[])])].sort().slice(0, limit);
  return [
    { name: 'resource', tags: merged(RESOURCE_COLUMNS, row?.['resources']) },
    { name: 'span', tags: merged(SPAN_COLUMNS, row?.['spans']) },
    { name: 'intrinsic', tags: INTRINSICS },
  ];
}

interface TagValue {
  readonly type: 'string' | 'keyword' | 'int' | 'float';
  readonly value: string;
}

async function readValues(context: RequestContext, isPlain: boolean): Promise<readonly TagValue[]> {
  const attribute = attributeOf(context, isPlain);
  if (attribute.words !== null) return attribute.words.map((value) => ({ type: 'keyword', value }));
  const { kind } = attribute.field;
  if (kind === 'duration_ns' || kind === 'trace_id' || kind === 'span_id') return [];
  // Without the right to content, no value of an attribute is returned.
  if (attribute.field.isContent === true && !context.caller.seesContent) return [];
  const parameters = new Parameters();
  const sample = sampleOf(context, parameters);
  const options = { seesContent: context.caller.seesContent, views: context.reader.views, parameters };
  const value = `left((${textOf(attribute, options)})::text, ${LONGEST_VALUE})`;
  const limit = numberOf(context, 'limit', DEFAULT_VALUES, DEFAULT_VALUES);
  const text = `WITH sample AS MATERIALIZED (${sample})
    SELECT v.value FROM (SELECT ${value} AS value FROM sample s CROSS JOIN LATERAL
      (SELECT t.* FROM sluice.traces t WHERE t.project = s.project AND t.trace_id = s.trace_id) t) v
    WHERE v.value IS NOT NULL AND v.value <> '' GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT ${limit}`;
  const rows = await context.reader.query(text, parameters.values);
  return rows.map(({ value }) => ({ type: typeOf(kind, String(value)), value: String(value) }));
}

function typeOf(kind: string, value: string): TagValue['type'] {
  if (kind !== 'number') return 'string';
  return value.includes('.') ? 'float' : 'int';
}

/** Grafana encodes the name twice. */
function attributeOf(context: RequestContext, isPlain: boolean): AttributeName {
  const name = decoded(context.parameter('tag'));
  return refusingQueries(name, () => {
    if (!isPlain) return attributeNamed(name, 0);
    const isIntrinsic = (INTRINSICS as readonly string[]).includes(name);
    return attributeNamed(isIntrinsic ? name : `.${name}`, 0);
  });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The newest spans of the range that the query selects. As in Tempo, a query that cannot be read is ignored. */
function sampleOf(context: RequestContext, parameters: Parameters): string {
  const { from, until } = rangeOf(context);
  const conditions = conditionsOf(context, parameters);
  return `SELECT s.* FROM (
    SELECT s.* FROM sluice.spans s WHERE s.project = ${parameters.text(context.project)}
      AND s.start_time_unix_nano >= ${parameters.add(String(from))}::int8
      AND s.start_time_unix_nano <= ${parameters.add(String(until - 1n))}::int8
    ORDER BY s.start_time_unix_nano DESC LIMIT ${SAMPLE}) s
    ${conditions.length === 0 ? '' : 'JOIN sluice.traces t ON t.project = s.project AND t.trace_id = s.trace_id'}
    WHERE ${allOf(conditions)}`;
}

function conditionsOf({ caller, query, reader }: RequestContext, parameters: Parameters): readonly string[] {
  const added = parameters.values.length;
  try {
    const { expression } = parseQuery(query.get('q') ?? '');
    const { row, sums } = compileQuery(expression, {
      seesContent: caller.seesContent,
      views: reader.views,
      parameters,
    });
    return [...row, ...sums];
  } catch (error) {
    if (!(error instanceof FilterError)) throw error;
    parameters.values.length = added;
    return [];
  }
}
