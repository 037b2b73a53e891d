/**
 * The vocabulary of the options schemas on top of JSON Schema: `format: duration | byte_size | endpoint |
 * listen_endpoint | own_path | port | url | http_url | regex | re2`, `atLeast`/`atMost` in the unit of the format,
 * `secret: true`. Values are checked in written form (`5s`, `4MiB`), then converted to milliseconds and bytes. All
 * functions here take schemas in written form.
 */
import { parseMoment } from '../component/moment.ts';
import { MAX_PORT, parseEndpoint, parseListenEndpoint } from '../component/endpoint.ts';
import { isHttpUrl } from '../component/http-url.ts';
import { maskUrls, REDACTED } from '../component/masked-url.ts';
import { expressionFault } from '../component/expression.ts';
import type { Path } from './node.ts';
import { parseByteSize, parseDuration } from './units.ts';

/** Loosely typed, because schemas are data. */
export type Schema = Readonly<Record<string, unknown>>;

const isUrl = (text: string): boolean => URL.canParse(text);
const isDate = (text: string): boolean => !Number.isNaN(parseMoment(text));

export const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  duration: (text) => parseDuration(text) !== null,
  byte_size: (text) => parseByteSize(text) !== null,
  endpoint: (text) => parseEndpoint(text) !== null,
  /** Also a Unix domain socket. It may be a plain path when `transport` is `unix`. */
  listen_endpoint: (text) => parseListenEndpoint(text) !== null || /^(?:\.{0,2}\/)./u.test(text),
  port: (text) => /^\d{1,5}$/u.test(text) && Number(text) <= MAX_PORT,
  url: isUrl,
  uri: isUrl,
  /** Empty text means no URL; `minLength` refuses it. */
  http_url: (text) => text === '' || isHttpUrl(text),
  date: isDate,
  'date-time': isDate,
  /** Formats without a check; they are documentation for editors and readers. */
  path: () => true,
  /** A file or socket that one component alone uses. */
  own_path: () => true,
  regex: () => true,
  /** An expression that is applied to untrusted text. */
  re2: (text) => expressionFault(text) === null,
};

/** In milliseconds or bytes; null for a value that is neither a duration nor a size. */
export function measure(value: unknown, format: unknown): number | null {
  if (typeof value !== 'string' && typeof value !== 'number') return null;
  // A negative number is measured too, so that it cannot pass the limits.
  if (format === 'byte_size') return typeof value === 'number' ? value : parseByteSize(value);
  return typeof value === 'number' ? null : parseDuration(value);
}

export const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
export const asSchema = (value: unknown): Schema | null => (isSchema(value) ? value : null);
const asSchemas = (value: unknown): readonly Schema[] =>
  Array.isArray(value) ? value.filter((item) => isSchema(item)) : [];

export type JsonType = 'string' | 'number' | 'boolean' | 'null' | 'array' | 'object';

export function jsonTypeOf(value: unknown): JsonType {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'array';
  const type = typeof value;
  return type === 'string' || type === 'number' || type === 'boolean' ? type : 'object';
}

export function typesOf(schema: Schema): readonly string[] {
  const type = schema['type'];
  if (typeof type === 'string') return [type];
  return Array.isArray(type) ? type.filter((item) => typeof item === 'string') : [];
}

function admits(schema: Schema, type: JsonType): boolean {
  const types = typesOf(schema);
  return types.length === 0 || types.includes(type) || (type === 'number' && types.includes('integer'));
}

/** A schema with those of its alternatives that admit this type of value, or with all of them when none does. */
export function applicable(schema: Schema, type: JsonType): readonly Schema[] {
  const all = asSchemas(schema['allOf']);
  const alternatives = [...asSchemas(schema['anyOf']), ...asSchemas(schema['oneOf'])];
  const fitting = alternatives.filter((alternative) => admits(alternative, type));
  const chosen = fitting.length > 0 ? fitting : alternatives;
  return [schema, ...[...all, ...chosen].flatMap((inner) => applicable(inner, type))];
}

