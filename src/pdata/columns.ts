/**
 * The column catalogue: every stored column once, with its type and meaning. `npm run docs` makes from it the labels
 * and counts of the encoders (`wasm/encode`), the derived row in `layout.ts` and the tables in docs/storage.md. The
 * views and the row types of readers (`rows.ts`) follow from it too. CONTRIBUTING.md has the steps to add a column.
 */

/**
 * How each type of column is stored: in the tables, in the views, and (in the comments) in NDJSON lines. `content_id`
 * refers to a resource or scope; NDJSON lines and views contain the resource or scope itself.
 */
export const COLUMN_TYPES = {
  text: { table: 'text', view: 'text' }, // string
  json: { table: 'jsonb', view: 'jsonb' }, // any value
  trace_id: { table: 'bytea', view: 'text' }, // 32 lower-case hex digits
  span_id: { table: 'bytea', view: 'text' }, // 16 lower-case hex digits
  content_id: { table: 'bytea', view: null }, // not in lines
  nanos: { table: 'int8', view: 'int8' }, // decimal string
  count64: { table: 'int8', view: 'int8' }, // decimal string
  count: { table: 'int8', view: 'int8' }, // number
  int4: { table: 'int4', view: 'int4' }, // number
  double: { table: 'float8', view: 'float8' }, // number, or "NaN", "Infinity", "-Infinity"
  money: { table: 'numeric(18,8)', view: 'numeric(18,8)' }, // decimal string with 8 digits
  boolean: { table: 'bool', view: 'bool' }, // true or false
  timestamp: { table: 'timestamptz', view: 'timestamptz' }, // RFC 3339 with microseconds, UTC
} as const;
export type ColumnType = keyof typeof COLUMN_TYPES;

/** Small numbers in the tables of a request, words in the column. If the first word is null, 0 is null. */
type Words = readonly (string | null)[];

/**
 * How normalization fills a derived column. `attribute`: with the first usable value among the attributes that the
 * dialects list under its name. `code`: the dialects list attributes, and separate code chooses among them. Without
 * this, the dialects list nothing.
 */
type Filling = 'attribute' | 'code';

/** Every column may be null. */
export interface Column {
  readonly name: string;
  readonly type: ColumnType;
  /** For the documentation. */
  readonly meaning: string;
  readonly words?: Words;
  readonly filled?: Filling;
}

function column<const Name extends string, const Type extends ColumnType, const More extends Partial<Column>>(
  name: Name,
  type: Type,
  meaning: string,
  more?: More,
): { readonly name: Name; readonly type: Type; readonly meaning: string } & Readonly<More> {
  return { name, type, meaning, ...(more as More) };
}

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
export const STATUS_ERROR = SPAN_STATUSES.indexOf('error');
export const METRIC_TYPES = [null, 'gauge', 'sum', 'histogram', 'exponential_histogram', 'summary'] as const;
export const TEMPORALITIES = [null, 'delta', 'cumulative'] as const;
export const USAGE_SCOPES = [null, 'own', 'rollup'] as const;
export const COST_SOURCES = [null, 'explicit', 'derived'] as const;

/** The words in the form of the documentation. */
const listed = (words: Words): string => words.flatMap((word) => (word === null ? [] : `\`${word}\``)).join(', ');

/** Every row begins with these. */
export const OWNER_COLUMNS = [
  column('project', 'text', 'the project of the API key'),
  column('environment', 'text', 'of the resource, trimmed and lower-case; `default` when it names none'),
  column('service_name', 'text', '`service.name` of the resource'),
] as const satisfies readonly Column[];

/** Every row ends with these. The tables have references instead of the first four: see `TABLE_COLUMNS`. */
export const SOURCE_COLUMNS = [
  column('resource', 'json', 'attributes of the resource'),
  column('scope_name', 'text', 'the instrumentation'),
  column('scope_version', 'text', 'its version'),
  column('scope_attributes', 'json', 'its attributes'),
  column(
    'attributes',
    'json',
    "the record's attributes, without what privacy dropped and without content that has a column of its own",
  ),
  column('received_at', 'timestamp', 'when the request was handled'),
] as const satisfies readonly Column[];

/**
 * What normalization and pricing fill on spans and log records. The derived row of `layout.ts` has for each a slot
 * (`text` and `json`), a number (`count` and `double`), a cost (`money`), or a byte (`boolean` and columns of words),
 * in this order.
 */
