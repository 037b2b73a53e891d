/** The statement of `GET …/usage`: what the calls of a range used, by group and point of time, each call counted once. */
import { LATEST_NS } from '../../../component/moment.ts';
import { Parameters } from '../filter/parameters.ts';
import type { RequestContext } from '../server/route.ts';
import { allOf, conditionsOf, environmentCondition, type Range } from './question.ts';
import { nameText } from './texts.ts';

/** Repetitions of one call are found if they are within this time of each other. */
const REPEATED_NS = 3_600_000_000_000n;
const MAX_SERIES = 100;

/** A call without a value of its own has that of a span above it. */
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

export interface Figures {
  readonly keys: readonly string[];
  readonly range: Range;
  /** Null: no points. */
  readonly interval: string | null;
}

export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
  readonly hasOwners: boolean;
}

/**
 * Calls are summed by group and point, and these `parts` by group and in all, so that each call is added once. The
 * groups of the highest cost have a rank of their own; the others share the last rank. Parts also list the times of
 * their calls, for the percentiles. `of_key` and `of_point` say whether a row is of one group and of one point. The
 * calls are stored: the planner sorts the rows of a larger query for `parts`, which takes longer than to hash them.
 */
export function figuresQuestion(context: RequestContext, { keys, range, interval }: Figures): Statement {
  const parameters = new Parameters();
  const conditions = allOf([
    ...conditionsOf(context, 'usage', parameters).row,
    ...environmentCondition(context, 'u.environment', parameters),
  ]);
  const point =
    interval === null
      ? 'NULL::int8'
      : `u.time_unix_nano / ${parameters.add(interval)}::int8 * ${parameters.add(interval)}::int8`;
  // Cut once for each group: for each call it takes a twentieth of the time.
  const names = keys.map((key) => `${nameText(key)} AS ${key}`);
  const points = interval === null ? [] : ['point'];
  const ranks = keys.length === 0 ? [] : ['rank'];
  const sets = [...new Set([[...ranks, ...points], ranks, []].map((set) => `(${set.join(', ')})`))].join(', ');
  const key = `json_build_object(${keys.map((name) => `'${name}', a.${name}`).join(', ')})`;
  const place = `${ranks[0] ?? 'NULL::int8 AS rank'}, ${points[0] ?? 'NULL::int8 AS point'}`;
  const ofPoint = interval === null ? 'false' : 'GROUPING(point) = 0';
  const ofKey = keys.length === 0 ? 'false' : 'GROUPING(rank) = 0';
  const byKey = keys.length === 0 ? '' : `PARTITION BY ${keys.join(', ')}`;
  // Finding the values of spans above takes several times as long, so it is done only where it is needed.
  const owned = OWNED.filter((column) => keys.includes(column) || conditions.includes(`u.${column}`));
  const source = callsOf(context, { range, keys, owned, conditions, parameters });
  const text = `
  WITH calls AS MATERIALIZED (
    SELECT ${[...keys.map((key) => `u.${key}`), `${point} AS point`].join(', ')}, u.user_id AS of_user, u.latency_ms, u.time_to_first_token_ms, u.is_error,
      ${SUMS.map((name) => `u.${name}`).join(', ')}
    FROM ${source} u WHERE ${conditions}
  ), parts AS MATERIALIZED (
    SELECT ${[...keys, 'point'].join(', ')}, count(*) AS call_count, ${SUMS.map((name) => `sum(${name}) AS ${name}`).join(', ')},
      count(*) FILTER (WHERE total_cost IS NULL) AS unpriced_count, count(*) FILTER (WHERE is_error) AS error_count,
      array_agg(latency_ms) FILTER (WHERE latency_ms IS NOT NULL) AS latencies,
      array_agg(time_to_first_token_ms) FILTER (WHERE time_to_first_token_ms IS NOT NULL) AS first_tokens
    FROM calls GROUP BY ${[...keys, 'point'].join(', ')}
  ), ranked AS MATERIALIZED (
    SELECT p.*, least(dense_rank() OVER (ORDER BY ${['key_cost DESC NULLS LAST, key_calls DESC', ...keys].join(', ')}), ${MAX_SERIES + 1}) AS rank
    FROM (SELECT *, sum(total_cost) OVER of_key AS key_cost, sum(call_count) OVER of_key AS key_calls
      FROM (SELECT ${[...names, 'point', ...COUNTS, ...SUMS, 'latencies', 'first_tokens'].join(', ')} FROM parts) n WINDOW of_key AS (${byKey})) p
  ), sums AS (
    SELECT ${place}, ${[...keys.map((name) => `min(${name}) AS ${name}`), `${ofKey} AS of_key`].join(', ')}, ${ofPoint} AS of_point,
      ${COUNTS.map((name) => `coalesce(sum(${name}), 0) AS ${name}`).join(', ')}, ${SUMS.map((name) => `sum(${name}) AS ${name}`).join(', ')}
    FROM ranked GROUP BY GROUPING SETS (${sets})
  ), times AS (
    SELECT ${place}, percentile_cont(ARRAY[0.5, 0.95]) WITHIN GROUP (ORDER BY latency_ms) AS latency,
      percentile_cont(0.5) WITHIN GROUP (ORDER BY first_token_ms) AS ttft_ms
    FROM (SELECT rank, point, latencies, first_tokens FROM ranked ORDER BY ${[...ranks, 'point'].join(', ')} OFFSET 0) r,
      unnest(latencies, first_tokens) AS u (latency_ms, first_token_ms)
    GROUP BY GROUPING SETS (${sets})
  ), a AS MATERIALIZED (
    SELECT s.*, t.latency, t.ttft_ms FROM sums s LEFT JOIN times t ON coalesce(t.rank, 0) = coalesce(s.rank, 0)
      AND coalesce(t.point, -1) = coalesce(s.point, -1) AND s.rank IS DISTINCT FROM ${MAX_SERIES + 1}
  ), users AS (
    SELECT count(DISTINCT ${nameText('of_user')}) AS user_count FROM (SELECT DISTINCT of_user FROM calls WHERE of_user IS NOT NULL) u
  )
  SELECT (SELECT ${figuresJson(`users.user_count`)}::text FROM a, users WHERE NOT of_key AND NOT of_point) AS total,
    (SELECT call_count::int4 FROM a WHERE NOT of_key AND NOT of_point) AS examined,
    (SELECT string_agg(concat_ws(E'\\t', CASE WHEN a.rank > ${MAX_SERIES} THEN json_build_object('other', true) ELSE ${key} END,
        ${figuresJson(null)}, CASE WHEN a.of_point THEN a.point END), E'\\n' ORDER BY a.rank, a.point)
     FROM a WHERE ${keys.length === 0 ? 'true' : 'a.of_key'}) AS series,
    to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS as_of`;
  return { text, values: parameters.values, hasOwners: owned.length > 0 };
}

