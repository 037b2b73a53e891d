/**
 * A slow strict JSON reader, and ProtoJSON on top of it driven by the message descriptors. Numbers stay text, so that
 * nothing is rounded; duplicate keys are refused everywhere, also with escapes.
 */
import protobuf from 'protobufjs';
import { fieldsOf, isEnum, type Message, snakeCase, submessageOf, type Value } from './protos.ts';
import { OracleRefusal, type Rule } from './oracle-refusal.ts';

/** Containers inside one unknown field may nest this deep. */
const MAX_UNKNOWN_DEPTH = 100;
/**
 * No request within the rules nests deeper: three containers for each of at most 100 AnyValue levels, and what is
 * around.
 */
const MAX_DEPTH = 500;

/** A JSON number as text. */
export class JsonNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}
export type Json = null | boolean | string | JsonNumber | readonly Json[] | ReadonlyMap<string, Json>;

function refuse(rule: Rule, reason: string): never {
  throw new OracleRefusal(rule, reason);
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const BLANK = /[ \t\n\r]*/y;
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

class Parser {
  readonly #text: string;
  #position = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): Json {
    const value = this.#value(0);
    this.#match(BLANK);
    if (this.#position !== this.#text.length) refuse('json', 'something follows the value');
    return value;
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#position;
    const found = pattern.exec(this.#text)?.[0] ?? '';
    this.#position += found.length;
    return found;
  }

  #take(expected: string): boolean {
    if (!this.#text.startsWith(expected, this.#position)) return false;
    this.#position += expected.length;
    return true;
  }

  #value(depth: number): Json {
    if (depth > MAX_DEPTH) refuse('payload', 'too much nesting');
    this.#match(BLANK);
    if (this.#take('{')) return this.#object(depth + 1);
    if (this.#take('[')) return this.#array(depth + 1);
    if (this.#take('"')) return this.#string();
    if (this.#take('true')) return true;
    if (this.#take('false')) return false;
    if (this.#take('null')) return null;
    const number = this.#match(NUMBER);
    if (number === '') refuse('json', 'not a JSON value');
    return new JsonNumber(number);
  }

  #array(depth: number): Json {
    const values: Json[] = [];
    this.#match(BLANK);
    if (this.#take(']')) return values;
    for (;;) {
      values.push(this.#value(depth));
      this.#match(BLANK);
      if (this.#take(']')) return values;
      if (!this.#take(',')) refuse('json', 'no comma between the values of a list');
    }
  }

  #object(depth: number): Json {
    const members = new Map<string, Json>();
    this.#match(BLANK);
    if (this.#take('}')) return members;
    for (;;) {
      this.#match(BLANK);
      if (!this.#take('"')) refuse('json', 'a key is not a string');
      const key = this.#string();
      if (members.has(key)) refuse('payload', `the key ${key} stands twice`);
      this.#match(BLANK);
      if (!this.#take(':')) refuse('json', 'no colon after a key');
      members.set(key, this.#value(depth));
      this.#match(BLANK);
      if (this.#take('}')) return members;
      if (!this.#take(',')) refuse('json', 'no comma between the members of an object');
    }
  }

  #string(): string {
    let result = '';
    for (;;) {
      result += this.#match(PLAIN);
      if (this.#take('"')) return result;
      if (!this.#take('\\')) refuse('json', 'a string does not end, or holds a control character');
      const letter = this.#text.charAt(this.#position);
      this.#position += 1;
      if (letter === 'u') {
        const hex = this.#match(/[0-9a-fA-F]{4}/y);
        if (hex === '') refuse('json', 'a broken \\u escape');
        result += String.fromCharCode(Number.parseInt(hex, 16));
      } else {
        result += ESCAPES[letter] ?? refuse('json', 'an unknown escape');
      }
    }
  }
}

/** Parses text strictly: one value, no duplicate keys, numbers kept as written. */
export function parseStrictJson(text: string): Json {
  return new Parser(text).document();
}

function depthOf(value: Json): number {
  if (Array.isArray(value)) return 1 + Math.max(0, ...value.map(depthOf));
  if (value instanceof Map) return 1 + Math.max(0, ...[...value.values()].map(depthOf));
  return 0;
}

const HEX_FIELDS: ReadonlySet<string> = new Set(['traceId', 'spanId', 'parentSpanId']);
const RANGES: Readonly<Record<string, readonly [bigint, bigint]>> = {
  int32: [-(2n ** 31n), 2n ** 31n - 1n],
  sint32: [-(2n ** 31n), 2n ** 31n - 1n],
  uint32: [0n, 2n ** 32n - 1n],
  fixed32: [0n, 2n ** 32n - 1n],
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
  sfixed64: [-(2n ** 63n), 2n ** 63n - 1n],
  uint64: [0n, 2n ** 64n - 1n],
  fixed64: [0n, 2n ** 64n - 1n],
};

const digitsOf = (text: string): bigint | null => (/^-?[0-9]+$/.test(text) ? BigInt(text) : null);

/** The longest integer that is accepted with a fraction or an exponent. */
const MAX_WHOLE_DIGITS = 19;

/** ProtoJSON allows `1.0` and `1e2` for integers. */
function wholeNumberOf(text: string): bigint | null {
  const [, sign, before, behind = '', exponent = '0'] =
    /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/.exec(text) ?? [];
  if (before === undefined || digitsOf(text) !== null) return digitsOf(text);
  const digits = `${before}${behind}`.replace(/^0+/, '');
  if (/[1-9]/.test(digits.slice(MAX_WHOLE_DIGITS))) return null;
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return 0n;
  const zeros = Number(exponent) - behind.length + digits.length - significant.length;
  if (zeros < 0 || zeros > MAX_WHOLE_DIGITS) return null;
  return BigInt(`${sign}${significant}${'0'.repeat(zeros)}`);
}

function integer(name: string, type: string, value: Json): number | bigint {
  const rule = name.endsWith('UnixNano') ? 'payload' : 'json';
  const text = value instanceof JsonNumber ? value.text : value;
  if (typeof text !== 'string') return refuse('json', `${name} is not a number`);
  const number = rule === 'payload' ? digitsOf(text) : wholeNumberOf(text);
  if (number === null) return refuse(rule, `${name} is not an integer`);
  const range = RANGES[type];
  if (range === undefined) throw new Error(`the oracle does not know the type ${type}`);
  if (number < range[0] || number > range[1]) refuse(rule, `${name} is out of range`);
  if (rule === 'payload' && text.startsWith('-')) refuse(rule, `${name} has a sign`);
  return type.endsWith('64') ? number : Number(number);
}

function double(name: string, value: Json): number {
  const text = value instanceof JsonNumber ? value.text : value;
  if (typeof text !== 'string') return refuse('json', `${name} is not a number`);
  if (text === 'NaN' || text === 'Infinity' || text === '-Infinity') return Number(text);
  NUMBER.lastIndex = 0;
  if (NUMBER.exec(text)?.[0] !== text) refuse('json', `${name} is not a number`);
  const number = Number(text);
  if (!Number.isFinite(number)) refuse('json', `${name} is out of range`);
  return number;
}

function bytes(name: string, value: Json): Buffer {
  if (typeof value !== 'string') return refuse('json', `${name} is not a string`);
  if (HEX_FIELDS.has(name)) {
    if (!/^(?:[0-9a-fA-F]{2})*$/.test(value)) refuse('id', `${name} is not hex`);
    return Buffer.from(value, 'hex');
  }
  const digits = value.replace(/={0,2}$/, '');
  const padded = digits.length !== value.length;
  if (!/^[A-Za-z0-9+/_-]*$/.test(digits) || digits.length % 4 === 1) refuse('json', `${name} is not base64`);
  if (padded && value.length % 4 !== 0) refuse('json', `${name} is not padded base64`);
  return Buffer.from(digits, 'base64');
}

function scalar(field: protobuf.Field, value: Json): Value {
  if (isEnum(field)) {
    if (!(value instanceof JsonNumber)) refuse('json', `${field.name} is not an integer`);
    return integer(field.name, 'int32', value);
  }
  if (field.type === 'string') return typeof value === 'string' ? value : refuse('json', `${field.name} is no string`);
  if (field.type === 'bool') return typeof value === 'boolean' ? value : refuse('json', `${field.name} is no boolean`);
  if (field.type === 'bytes') return bytes(field.name, value);
  if (field.type === 'double') return double(field.name, value);
  return integer(field.name, field.type, value);
}

function single(field: protobuf.Field, value: Json): Value {
  const submessage = submessageOf(field);
  return submessage === null ? scalar(field, value) : readJson(submessage, value);
}

function fieldValue(field: protobuf.Field, value: Json): Value {
  if (!field.repeated) return single(field, value);
  if (!Array.isArray(value)) return refuse('json', `${field.name} is not a list`);
  return value.map((element) => single(field, element));
}

/** Reads one message from a parsed value. `null` for a known field is the same as leaving it out. */
export function readJson(type: protobuf.Type, json: Json): Message {
  if (!(json instanceof Map)) return refuse('json', `${type.name} is not an object`);
  const fields = new Map(fieldsOf(type).map((field) => [field.name, field] as const));
  const aliases = new Set([...fields.keys()].map(snakeCase).filter((name) => !fields.has(name)));
  const result: Record<string, Value> = {};
  const groups = new Set<protobuf.OneOf>();
  for (const [key, value] of json) {
    if (aliases.has(key)) refuse('payload', `${key} is a snake_case spelling`);
    const field = fields.get(key);
    if (field === undefined) {
      if (depthOf(value) > MAX_UNKNOWN_DEPTH) refuse('payload', 'too much nesting');
      continue;
    }
    if (value === null) continue;
    if (field.partOf !== null && !field.options?.['proto3_optional']) {
      if (groups.has(field.partOf)) refuse('json', `two members of ${field.partOf.name}`);
      groups.add(field.partOf);
    }
    result[field.name] = fieldValue(field, value);
  }
  return result;
}
