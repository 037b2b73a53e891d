/** The query of `sluice traces`: the newest traces, or those that arrived after a place, with their figures. */
import { countedUsageOf, traceJoins } from '../extensions/console/api/trace-rows.ts';
import { hasSpan, IS_FAILED, LOGS_SINCE } from '../extensions/console/filter/trace-spans.ts';
import { filterConditions } from './filter-option.ts';
import { environmentOf, hasLog, Parameters, traceConditions } from './filters.ts';
import type { Values } from './options.ts';
import { type Reader, type Row, type RowOf, shaped, sumOf, textOf } from './reader.ts';

const ARRIVED_US = '(extract(epoch FROM t.created_at) * 1000000)::int8';
/** The start of a trace; for log records alone, their arrival. */
const TIME_NS = `coalesce(t.first_ns, ${ARRIVED_US} * 1000)`;
/** Without it a claim is listed whose records have expired, or are stored elsewhere. */
const hasRecords = (within: string, arrived: string): string => `(${hasSpan('true', within)}
      OR ${hasLog('true', arrived)})`;

/** Every project with traces, or the one that the parameter names. */
const projects = (of: string): string => `
    WITH RECURSIVE p AS (
      SELECT min(project) AS name FROM sluice.traces
      UNION ALL SELECT (SELECT min(project) FROM sluice.traces WHERE project > p.name) FROM p WHERE p.name IS NOT NULL
    ) SELECT name FROM p WHERE name IS NOT NULL AND (${of}::text IS NULL OR name = ${of}::text)`;

/** Traces in the order of their arrival, by its index. */
const arrivedOf = (conditions: string, limit: string): string => `
    SELECT t.*, ${TIME_NS} AS time_ns, ${ARRIVED_US} AS arrived_us FROM sluice.traces t WHERE ${conditions}
    ORDER BY t.created_at, t.trace_id LIMIT ${limit}`;

/**
 * The newest traces of each project, by the index of their starts: a filter is then asked of as many traces as it takes
 * to fill the list. Traces of log records alone have no start.
 */
const newestOf = (projects: string, since: string, conditions: string, limit: string): string => {
  const those = (start: string, time: string): string => `(
        SELECT t.*, ${time} AS time_ns, ${ARRIVED_US} AS arrived_us FROM sluice.traces t
        WHERE t.project = p.name AND t.first_ns IS ${start} AND ${time} >= ${since} AND ${conditions}
        ORDER BY ${time} DESC, t.trace_id DESC LIMIT ${limit})`;
  return `
    SELECT n.* FROM (${projects}) p CROSS JOIN LATERAL (
      ${those('NOT NULL', 't.first_ns')} UNION ALL ${those('NULL', `${ARRIVED_US} * 1000`)}
    ) n ORDER BY time_ns DESC, trace_id DESC LIMIT ${limit}`;
};

/**
 * The rows of the console, of the traces `$1`, which begin and end between `$2` and `$3`. With the times as values, the
 * partitions of their days are planned, and not all.
 */
const question = (views: string, order: string): string => `
  WITH newest AS MATERIALIZED (
    SELECT t.*, ${TIME_NS} AS time_ns, ${ARRIVED_US} AS arrived_us FROM sluice.traces t WHERE t.trace_id = ANY ($1::bytea[])
  ), ${countedUsageOf(views, 'newest')}
  SELECT encode(t.trace_id, 'hex') AS trace_id, t.project, t.environment, t.time_ns,
    coalesce(f.start_ns, t.first_ns) AS start_time_unix_nano, CASE WHEN r.is_root THEN r.name END AS root_name, r.name AS first_name,
    f.span_count, f.error_count, f.model_call_count, f.duration_ns, t.arrived_us, r.service_name, i.user_id,
    u.input_tokens, u.output_tokens, u.total_cost
  FROM newest t ${traceJoins('BETWEEN $2::int8 AND $3::int8')}
  ORDER BY ${order}`;

const TRACE_ROW = {
  trace_id: String,
  project: String,
  environment: String,
  /** The start of the trace; for log records alone, their arrival. */
  time_ns: String,
  start_time_unix_nano: textOf,
  root_name: textOf,
  first_name: textOf,
  duration_ns: textOf,
  span_count: Number,
  error_count: Number,
  model_call_count: Number,
  input_tokens: sumOf,
  output_tokens: sumOf,
  total_cost: textOf,
  /** The service of the root, or of the earliest span. */
  service_name: textOf,
  user_id: textOf,
  /** When the first record arrived, in microseconds; the order of `--follow`. */
  arrived_us: String,
};
export type TraceRow = RowOf<typeof TRACE_ROW>;

/** A place in the order of arrival. Many traces may arrive at the same time, so it includes the id. */
export type Place = Pick<TraceRow, 'arrived_us' | 'trace_id'>;

interface Range {
  readonly since: string | null;
  readonly limit: number;
  /** In order of arrival, those after this place, without the traces with these ids. */
  readonly after?: { readonly place: Place; readonly except: readonly string[] };
}

