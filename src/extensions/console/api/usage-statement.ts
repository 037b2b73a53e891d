/**
 * The statements of `GET …/usage`: what the calls of a range used, by group and point of time, each call counted once.
 *
 * Several spans may report one call. A sort by call finds them, and takes a third of the time of a statement. Few
 * projects have repetitions, so a statement without that sort comes first. It says whether a call is repeated; then
 * its figures are too high.
 */
import type { Statement } from '../../../component/capabilities/postgres.ts';
import { LATEST_NS } from '../../../component/moment.ts';
import { HOUR_NS } from '../../../pdata/time-units.ts';
import { Parameters } from '../filter/parameters.ts';
import type { RequestContext } from '../server/route.ts';
import { allOf, conditionsOf, environmentCondition, type Range } from './question.ts';
import { LONGEST_NAME, nameText } from './texts.ts';

/** Repetitions of one call are found if they are within this time of each other. */
const REPEATED_NS = HOUR_NS;
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

export interface Statements {
  /** Its row has `repeated`. Null: only the sorted one can be used. */
  readonly unsorted: Statement | null;
  readonly sorted: Statement;
  /** Whether spans that are no calls are read. */
  readonly hasOwners: boolean;
}

/** The planner hashes the calls for their group, as a type without an order cannot be sorted. That is faster. */
const HASHED = "'0'::xid";
const USER = `hashtextextended(CASE WHEN octet_length(u.user_id) > ${LONGEST_NAME} THEN ${nameText('u.user_id')} ELSE u.user_id END, 0)`;
/** PostgreSQL 15 has no `hashbyteaextended`. */
const CALL = "hashtextextended(call_key, hashtextextended(encode(trace_id, 'hex'), 0))";

export function figuresStatements(context: RequestContext, figures: Figures): Statements {
  const statement = (callsOf: (asked: Asked) => Calls): Statement & { readonly hasOwners: boolean } => {
    const asked = askedOf(context, figures);
    const text = figuresText(asked, callsOf(asked));
    return { text, values: asked.parameters.values, hasOwners: asked.owned.length > 0 };
  };
  const sorted = statement(sortedCalls);
  return { unsorted: sorted.hasOwners ? null : statement(allCalls), sorted, hasOwners: sorted.hasOwners };
}

interface Asked extends Figures {
  readonly context: RequestContext;
  /** The columns that a call may have from a span above it. */
  readonly owned: readonly string[];
  /** A text with columns of the calls as `u.name`. */
  readonly conditions: string;
  /** The columns of the calls that are read. */
  readonly columns: readonly string[];
  readonly parameters: Parameters;
}

function askedOf(context: RequestContext, figures: Figures): Asked {
  const { keys } = figures;
  const parameters = new Parameters();
  const conditions = allOf([
    ...conditionsOf(context, 'usage', parameters).row,
    ...environmentCondition(context, 'u.environment', parameters),
  ]);
  const named = [...conditions.matchAll(/\bu\.(\w+)/gu)].map(([, name = '']) => name);
  const read = [
    'time_unix_nano',
    'user_id',
    'latency_ms',
    'time_to_first_token_ms',
    'is_error',
    ...SUMS,
    ...keys,
    ...named,
  ];
  // Finding the values of spans above takes several times as long, so it is done only where it is needed.
  const owned = OWNED.filter((column) => keys.includes(column) || conditions.includes(`u.${column}`));
  return { ...figures, context, owned, conditions, columns: [...new Set(read)], parameters };
}

/** Relations of calls as `u`. */
interface Calls {
  readonly from: string;
  /** Whether a call is one of the answer. Null: all are. */
  readonly counts: string | null;
}

/**
 * Calls are summed by group and point, and these `parts` by group and in all, so that each call is added once. The
 * groups of the highest cost have a rank of their own; the others share the last rank. Parts also list the times of
 * their calls, for the percentiles, and the hashes of their users and calls. `of_key` and `of_point` say whether a row
 * is of one group and of one point.
 */
