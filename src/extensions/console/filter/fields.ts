/**
 * The fields of the filter language: what each is compared with, and its SQL expression for each kind of row. Nothing
 * else becomes SQL; keys and values are parameters.
 */
import { CONTENT_COLUMNS } from '../../../pdata/content-columns.ts';
import { normalizeEnvironment } from '../../../pdata/environment.ts';
import { isFailedLog } from './failed-logs.ts';
import { IS_FAILED, LOGS_SINCE, MODEL, spansOf } from './trace-spans.ts';

/** What a value of the field looks like. */
export type FieldKind =
  | 'text'
  /** A beginning of a trace id. */
  | 'trace_id'
  | 'span_id'
  | 'number'
  /** Compared with a column in nanoseconds. */
  | 'duration_ns'
  /** Compared with a column in milliseconds. */
  | 'duration_ms'
  /** A key of a JSON column. */
  | 'json'
  /** A text in any of several columns. */
  | 'search'
  /** Without a value whether there is an error, with a value which. */
  | 'error'
  | 'flag';

/** The rows a filter selects: a span `s`, a log record `l`, a row of counted usage `u`. */
export type Target = 'span' | 'log' | 'usage';

export interface Field {
  readonly name: string;
  readonly kind: FieldKind;
  /** One line, for docs and completion. */
  readonly about: string;
  /** The right to content is needed to filter by it. */
  readonly isContent?: boolean;
  /** An expression for each target that has the field; for `search` and `error` a list of expressions. */
  readonly sql: Readonly<Partial<Record<Target, string | readonly string[]>>>;
  /**
   * The value of a span, else that of a span above it. It takes longer, and makes a difference only with other
   * conditions.
   */
  readonly inherited?: string;
  /** The column of other spans, and with `ofLogs` of log records of the trace, that `inherited` gets its value from. */
  readonly owner?: { readonly column: string; readonly ofLogs: boolean };
  /** Stored values have one case of letters. This gives it to values of a filter. */
  readonly fold?: (text: string) => string;
  /** A condition on the trace `t`, not on a span. `sum`: computed from all spans of the trace. */
  readonly onTrace?: 'column' | 'sum';
}

const columns = (alias: string, names: readonly string[]): readonly string[] => names.map((name) => `${alias}.${name}`);

const spanOnly = (name: string, column: string, about: string): Field => ({
  name,
  kind: 'text',
  about,
  sql: { span: `s.${column}` },
});

/** A column of spans and log records. */
const recorded = (name: string, column: string, about: string): Field => ({
  ...spanOnly(name, column, about),
  sql: { span: `s.${column}`, log: `l.${column}` },
});

/** A column that spans, log records and counted usage have. */
const everywhere = (name: string, column: string, about: string): Field => ({
  ...spanOnly(name, column, about),
  sql: { span: `s.${column}`, log: `l.${column}`, usage: `u.${column}` },
});

/** A column of spans, log records and counted usage that a call may have from a span above it. */
const owned = (name: string, column: string, about: string, ofLogs: boolean): Field => ({
  ...everywhere(name, column, about),
  owner: { column, ofLogs },
  inherited: `coalesce(s.${column}, (SELECT o.value FROM {views}.owners_of(ARRAY[s.trace_id], ARRAY[s.span_id], '${column}') o))`,
});

/** Figures of a call that is not a sum over others. */
const own = (name: string, column: string, about: string): Field => ({
  name,
  kind: 'number',
  about,
  sql: {
    span: `CASE WHEN s.usage_scope = 'own' THEN s.${column} END`,
    log: `CASE WHEN l.usage_scope = 'own' THEN l.${column} END`,
    usage: `u.${column}`,
  },
});

const upper = (text: string): string => text.toUpperCase();
const lower = (text: string): string => text.toLowerCase();

const spansOfTraceWithin = (within: string): string => `FROM sluice.spans x WHERE ${spansOf('x', within)}`;
const spansOfTrace = spansOfTraceWithin('');
/** Whether the trace has a span `x` that meets the condition, as a condition on the whole trace. */
export const hasSpanOfTrace = (condition: string): string =>
  `EXISTS (SELECT ${spansOfTrace} AND ${condition} OFFSET 0)`;
