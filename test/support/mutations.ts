/**
 * Damages protobuf and JSON bodies from a seed: at random (bits, cuts, splices) and with knowledge of the structure
 * (fields or members repeated, dropped, swapped, retyped, with the lengths around them kept right).
 */
import type { Random } from './generators-random.ts';

const BYTES = [
  0x00, 0x01, 0x07, 0x08, 0x0a, 0x12, 0x22, 0x2c, 0x3a, 0x5b, 0x5c, 0x5d, 0x7b, 0x7d, 0x7f, 0x80, 0xc0, 0xed, 0xff,
] as const;
const MAX_CUT = 24;
const MAX_ROUNDS = 3;

/** A body to mutate, for JSON with the ranges of its values and members. */
export interface Specimen {
  readonly body: Buffer;
  mutate(random: Random, other: Buffer): Buffer;
}

function splice(body: Buffer, at: number, removed: number, added: Buffer): Buffer {
  return Buffer.concat([body.subarray(0, at), added, body.subarray(Math.min(body.length, at + removed))]);
}

/** One random change. */
function damage(body: Buffer, random: Random, other: Buffer): Buffer {
  const at = random.below(body.length + 1);
  const length = 1 + random.below(MAX_CUT);
  const changed = Buffer.from(body);
  const target = Math.min(at, Math.max(0, body.length - 1));
  switch (random.below(9)) {
    case 0:
    case 1:
      if (changed.length > 0) changed[target] = (changed[target] ?? 0) ^ (1 << random.below(8));
      return changed;
    case 2:
      if (changed.length > 0) changed[target] = random.pick(BYTES);
      return changed;
    case 3:
      if (changed.length > 0) changed[target] = (changed[target] ?? 0) + (random.once(2) ? 1 : 255);
      return changed;
    case 4:
      return changed.subarray(0, at);
    case 5:
      return splice(body, at, length, Buffer.alloc(0));
    case 6:
      return splice(body, at, 0, body.subarray(at, at + length));
    case 7: {
      const from = random.below(other.length + 1);
      return splice(body, at, random.once(2) ? length : 0, other.subarray(from, from + length));
    }
    default:
      return splice(body, at, 0, Buffer.from([random.pick(BYTES)]));
  }
}

function damageOften(body: Buffer, random: Random, other: Buffer): Buffer {
  let result = body;
  for (let rounds = 1 + random.below(MAX_ROUNDS); rounds > 0; rounds -= 1) result = damage(result, random, other);
  return result;
}

// ── Protobuf ─────────────────────────────────────────────────────────────────────────────────────────────────────────
/** A field; its content is split into fields of its own where it can be read that way. */
interface Field {
  number: number;
  wire: number;
  content: Buffer | Field[];
}

function readVarint(body: Buffer, at: number): readonly [number, number] | null {
  let value = 0;
  for (let index = 0; index < 5; index += 1) {
    const byte = body[at + index];
    if (byte === undefined) return null;
    value += (byte & 127) * 2 ** (7 * index);
    if (byte < 128) return [value, at + index + 1];
  }
  return null;
}

function varintEnd(body: Buffer, at: number): number {
  let end = at;
  while (end < body.length && (body[end] ?? 0) >= 128) end += 1;
  return end + 1;
}

/** The fields of a message, or null when the bytes are not a message. */
function parse(body: Buffer, depth: number): Field[] | null {
  const fields: Field[] = [];
  for (let at = 0; at < body.length; ) {
    const tag = readVarint(body, at);
    if (tag === null) return null;
    const [number, wire] = [Math.floor(tag[0] / 8), tag[0] % 8];
    let start = tag[1];
    let end = start;
    if (wire === 0) end = varintEnd(body, start);
    else if (wire === 1) end = start + 8;
    else if (wire === 5) end = start + 4;
    else if (wire === 2) {
      const length = readVarint(body, start);
      if (length === null) return null;
      start = length[1];
      end = start + length[0];
    } else return null;
    if (number === 0 || number > 200 || end > body.length) return null;
    const content = body.subarray(start, end);
    const inner = wire === 2 && depth > 0 && content.length > 1 ? parse(content, depth - 1) : null;
    fields.push({ number, wire, content: inner ?? content });
    at = end;
  }
  return fields;
}