interface Asked {
  readonly range: Range;
  readonly keys: readonly string[];
  /** The columns that a call may have from a span above it. */
  readonly owned: readonly string[];
  /** A text with columns of the calls as `u.name`. */
  readonly conditions: string;
  readonly parameters: Parameters;
}

/**
 * `counted_usage_between` as a relation with the columns that are read. The function sorts all columns to find
 * repetitions, and stores them before the first row is read: that takes twice as long.
 */
function callsOf(
  { project, reader: { views } }: RequestContext,
  { range, keys, owned, conditions, parameters }: Asked,
): string {
  const [of, from, until] = [project, String(range.from), String(range.until)].map((value) => parameters.add(value));
  const counted = `${of}::text, ${from}::int8, ${until}::int8`;
  if (owned.length > 0) return `${views}.attributed_usage_between(${counted}, ${parameters.add(owned)}::text[])`;
  const named = [...conditions.matchAll(/\bu\.(\w+)/gu)].map(([, name = '']) => name);
  const columns = [
    ...new Set([
      'time_unix_nano',
      'user_id',
      'latency_ms',
      'time_to_first_token_ms',
      'is_error',
      ...SUMS,
      ...keys,
      ...named,
    ]),
  ].join(', ');
  const latest = range.until + REPEATED_NS;
  const near = [range.from - REPEATED_NS, latest < LATEST_NS ? latest : LATEST_NS].map((ns) =>
    parameters.add(String(ns)),
  );
  return `(
      SELECT ${columns} FROM (
        SELECT DISTINCT ON (trace_id, call_key) ${columns} FROM ${views}.usage_spans
        WHERE project = ${of}::text AND time_unix_nano >= ${near[0]}::int8 AND time_unix_nano < ${near[1]}::int8
        ORDER BY trace_id, call_key, total_tokens DESC NULLS LAST, total_cost DESC NULLS LAST, time_unix_nano, span_id
      ) s WHERE time_unix_nano >= ${from}::int8 AND time_unix_nano < ${until}::int8
      UNION ALL SELECT ${columns} FROM ${views}.other_usage_between(${counted})
    )`;
}

/** Of a row `a`. `users`: how many, for the total. */
const figuresJson = (users: string | null): string => `json_build_object(
      ${[...COUNTS, ...SUMS].map((name) => `'${name}', a.${name}${name === 'total_cost' ? '::text' : ''}`).join(', ')},
      'p50_ms', a.latency[1], 'p95_ms', a.latency[2], 'ttft_ms', a.ttft_ms${users === null ? '' : `, 'user_count', ${users}`})`;