export const DERIVED_COLUMNS = [
  column('category', 'text', `${listed(CATEGORIES)}; null for everything else`, { words: CATEGORIES }),
  column('operation', 'text', '`chat`, `embeddings`, `execute_tool`, …', { filled: 'code' }),
  column('provider', 'text', 'one name for each provider', { filled: 'code' }),
  column('request_model', 'text', 'the model that was asked for', { filled: 'attribute' }),
  column('response_model', 'text', 'the model that answered', { filled: 'attribute' }),
  column('response_id', 'text', "the provider's id of the answer", { filled: 'attribute' }),
  column('input_tokens', 'count', 'cached ones included', { filled: 'code' }),
  column('output_tokens', 'count', 'reasoning included', { filled: 'code' }),
  column('total_tokens', 'count', 'as reported, or the sum', { filled: 'code' }),
  column('cache_read_tokens', 'count', 'part of the input', { filled: 'code' }),
  column('cache_write_tokens', 'count', 'part of the input', { filled: 'code' }),
  column('reasoning_tokens', 'count', 'part of the output', { filled: 'code' }),
  column('usage_scope', 'text', "`own`: this call's; `rollup`: a sum over what is below", { words: USAGE_SCOPES }),
  column('input_cost', 'money', 'USD'),
  column('output_cost', 'money', 'USD'),
  column('total_cost', 'money', 'USD; null unless every priced side is known'),
  column('cost_source', 'text', '`explicit`: the sender stated it; `derived`: from usage and prices', {
    words: COST_SOURCES,
  }),
  column(
    'price_id',
    'text',
    'where the price came from: source, version, model, tier; then what was assumed (`audio=text-rate`) and the tier of service (`service=batch`)',
  ),
  column('latency_ms', 'double', 'how long the step took'),
  column('time_to_first_token_ms', 'double', 'when the sender states it'),
  column('finish_reasons', 'json', "list of the provider's words"),
  column('is_error', 'boolean', 'whether the step failed'),
  column('error_type', 'text', "in the sender's word", { filled: 'code' }),
  column('input_content', 'text', 'the prompt or messages; null where content is not captured, like the following', {
    filled: 'code',
  }),
  column('output_content', 'text', 'the answer', { filled: 'code' }),
  column('system_instructions', 'text', 'the system prompt', { filled: 'code' }),
  column('tool_name', 'text', 'which tool', { filled: 'code' }),
  column('tool_call_id', 'text', 'which call of it', { filled: 'attribute' }),
  column('tool_arguments', 'text', 'what it was given', { filled: 'code' }),
  column('tool_result', 'text', 'what it returned', { filled: 'code' }),
  column('retrieval_query', 'text', 'the text of the search', { filled: 'code' }),
  column('retrieval_documents', 'text', 'what was found', { filled: 'code' }),
  column('agent_name', 'text', 'which agent', { filled: 'code' }),
  column('conversation_id', 'text', 'conversation, session or thread', { filled: 'code' }),
  column('user_id', 'text', 'the end user', { filled: 'code' }),
  column('dialect', 'text', 'whose conventions the record follows'),
] as const satisfies readonly Column[];

/** Numbers of the derived row that pricing reads and no column stores. They follow the numbers of the columns. */
export const PRICING_NUMBERS = [
  { name: 'cache_write_1h_tokens', filled: 'code' },
  { name: 'audio_input_tokens', filled: 'attribute' },
  { name: 'audio_output_tokens', filled: 'attribute' },
  { name: 'audio_cache_read_tokens', filled: 'attribute' },
  { name: 'image_input_tokens', filled: 'attribute' },
  { name: 'image_output_tokens', filled: 'attribute' },
  // An index into SERVICE_TIERS; NaN: the standard tier, or not sent.
  { name: 'service_tier', filled: 'code' },
] as const;

export const SPAN_COLUMNS = [
  ...OWNER_COLUMNS,
  column('trace_id', 'trace_id', '32 hex digits; `bytea` in the table'),
  column('span_id', 'span_id', '16 hex digits; `bytea` in the table'),
  column('parent_span_id', 'span_id', 'null for a root'),
  column('trace_state', 'text', 'as sent'),
  column('name', 'text', 'as sent'),
  column('kind', 'text', listed(SPAN_KINDS), { words: SPAN_KINDS }),
  column('status', 'text', listed(SPAN_STATUSES), { words: SPAN_STATUSES }),
  column('status_message', 'text', 'as sent'),
  column('start_time_unix_nano', 'nanos', 'text in JSON'),
  column('end_time_unix_nano', 'nanos', 'text in JSON; null when unknown'),
  column('duration_ns', 'nanos', 'text in JSON; never negative; null without an end'),
  column('flags', 'count', 'the OTLP flags'),
  column('dropped_attributes_count', 'count', 'what the sender left out'),
  column('dropped_events_count', 'count', 'likewise'),
  column('dropped_links_count', 'count', 'likewise'),
  column('events', 'json', 'list of `{name, time_unix_nano, attributes}`'),
  column('links', 'json', 'list of `{trace_id, span_id, attributes}`'),
  ...DERIVED_COLUMNS,
  ...SOURCE_COLUMNS,
] as const satisfies readonly Column[];

