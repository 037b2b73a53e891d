/** Turns the validator's errors into messages for authors of YAML. */
import type { ErrorObject } from 'ajv';
import { expressionFault, MATCHES_EMPTY } from '../component/expression.ts';
import { suggest } from '../component/nearest.ts';
import { COLLECTOR_OPTIONS } from './collector-hints.ts';
import { formatPath, isMissing, keyOriginAt, type Node, nodeAt, type Path } from './node.ts';
import { type Diagnostics, quote } from './diagnostics.ts';
import {
  alternativesOf,
  essential,
  excludedKey,
  formsOf,
  givenForms,
  keysOfForms,
  lackingKey,
  requiredKeys,
  unknownKeyOf,
} from './essential.ts';
import { applicable, childSchemas, isHidden, isSecret, jsonTypeOf, knownKeys, type Schema, typesOf } from './schema.ts';
import { printable } from './source.ts';
import { formatByteSize, formatDuration, parseDuration } from './units.ts';

export interface Checked {
  readonly node: Node;
  readonly schema: Schema;
  readonly path: Path;
  readonly diagnostics: Diagnostics;
}

interface Words {
  readonly message: string;
  readonly hint: string | null;
}

export function explain(errors: readonly ErrorObject[], checked: Checked): void {
  for (const error of essential(errors)) {
    const at = stepsOf(error.instancePath);
    const excluded = excludedKey(error);
    const lacking = excluded === null ? lackingKey(error) : null;
    const unknown = unknownKeyOf(error);
    if (isMissing(checked.node, lacking === null ? at : [...at, lacking])) continue;
    if (unknown !== null) unknownKey(unknown, at, error, checked);
    else {
      const origin = lacking === null ? originOf(error, at, excluded, checked) : keyOf(at, checked);
      const { message, hint } = wordsFor(error, at, checked);
      checked.diagnostics.error(origin, message, hint);
    }
  }
}

/** An error about the name of a key, or about its presence, is reported at the key. */
function originOf({ propertyName }: ErrorObject, at: Path, excluded: string | null, { node }: Checked) {
  const key = propertyName ?? excluded;
  return key === null ? nodeAt(node, at).origin : keyOriginAt(node, [...at, key]);
}

/** A missing option is reported at the key of the map that lacks it. */
function keyOf(at: Path, { node }: Checked) {
  return at.length === 0 || typeof at.at(-1) === 'number' ? nodeAt(node, at).origin : keyOriginAt(node, at);
}

function unknownKey(key: string, at: Path, error: ErrorObject, { node, schema, path, diagnostics }: Checked): void {
  const schemas = schemasAt(schema, node, at);
  const place = [...path, ...at];
  // The excerpt would show the value of a misspelt secret.
  if (knownKeys(schemas).some((name) => isSecret(childSchemas(schemas, name))))
    diagnostics.hide(nodeAt(node, [...at, key]).origin);
  const where = place.length === 0 ? '' : ` in ${formatPath(place)}`;
  diagnostics.error(
    keyOriginAt(node, [...at, key]),
    `unknown option ${quote(key)}${where}`,
    // Those of this alternative only.
    COLLECTOR_OPTIONS[`${place[0]} ${key}`] ??
      suggest(key, knownKeys([(error.parentSchema ?? {}) as Schema]), 'options'),
  );
}

function schemasAt(schema: Schema, node: Node, path: Path): readonly Schema[] {
  let schemas = applicable(schema, 'object');
  path.forEach((step, index) => {
    const inner = nodeAt(node, path.slice(0, index + 1));
    const type = inner.kind === 'map' ? 'object' : inner.kind === 'list' ? 'array' : jsonTypeOf(inner.value);
    schemas = childSchemas(schemas, step).flatMap((child) => applicable(child, type));
  });
  return schemas;
}

function stepsOf(pointer: string): Path {
  return pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((step) => (/^\d+$/u.test(step) ? Number(step) : step));
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map of options',
  null: 'empty',
};

const FORMAT_WORDS: Readonly<Record<string, readonly [what: string, hint: string]>> = {
  duration: ['a duration', 'a number with a unit, such as 500ms, 5s, 1m30s, 24h or 30d'],
  byte_size: ['a size', 'a number of bytes, or with a unit, such as 512KiB, 4MiB or 1GiB'],
  endpoint: ['an endpoint', 'host:port, such as 127.0.0.1:4318, or [::1]:4318'],
  listen_endpoint: ['an endpoint', 'host:port, such as 127.0.0.1:4318 or [::1]:4318, or unix:///run/sluice.sock'],
  port: ['a port', 'a number from 0 to 65535'],
  url: ['a URL', 'with its scheme, such as https://example.com:4318'],
  uri: ['a URL', 'with its scheme, such as https://example.com:4318'],
  http_url: [
    'a URL of HTTP',
    'http:// or https://, a host and perhaps a port up to 65535, such as https://example.com:4318',
  ],
  date: ['a date', 'for example 2027-01-31'],
  'date-time': ['a date', 'for example 2027-01-31T00:00:00Z'],
};

