/**
 * Derives the schema of the written form, for validation and for editors. Component schemas state durations and sizes
 * as integers in milliseconds and bytes, with `format: duration` or `byte_size`; users write `5s` and `4MiB`.
 */
import type { OptionsSchema } from '../component/component.ts';
import { isSchema, type Schema } from './schema.ts';
import { formatByteSize, formatDuration } from './units.ts';

const MAPS_OF_SCHEMAS = ['properties', 'patternProperties', 'definitions', '$defs', 'dependentSchemas'];
const LISTS_OF_SCHEMAS = ['allOf', 'anyOf', 'oneOf'];
const SCHEMAS = ['items', 'additionalProperties', 'propertyNames', 'not', 'if', 'then', 'else', 'contains'];

export function writtenForm(schema: OptionsSchema): Schema {
  const inside = Object.entries(schema).map(([keyword, value]) => [keyword, writtenPart(keyword, value)] as const);
  const rewritten: Schema = Object.fromEntries(inside);
  const { format } = rewritten;
  return format === 'duration' || format === 'byte_size' ? unitForm(rewritten, format) : rewritten;
}

function writtenPart(keyword: string, value: unknown): unknown {
  if (LISTS_OF_SCHEMAS.includes(keyword) && Array.isArray(value)) return value.map((item) => writtenForm(item));
  if (!isSchema(value)) return value;
  if (SCHEMAS.includes(keyword)) return writtenForm(value);
  if (!MAPS_OF_SCHEMAS.includes(keyword)) return value;
  const parts = Object.entries(value).map(([name, inner]) => [name, isSchema(inner) ? writtenForm(inner) : inner]);
  return Object.fromEntries(parts);
}

/** Limits become `atLeast` and `atMost`, which compare values with their units. */
function unitForm(schema: Schema, format: 'duration' | 'byte_size'): Schema {
  const { minimum = format === 'byte_size' ? 0 : undefined, maximum, default: given, ...rest } = schema;
  const print = format === 'duration' ? formatDuration : formatByteSize;
  return {
    ...rest,
    type: format === 'duration' ? 'string' : ['integer', 'string'],
    ...(minimum === undefined ? {} : { atLeast: minimum }),
    ...(maximum === undefined ? {} : { atMost: maximum }),
    ...(given === undefined ? {} : { default: typeof given === 'number' ? print(given) : given }),
  };
}
