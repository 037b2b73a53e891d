/**
 * The columns of each signal. `SPAN_COLUMNS`, `LOG_COLUMNS` and `METRIC_COLUMNS` are what NDJSON lines carry and the
 * views show; `TABLE_COLUMNS` is what COPY writes into the tables. `src/pdata/wasm/encode` writes both in this order;
 * tests compare the encoders and the database schema with these lists.
 */
import type { Signal } from './context.ts';

/**
 * How a column is written. COPY BINARY / NDJSON:
 * `text` text / string · `json` jsonb / JSON · `trace_id`, `span_id` bytea of 16 and 8 bytes / lower-case hex ·
 * `content_id` bytea of 16 bytes / not written ·
 * `nanos` int8 / decimal string · `count64` int8 / decimal string · `count` int8 / number · `int4` int4 / number ·
 * `double` float8 / number, or the strings "NaN", "Infinity", "-Infinity" · `money` numeric(18,8) / decimal string with 8 digits ·
 * `boolean` bool / true, false · `timestamp` timestamptz / RFC 3339 with microseconds, UTC.
 * Every column may be null.
 */
export type ColumnType =
  | 'text'
  | 'json'
  | 'trace_id'
  | 'span_id'
  | 'content_id'
  | 'nanos'
  | 'count64'
  | 'count'
  | 'int4'
  | 'double'
  | 'money'
  | 'boolean'
  | 'timestamp';

export interface Column {
  readonly name: string;
  readonly type: ColumnType;
}

const column = (name: string, type: ColumnType): Column => ({ name, type });

const OWNER: readonly Column[] = [
  column('project', 'text'),
  column('environment', 'text'),
  column('service_name', 'text'),
];

const SOURCE: readonly Column[] = [
  column('resource', 'json'),
  column('scope_name', 'text'),
  column('scope_version', 'text'),
  column('scope_attributes', 'json'),
  column('attributes', 'json'),
  column('received_at', 'timestamp'),
];

/** The fields normalization and pricing fill on spans and log records. */
export const DERIVED_COLUMNS: readonly Column[] = [
  column('category', 'text'),
  column('operation', 'text'),
  column('provider', 'text'),
  column('request_model', 'text'),
  column('response_model', 'text'),
  column('response_id', 'text'),
  column('input_tokens', 'count'),
  column('output_tokens', 'count'),
  column('total_tokens', 'count'),
  column('cache_read_tokens', 'count'),
  column('cache_write_tokens', 'count'),
  column('reasoning_tokens', 'count'),
  column('usage_scope', 'text'),
  column('input_cost', 'money'),
  column('output_cost', 'money'),
  column('total_cost', 'money'),
  column('cost_source', 'text'),
  column('price_id', 'text'),
  column('latency_ms', 'double'),
  column('time_to_first_token_ms', 'double'),
  column('finish_reasons', 'json'),
  column('is_error', 'boolean'),
  column('error_type', 'text'),
  column('input_content', 'text'),
  column('output_content', 'text'),
  column('system_instructions', 'text'),
  column('tool_name', 'text'),
  column('tool_call_id', 'text'),
  column('tool_arguments', 'text'),
  column('tool_result', 'text'),
  column('retrieval_query', 'text'),
  column('retrieval_documents', 'text'),
  column('agent_name', 'text'),
  column('conversation_id', 'text'),
  column('user_id', 'text'),
  column('dialect', 'text'),
];

export const SPAN_COLUMNS: readonly Column[] = [
  ...OWNER,
  column('trace_id', 'trace_id'),
  column('span_id', 'span_id'),
  column('parent_span_id', 'span_id'),
  column('trace_state', 'text'),
  column('name', 'text'),
  column('kind', 'text'),
  column('status', 'text'),
  column('status_message', 'text'),
  column('start_time_unix_nano', 'nanos'),
  column('end_time_unix_nano', 'nanos'),
  column('duration_ns', 'nanos'),
  column('flags', 'count'),
  column('dropped_attributes_count', 'count'),
  column('dropped_events_count', 'count'),
  column('dropped_links_count', 'count'),
  column('events', 'json'),
  column('links', 'json'),
  ...DERIVED_COLUMNS,
  ...SOURCE,
];

