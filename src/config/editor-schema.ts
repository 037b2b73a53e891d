/**
 * One JSON Schema for a whole configuration file, for completion and checks in editors. Written to
 * `config/schema.json`.
 */
import type { Definition } from '../component/definition.ts';
import type { OptionsSchema } from '../component/component.ts';
import { PIPELINE_SIGNALS, SECTION_NAMES, SECTIONS, type SectionName } from './config.ts';
import { isSchema, measure, type Schema } from './schema.ts';
import { MODULES_DESCRIPTION, SERVICE_SCHEMA } from './service-schema.ts';
import { writtenForm } from './written-form.ts';

/** Formats that the loader checks in code, as patterns for editors. */
const PATTERNS: Readonly<Record<string, string>> = {
  duration: '^(0|(\\d+(\\.\\d*)?(ns|us|µs|ms|s|m|h|d))+)$',
  byte_size: '^\\d+(\\.\\d+)? ?([KMGT]iB|[kKMGT]B|B)?$',
  endpoint: '^[^\\s/@]*:\\d{1,5}$',
  http_url: '^([Hh][Tt][Tt][Pp][Ss]?://[^\\s#/?][^\\s#]*)?$',
  listen_endpoint: '^([^\\s/@]*:\\d{1,5}|unix:.*[^/].*|\\.{0,2}/.+)$',
};
/** A reference is allowed instead of any value. */
const REFERENCE = { $ref: '#/definitions/reference' };
/** A key without a value means that the option is not given. */
const NOTHING = { type: 'null' };
const REFERENCE_OR_NOTHING = { $ref: '#/definitions/reference_or_nothing' };
const REFERENCE_RULE = { type: 'string', pattern: '\\$\\{.+\\}' };
const DEFINITIONS = {
  reference: REFERENCE_RULE,
  reference_or_nothing: { ...REFERENCE_RULE, type: ['string', 'null'] },
};

export function editorSchema(definitions: readonly Definition[]): Schema {
  const sections = SECTION_NAMES.map((name) => [name, sectionSchema(name, definitions)] as const);
  const shipped = SECTION_NAMES.map((name) => [name, { propertyNames: idsOf(typesOf(name, definitions)) }] as const);
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Sluice configuration',
    definitions: DEFINITIONS,
    type: 'object',
    // The file may be one of several that are merged, so no section is required.
    additionalProperties: false,
    properties: {
      modules: orNothing(
        withReference({
          type: 'array',
          items: { type: 'string', minLength: 1 },
          description: MODULES_DESCRIPTION,
        }),
      ),
      ...Object.fromEntries(sections),
      service: orNothing(editorForm(writtenForm(withPipelineIds(SERVICE_SCHEMA)))),
    },
    // Modules add component types that are unknown here.
    if: { required: ['modules'], properties: { modules: { not: { type: ['array', 'null'], maxItems: 0 } } } },
    else: { properties: Object.fromEntries(shipped) },
  };
}

const typesOf = (name: SectionName, definitions: readonly Definition[]): readonly string[] =>
  definitions.filter(({ kind }) => kind === SECTIONS[name]).map(({ type }) => type);

/** `type` or `type/name`. */
const idPattern = (types: readonly string[]): string => `^(?:${types.join('|')})(?:/\\S+)?$`;
const idsOf = (types: readonly string[]): Schema => ({ pattern: idPattern(types) });

/** The loader reports ids of pipelines in code. */
function withPipelineIds(service: OptionsSchema): OptionsSchema {
  const properties = service['properties'] as Schema;
  const pipelines = { ...(properties['pipelines'] as Schema), propertyNames: idsOf(PIPELINE_SIGNALS) };
  return { ...service, properties: { ...properties, pipelines } };
}

