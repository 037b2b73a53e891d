/** One stored trace: finds it by a prefix of its id, and reads its spans, log records and totals. */
import { logNs } from '../../pdata/log-time.ts';
import { UserError } from '../../errors.ts';
import type * as stored from '../../pdata/rows.ts';
import { UsageError } from '../options.ts';
import { countOf, type Reader, type Row, sumOf, textOf } from '../reader.ts';

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

type SpanColumn =
  | 'parent_span_id'
  | 'service_name'
  | 'duration_ns'
  | 'status'
  | 'status_message'
  | 'is_error'
  | 'error_type'
  | 'category'
  | 'provider'
  | 'tool_name'
  | 'agent_name'
  | 'input_tokens'
  | 'output_tokens'
  | 'cache_read_tokens'
  | 'total_cost';

export interface SpanRow extends Pick<stored.SpanRow, SpanColumn> {
  readonly span_id: string;
  readonly name: string;
  readonly start_time_unix_nano: string;
  /** The model that answered, or else the requested model. */
  readonly model: string | null;
  readonly time_to_first_token_ms: number | null;
  readonly cost_source?: string | null;
  readonly usage_scope?: string | null;
  readonly is_counted?: boolean | null;
  readonly event_count: number;
}

type LogColumn = 'span_id' | 'time_unix_nano' | 'severity_number' | 'severity_text' | 'event_name';

export interface LogRow extends Pick<stored.LogRow, LogColumn>, Usage {
  /** The beginning of the body. */
  readonly body: string | null;
  /** The place of the row, because a log record has no id. Valid while the command runs. */
  readonly row_id: string;
}

/** Counted by the database over all rows, also when only a part is shown. */
export interface Totals {
  readonly span_count: number;
  readonly log_count: number;
  readonly error_count: number;
  readonly model_call_count: number;
  readonly start_time_unix_nano: string | null;
  readonly duration_ns: string | null;
  readonly input_tokens: bigint | null;
  readonly output_tokens: bigint | null;
  readonly cache_read_tokens: bigint | null;
  readonly total_cost: string | null;
  readonly unpriced_count: number;
}

export interface TraceRecord {
  readonly key: TraceKey;
  readonly totals: Totals;
  readonly spans: readonly SpanRow[];
  readonly logs: readonly LogRow[];
}

/** Longer texts are not fetched completely: each can have megabytes, and a trace has thousands. */
const TEXT_LENGTH = 500;
export const cutText = (name: string, expression = name): string => `left(${expression}, ${TEXT_LENGTH}) AS ${name}`;
const ID_LENGTH = 32;
const SHOWN_CANDIDATES = 5;