function figuresText({ keys, interval, parameters }: Asked, { from, counts }: Calls): string {
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
  const groups = [...keys, 'point', ...(counts === null ? [] : ['counts'])];
  return `
  WITH groups AS MATERIALIZED (
    SELECT ${groups.join(', ')}, count(*) AS call_count, ${SUMS.map((name) => `sum(${name}) AS ${name}`).join(', ')},
      count(*) FILTER (WHERE total_cost IS NULL) AS unpriced_count, count(*) FILTER (WHERE is_error) AS error_count,
      array_agg(latency_ms) FILTER (WHERE latency_ms IS NOT NULL) AS latencies,
      array_agg(time_to_first_token_ms) FILTER (WHERE time_to_first_token_ms IS NOT NULL) AS first_tokens,
      array_agg(of_user) FILTER (WHERE of_user IS NOT NULL) AS users
      ${counts === null ? '' : ', array_agg(call) FILTER (WHERE call IS NOT NULL) AS calls'}
    FROM (
      SELECT ${[...keys.map((key) => `u.${key}`), `${point} AS point`].join(', ')}, ${USER} AS of_user, u.latency_ms, u.time_to_first_token_ms, u.is_error,
        ${SUMS.map((name) => `u.${name}`).join(', ')}${counts === null ? '' : `, u.call, (${counts}) IS TRUE AS counts`}
      FROM ${from}
    ) u GROUP BY ${[...groups, HASHED].join(', ')}
  ), parts AS NOT MATERIALIZED (
    SELECT * FROM groups${counts === null ? '' : ' WHERE counts'}
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
    SELECT count(*) AS user_count FROM (SELECT DISTINCT of_user FROM parts, unnest(users) AS of_user) u
  )
  SELECT (SELECT ${figuresJson(`users.user_count`)}::text FROM a, users WHERE NOT of_key AND NOT of_point) AS total,
    (SELECT call_count::int4 FROM a WHERE NOT of_key AND NOT of_point) AS examined,
    (SELECT string_agg(concat_ws(E'\\t', CASE WHEN a.rank > ${MAX_SERIES} THEN json_build_object('other', true) ELSE ${key} END,
        ${figuresJson(null)}, CASE WHEN a.of_point THEN a.point END), E'\\n' ORDER BY a.rank, a.point)
     FROM a WHERE ${keys.length === 0 ? 'true' : 'a.of_key'}) AS series,
    ${counts === null ? 'false' : '(SELECT count(*) > count(DISTINCT call) FROM groups, unnest(calls) AS call)'} AS repeated,
    to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS as_of`;
}

/**
 * `counted_usage_between` as a relation with the columns that are read. The function sorts all columns to find
 * repetitions, and stores them before the first row is read: that takes twice as long.
 */
function sortedCalls({ context, range, owned, columns, conditions, parameters }: Asked): Calls {
  const { views } = context.reader;
  const counted = countedRange(context, range, parameters);
  const from = (calls: string): Calls => ({ from: `${calls} u WHERE ${conditions}`, counts: null });
  if (owned.length > 0) return from(`${views}.attributed_usage_between(${counted}, ${parameters.add(owned)}::text[])`);
  const read = columns.join(', ');
  // The key is first in a row: a comparison then does not go through the other columns.
  return from(`(
      SELECT ${read} FROM (
        SELECT DISTINCT ON (trace_id, call_key) trace_id, call_key, ${read} FROM ${views}.usage_spans_near(${nearTimes(range, parameters)}) WHERE ${nearby(context, range, parameters)}
        ORDER BY trace_id, call_key, total_tokens DESC NULLS LAST, total_cost DESC NULLS LAST, time_unix_nano, span_id
      ) s WHERE ${within(range, parameters)}
      UNION ALL SELECT ${read} FROM ${views}.other_usage_between(${counted})
    )`);
}

/** All spans of calls, with a hash of the call. Those near the range do not count: they may repeat a call of it. */
function allCalls({ context, range, columns, conditions, parameters }: Asked): Calls {
  const { views } = context.reader;
  // The cast gives the type that the function returns; otherwise PostgreSQL would convert each row.
  const spans = columns.map((column) => (column === 'total_cost' ? 'total_cost::numeric' : column)).join(', ');
  const from = `(
      SELECT ${spans}, project, ${CALL} AS call FROM ${views}.usage_spans_near(${nearTimes(range, parameters)})
      UNION ALL SELECT ${columns.join(', ')}, project, NULL::int8 FROM ${views}.other_usage_between(${countedRange(context, range, parameters)})
    ) u WHERE ${nearby(context, range, parameters)}`;
  return { from, counts: `${within(range, parameters)} AND ${conditions}` };
}

const int8 = (parameters: Parameters, ns: bigint): string => `${parameters.add(String(ns))}::int8`;

const countedRange = ({ project }: RequestContext, { from, until }: Range, parameters: Parameters): string =>
  `${parameters.text(project)}, ${int8(parameters, from)}, ${int8(parameters, until)}`;

const within = ({ from, until }: Range, parameters: Parameters): string =>
  `time_unix_nano >= ${int8(parameters, from)} AND time_unix_nano < ${int8(parameters, until)}`;

function nearby({ project }: RequestContext, range: Range, parameters: Parameters): string {
  return `project = ${parameters.text(project)} AND ${within(nearOf(range), parameters)}`;
}

function nearTimes(range: Range, parameters: Parameters): string {
  const { from, until } = nearOf(range);
  return `${int8(parameters, from)}, ${int8(parameters, until)}`;
}

function nearOf({ from, until }: Range): Range {
  const latest = until + REPEATED_NS;
  return { from: from - REPEATED_NS, until: latest < LATEST_NS ? latest : LATEST_NS };
}

/** The figures of a row `a`. `users`: how many, for the total. */
const figuresJson = (users: string | null): string => `json_build_object(
      ${[...COUNTS, ...SUMS].map((name) => `'${name}', a.${name}${name === 'total_cost' ? '::text' : ''}`).join(', ')},
      'p50_ms', a.latency[1], 'p95_ms', a.latency[2], 'ttft_ms', a.ttft_ms${users === null ? '' : `, 'user_count', ${users}`})`;
