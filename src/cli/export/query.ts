/** The queries of `sluice export`: which rows, in which order, as texts. */
import type { Statement } from '../../component/capabilities/postgres.ts';
import { isFailedLog } from '../../extensions/console/filter/failed-logs.ts';
import { hasSpan, IS_FAILED, spansOf } from '../../extensions/console/filter/trace-spans.ts';
import type { Column } from '../../pdata/columns.ts';
import type { Signal } from '../../pdata/context.ts';
import { logNs } from '../../pdata/log-time.ts';
import { storedTextQuery } from '../../pdata/stored-text.ts';
import { environmentOf, minCostOf, Parameters, recordConditions, SEARCHED, traceConditions } from '../filters.ts';
import { filterConditions } from '../filter-option.ts';
import { UsageError, type Values } from '../options.ts';
import type { Reader } from '../reader.ts';

export const SUBJECTS = ['traces', 'spans', 'logs', 'metrics'] as const;
export type Subject = (typeof SUBJECTS)[number];

/** In Unix nanoseconds; null: no limit. */
export interface Period {
  readonly since: string | null;
  readonly until: string | null;
}

/** The signal of the rows of a subject; traces are written as spans in OTLP only. */
export const SIGNALS: Readonly<Record<Subject, Signal>> = {
  traces: 'traces',
  spans: 'traces',
  logs: 'logs',
  metrics: 'metrics',
};

const TIMES: Readonly<Record<Subject, string>> = {
  traces: 'coalesce(t.first_ns, (extract(epoch FROM t.created_at) * 1000000)::int8 * 1000)',
  spans: 's.start_time_unix_nano',
  logs: logNs('s'),
  metrics: 's.time_unix_nano',
};
/** Indexes have these columns first. A tie is decided by the rest. */
const ORDERS: Readonly<Record<Subject, string>> = {
  traces: 't.created_at, t.trace_id',
  spans: 's.start_time_unix_nano, s.trace_id, s.span_id',
  logs: 's.time_unix_nano, s.observed_time_unix_nano, s.received_at',
  metrics: 's.time_unix_nano, s.name, s.received_at',
};
/** Filters of calls, which metrics do not have. */
const OF_CALLS = ['model', 'user', 'conversation', 'agent', 'search', 'min-cost', 'errors'];

/** For one project, so that an index gives the order. */
export function rowsQuestion(
  subject: Exclude<Subject, 'traces'>,
  values: Values,
  project: string,
  period: Period,
): Statement {
  if (subject === 'metrics') refuseCallFilters(values);
  if (values.flag('filter'))
    throw new UsageError('--filter selects traces', 'Use it with --what traces; --as otlp writes their spans.');
  const parameters = new Parameters();
  const { list, from } = storedTextQuery(SIGNALS[subject]);
  const conditions = [
    ...ownerConditions('s', TIMES[subject], { values, project, period }, parameters),
    ...recordConditions(values, parameters, subject === 'spans' ? SEARCHED.span : SEARCHED.log),
    ...(values.flag('errors') && subject !== 'metrics' ? [subject === 'spans' ? IS_FAILED : isFailedLog('s')] : []),
    ...minCost(values, parameters),
  ];
  const text = `SELECT ${list} FROM ${from} WHERE ${conditions.join(' AND ')} ORDER BY ${ORDERS[subject]}`;
  return { text, values: parameters.values };
}

/** The ids of the traces, in order of arrival. */
export function tracesQuestion(reader: Reader, values: Values, project: string, period: Period): Statement {
  const parameters = new Parameters();
  const conditions = traceFilter(reader, { values, project, period }, parameters);
  const text = `SELECT encode(t.trace_id, 'hex') AS trace_id, t.created_at::text AS created_at
    FROM sluice.traces t WHERE ${conditions} ORDER BY ${ORDERS.traces}`;
  return { text, values: parameters.values };
}

/** Every span of the traces, trace by trace. */
export function spansOfTracesQuestion(reader: Reader, values: Values, project: string, period: Period): Statement {
  const parameters = new Parameters();
  const within = withinOf(period, parameters);
  const conditions = traceFilter(reader, { values, project, period }, parameters);
  const { list, from } = storedTextQuery('traces');
  const text = `SELECT ${list} FROM ${from.replace('sluice.spans s', `sluice.traces t JOIN sluice.spans s ON ${spansOf('s', within)}`)}
    WHERE ${conditions} ORDER BY t.created_at, t.trace_id, s.start_time_unix_nano, s.span_id`;
  return { text, values: parameters.values };
}