export const LOG_COLUMNS: readonly Column[] = [
  ...OWNER,
  column('time_unix_nano', 'nanos'),
  column('observed_time_unix_nano', 'nanos'),
  column('severity_number', 'int4'),
  column('severity_text', 'text'),
  column('event_name', 'text'),
  column('body', 'json'),
  column('trace_id', 'trace_id'),
  column('span_id', 'span_id'),
  column('flags', 'count'),
  column('dropped_attributes_count', 'count'),
  ...DERIVED_COLUMNS,
  ...SOURCE,
];

/** NDJSON writes `value_int` and `value_double` as one field, `value`; the SQL view joins them likewise. */
export const METRIC_COLUMNS: readonly Column[] = [
  ...OWNER,
  column('name', 'text'),
  column('description', 'text'),
  column('unit', 'text'),
  column('type', 'text'),
  column('temporality', 'text'),
  column('is_monotonic', 'boolean'),
  column('start_time_unix_nano', 'nanos'),
  column('time_unix_nano', 'nanos'),
  column('value_int', 'count64'),
  column('value_double', 'double'),
  column('count', 'count64'),
  column('sum', 'double'),
  column('min', 'double'),
  column('max', 'double'),
  column('buckets', 'json'),
  column('quantiles', 'json'),
  column('exemplars', 'json'),
  column('flags', 'count'),
  column('metadata', 'json'),
  ...SOURCE,
];

/**
 * Columns of a record's resource and scope, which the tables keep once for each content, and the references in their
 * place.
 */
const SHARED_NAMES: readonly string[] = ['resource', 'scope_name', 'scope_version', 'scope_attributes'];
const REFERENCES: readonly Column[] = [column('resource_id', 'content_id'), column('scope_id', 'content_id')];

function tableColumns(columns: readonly Column[]): readonly Column[] {
  const first = columns.findIndex(({ name }) => SHARED_NAMES.includes(name));
  const own = columns.filter(({ name }) => !SHARED_NAMES.includes(name));
  return [...own.slice(0, first), ...REFERENCES, ...own.slice(first)];
}

export const TABLE_COLUMNS: Readonly<Record<Signal, readonly Column[]>> = {
  traces: tableColumns(SPAN_COLUMNS),
  logs: tableColumns(LOG_COLUMNS),
  metrics: tableColumns(METRIC_COLUMNS),
};

/** Tiers of service that providers price apart from the standard one. Not a column: it shows in `price_id`. */
export const SERVICE_TIERS = ['batch', 'flex', 'priority', 'scale', 'fast'] as const;
export type ServiceTier = (typeof SERVICE_TIERS)[number];

/** `category` by number (DERIVED_CATEGORY); 0 is null. */
export const CATEGORIES = [
  null,
  'model_call',
  'tool_step',
  'retrieval',
  'embedding',
  'agent',
  'workflow',
  'rerank',
  'guardrail',
  'evaluation',
  'memory',
  'prompt',
  'handoff',
  'plan',
  'session',
  'media',
] as const;
export type Category = NonNullable<(typeof CATEGORIES)[number]>;

export const SPAN_KINDS = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'] as const;
export const SPAN_STATUSES = ['unset', 'ok', 'error'] as const;
export const METRIC_TYPES = [null, 'gauge', 'sum', 'histogram', 'exponential_histogram', 'summary'] as const;
export const TEMPORALITIES = [null, 'delta', 'cumulative'] as const;
export const USAGE_SCOPES = [null, 'own', 'rollup'] as const;
export const COST_SOURCES = [null, 'explicit', 'derived'] as const;