/** `created_at` is compared without an expression around it, so that its index is used. */
function arrivedAfter({ place, except }: NonNullable<Range['after']>, parameters: Parameters): readonly string[] {
  const [time, id] = [parameters.add(place.arrived_us), parameters.add(place.trace_id)];
  return [
    `(t.created_at, t.trace_id) > ('epoch'::timestamptz + ${time}::int8 * interval '1 microsecond', decode(${id}, 'hex'))`,
    `t.trace_id <> ALL (ARRAY(SELECT decode(id, 'hex') FROM unnest(${parameters.add(except)}::text[]) AS id))`,
  ];
}

/** The condition, if the value is given. */
function optional(value: string | null | undefined, condition: (value: string) => string): readonly string[] {
  return value === null || value === undefined ? [] : [condition(value)];
}

/** So many traces are looked at first, and then all. */
const WINDOWS = [1_000, 30_000, null] as const;

/**
 * The newest traces are looked for in windows, of which the times are known before: only the partitions of their days
 * are planned. A window has all traces that begin later than its first.
 */
export async function readTraces(reader: Reader, values: Values, range: Range): Promise<readonly TraceRow[]> {
  let found: Row = {};
  for (const size of range.after === undefined ? WINDOWS : [null]) {
    const window = await readWindow(reader, values, range, size);
    if (window === null) break;
    found = await findTraces(reader, values, range, window);
    if (Number(found['count']) === range.limit || window.isWhole) break;
  }
  const order = range.after === undefined ? 'time_ns DESC, t.trace_id DESC' : 't.created_at, t.trace_id';
  // Also without traces: a wrong schema of the views must be reported.
  const rows = await reader.query(question(reader.views, order), [found['ids'], found['first'], found['last']]);
  return rows.map((row) => shaped(TRACE_ROW, row));
}

interface Window {
  readonly from: string;
  readonly first: unknown;
  readonly last: unknown;
  /** Their log records arrived since then. */
  readonly logsSince: unknown;
  /** No other trace is in the range. */
  readonly isWhole: boolean;
}

/** Null: it has no trace. `size`: how many are the newest; null: all. Those that arrive are looked at together. */
async function readWindow(
  reader: Reader,
  values: Values,
  { since, after }: Range,
  size: number | null,
): Promise<Window | null> {
  const parameters = new Parameters();
  const from = after === undefined ? `${parameters.add(since ?? '0')}::int8` : '';
  const of = parameters.add(values.text('project') ?? null);
  const conditions = [
    `(${of}::text IS NULL OR t.project = ${of}::text)`,
    ...(after === undefined ? [] : arrivedAfter(after, parameters)),
  ].join(' AND ');
  const most = size === null || after !== undefined ? 'ALL' : `${parameters.add(size)}::int4`;
  const newest = after === undefined ? newestOf(projects(of), from, conditions, most) : arrivedOf(conditions, most);
  const [row] = await reader.query(
    `SELECT count(*)::int4 AS count, min(time_ns) AS from, min(first_ns) AS first, max(last_ns) AS last, min(${LOGS_SINCE}) AS logs_since
     FROM (${newest}) t`,
    parameters.values,
  );
  const count = Number(row?.['count']);
  if (count === 0) return null;
  const isWhole = count !== size;
  return {
    from: String(BigInt(String(row?.['from'])) + (isWhole ? 0n : 1n)),
    first: row?.['first'],
    last: row?.['last'],
    logsSince: row?.['logs_since'],
    isWhole,
  };
}

async function findTraces(reader: Reader, values: Values, { limit, after }: Range, window: Window): Promise<Row> {
  const parameters = new Parameters();
  const within = `BETWEEN ${parameters.add(window.first)}::int8 AND ${parameters.add(window.last)}::int8`;
  const logsSince = `${parameters.add(window.logsSince)}::timestamptz`;
  const arrived = `>= ${logsSince}`;
  const of = parameters.add(values.text('project') ?? null);
  const conditions = [
    `(${of}::text IS NULL OR t.project = ${of}::text)`,
    ...optional(environmentOf(values), (value) => `t.environment = ${parameters.add(value)}::text`),
    ...(after === undefined ? [] : arrivedAfter(after, parameters)),
    ...(values.flag('errors') ? [hasSpan(IS_FAILED, within)] : []),
    ...traceConditions(values, parameters, reader.views, within, arrived),
    ...filterConditions(values, parameters.values, reader.views, within, logsSince),
    hasRecords(within, arrived),
  ].join('\n      AND ');
  const newest =
    after === undefined
      ? newestOf(projects(of), `${parameters.add(window.from)}::int8`, conditions, parameters.add(limit))
      : arrivedOf(conditions, parameters.add(limit));
  const [row] = await reader.query(
    `SELECT count(*)::int4 AS count, array_agg(trace_id) AS ids, min(first_ns) AS first, max(last_ns) AS last FROM (${newest}) n`,
    parameters.values,
  );
  return row ?? {};
}