/** Rows of the view `traces`: with the time of arrival they are found by an index. */
export function traceRowsQuestion(
  reader: Reader,
  project: string,
  ids: readonly { trace_id: string; created_at: string }[],
): Statement {
  const list = TRACE_COLUMNS.map(
    ({ name, type }) => `${type === 'timestamp' ? asTimestamp(name) : `v.${name}::text`} AS ${name}`,
  );
  return {
    text: `SELECT ${list.join(', ')} FROM ${reader.views}.traces v
      WHERE v.project = $1 AND v.created_at BETWEEN $2::timestamptz AND $3::timestamptz AND v.trace_id = ANY ($4::text[])
      ORDER BY v.created_at, v.trace_id`,
    values: [project, ids[0]?.created_at, ids.at(-1)?.created_at, ids.map(({ trace_id }) => trace_id)],
  };
}

const asTimestamp = (name: string): string => `to_char(v.${name} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

const count = (name: string) => ({ name, type: 'count' }) as const;
const money = (name: string) => ({ name, type: 'money' }) as const;
const text = (name: string) => ({ name, type: 'text' }) as const;
const nanos = (name: string) => ({ name, type: 'nanos' }) as const;

/** The columns of the view `traces`. */
export const TRACE_COLUMNS: readonly Pick<Column, 'name' | 'type'>[] = [
  ...['project', 'environment', 'trace_id', 'root_name', 'root_span_id'].map(text),
  ...['start_time_unix_nano', 'end_time_unix_nano', 'duration_ns'].map(nanos),
  ...['span_count', 'error_count', 'model_call_count', 'tool_step_count', 'retrieval_count'].map(count),
  ...[
    'input_tokens',
    'output_tokens',
    'total_tokens',
    'cache_read_tokens',
    'cache_write_tokens',
    'reasoning_tokens',
  ].map(count),
  ...['input_cost', 'output_cost', 'total_cost'].map(money),
  ...['conversation_id', 'user_id'].map(text),
  { name: 'created_at', type: 'timestamp' },
];

/** Every project with records. */
export async function projectsOf({ query }: Reader, subject: Subject): Promise<readonly string[]> {
  const table = { traces: 'traces', spans: 'spans', logs: 'logs', metrics: 'metric_points' }[subject];
  const rows = await query(`WITH RECURSIVE p AS (
      SELECT min(project) AS name FROM sluice.${table}
      UNION ALL SELECT (SELECT min(project) FROM sluice.${table} WHERE project > p.name) FROM p WHERE p.name IS NOT NULL
    ) SELECT name FROM p WHERE name IS NOT NULL ORDER BY name`);
  return rows.map(({ name }) => String(name));
}

interface Selected {
  readonly values: Values;
  readonly project: string;
  readonly period: Period;
}

function ownerConditions(
  alias: string,
  time: string,
  { values, project, period }: Selected,
  parameters: Parameters,
): readonly string[] {
  const environment = environmentOf(values);
  return [
    `${alias}.project = ${parameters.add(project)}::text`,
    ...(environment === null ? [] : [`${alias}.environment = ${parameters.add(environment)}::text`]),
    ...(period.since === null ? [] : [`${time} >= ${parameters.add(period.since)}::int8`]),
    ...(period.until === null ? [] : [`${time} < ${parameters.add(period.until)}::int8`]),
  ];
}

/** Spans of a trace do not begin before it. */
const withinOf = ({ since }: Period, parameters: Parameters): string =>
  since === null ? '' : `>= ${parameters.add(since)}::int8`;

function traceFilter(reader: Reader, selected: Selected, parameters: Parameters): string {
  const { values, period } = selected;
  const within = withinOf(period, parameters);
  return [
    ...ownerConditions('t', TIMES.traces, { ...selected, period: { ...period, since: null } }, parameters),
    ...(within === '' ? [] : [`${TIMES.traces} ${within}`]),
    ...traceConditions(values, parameters, reader.views, within),
    ...filterConditions(values, parameters.values, reader.views, within),
    ...(values.flag('errors') ? [hasSpan(IS_FAILED, within)] : []),
  ].join(' AND ');
}

function minCost(values: Values, parameters: Parameters): readonly string[] {
  const cost = minCostOf(values);
  return cost === null ? [] : [`s.total_cost >= ${parameters.add(cost)}::numeric`];
}

function refuseCallFilters(values: Values): void {
  const given = OF_CALLS.find((name) => values.flag(name));
  if (given !== undefined)
    throw new UsageError(`metrics have no --${given}`, 'Filter them by project, environment, service and time.');
}