function sectionSchema(name: SectionName, definitions: readonly Definition[]): Schema {
  const ofKind = definitions.filter(({ kind }) => kind === SECTIONS[name]);
  const patterns = ofKind.map(({ type, summary, schema }) => {
    const options = { ...editorForm(writtenForm(schema)), description: summary };
    return [idPattern([type]), orNothing(options)] as const;
  });
  return orNothing(
    withReference({
      type: 'object',
      description: `The ${name}, by id: type or type/name.`,
      patternProperties: Object.fromEntries(patterns),
    }),
  );
}

/** Without the keywords of our own, and with references allowed. */
function editorForm(schema: Schema): Schema {
  const { atLeast, atMost, secret: _secret, format, ...rest } = schema;
  const inside = Object.entries(rest).map(([keyword, value]) => [keyword, editorPart(keyword, value, rest)] as const);
  const plain: Schema = Object.fromEntries(inside);
  const pattern = typeof format === 'string' ? PATTERNS[format] : undefined;
  const shaped = {
    ...plain,
    ...(pattern === undefined ? {} : { pattern }),
    ...(format === 'byte_size' ? numberLimits(atLeast, atMost, format) : {}),
    ...(format === 'duration' && (measure(atLeast, format) ?? 0) <= 0 ? ZERO_OR_TEXT : {}),
  };
  return needsRoom(shaped) ? withReference(shaped) : shaped;
}

/** `0` is a duration too. */
const ZERO_OR_TEXT = { type: ['string', 'integer'], minimum: 0, maximum: 0 };

/** The limits of sizes in bytes. Those of texts with a unit cannot be expressed. */
function numberLimits(atLeast: unknown, atMost: unknown, format: string): Schema {
  const [minimum, maximum] = [measure(atLeast, format), measure(atMost, format)];
  return { ...(minimum === null ? {} : { minimum }), ...(maximum === null ? {} : { maximum }) };
}

function editorPart(keyword: string, value: unknown, { required }: Schema): unknown {
  if (['allOf', 'anyOf', 'oneOf'].includes(keyword) && Array.isArray(value))
    return value.map((each) => editorForm(each));
  if (!isSchema(value)) return value;
  if (keyword === 'items') return editorForm(value);
  if (keyword === 'additionalProperties') return orNothing(editorForm(value));
  if (!['properties', 'patternProperties'].includes(keyword)) return value;
  const needed = (name: string): boolean => Array.isArray(required) && required.includes(name);
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => {
      if (!isSchema(each)) return [name, each];
      return [name, needed(name) ? editorForm(each) : orNothing(editorForm(each))];
    }),
  );
}

/** A text without a rule admits a reference anyway. */
function needsRoom(schema: Schema): boolean {
  return schema['type'] !== 'string' ? 'type' in schema || 'enum' in schema : 'enum' in schema || 'pattern' in schema;
}

const withReference = (schema: Schema): Schema => orElse(schema, REFERENCE);

/** Description and default stay outside, where editors show them. */
function orElse({ description, default: given, ...schema }: Schema, other: Schema): Schema {
  const { anyOf, ...rest } = schema;
  const forms = Array.isArray(anyOf) && Object.keys(rest).length === 0 ? (anyOf as readonly Schema[]) : [schema];
  const merges = other === NOTHING && forms.includes(REFERENCE);
  return {
    ...(description === undefined ? {} : { description }),
    ...(given === undefined ? {} : { default: given }),
    anyOf: merges ? forms.map((form) => (form === REFERENCE ? REFERENCE_OR_NOTHING : form)) : [...forms, other],
  };
}

/** A map without a value is an empty map, which may lack something. A schema without a rule admits everything. */
function orNothing(schema: Schema): Schema {
  const isRule = 'type' in schema || 'anyOf' in schema;
  return isRule && !mayLack(schema) ? orElse(schema, NOTHING) : schema;
}

const mayLack = (schema: Schema): boolean =>
  'required' in schema ||
  'minProperties' in schema ||
  (Array.isArray(schema['anyOf']) && schema['anyOf'].some((form: Schema) => mayLack(form)));
