/**
 * The mappings of the configuration: how senders of the user's own name things, in the words of the dialect tables.
 * Each becomes a dialect that is read like those of `src/dialects`.
 */
import { OPERATIONS, type Operation } from '../../dialects/categories.ts';
import {
  type Dialect,
  type Field,
  FIELDS,
  type Fields,
  type Place,
  type SourceRow,
  type Unit,
} from '../../dialects/dialect.ts';
import { OTEL } from '../../dialects/otel.ts';

/** Fields whose columns have other names. */
const RENAMED = {
  finish_reason: 'finish_reasons',
  time_to_first_token: 'time_to_first_token_ms',
  latency: 'latency_ms',
  failed: 'is_error',
  cost_input: 'input_cost',
  cost_output: 'output_cost',
  cost_total: 'total_cost',
} as const satisfies { readonly [field in Field]?: string };
type Renamed = typeof RENAMED;
/** The columns that a mapping may fill, and counts that only have a price. */
export type MappedColumn = Exclude<Field, keyof Renamed> | Renamed[keyof Renamed];

const isRenamed = (field: Field): field is keyof Renamed => Object.hasOwn(RENAMED, field);
const COSTS: readonly Field[] = ['cost_input', 'cost_output', 'cost_total'];
/** By the name of the column: the field that fills it. */
export const MAPPED_COLUMNS: ReadonlyMap<MappedColumn, Field> = new Map(
  [...FIELDS, ...COSTS].map((field) => [isRenamed(field) ? RENAMED[field] : field, field] as const),
);

/** They name people and conversations, so they are filled on every record. */
const PERSONAL: readonly MappedColumn[] = ['conversation_id', 'user_id'];

export interface SourceOption {
  readonly attribute: string;
  readonly paths?: readonly string[];
  readonly sum?: boolean;
  readonly when?: readonly Operation[];
  readonly on?: Exclude<Place, 'span_event'>;
  readonly unit?: Unit;
  readonly before?: string;
  readonly after?: string;
  readonly proves?: 'inside' | 'outside';
  readonly aggregate?: boolean;
}
export type SourceOptions = string | SourceOption | readonly (string | SourceOption)[];

export interface MappingOption {
  readonly name: string;
  readonly markers?: readonly string[];
  readonly scopes?: readonly string[];
  readonly services?: readonly string[];
  readonly fields?: { readonly [column in MappedColumn]?: SourceOptions };
  readonly operations?: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly span_names?: Readonly<Record<string, Operation>>;
  readonly events?: Readonly<Record<string, Operation>>;
  readonly cached_tokens?: 'inside' | 'outside';
  readonly reasoning_tokens?: 'inside' | 'outside';
  readonly content?: readonly string[];
}

/** Whether anything detects the sender. Without a sign, the fields are read on every record. */
export function hasSigns({ markers = [], scopes = [], services = [] }: MappingOption): boolean {
  return markers.length + scopes.length + services.length > 0;
}

function sourcesOf(options: SourceOptions): readonly SourceOption[] {
  const list = typeof options === 'string' || !Array.isArray(options) ? [options as string | SourceOption] : options;
  return list.map((one: string | SourceOption) => (typeof one === 'string' ? { attribute: one } : one));
}

/** The fields of a mapping by column, with their sources as a list. */
export function fieldsOf({
  fields = {},
}: MappingOption): readonly (readonly [MappedColumn, readonly SourceOption[]])[] {
  return Object.entries(fields).map(([column, sources]) => [column as MappedColumn, sourcesOf(sources)] as const);
}

/** The words for operations that every sender may use. */
const STANDARD_WORDS: Readonly<Record<string, Operation>> = {
  ...OTEL.operations?.['gen_ai.operation.name'],
  ...Object.fromEntries(OPERATIONS.map((operation) => [operation, operation])),
};

export function dialectsOf(mappings: readonly MappingOption[] = []): readonly Dialect[] {
  return mappings.map(dialectOf);
}

function dialectOf(mapping: MappingOption): Dialect {
  const { name, markers, scopes, services, span_names, events, cached_tokens, reasoning_tokens, content } = mapping;
  const fields = compiledFields(mapping);
  const operations = (fields.operation ?? []).map((source) => (typeof source === 'string' ? source : source.attribute));
  return {
    id: name,
    own: true,
    ...(markers === undefined ? {} : { markers }),
    ...(scopes === undefined ? {} : { scopes }),
    ...(services === undefined ? {} : { services }),
    fields,
    operations: Object.fromEntries(
      operations.map((attribute) => [attribute, { ...STANDARD_WORDS, ...mapping.operations?.[attribute] }]),
    ),
    ...(span_names === undefined ? {} : { spanNames: span_names }),
    ...(events === undefined ? {} : { events }),
    ...(cached_tokens === undefined ? {} : { cachedTokens: [{ cached: cached_tokens }] }),
    reasoningOutside: reasoning_tokens === 'outside',
    ...(content === undefined ? {} : { content }),
  };
}

function compiledFields(mapping: MappingOption): Fields {
  const fields: { [field in Field]?: SourceRow[] } = {};
  for (const [column, sources] of fieldsOf(mapping)) {
    const field = MAPPED_COLUMNS.get(column);
    if (field !== undefined) fields[field] = sources.map((source) => rowOf(mapping, column, source));
  }
  const named = (fields.operation ?? []).map(({ attribute }) => attribute);
  const further = Object.keys(mapping.operations ?? {}).filter((attribute) => !named.includes(attribute));
  const words = further.map((attribute) => rowOf(mapping, 'operation', { attribute }));
  return words.length === 0 ? fields : { ...fields, operation: [...(fields.operation ?? []), ...words] };
}

/** A source is read in records of its dialect only, or in all records if nothing detects the dialect. */
function rowOf(mapping: MappingOption, column: MappedColumn, source: SourceOption): SourceRow {
  const paths = source.paths?.map((path) => path.replace(/^\$\.?(?=.)/u, ''));
  const row = paths === undefined ? source : { ...source, paths };
  if (hasSigns(mapping)) return { ...row, only: [mapping.name] };
  return { ...row, general: PERSONAL.includes(column) ? 'person' : 'shared' };
}
