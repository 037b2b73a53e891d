/** The query of `sluice traces`: the newest traces, or those that arrived after a place, with their figures. */
import { countedUsageOf, traceJoins } from '../extensions/console/api/trace-rows.ts';
import { hasSpan, IS_FAILED } from '../extensions/console/filter/trace-spans.ts';
import { filterConditions } from './filter-option.ts';
import { environmentOf, Parameters, traceConditions } from './filters.ts';
import type { Values } from './options.ts';
import { type Reader, type RowOf, shaped, sumOf, textOf } from './reader.ts';

const ARRIVED_US = '(extract(epoch FROM t.created_at) * 1000000)::int8';
/** The start of a trace; for log records alone, their arrival. */
const TIME_NS = `coalesce(t.first_ns, ${ARRIVED_US} * 1000)`;
/** Without it a claim is listed whose records have expired, or are stored elsewhere. */
const hasRecords = (within: string): string => `(${hasSpan('true', within)}
      OR EXISTS (SELECT FROM sluice.logs l WHERE l.project = t.project AND l.trace_id = t.trace_id))`;

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

export async function readTraces(
  reader: Reader,
  values: Values,
  { since, limit, after }: Range,
): Promise<readonly TraceRow[]> {
  const parameters = new Parameters();
  // A trace that arrives may have begun at any time.
  const from = after === undefined ? `${parameters.add(since ?? '0')}::int8` : null;
  const within = from === null ? '' : `>= ${from}`;
  const of = parameters.add(values.text('project') ?? null);
  const conditions = [
    `(${of}::text IS NULL OR t.project = ${of}::text)`,
    ...optional(environmentOf(values), (value) => `t.environment = ${parameters.add(value)}::text`),
    ...(after === undefined ? [] : arrivedAfter(after, parameters)),
    ...(values.flag('errors') ? [hasSpan(IS_FAILED, within)] : []),
    ...traceConditions(values, parameters, reader.views, within),
    ...filterConditions(values, parameters.values, reader.views, within),
    hasRecords(within),
  ];
  const [all, most] = [conditions.join('\n      AND '), parameters.add(limit)];
  const [newest, order] =
    from === null
      ? [arrivedOf(all, most), 't.created_at, t.trace_id']
      : [newestOf(projects(of), from, all, most), 'time_ns DESC, t.trace_id DESC'];
  const [found] = await reader.query(
    `SELECT array_agg(trace_id) AS ids, min(first_ns) AS first, max(last_ns) AS last FROM (${newest}) n`,
    parameters.values,
  );
  // Also without traces: a wrong schema of the views must be reported.
  const rows = await reader.query(question(reader.views, order), [found?.['ids'], found?.['first'], found?.['last']]);
  return rows.map((row) => shaped(TRACE_ROW, row));
}
