/** One stored trace: finds it by a prefix of its id, and reads its spans, log records and totals. */
import { LOGS_SINCE } from '../../extensions/console/filter/trace-spans.ts';
import { logNs, logOrder } from '../../pdata/log-time.ts';
import { UserError } from '../../errors.ts';
import { idsFrom, TRACE_ID_DIGITS } from '../../pdata/record-ids.ts';
import type * as stored from '../../pdata/rows.ts';
import { UsageError } from '../options.ts';
import { countOf, flagOf, type Reader, type Row, type RowOf, shaped, sumOf, textOf } from '../reader.ts';

export interface TraceKey {
  readonly traceId: string;
  readonly project: string;
  readonly environment: string;
}

/** What a span or log record used. Left out: unknown. */
export interface Usage {
  readonly input_tokens?: number | null;
  readonly output_tokens?: number | null;
  readonly cache_read_tokens?: number | null;
  readonly total_cost?: string | null;
  readonly cost_source?: string | null;
  readonly usage_scope?: string | null;
  /** Whether it is part of the totals; null: there is nothing to count. */
  readonly is_counted?: boolean | null;
}

const SPAN_ROW = {
  span_id: String,
  parent_span_id: textOf,
  name: String,
  service_name: textOf,
  start_time_unix_nano: String,
  duration_ns: textOf,
  status: textOf as (value: unknown) => stored.SpanRow['status'],
  status_message: textOf,
  is_error: flagOf,
  error_type: textOf,
  category: textOf as (value: unknown) => stored.SpanRow['category'],
  provider: textOf,
  /** The model that answered, or else the requested model. */
  model: textOf,
  tool_name: textOf,
  agent_name: textOf,
  input_tokens: countOf,
  output_tokens: countOf,
  cache_read_tokens: countOf,
  time_to_first_token_ms: countOf,
  total_cost: textOf,
  cost_source: textOf,
  usage_scope: textOf,
  event_count: Number,
};
export type SpanRow = Omit<RowOf<typeof SPAN_ROW>, keyof Usage> & Usage;

const LOG_ROW = {
  span_id: textOf,
  time_unix_nano: textOf,
  severity_number: countOf,
  severity_text: textOf,
  event_name: textOf,
  /** The beginning of the body. */
  body: textOf,
  /** The place of the row, because a log record has no id. Valid while the command runs. */
  row_id: String,
  input_tokens: countOf,
  output_tokens: countOf,
  cache_read_tokens: countOf,
  total_cost: textOf,
  cost_source: textOf,
  usage_scope: textOf,
};
export type LogRow = Omit<RowOf<typeof LOG_ROW>, keyof Usage> & Usage;

const TOTALS = {
  span_count: Number,
  log_count: Number,
  error_count: Number,
  model_call_count: Number,
  start_time_unix_nano: textOf,
  duration_ns: textOf,
  input_tokens: sumOf,
  output_tokens: sumOf,
  cache_read_tokens: sumOf,
  total_cost: textOf,
  unpriced_count: Number,
};
/** Counted by the database over all rows, also when only a part is shown. */
export type Totals = RowOf<typeof TOTALS>;

export interface TraceRecord {
  readonly key: TraceKey;
  readonly totals: Totals;
  readonly spans: readonly SpanRow[];
  readonly logs: readonly LogRow[];
}

/** Longer texts are not fetched completely: each can have megabytes, and a trace has thousands. */
const TEXT_LENGTH = 500;
export const cutText = (name: string, expression = name): string => `left(${expression}, ${TEXT_LENGTH}) AS ${name}`;
/** The most ids in the error message for a prefix of several. */
export const SHOWN_CANDIDATES = 5;

/** The trace with this prefix of its id. Ids are unique over all projects. */
export async function findTrace(reader: Reader, written: string, project: string | null): Promise<TraceKey> {
  const prefix = written.toLowerCase();
  if (!/^[0-9a-f]{1,32}$/u.test(prefix))
    throw new UsageError('a trace id is 32 hexadecimal digits, or the first of them', 'See `sluice traces`.');
  const rows = await reader.query(
    `SELECT encode(trace_id, 'hex') AS trace_id, project, environment FROM sluice.traces
     WHERE trace_id BETWEEN decode($1, 'hex') AND decode($2, 'hex') AND ($3::text IS NULL OR project = $3)
     ORDER BY trace_id LIMIT ${SHOWN_CANDIDATES}`,
    [...idsFrom(prefix, TRACE_ID_DIGITS), project],
  );
  const keys = rows.map((row) => ({
    traceId: String(row['trace_id']),
    project: String(row['project']),
    environment: String(row['environment']),
  }));
  const [key, second] = keys;
  if (key === undefined) throw new UserError(`there is no trace ${prefix}`, 'See `sluice traces`.');
  if (second === undefined) return key;
  throw new UserError(
    `several traces begin with ${prefix}`,
    `Give more digits: ${keys.map(({ traceId }) => traceId).join(', ')}${keys.length === SHOWN_CANDIDATES ? ', …' : ''}`,
  );
}

/** Only the partitions of these times are opened. Null: the trace has no spans. */
export const IN_TIMES =
  "project = $1 AND trace_id = decode($2, 'hex') AND start_time_unix_nano BETWEEN $3::int8 AND $4::int8";

/** The log records `l` of the trace, by the first values of `IN_TIMES` and when they arrived at the earliest. */
export const logsFrom = (since: string): string =>
  `FROM sluice.logs l WHERE l.project = $1 AND l.trace_id = decode($2, 'hex') AND l.received_at >= ${since}::timestamptz`;