function wordsFor(error: ErrorObject, at: Path, checked: Checked): Words {
  const place = formatPath([...checked.path, ...at]);
  const subject = error.propertyName === undefined ? place : `the key ${quote(error.propertyName)} of ${place}`;
  const { references } = nodeAt(checked.node, at);
  const hidden = references !== undefined || isHidden(schemasAt(checked.schema, checked.node, at), error.data);
  const shown = references !== undefined ? `the value of ${references}` : hidden ? 'the value given' : show(error.data);
  const params: Readonly<Record<string, unknown>> = error.params;
  const must = (rule: string, hint: string | null = null): Words => ({ message: `${subject} must be ${rule}`, hint });
  switch (error.keyword) {
    case 'required':
    case 'dependencies': {
      const excluded = excludedKey(error);
      if (excluded !== null) return excludedWords(error, subject, excluded);
      const key = String(params['missingProperty']);
      return { message: `${subject} lacks the option ${quote(key)}`, hint: hintFor(key, at, checked) };
    }
    case 'type':
      return must(`${wantedOf(error)}, not ${shown}`, typeHint(error, params['type'], hidden));
    case 'enum': {
      const allowed = (params['allowedValues'] as readonly unknown[]).map(String);
      return must(`one of ${allowed.join(', ')}, not ${shown}`, hidden ? null : enumHint(String(error.data), allowed));
    }
    case 'const':
      return must(`${String(params['allowedValue'])}, not ${shown}`);
    case 'format':
      return formatWords(String(params['format']), must, shown, hidden ? null : String(error.data));
    case 'minimum':
    case 'maximum':
    case 'exclusiveMinimum':
    case 'exclusiveMaximum':
      return must(`${COMPARISONS[String(params['comparison'])] ?? ''} ${String(params['limit'])}, not ${shown}`);
    case 'atLeast':
      return must(`at least ${limitOf(error)}, not ${shown}`);
    case 'atMost':
      return must(`at most ${limitOf(error)}, not ${shown}`);
    case 'minLength':
      return must(`at least ${countOf(params['limit'], 'character')} long`);
    case 'maxLength':
      return must(`at most ${countOf(params['limit'], 'character')} long`);
    case 'pattern':
      return must(`of the form ${String(params['pattern'])}, not ${shown}`, descriptionOf([error.parentSchema]));
    case 'anyOf':
    case 'oneOf':
      return choiceWords(error, subject, must, shown);
    default:
      return collectionWords(error, subject);
  }
}

const COMPARISONS: Readonly<Record<string, string>> = {
  '>=': 'at least',
  '<=': 'at most',
  '>': 'more than',
  '<': 'less than',
};