/** The trace with this prefix of its id. Ids are unique over all projects. */
export async function findTrace(reader: Reader, written: string, project: string | null): Promise<TraceKey> {
  const prefix = written.toLowerCase();
  if (!/^[0-9a-f]{1,32}$/u.test(prefix))
    throw new UsageError('a trace id is 32 hexadecimal digits, or the first of them', 'See `sluice traces`.');
  const rows = await reader.query(
    `SELECT encode(trace_id, 'hex') AS trace_id, project, environment FROM sluice.traces
     WHERE trace_id BETWEEN decode($1, 'hex') AND decode($2, 'hex') AND ($3::text IS NULL OR project = $3)
     ORDER BY trace_id LIMIT ${SHOWN_CANDIDATES}`,
    [prefix.padEnd(ID_LENGTH, '0'), prefix.padEnd(ID_LENGTH, 'f'), project],
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

const SPANS = `
  SELECT encode(span_id, 'hex') AS span_id, encode(parent_span_id, 'hex') AS parent_span_id, ${cutText('name')},
    ${cutText('service_name')}, start_time_unix_nano, duration_ns, status, ${cutText('status_message')}, is_error, ${cutText('error_type')},
    category, ${cutText('provider')}, ${cutText('model', 'coalesce(response_model, request_model)')}, ${cutText('tool_name')},
    ${cutText('agent_name')}, input_tokens, output_tokens, cache_read_tokens, time_to_first_token_ms, total_cost, cost_source, usage_scope,
    CASE WHEN jsonb_typeof(events) = 'array' THEN jsonb_array_length(events) ELSE 0 END AS event_count
  FROM sluice.spans WHERE project = $1 AND trace_id = decode($2, 'hex') ORDER BY start_time_unix_nano, span_id LIMIT $3`;

const LOGS = `
  SELECT encode(span_id, 'hex') AS span_id, ${logNs('l')} AS time_unix_nano,
    severity_number, ${cutText('severity_text')}, ${cutText('event_name')}, ${cutText('body', "body #>> '{}'")}, input_tokens, output_tokens,
    cache_read_tokens, total_cost, cost_source, usage_scope, tableoid || ' ' || ctid AS row_id
  FROM sluice.logs l WHERE project = $1 AND trace_id = decode($2, 'hex')
  ORDER BY ${logNs('l')}, received_at LIMIT $3`;

const totalsQuestion = (views: string): string => `
  SELECT s.*, u.*, (SELECT count(*) FROM sluice.logs WHERE project = $1 AND trace_id = decode($2, 'hex'))::int4 AS log_count
  FROM (
    SELECT count(*)::int4 AS span_count, count(*) FILTER (WHERE status = 'error' OR is_error)::int4 AS error_count,
      count(*) FILTER (WHERE category = 'model_call')::int4 AS model_call_count, min(start_time_unix_nano) AS start_time_unix_nano,
      greatest(max(coalesce(end_time_unix_nano, start_time_unix_nano)) - min(start_time_unix_nano), 0) AS duration_ns
    FROM sluice.spans WHERE project = $1 AND trace_id = decode($2, 'hex')
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
  const [totals = {}] = await reader.query(totalsQuestion(reader.views), which);
  const spans = await reader.query(SPANS, [...which, limit]);
  const logs = await reader.query(LOGS, [...which, limit]);
  const counted = new Counted(await reader.query(countedQuestion(reader.views), which));
  return {
    key,
    totals: totalsFrom(totals),
    spans: spans.map((row) => ({
      ...spanFrom(row),
      is_counted: counted.take('span', row, row['start_time_unix_nano']),
    })),
    logs: logs.map((row) => ({ ...logFrom(row), is_counted: counted.take('log', row, row['time_unix_nano']) })),
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

function spanFrom(row: Row): SpanRow {
  return {
    span_id: String(row['span_id']),
    parent_span_id: textOf(row['parent_span_id']),
    name: String(row['name']),
    service_name: textOf(row['service_name']),
    start_time_unix_nano: String(row['start_time_unix_nano']),
    duration_ns: textOf(row['duration_ns']),
    status: textOf(row['status']) as stored.SpanRow['status'],
    status_message: textOf(row['status_message']),
    is_error: row['is_error'] === null ? null : row['is_error'] === true,
    error_type: textOf(row['error_type']),
    category: textOf(row['category']) as stored.SpanRow['category'],
    provider: textOf(row['provider']),
    model: textOf(row['model']),
    tool_name: textOf(row['tool_name']),
    agent_name: textOf(row['agent_name']),
    input_tokens: countOf(row['input_tokens']),
    output_tokens: countOf(row['output_tokens']),
    cache_read_tokens: countOf(row['cache_read_tokens']),
    time_to_first_token_ms: countOf(row['time_to_first_token_ms']),
    total_cost: textOf(row['total_cost']),
    cost_source: textOf(row['cost_source']),
    usage_scope: textOf(row['usage_scope']),
    event_count: Number(row['event_count']),
  };
}

function logFrom(row: Row): LogRow {
  return {
    span_id: textOf(row['span_id']),
    time_unix_nano: textOf(row['time_unix_nano']),
    severity_number: countOf(row['severity_number']),
    severity_text: textOf(row['severity_text']),
    event_name: textOf(row['event_name']),
    body: textOf(row['body']),
    row_id: String(row['row_id']),
    input_tokens: countOf(row['input_tokens']),
    output_tokens: countOf(row['output_tokens']),
    cache_read_tokens: countOf(row['cache_read_tokens']),
    total_cost: textOf(row['total_cost']),
    cost_source: textOf(row['cost_source']),
    usage_scope: textOf(row['usage_scope']),
  };
}

function totalsFrom(row: Row): Totals {
  return {
    span_count: Number(row['span_count'] ?? 0),
    log_count: Number(row['log_count'] ?? 0),
    error_count: Number(row['error_count'] ?? 0),
    model_call_count: Number(row['model_call_count'] ?? 0),
    start_time_unix_nano: textOf(row['start_time_unix_nano']),
    duration_ns: textOf(row['duration_ns']),
    input_tokens: sumOf(row['input_tokens']),
    output_tokens: sumOf(row['output_tokens']),
    cache_read_tokens: sumOf(row['cache_read_tokens']),
    total_cost: textOf(row['total_cost']),
    unpriced_count: Number(row['unpriced_count'] ?? 0),
  };
}