/** The schemas of a key of a map or an item of a list. */
export function childSchemas(schemas: readonly Schema[], step: string | number): readonly Schema[] {
  return schemas.flatMap((schema) => {
    if (typeof step === 'number') return [asSchema(schema['items'])].filter((item) => item !== null);
    const properties = asSchema(schema['properties']) ?? {};
    const named = Object.hasOwn(properties, step) ? asSchema(properties[step]) : null;
    const patterns = Object.entries(asSchema(schema['patternProperties']) ?? {});
    const matching = patterns
      .filter(([pattern]) => new RegExp(pattern, 'u').test(step))
      .map(([, inner]) => asSchema(inner));
    if (named !== null) matching.unshift(named);
    const other = matching.length > 0 ? matching : [asSchema(schema['additionalProperties'])];
    return other.filter((inner) => inner !== null);
  });
}

/** The known keys of a map, for hints. */
export function knownKeys(schemas: readonly Schema[]): readonly string[] {
  return [...new Set(schemas.flatMap((schema) => Object.keys(asSchema(schema['properties']) ?? {})))];
}

/** A copy with durations in milliseconds and sizes in bytes. */
export function convertUnits(schema: Schema, value: unknown): unknown {
  return transform([schema], value, (schemas, inner) => {
    if (typeof inner !== 'string') return inner;
    if (schemas.some((each) => each['format'] === 'duration')) return parseDuration(inner) ?? inner;
    return schemas.some((each) => each['format'] === 'byte_size') ? (parseByteSize(inner) ?? inner) : inner;
  });
}

/** A copy with secrets replaced. */
export function redact(schema: Schema, value: unknown): unknown {
  return transform([schema], value, (schemas, inner) => {
    if (isSecret(schemas) && inner !== '' && inner !== null) return REDACTED;
    return typeof inner === 'string' ? maskUrls(inner) : inner;
  });
}

export const isSecret = (schemas: readonly Schema[]): boolean => schemas.some((schema) => schema['secret'] === true);

/**
 * Whether a value may not be shown. It is a secret, or it has the wrong type for a list or map that may hold a secret.
 * For example, a key written directly after `keys:` is still a key.
 */
export function isHidden(schemas: readonly Schema[], value: unknown): boolean {
  if (isSecret(schemas)) return true;
  const type = jsonTypeOf(value);
  const typed = schemas.filter((schema) => typesOf(schema).length > 0);
  return typed.length > 0 && !typed.some((schema) => admits(schema, type)) && schemas.some(holdsSecret);
}

function holdsSecret(schema: Schema): boolean {
  return Object.entries(schema).some(([keyword, value]) => {
    if (keyword === 'secret') return value === true;
    const inner = asSchema(value);
    return inner === null ? asSchemas(value).some(holdsSecret) : holdsSecret(inner);
  });
}

/** All paths whose values may not be shown. */
export function secretPaths(schema: Schema, value: unknown): readonly Path[] {
  return valuesOf(schema, value, isHidden).map(({ path }) => path);
}

export interface PlacedValue {
  readonly path: Path;
  readonly value: unknown;
}

/** The values whose schemas are `wanted`, and not those inside them. */
export function valuesOf(
  schema: Schema,
  value: unknown,
  wanted: (schemas: readonly Schema[], value: unknown) => boolean,
): readonly PlacedValue[] {
  const found: PlacedValue[] = [];
  const visit = (schemas: readonly Schema[], inner: unknown, path: Path): void => {
    const all = schemas.flatMap((each) => applicable(each, jsonTypeOf(inner)));
    if (wanted(all, inner)) found.push({ path, value: inner });
    else for (const [step, child] of childrenOf(inner)) visit(childSchemas(all, step), child, [...path, step]);
  };
  visit([schema], value, []);
  return found;
}

function childrenOf(value: unknown): readonly (readonly [string | number, unknown])[] {
  if (Array.isArray(value)) return value.map((item, index) => [index, item] as const);
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}

function transform(
  schemas: readonly Schema[],
  value: unknown,
  change: (schemas: readonly Schema[], value: unknown) => unknown,
): unknown {
  const all = schemas.flatMap((schema) => applicable(schema, jsonTypeOf(value)));
  const inside = (step: string | number, child: unknown) => transform(childSchemas(all, step), child, change);
  if (Array.isArray(value))
    return change(
      all,
      value.map((item, index) => inside(index, item)),
    );
  if (typeof value !== 'object' || value === null) return change(all, value);
  return change(all, Object.fromEntries(Object.entries(value).map(([key, child]) => [key, inside(key, child)])));
}
