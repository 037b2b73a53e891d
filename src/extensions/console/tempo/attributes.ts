/**
 * The attributes and intrinsic fields that TraceQL can name, as fields of the console's filter. An attribute that has
 * a column of its own is the column; every other one is a key of `attributes` or of the resource.
 */
import { nearest } from '../../../component/nearest.ts';
import { type Field, FIELDS, type FieldKind } from '../filter/fields.ts';
import { FilterError } from '../filter/filter.ts';
import { spansOf } from '../filter/trace-spans.ts';
import { normalizeEnvironment } from '../../../pdata/environment.ts';

export type Scope = 'span' | 'resource' | 'intrinsic' | 'any';

export interface AttributeName {
  readonly scope: Scope;
  /** Without its scope. */
  readonly name: string;
  /** The key of an attribute without a column; else empty. */
  readonly key: string;
  readonly field: Field;
  /** The only values that it has, written without quotes. */
  readonly words: readonly string[] | null;
  /** Whether the field is one of the whole trace. */
  readonly isOfTrace: boolean;
  readonly at: number;
}

const column = (name: string, expression: string, kind: FieldKind = 'text'): Field => ({
  name,
  kind,
  about: '',
  sql: { span: expression },
});
const columns = (kind: FieldKind, names: Readonly<Record<string, string>>): Readonly<Record<string, Field>> =>
  Object.fromEntries(Object.entries(names).map(([name, each]) => [name, column(name, `s.${each}`, kind)]));

export const SPAN_COLUMNS: Readonly<Record<string, Field>> = {
  ...columns('text', {
    'gen_ai.operation.name': 'operation',
    'gen_ai.provider.name': 'provider',
    'gen_ai.system': 'provider',
    'gen_ai.request.model': 'request_model',
    'gen_ai.response.model': 'response_model',
    'gen_ai.response.id': 'response_id',
    'gen_ai.tool.name': 'tool_name',
    'gen_ai.tool.call.id': 'tool_call_id',
    'gen_ai.agent.name': 'agent_name',
    'gen_ai.conversation.id': 'conversation_id',
    'user.id': 'user_id',
    'error.type': 'error_type',
    'sluice.cost_source': 'cost_source',
    'sluice.category': 'category',
  }),
  ...columns('number', {
    'gen_ai.usage.input_tokens': 'input_tokens',
    'gen_ai.usage.output_tokens': 'output_tokens',
    'gen_ai.usage.cache_read.input_tokens': 'cache_read_tokens',
    'gen_ai.usage.cache_creation.input_tokens': 'cache_write_tokens',
    'gen_ai.usage.reasoning.output_tokens': 'reasoning_tokens',
    'sluice.cost_usd': 'total_cost',
  }),
};
/** The resource that is shown has the environment as it was sent. */
const environmentColumn = (name: string): Field => ({ ...column(name, 's.environment'), fold: normalizeEnvironment });
export const RESOURCE_COLUMNS: Readonly<Record<string, Field>> = {
  ...columns('text', { 'service.name': 'service_name' }),
  'deployment.environment': environmentColumn('deployment.environment'),
  'deployment.environment.name': environmentColumn('deployment.environment.name'),
};

/** A column of the root, or of the earliest span while the root is missing. */
const ofRoot = (name: string): string => `(SELECT x.${name} FROM sluice.spans x WHERE ${spansOf('x')}
  ORDER BY x.parent_span_id IS NOT NULL, x.start_time_unix_nano, x.span_id LIMIT 1)`;

const OF_TRACE: Readonly<Record<string, Field>> = {
  rootName: column('rootName', ofRoot('name')),
  rootServiceName: column('rootServiceName', ofRoot('service_name')),
  traceDuration: known('trace.duration'),
  'trace:id': known('trace'),
};
const OF_SPAN: Readonly<Record<string, Field>> = {
  name: known('name'),
  status: known('status'),
  statusMessage: { ...column('statusMessage', 's.status_message'), isContent: true },
  kind: known('kind'),
  duration: known('duration'),
  'span:id': known('span'),
};
const ALIASES: Readonly<Record<string, string>> = {
  'span:name': 'name',
  'span:status': 'status',
  'span:statusMessage': 'statusMessage',
  'span:kind': 'kind',
  'span:duration': 'duration',
  'trace:rootName': 'rootName',
  'trace:rootService': 'rootServiceName',
  'trace:duration': 'traceDuration',
};
const WORDS: Readonly<Record<string, readonly string[]>> = {
  status: ['error', 'ok', 'unset'],
  kind: ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'],
};
/** For completion. */
export const INTRINSICS = [
  'duration',
  'kind',
  'name',
  'rootName',
  'rootServiceName',
  'status',
  'traceDuration',
] as const;

const RESOURCE_FIELD = known('resource.');
const SPAN_FIELD = known('attr.');
/** An attribute of the span, else of its resource. */
const ANY_FIELD: Field = {
  ...SPAN_FIELD,
  name: '.',
  sql: {
    span: `(coalesce(${String(RESOURCE_FIELD.sql.span)}, '{}'::jsonb) || coalesce(${String(SPAN_FIELD.sql.span)}, '{}'::jsonb))`,
  },
};
const SCOPES: readonly (readonly [prefix: string, scope: Scope])[] = [
  ['span.', 'span'],
  ['resource.', 'resource'],
  ['.', 'any'],
];

function known(name: string): Field {
  const field = FIELDS.get(name);
  if (field === undefined) throw new Error(`there is no field ${name}`);
  return field;
}

/** Throws a `FilterError` for a name that is neither an attribute nor an intrinsic field. */
export function attributeNamed(text: string, at: number): AttributeName {
  if (text.includes('\0')) throw new FilterError('the name of an attribute cannot contain U+0000', at);
  for (const [prefix, scope] of SCOPES)
    if (text.startsWith(prefix) && text.length > prefix.length) return scoped(scope, text.slice(prefix.length), at);
  const name = ALIASES[text] ?? text;
  const ofTrace = Object.hasOwn(OF_TRACE, name) ? OF_TRACE[name] : undefined;
  const field = ofTrace ?? (Object.hasOwn(OF_SPAN, name) ? OF_SPAN[name] : undefined);
  if (field === undefined) {
    const near = nearest(text, [...Object.keys(OF_TRACE), ...Object.keys(OF_SPAN)]);
    throw new FilterError(`"${text}" is no field; attributes begin with span. or resource.`, at, near);
  }
  const words = WORDS[name] ?? null;
  return { scope: 'intrinsic', name, key: '', field, words, isOfTrace: ofTrace !== undefined, at };
}

function scoped(scope: Scope, name: string, at: number): AttributeName {
  const field = columnOf(scope, name);
  const common = { scope, name, words: null, isOfTrace: false, at };
  if (field !== null) return { ...common, key: '', field };
  const keyed = { span: SPAN_FIELD, resource: RESOURCE_FIELD, any: ANY_FIELD, intrinsic: SPAN_FIELD }[scope];
  return { ...common, key: name, field: keyed };
}

function columnOf(scope: Scope, name: string): Field | null {
  const tables = { span: [SPAN_COLUMNS], resource: [RESOURCE_COLUMNS], any: [SPAN_COLUMNS, RESOURCE_COLUMNS] };
  for (const table of tables[scope as 'any'] ?? []) if (Object.hasOwn(table, name)) return table[name] ?? null;
  return null;
}