function writeVarint(value: number, parts: number[]): void {
  let rest = value;
  while (rest > 127) {
    parts.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  parts.push(rest);
}

function serialize(fields: readonly Field[]): Buffer {
  const parts: Buffer[] = [];
  for (const field of fields) {
    const content = Buffer.isBuffer(field.content) ? field.content : serialize(field.content);
    const head: number[] = [];
    writeVarint(field.number * 8 + field.wire, head);
    if (field.wire === 2) writeVarint(content.length, head);
    parts.push(Buffer.from(head), content);
  }
  return Buffer.concat(parts);
}

function copy(fields: readonly Field[]): Field[] {
  return fields.map((field) => ({
    ...field,
    content: Buffer.isBuffer(field.content) ? field.content : copy(field.content),
  }));
}

function collect(fields: Field[], lists: Field[][]): Field[][] {
  if (fields.length > 0) lists.push(fields);
  for (const field of fields) if (!Buffer.isBuffer(field.content)) collect(field.content, lists);
  return lists;
}

/** One change that keeps the framing of the message valid. */
function restructure(fields: Field[], random: Random, other: Buffer): void {
  const lists = collect(fields, []);
  if (lists.length === 0) return;
  const list = random.pick(lists);
  const index = random.below(list.length);
  const field = list[index];
  if (field === undefined) return;
  const target = random.pick(lists);
  switch (random.below(7)) {
    case 0:
      list.splice(index, 1);
      break;
    case 1:
      list.splice(random.below(list.length + 1), 0, ...copy([field]));
      break;
    case 2:
      target.splice(random.below(target.length + 1), 0, ...copy([field]));
      break;
    case 3:
      list.splice(index, 1);
      list.splice(random.below(list.length + 1), 0, field);
      break;
    case 4:
      field.number = 1 + random.below(16);
      break;
    case 5:
      field.wire = random.below(6);
      break;
    default: {
      const content = Buffer.isBuffer(field.content) ? field.content : serialize(field.content);
      field.content = damage(content, random, other);
    }
  }
}

export class ProtobufSpecimen implements Specimen {
  readonly body: Buffer;
  readonly #fields: readonly Field[] | null;

  constructor(body: Buffer) {
    this.body = body;
    this.#fields = parse(body, 12);
  }

  mutate(random: Random, other: Buffer): Buffer {
    if (this.#fields === null || random.once(2)) return damageOften(this.body, random, other);
    const fields = copy(this.#fields);
    for (let rounds = 1 + random.below(MAX_ROUNDS); rounds > 0; rounds -= 1) restructure(fields, random, other);
    return serialize(fields);
  }
}

// ── JSON ─────────────────────────────────────────────────────────────────────────────────────────────────────────────
type Range = readonly [start: number, end: number];

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
const VALUES = [
  'null',
  'true',
  '{}',
  '[]',
  '""',
  '0',
  '-0',
  '03',
  '1.0',
  '1e3',
  '1.5',
  '-1',
  '"-1"',
  '"0x1"',
  '"+1"',
  '" 1"',
  '"1e3"',
  '18446744073709551615',
  '"18446744073709551616"',
  '9223372036854775808',
  '"-9223372036854775809"',
  '4294967296',
  '1e400',
  '"NaN"',
  '"Infinity"',
  '"\\ud800"',
  '"\\u0000"',
  '"\\x"',
  '"00000000000000000000000000000000"',
  '"AQ"',
  '"AQ="',
  '"A"',
  '[null]',
  '{"stringValue":"a"}',
  '{"stringValue":"a","intValue":1}',
  '{"stringValue":null,"boolValue":false}',
] as const;
const MEMBERS = [
  '"trace_id":1',
  '"start_time_unix_nano":"1"',
  '"unknown":{"a":1,"a":2}',
  '"unknown":{"a":1,"\\u0061":2}',
  '"key":"x"',
  '"unknown":[{"b":[]}]',
  '"value":{}',
  '"name":"\\u00e9"',
  '"attributes":[]',
  '"flags":1',
  '"scope_spans":[]',
  '"k\\u0065y":"y"',
] as const;

export class JsonSpecimen implements Specimen {
  readonly body: Buffer;
  readonly #text: string;
  readonly #tokens: readonly Range[];
  readonly #values: readonly Range[];
  readonly #members: readonly Range[];

  constructor(body: Buffer) {
    this.body = body;
    this.#text = body.toString('utf8');
    this.#tokens = [...this.#text.matchAll(TOKEN)].map((match) => [match.index, match.index + match[0].length]);
    const [values, members] = this.#ranges();
    this.#values = values;
    this.#members = members;
  }

  mutate(random: Random, other: Buffer): Buffer {
    if (random.once(2)) return damageOften(this.body, random, other);
    const range = random.pick(this.#values);
    const member = this.#members.length > 0 ? random.pick(this.#members) : range;
    const token = random.pick(this.#tokens);
    switch (random.below(8)) {
      case 0:
      case 1:
        return this.#replace(range, random.pick(VALUES));
      case 2:
        return this.#replace(member, `${this.#cut(member)},${this.#cut(member)}`);
      case 3:
        return this.#replace(member, `${this.#cut(random.pick(this.#members))},${this.#cut(member)}`);
      case 4:
        return this.#replace(member, `${random.pick(MEMBERS)},${this.#cut(member)}`);
      case 5:
        return this.#replace(range, this.#cut(random.pick(this.#values)));
      case 6:
        return this.#replace(token, random.once(2) ? '' : this.#cut(random.pick(this.#tokens)));
      default:
        return damage(this.#replace(range, random.pick(VALUES)), random, other);
    }
  }

  #cut([start, end]: Range): string {
    return this.#text.slice(start, end);
  }

  #replace([start, end]: Range, text: string): Buffer {
    return Buffer.from(this.#text.slice(0, start) + text + this.#text.slice(end));
  }

  /** Where values and members stand. The body is valid, so brackets balance. */
  #ranges(): readonly [readonly Range[], readonly Range[]] {
    const values: Range[] = [];
    const members: Range[] = [];
    const open: number[] = [];
    const keys: (number | null)[] = [null];
    for (const [index, [start, end]] of this.#tokens.entries()) {
      const token = this.#text.slice(start, end);
      if (token === '{' || token === '[') {
        open.push(start);
        keys.push(null);
        continue;
      }
      const next = this.#tokens[index + 1];
      if (next !== undefined && this.#text[next[0]] === ':' && token.startsWith('"')) {
        keys[keys.length - 1] = start;
        continue;
      }
      if (token === ',' || token === ':') continue;
      const closes = token === '}' || token === ']';
      if (closes) keys.pop();
      values.push([closes ? (open.pop() ?? start) : start, end]);
      const key = keys.at(-1);
      if (key !== null && key !== undefined) members.push([key, end]);
      keys[keys.length - 1] = null;
    }
    return [values, members];
  }
}