interface TraceTimes {
  /** The values of `IN_TIMES`. */
  readonly spans: readonly unknown[];
  /** The values of `logsFrom('$3')`. */
  readonly logs: readonly unknown[];
}

export async function timesOf({ query }: Reader, { project, traceId }: TraceKey): Promise<TraceTimes> {
  const text = `SELECT first_ns, last_ns, ${LOGS_SINCE} AS logs_since FROM sluice.traces t WHERE project = $1 AND trace_id = decode($2, 'hex')`;
  const [row] = await query(text, [project, traceId]);
  return {
    spans: [project, traceId, row?.['first_ns'], row?.['last_ns']],
    logs: [project, traceId, row?.['logs_since']],
  };
}

const SPANS = `
  SELECT encode(span_id, 'hex') AS span_id, encode(parent_span_id, 'hex') AS parent_span_id, ${cutText('name')},
    ${cutText('service_name')}, start_time_unix_nano, duration_ns, status, ${cutText('status_message')}, is_error, ${cutText('error_type')},
    category, ${cutText('provider')}, ${cutText('model', 'coalesce(response_model, request_model)')}, ${cutText('tool_name')},
    ${cutText('agent_name')}, input_tokens, output_tokens, cache_read_tokens, time_to_first_token_ms, total_cost, cost_source, usage_scope,
    CASE WHEN jsonb_typeof(events) = 'array' THEN jsonb_array_length(events) ELSE 0 END AS event_count
  FROM sluice.spans WHERE ${IN_TIMES} ORDER BY start_time_unix_nano, span_id LIMIT $5`;

const LOGS = `
  SELECT encode(span_id, 'hex') AS span_id, ${logNs('l')} AS time_unix_nano,
    severity_number, ${cutText('severity_text')}, ${cutText('event_name')}, ${cutText('body', "body #>> '{}'")}, input_tokens, output_tokens,
    cache_read_tokens, total_cost, cost_source, usage_scope, tableoid || ' ' || ctid AS row_id
  ${logsFrom('$3')} ORDER BY ${logOrder('l')} LIMIT $4`;

const totalsQuestion = (views: string): string => `
  SELECT s.*, u.*, (SELECT count(*) ${logsFrom('$5')})::int4 AS log_count
  FROM (
    SELECT count(*)::int4 AS span_count, count(*) FILTER (WHERE status = 'error' OR is_error)::int4 AS error_count,
      count(*) FILTER (WHERE category = 'model_call')::int4 AS model_call_count, min(start_time_unix_nano) AS start_time_unix_nano,
      greatest(max(coalesce(end_time_unix_nano, start_time_unix_nano)) - min(start_time_unix_nano), 0) AS duration_ns
    FROM sluice.spans WHERE ${IN_TIMES}
  ) s CROSS JOIN (
    SELECT sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens,
      sum(cache_read_tokens) AS cache_read_tokens, sum(total_cost) AS total_cost,
      count(*) FILTER (WHERE total_cost IS NULL)::int4 AS unpriced_count
    FROM ${views}.trace_usage_of($1, ARRAY[decode($2, 'hex')])
  ) u`;

/** The rows that the totals add up. A log record has no id: it is known by what it says. */
const countedQuestion = (views: string): string => `
  SELECT signal, encode(span_id, 'hex') AS span_id, time_unix_nano, input_tokens, output_tokens
  FROM ${views}.trace_usage_of($1, ARRAY[decode($2, 'hex')])`;

/** At most `limit` spans and `limit` log records, in order of time. */
export async function readTrace(reader: Reader, key: TraceKey, limit: number): Promise<TraceRecord> {
  const which = [key.project, key.traceId];
  const times = await timesOf(reader, key);
  const [totals = {}] = await reader.query(totalsQuestion(reader.views), [...times.spans, times.logs.at(-1)]);
  const spans = await reader.query(SPANS, [...times.spans, limit]);
  const logs = await reader.query(LOGS, [...times.logs, limit]);
  const counted = new Counted(await reader.query(countedQuestion(reader.views), which));
  return {
    key,
    totals: shaped(TOTALS, totals),
    spans: spans.map((row) => ({
      ...shaped(SPAN_ROW, row),
      is_counted: counted.take('span', row, row['start_time_unix_nano']),
    })),
    logs: logs.map((row) => ({ ...shaped(LOG_ROW, row), is_counted: counted.take('log', row, row['time_unix_nano']) })),
  };
}

class Counted {
  /** By key: how many rows have it. */
  readonly #left = new Map<string, number>();

  constructor(rows: readonly Row[]) {
    for (const row of rows) {
      const key = this.#keyOf(String(row['signal']), row, row['time_unix_nano']);
      this.#left.set(key, (this.#left.get(key) ?? 0) + 1);
    }
  }

  /** Each counted row is found once. Null: the row has no usage. */
  take(signal: string, row: Row, time: unknown): boolean | null {
    if (textOf(row['usage_scope']) === null) return null;
    const key = this.#keyOf(signal, row, time);
    const left = this.#left.get(key) ?? 0;
    if (left > 0) this.#left.set(key, left - 1);
    return left > 0;
  }

  #keyOf(signal: string, row: Row, time: unknown): string {
    return [signal, row['span_id'], time, row['input_tokens'], row['output_tokens']].map(String).join(' ');
  }
}