export const LOG_COLUMNS = [
  ...OWNER_COLUMNS,
  column('time_unix_nano', 'nanos', 'text in JSON; null when not sent'),
  column('observed_time_unix_nano', 'nanos', 'text in JSON; null when not sent'),
  column('severity_number', 'int4', '1 to 24; null when not sent'),
  column('severity_text', 'text', 'as sent'),
  column('event_name', 'text', 'as sent'),
  column('body', 'json', 'any value'),
  column('trace_id', 'trace_id', 'hex, or null'),
  column('span_id', 'span_id', 'hex, or null'),
  column('flags', 'count', 'the OTLP flags'),
  column('dropped_attributes_count', 'count', 'what the sender left out'),
  ...DERIVED_COLUMNS,
  ...SOURCE_COLUMNS,
] as const satisfies readonly Column[];

/** The views and NDJSON lines have `value_int` and `value_double` as one column, `value`. */
export const METRIC_COLUMNS = [
  ...OWNER_COLUMNS,
  column('name', 'text', 'of the metric'),
  column('description', 'text', 'of the metric'),
  column('unit', 'text', 'of the metric'),
  column('type', 'text', listed(METRIC_TYPES), { words: METRIC_TYPES }),
  column('temporality', 'text', listed(TEMPORALITIES), { words: TEMPORALITIES }),
  column('is_monotonic', 'boolean', 'of sums'),
  column('start_time_unix_nano', 'nanos', 'text in JSON'),
  column('time_unix_nano', 'nanos', 'text in JSON'),
  column('value_int', 'count64', 'an integer value, exactly'),
  column('value_double', 'double', 'a floating point value'),
  column('count', 'count64', 'text in JSON; of distributions; null beyond 2^63−1'),
  column('sum', 'double', 'of distributions'),
  column('min', 'double', 'of distributions'),
  column('max', 'double', 'of distributions'),
  column(
    'buckets',
    'json',
    'of histograms: `{explicit_bounds, bucket_counts}`; of exponential ones `{scale, zero_count, zero_threshold, positive, negative}`, each side `{offset, bucket_counts}`',
  ),
  column('quantiles', 'json', 'of summaries: list of `{quantile, value}`'),
  column(
    'exemplars',
    'json',
    'list of `{time_unix_nano, value, attributes}`, with `trace_id` and `span_id` where they were sent',
  ),
  column('flags', 'count', 'the OTLP flags'),
  column('metadata', 'json', "the metric's own attributes"),
  ...SOURCE_COLUMNS,
] as const satisfies readonly Column[];

/**
 * Columns of a record's resource and scope, which the tables store once per content, and the references that replace
 * them.
 */
const SHARED_NAMES: readonly string[] = ['resource', 'scope_name', 'scope_version', 'scope_attributes'];
const REFERENCES: readonly Column[] = [
  column('resource_id', 'content_id', 'the resource'),
  column('scope_id', 'content_id', 'the scope'),
];

function tableColumns(columns: readonly Column[]): readonly Column[] {
  const first = columns.findIndex(({ name }) => SHARED_NAMES.includes(name));
  const own = columns.filter(({ name }) => !SHARED_NAMES.includes(name));
  return [...own.slice(0, first), ...REFERENCES, ...own.slice(first)];
}

/** What COPY writes into the tables, in this order. */
export const TABLE_COLUMNS: Readonly<Record<'traces' | 'logs' | 'metrics', readonly Column[]>> = {
  traces: tableColumns(SPAN_COLUMNS),
  logs: tableColumns(LOG_COLUMNS),
  metrics: tableColumns(METRIC_COLUMNS),
};

/**
 * Columns that are left out of the COPY of spans when no span of the request has anything in them: they then have the
 * defaults of the table (migration 0010). The server need not read them, and parses no JSON for the empty lists.
 */
const LEFT_OUT_OF_PLAIN: readonly string[] = [
  'dropped_attributes_count',
  'dropped_events_count',
  'dropped_links_count',
  'events',
  'links',
  ...DERIVED_COLUMNS.map(({ name }) => name),
];
export const PLAIN_SPAN_COLUMNS: readonly Column[] = TABLE_COLUMNS.traces.filter(
  ({ name }) => !LEFT_OUT_OF_PLAIN.includes(name),
);

/** Tiers of service that providers price apart from the standard one. Not a column: it shows in `price_id`. */
export const SERVICE_TIERS = ['batch', 'flex', 'priority', 'scale', 'fast'] as const;
export type ServiceTier = (typeof SERVICE_TIERS)[number];
