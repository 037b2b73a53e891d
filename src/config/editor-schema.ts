/**
 * One JSON Schema for a whole configuration file, for completion and checks in editors. Written to
 * `config/schema.json`.
 */
import type { Definition } from '../component/definition.ts';
import { SECTION_NAMES, SECTIONS, type SectionName } from './config.ts';
import { SERVICE_SCHEMA } from './service-schema.ts';
import { writtenForm } from './written-form.ts';

type Schema = Readonly<Record<string, unknown>>;

/** Formats that the loader checks in code, as patterns for editors. */
const PATTERNS: Readonly<Record<string, string>> = {
  duration: '^(0|(\\d+(\\.\\d*)?(ns|us|µs|ms|s|m|h|d))+)$',
  byte_size: '^\\d+(\\.\\d+)? ?([KMGT]iB|[kKMGT]B|B)?$',
  endpoint: '^[^\\s/@]*:\\d{1,5}$',
};
/** A reference is allowed instead of any value. */
const REFERENCE = { type: 'string', pattern: '\\$\\{.+\\}' };

export function editorSchema(definitions: readonly Definition[]): Schema {
  const sections = SECTION_NAMES.map((name) => [name, sectionSchema(name, definitions)] as const);
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Sluice configuration',
    type: 'object',
    // Modules may add component types that are unknown here, and the file may be one of several that are merged.
    additionalProperties: false,
    properties: {
      modules: {
        type: 'array',
        items: { type: 'string' },
        description: 'Modules that export further components; a path is relative to this file.',
      },
      ...Object.fromEntries(sections),
      service: editorForm(writtenForm(SERVICE_SCHEMA)),
    },
  };
}

function sectionSchema(name: SectionName, definitions: readonly Definition[]): Schema {
  const ofKind = definitions.filter(({ kind }) => kind === SECTIONS[name]);
  const patterns = ofKind.map(({ type, summary, schema }) => {
    const options = { ...editorForm(writtenForm(schema)), description: summary };
    return [`^${type}(/.+)?$`, { anyOf: [options, { type: 'null' }] }] as const;
  });
  return {
    type: ['object', 'null'],
    description: `The ${name}, by id: type or type/name.`,
    patternProperties: Object.fromEntries(patterns),
  };
}

/** Without the keywords of our own, and with references allowed. */
function editorForm(schema: Schema): Schema {
  const { atLeast: _least, atMost: _most, secret: _secret, format, ...rest } = schema;
  const inside = Object.entries(rest).map(([keyword, value]) => [keyword, editorPart(keyword, value)] as const);
  const plain: Schema = Object.fromEntries(inside);
  const pattern = typeof format === 'string' ? PATTERNS[format] : undefined;
  const shaped = pattern === undefined ? plain : { ...plain, pattern };
  return needsRoom(shaped) ? withRoom(shaped) : shaped;
}

function editorPart(keyword: string, value: unknown): unknown {
  if (['allOf', 'anyOf', 'oneOf'].includes(keyword) && Array.isArray(value))
    return value.map((each) => editorForm(each));
  if (!isSchema(value)) return value;
  if (['items', 'additionalProperties'].includes(keyword)) return editorForm(value);
  if (!['properties', 'patternProperties'].includes(keyword)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, isSchema(each) ? editorForm(each) : each]),
  );
}

function needsRoom(schema: Schema): boolean {
  const { type } = schema;
  const scalar = typeof type === 'string' ? ['integer', 'number', 'boolean'].includes(type) : Array.isArray(type);
  return scalar || 'enum' in schema || 'pattern' in schema;
}

function withRoom({ description, default: given, ...schema }: Schema): Schema {
  return {
    ...(description === undefined ? {} : { description }),
    ...(given === undefined ? {} : { default: given }),
    anyOf: [schema, REFERENCE],
  };
}

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
