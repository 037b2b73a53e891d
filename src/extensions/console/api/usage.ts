/** `GET …/usage`: what model calls used, by a group and over time, each call counted once. */
import { Parameters } from '../filter/parameters.ts';
import { nanosecondsOf } from '../filter/values.ts';
import { jsonText, PROJECT, type RequestContext, readRoute } from '../server/route.ts';
import { type Completeness, completenessOf } from './completeness.ts';
import {
  allOf,
  boundedRangeOf,
  conditionsOf,
  environmentCondition,
  intervalOf,
  type Range,
  wordOf,
} from './question.ts';
import type { UsageGroup } from './shapes.ts';
import { nameText } from './texts.ts';
import { linesOf } from './trace-rows.ts';

const DAY_MS = 86_400_000;
const MAX_DAYS = 366;
const MAX_SERIES = 100;
const INTERVALS = ['1m', '5m', '15m', '1h', '6h', '1d', '7d'] as const;

const KEYS: Readonly<Record<UsageGroup, readonly string[]>> = {
  none: [],
  provider: ['provider'],
  model: ['provider', 'model'],
  user: ['user_id'],
  service: ['service_name'],
  agent: ['agent_name'],
  conversation: ['conversation_id'],
  environment: ['environment'],
};

/** A call that names none has that of a span above it. */
const OWNED = ['user_id', 'conversation_id', 'agent_name'];
const SUMS = [
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'reasoning_tokens',
  'total_cost',
];
const COUNTS = ['call_count', 'unpriced_count', 'error_count'];
const TIMES = ['p50_ms', 'p95_ms', 'ttft_ms'];

export const showUsage = readRoute(`${PROJECT}/usage`, async (context) => {
  const group = wordOf(context, 'group', [
    'model',
    'none',
    'provider',
    'user',
    'service',
    'agent',
    'conversation',
    'environment',
  ]);
  const range = boundedRangeOf(context, { days: MAX_DAYS, defaultMs: DAY_MS });
  const interval = intervalOf(context, range, INTERVALS);
  const before = { from: range.from - (range.until - range.from), until: range.from };
  const now = figuresQuestion(context, { keys: KEYS[group], range, interval: String(nanosecondsOf(interval)) });
  const earlier = figuresQuestion(context, { keys: KEYS[group], range: before, interval: null });
  const completeness = await completenessOf(context, before.from);
  if (wordOf(context, 'archived', ['false', 'true']) === 'true' && completeness.complete_from !== undefined) {
    const { hasOwners } = now;
    const { project } = context;
    const reply = await context.archivedUsage({ project, from: before.from, until: range.until, hasOwners });
    if (reply !== null) return reply;
  }
  const [found] = await context.reader.query(now.text, now.values);
  const [past] = await context.reader.query(earlier.text, earlier.values);
  return jsonText(answerText({ group, range, interval, completeness }, found ?? {}, past ?? {}));
});

interface Figures {
  readonly keys: readonly string[];
  readonly range: Range;
  /** Null: no points. */
  readonly interval: string | null;
}

interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
  readonly hasOwners: boolean;
}

/**
 * Rows are summed by group and point, by group, by point, and in all. The groups of the highest cost are answered, and
 * the others are added up. `of_key` and `of_point` say whether a row is of one group and of one point.
 */