/** Look-around and back-references. */
const UNKNOWN_TO_RE2 = /\(\?<?[=!]|\\[1-9k]/u;
const NOT_IN_RE2 = 'look-around and back-references are not known to RE2';

function formatWords(format: string, must: Must, shown: string, text: string | null): Words {
  if (format === 're2' && text !== null) {
    const fault = printable(expressionFault(text) ?? '');
    return fault === MATCHES_EMPTY
      ? must('an expression that does not match the empty text', 'write + instead of *, for example')
      : must(`an RE2 expression: ${fault}`, UNKNOWN_TO_RE2.test(text) ? NOT_IN_RE2 : null);
  }
  const [what, hint] =
    format === 're2' ? ['an RE2 expression', null] : (FORMAT_WORDS[format] ?? [`of the form "${format}"`, null]);
  return must(`${what}, not ${shown}`, hint);
}

type Must = (rule: string, hint: string | null) => Words;

/** No alternative fits best: the value is of none of their types, or it has the keys of several or of none. */
function choiceWords(error: ErrorObject, subject: string, must: Must, shown: string): Words {
  const alternatives = alternativesOf(error);
  const hint = descriptionOf([error.parentSchema]);
  const types = [...new Set(alternatives.flatMap(typesOf))];
  const type = jsonTypeOf(error.data);
  if (types.length > 0 && !types.includes(type)) return must(`${typeNames(types)}, not ${shown}`, hint);
  if (type !== 'object' || keysOfForms(alternatives).length === 0)
    return must(`one of the forms it may have, not ${shown}`, hint);
  const either = formsInWords(alternatives);
  const given = givenForms(alternatives, error.data);
  return { message: `${subject} ${given.length > 1 ? 'takes only one of these:' : 'needs'} ${either}`, hint };
}

/** The map has one form completely, and a key of another form. */
function excludedWords({ data, parentSchema }: ErrorObject, subject: string, key: string): Words {
  const forms = formsOf(parentSchema);
  const [given = []] = givenForms(forms, data);
  return {
    message: `${subject} may not have the option ${quote(key)} beside ${given.map(quote).join(' and ')}`,
    hint: `it has either ${formsInWords(forms)}`,
  };
}

const formsInWords = (forms: readonly Schema[]): string =>
  keysOfForms(forms)
    .map((required) => required.join(' with '))
    .join(', or ');

function collectionWords(error: ErrorObject, subject: string): Words {
  const { limit } = error.params;
  const words: Readonly<Record<string, string>> = {
    minItems: `${subject} needs at least ${countOf(limit, 'item')}`,
    maxItems: `${subject} may hold at most ${countOf(limit, 'item')}`,
    minProperties: `${subject} needs at least ${countOf(limit, 'entry')}`,
    maxProperties: `${subject} may hold at most ${countOf(limit, 'entry')}`,
    uniqueItems: `${subject} holds the same item twice`,
  };
  const hint = error.keyword.startsWith('min') ? descriptionOf([error.parentSchema]) : null;
  return { message: words[error.keyword] ?? `${subject} ${error.message ?? 'is not valid'}`, hint };
}

const countOf = (count: unknown, noun: string): string =>
  `${String(count)} ${count === 1 ? noun : noun.replace(/y$/u, 'ie').concat('s')}`;

function limitOf(error: ErrorObject): string {
  const limit: unknown = error.schema;
  if (typeof limit !== 'number') return String(limit);
  const format = (error.parentSchema as Schema | undefined)?.['format'];
  return format === 'duration' ? formatDuration(limit) : formatByteSize(limit);
}

/** The name of a format is more specific than "text". */
function wantedOf(error: ErrorObject): string {
  const format = String((error.parentSchema as Schema | undefined)?.['format'] ?? '');
  return FORMAT_WORDS[format]?.[0] ?? typeNames(error.params['type']);
}

function typeNames(type: unknown): string {
  const types = Array.isArray(type) ? type.map(String) : [String(type)];
  return types.map((each) => TYPE_NAMES[each] ?? each).join(' or ');
}

function typeHint(error: ErrorObject, type: unknown, hidden: boolean): string | null {
  const { data } = error;
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  const format = String((error.parentSchema as Schema | undefined)?.['format'] ?? '');
  if (typeof data === 'number' && format === 'duration' && !hidden)
    return `give it a unit, such as ${data}${unitOf(error)}`;
  if (FORMAT_WORDS[format] !== undefined) return FORMAT_WORDS[format][1];
  if (types.includes('boolean') && /^(?:y|yes|n|no|on|off)$/iu.test(String(data))) return 'write true or false';
  if (typeof data === 'string' && !hidden && types.includes(typeMeant(data)))
    return data.includes('_') ? `write it without underscores: ${data.replaceAll('_', '')}` : 'write it without quotes';
  if (types.includes('string') && (typeof data === 'number' || typeof data === 'boolean')) {
    return hidden ? 'put it in quotes' : `put it in quotes: "${String(data)}"`;
  }
  const schema = (error.parentSchema ?? {}) as Schema;
  if (types.includes('array') && !Array.isArray(data)) return `write it as a list: [${itemOf(schema)}]`;
  const options = knownKeys([schema]);
  if (types.includes('object') && options.some((option) => String(data).startsWith(`${option}:`)))
    return 'put a space after the colon';
  return types.includes('object') && options.length > 0 ? `known options: ${options.join(', ')}` : null;
}

/**
 * The unit of the default is the usual one of the option: days of a retention, seconds of a timeout. Where that exceeds
 * the maximum, it is seconds, as in the Collector.
 */
function unitOf({ parentSchema, data }: ErrorObject): string {
  const { default: usual, atMost } = (parentSchema ?? {}) as Schema;
  const unit = /[a-z]+$/u.exec(typeof usual === 'string' ? usual : '')?.[0] ?? 's';
  return (parseDuration(`${data}${unit}`) ?? Infinity) > Number(atMost ?? Infinity) ? 's' : unit;
}

/** The type of a text that looks like a number or a truth value. */
function typeMeant(text: string): string {
  if (/^(?:true|false)$/u.test(text)) return 'boolean';
  return /^-?\d[\d_]*$/u.test(text) ? 'integer' : 'string';
}

/** An example of the items of a list. */
function itemOf(list: Schema): string {
  const [item] = childSchemas([list], 0);
  const keys = item === undefined ? [] : [...requiredKeys(item), ...knownKeys([item])];
  const [first] = keys;
  return first === undefined ? 'a, b' : `{ ${first}: … }`;
}

function enumHint(value: string, allowed: readonly string[]): string | null {
  const hint = suggest(value, allowed, '');
  return hint?.startsWith('did you mean') === true ? hint : null;
}

/** The description of the missing option. */
function hintFor(key: string, at: Path, { schema, node }: Checked): string | null {
  const description = descriptionOf(childSchemas(schemasAt(schema, node, at), key));
  return description === null ? null : `${key}: ${description}`;
}

function descriptionOf(schemas: readonly unknown[]): string | null {
  const found = schemas.map((schema) => (schema as Schema | undefined)?.['description']);
  return found.find((description) => typeof description === 'string') ?? null;
}

function show(value: unknown): string {
  if (typeof value === 'string') return quote(value);
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'a map';
  return String(value);
}