const arrivedSince = (time: string): string => `o.received_at >= ${time}`;
/** Whether the trace has a log record `o` that meets the condition. */
export const hasLogOfTrace = (condition: string): string =>
  `EXISTS (SELECT FROM sluice.logs o WHERE o.project = t.project AND o.trace_id = t.trace_id AND ${condition}
      AND ${arrivedSince(LOGS_SINCE)} OFFSET 0)`;
/** A relation of one trace; the search puts the usage of all its traces in its place. */
const USAGE_OF_TRACE = '{views}.trace_usage_of(t.project, ARRAY[t.trace_id])';
const usageOfTrace = `FROM ${USAGE_OF_TRACE} x WHERE x.trace_id = t.trace_id`;
/** `{views}` is replaced by the schema of the readable views. */
export const inViews = (sql: string, views: string): string => sql.replaceAll('{views}', views);

/** The conditions on a whole trace, with its spans `within` the times of `spansOf` and its log records since a time. */
export const sumsWithin = (sums: readonly string[], within: string, logsSince = LOGS_SINCE): readonly string[] =>
  sums.map((sql) =>
    sql
      .replaceAll(spansOfTrace, spansOfTraceWithin(within))
      .replaceAll(arrivedSince(LOGS_SINCE), arrivedSince(logsSince)),
  );

/** The conditions with the relation `usage` for the usage of each trace. */
export const withUsage = (sums: readonly string[], views: string, usage: string): readonly string[] =>
  sums.map((sql) => sql.replaceAll(inViews(USAGE_OF_TRACE, views), usage));

const ofTrace = (name: string, kind: FieldKind, sql: string, about: string): Field => ({
  name,
  kind,
  about,
  sql: { span: sql },
  onTrace: 'sum',
});