function figuresQuestion(context: RequestContext, { keys, range, interval }: Figures): Statement {
  const { project, reader } = context;
  const parameters = new Parameters();
  const conditions = allOf([
    ...conditionsOf(context, 'usage', parameters).row,
    ...environmentCondition(context, 'u.environment', parameters),
  ]);
  const [of, from, until] = [project, String(range.from), String(range.until)].map((value) => parameters.add(value));
  // To find the owners of calls takes several times as long. Without need, those that calls name are counted.
  const owned = OWNED.filter((column) => keys.includes(column) || conditions.includes(`u.${column}`));
  const counted = `${of}::text, ${from}::int8, ${until}::int8`;
  const calls =
    owned.length === 0
      ? `${reader.views}.counted_usage_between(${counted})`
      : `${reader.views}.attributed_usage_between(${counted}, ${parameters.add(owned)}::text[])`;
  const point =
    interval === null
      ? 'NULL::int8'
      : `u.time_unix_nano / ${parameters.add(interval)}::int8 * ${parameters.add(interval)}::int8`;
  const columns = keys.map((key) => `${nameText(`u.${key}`)} AS ${key}`);
  const sets = [...(interval === null ? [] : [['point', ...keys], ['point']]), keys, []];
  const key = `json_build_object(${keys.map((name) => `'${name}', a.${name}`).join(', ')})`;
  const same = keys.map((name) => `t.${name} IS NOT DISTINCT FROM a.${name}`);
  const ofPoint = interval === null ? 'false' : 'GROUPING(point) = 0';
  const ofKey = keys.length === 0 ? 'false' : `GROUPING(${keys[0]}) = 0`;
  const text = `
  WITH calls AS NOT MATERIALIZED (
    SELECT ${[...columns, `${point} AS point`].join(', ')}, ${nameText('u.user_id')} AS of_user, u.latency_ms, u.time_to_first_token_ms, u.is_error,
      ${SUMS.map((name) => `u.${name}`).join(', ')}
    FROM ${calls} u WHERE ${conditions}
  ), a AS MATERIALIZED (
    SELECT ${[...keys, ...(interval === null ? ['NULL::int8 AS point'] : ['point'])].join(', ')}, ${ofKey} AS of_key, ${ofPoint} AS of_point,
      count(*) AS call_count, ${SUMS.map((name) => `sum(${name}) AS ${name}`).join(', ')},
      count(*) FILTER (WHERE total_cost IS NULL) AS unpriced_count, count(*) FILTER (WHERE is_error) AS error_count,
      percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY latency_ms) AS latency,
      percentile_cont(0.5) WITHIN GROUP (ORDER BY time_to_first_token_ms) AS ttft_ms, count(DISTINCT of_user) AS user_count
    FROM calls GROUP BY GROUPING SETS (${[...new Set(sets.map((set) => `(${set.join(', ')})`))].join(', ')})
  ), top AS MATERIALIZED (
    SELECT ${[...keys, 'row_number() OVER (ORDER BY total_cost DESC NULLS LAST, call_count DESC) AS rank'].join(', ')}
    FROM a WHERE of_key AND NOT of_point ORDER BY total_cost DESC NULLS LAST, call_count DESC LIMIT ${MAX_SERIES}
  ), ranked AS MATERIALIZED (
    SELECT a.*, t.rank FROM a LEFT JOIN top t ON ${allOf(['a.of_key', ...same])}
  ), rest AS (
    SELECT point, of_point, ${[...COUNTS, ...SUMS].map((name) => `sum(${name}) AS ${name}`).join(', ')}
    FROM ranked WHERE of_key AND rank IS NULL GROUP BY 1, 2
  )
  SELECT (SELECT ${figuresJson('a', true)}::text FROM a WHERE NOT of_key AND NOT of_point) AS total,
    (SELECT call_count::int4 FROM a WHERE NOT of_key AND NOT of_point) AS examined,
    (SELECT string_agg((json_build_array(a.rank, a.of_point, ${key}, a.point::text, ${figuresJson('a', false)}))::text, E'\\n' ORDER BY a.rank, a.point)
     FROM ranked a WHERE ${keys.length === 0 ? 'NOT a.of_key' : 'a.of_key AND a.rank IS NOT NULL'}) AS series,
    (SELECT string_agg((json_build_array(NULL, r.of_point, json_build_object('other', true), r.point::text, ${restJson()}))::text, E'\\n' ORDER BY r.point)
     FROM rest r) AS rest,
    to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS as_of`;
  return { text, values: parameters.values, hasOwners: owned.length > 0 };
}

const sumJson = (alias: string, name: string): string =>
  `'${name}', ${alias}.${name}${name === 'total_cost' ? '::text' : ''}`;

const figuresJson = (alias: string, isTotal: boolean): string => `json_build_object(
      ${[...COUNTS, ...SUMS].map((name) => sumJson(alias, name)).join(', ')}, 'p50_ms', ${alias}.latency[1], 'p95_ms', ${alias}.latency[2],
      'ttft_ms', ${alias}.ttft_ms${isTotal ? `, 'user_count', ${alias}.user_count` : ''})`;

const restJson = (): string =>
  `json_build_object(${[...COUNTS, ...SUMS].map((name) => sumJson('r', name)).join(', ')}, ${TIMES.map((name) => `'${name}', NULL`).join(', ')})`;

interface Series {
  readonly key: unknown;
  readonly points: unknown[];
  total: unknown;
}

type Found = Readonly<Record<string, unknown>>;

interface Asked {
  readonly group: UsageGroup;
  readonly range: Range;
  readonly interval: string;
  readonly completeness: Completeness;
}

/** The rows are small: at most 101 groups with their points. */
function answerText({ group, range, interval, completeness }: Asked, found: Found, past: Found): string {
  const earlier = new Map(seriesOf(past).map(({ key, total }) => [JSON.stringify(key), total]));
  const series = seriesOf(found).map(({ key, total, points }) => ({
    key,
    total,
    before: earlier.get(JSON.stringify(key)) ?? null,
    points,
  }));
  const head = {
    as_of: found['as_of'],
    from: String(range.from),
    to: String(range.until),
    group,
    interval,
    calls_examined: found['examined'],
    ...completeness,
    series,
  };
  return `${JSON.stringify(head).slice(0, -1)},"total":${String(found['total'])},"before":${String(past['total'])}}`;
}

function seriesOf(found: Found): readonly Series[] {
  const series = new Map<string, Series>();
  for (const line of [...linesOf(found['series']), ...linesOf(found['rest'])]) {
    const [, isPoint, key, point, figures] = JSON.parse(line) as readonly [unknown, boolean, unknown, string, unknown];
    const name = JSON.stringify(key);
    const one = series.get(name) ?? { key, points: [], total: null };
    series.set(name, one);
    if (isPoint) one.points.push([point, figures]);
    else one.total = figures;
  }
  return [...series.values()];
}