const ALL: readonly Field[] = [
  {
    name: 'trace',
    kind: 'trace_id',
    about: 'the id of the trace, or its beginning',
    sql: { span: 't.trace_id', log: 'l.trace_id', usage: 'u.trace_id' },
    onTrace: 'column',
  },
  { ...everywhere('span', 'span_id', 'the id of a span'), kind: 'span_id' },
  {
    name: 'env',
    kind: 'text',
    about: 'the environment',
    sql: { span: 't.environment', log: 'l.environment', usage: 'u.environment' },
    fold: normalizeEnvironment,
    onTrace: 'column',
  },
  {
    name: 'name',
    kind: 'text',
    about: 'the name of a span, or of an event',
    sql: { span: 's.name', log: 'l.event_name' },
  },
  everywhere('service', 'service_name', 'the service'),
  { ...spanOnly('kind', 'kind', 'internal, server, client, producer or consumer'), fold: lower },
  { ...spanOnly('status', 'status', 'unset, ok or error'), fold: lower },
  { ...recorded('category', 'category', 'model_call, tool_step, retrieval, embedding, agent, workflow'), fold: lower },
  recorded('operation', 'operation', 'the operation, such as chat'),
  everywhere('provider', 'provider', 'the provider of the model'),
  {
    name: 'model',
    kind: 'text',
    about: 'the model that answered, else the model asked for',
    sql: {
      span: MODEL,
      log: 'coalesce(l.response_model, l.request_model)',
      usage: 'u.model',
    },
  },
  recorded('tool', 'tool_name', 'the tool'),
  owned('agent', 'agent_name', 'the agent', false),
  owned('user', 'user_id', 'the user', true),
  owned('conversation', 'conversation_id', 'the conversation', true),
  recorded('dialect', 'dialect', 'the conventions of the sender'),
  {
    name: 'scope',
    kind: 'text',
    about: 'the instrumentation scope',
    sql: {
      span: 'coalesce(s.scope_name, (SELECT c.name FROM sluice.scopes c WHERE c.id = s.scope_id))',
      log: 'coalesce(l.scope_name, (SELECT c.name FROM sluice.scopes c WHERE c.id = l.scope_id))',
    },
  },
  {
    name: 'severity',
    kind: 'text',
    about: 'the severity of a log record, such as ERROR',
    sql: { log: 'upper(l.severity_text)' },
    fold: upper,
  },
  {
    name: 'error',
    kind: 'error',
    about: 'with an error; with a value: in the type or the message of the error',
    // The condition, the type, and the message, which is content.
    sql: {
      span: [IS_FAILED, 's.error_type', 's.status_message'],
      log: [isFailedLog('l'), 'l.error_type'],
      usage: ['u.is_error'],
    },
  },
  own('tokens', 'total_tokens', 'all tokens of one call'),
  own('input', 'input_tokens', 'input tokens of one call'),
  own('output', 'output_tokens', 'output tokens of one call'),
  own('cost', 'total_cost', 'the cost of one call in US dollars'),
  { ...spanOnly('duration', 'duration_ns', 'the duration of a span, such as 2s or 150ms'), kind: 'duration_ns' },
  { ...everywhere('latency', 'latency_ms', 'the latency of a model call'), kind: 'duration_ms' },
  { ...everywhere('ttft', 'time_to_first_token_ms', 'the time to the first token'), kind: 'duration_ms' },
  ofTrace('trace.cost', 'number', `(SELECT sum(x.total_cost) ${usageOfTrace})`, 'the cost of the whole trace'),
  ofTrace('trace.tokens', 'number', `(SELECT sum(x.total_tokens) ${usageOfTrace})`, 'the tokens of the whole trace'),
  ofTrace(
    'trace.duration',
    'duration_ns',
    `(SELECT greatest(max(coalesce(x.end_time_unix_nano, x.start_time_unix_nano)) - min(x.start_time_unix_nano), 0) ${spansOfTrace})`,
    'the duration of the whole trace',
  ),
  ofTrace('trace.spans', 'number', `(SELECT count(*) ${spansOfTrace})`, 'the number of spans'),
  ofTrace(
    'trace.errors',
    'number',
    `(SELECT count(*) FILTER (WHERE x.status = 'error' OR x.is_error) ${spansOfTrace})`,
    'the number of spans with an error',
  ),
  { ...recorded('attr.', 'attributes', 'an attribute, such as attr.http.route:/chat'), kind: 'json', isContent: true },
  {
    name: 'resource.',
    kind: 'json',
    about: 'an attribute of the resource, such as resource.host.name:web-1',
    sql: {
      span: 'coalesce(s.resource, (SELECT r.body FROM sluice.resources r WHERE r.id = s.resource_id))',
      log: 'coalesce(l.resource, (SELECT r.body FROM sluice.resources r WHERE r.id = l.resource_id))',
    },
  },
  {
    name: 'text',
    kind: 'search',
    about: 'a text in the name, the message of an error or content; case does not matter',
    isContent: true,
    sql: {
      span: columns('s', ['name', 'status_message', ...CONTENT_COLUMNS]),
      log: [...columns('l', ['event_name', ...CONTENT_COLUMNS]), 'l.body::text'],
    },
  },
  {
    name: 'unpriced',
    kind: 'flag',
    about: 'a call without a known cost',
    sql: {
      span: "(s.usage_scope = 'own' AND s.total_cost IS NULL)",
      log: "(l.usage_scope = 'own' AND l.total_cost IS NULL)",
      usage: '(u.total_cost IS NULL)',
    },
  },
  { name: 'root', kind: 'flag', about: 'a span without a parent', sql: { span: '(s.parent_span_id IS NULL)' } },
];

export const FIELDS: ReadonlyMap<string, Field> = new Map(ALL.map((field) => [field.name, field]));

/** Fields with a key after a dot. */
const KEYED = ALL.filter(({ kind }) => kind === 'json');
export const ERROR_FIELD = fieldNamed('error');
export const TEXT_FIELD = fieldNamed('text');

function fieldNamed(name: string): Field {
  const field = ALL.find((each) => each.name === name);
  if (field === undefined) throw new Error(`there is no field ${name}`);
  return field;
}

/** The field with its key, which is empty for most. Null: there is no field of this name. */
export function findField(name: string): { readonly field: Field; readonly key: string } | null {
  const field = FIELDS.get(name);
  if (field !== undefined && field.kind !== 'json') return { field, key: '' };
  const keyed = KEYED.find((each) => name.startsWith(each.name) && name.length > each.name.length);
  return keyed === undefined ? null : { field: keyed, key: name.slice(keyed.name.length) };
}

/** Names for hints and completion. */
export const FIELD_NAMES: readonly string[] = ALL.map(({ name }) => name);
