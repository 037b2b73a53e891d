/**
 * OTLP/JSON of traces as protobuf, by the tables of the fields. A `TracesData` message has the same bytes as an export
 * request, and the messages of several parts of a trace can be written one after the other.
 */
import { isList, isObject, type Json, type JsonObject } from './exact-json.ts';

/** How a value is written; a message has fields of its own. */
type Kind = 'string' | 'id' | 'varint' | 'bool' | 'fixed64' | 'fixed32' | 'double' | Message;
type Fields = Readonly<Record<string, readonly [number: number, kind: Kind]>>;
interface Message {
  readonly fields: () => Fields;
}

const VARINT = 0;
const BITS_64 = 1;
const LENGTH = 2;
const BITS_32 = 5;

/** The fields come from a function, because messages refer to each other. */
function message(fieldsOf: () => Fields): Message {
  let fields: Fields | null = null;
  return { fields: () => (fields ??= fieldsOf()) };
}

const ANY_VALUE: Message = message(() => ({
  stringValue: [1, 'string'],
  boolValue: [2, 'bool'],
  intValue: [3, 'varint'],
  doubleValue: [4, 'double'],
  arrayValue: [5, VALUES],
  kvlistValue: [6, KEY_VALUES],
}));
const KEY_VALUE = message(() => ({ key: [1, 'string'], value: [2, ANY_VALUE] }));
const VALUES = message(() => ({ values: [1, ANY_VALUE] }));
const KEY_VALUES = message(() => ({ values: [1, KEY_VALUE] }));
const EVENT = message(() => ({
  timeUnixNano: [1, 'fixed64'],
  name: [2, 'string'],
  attributes: [3, KEY_VALUE],
  droppedAttributesCount: [4, 'varint'],
}));
const LINK = message(() => ({
  traceId: [1, 'id'],
  spanId: [2, 'id'],
  traceState: [3, 'string'],
  attributes: [4, KEY_VALUE],
  droppedAttributesCount: [5, 'varint'],
  flags: [6, 'fixed32'],
}));
const STATUS = message(() => ({ message: [2, 'string'], code: [3, 'varint'] }));
const SPAN = message(() => ({
  traceId: [1, 'id'],
  spanId: [2, 'id'],
  traceState: [3, 'string'],
  parentSpanId: [4, 'id'],
  name: [5, 'string'],
  kind: [6, 'varint'],
  startTimeUnixNano: [7, 'fixed64'],
  endTimeUnixNano: [8, 'fixed64'],
  attributes: [9, KEY_VALUE],
  droppedAttributesCount: [10, 'varint'],
  events: [11, EVENT],
  droppedEventsCount: [12, 'varint'],
  links: [13, LINK],
  droppedLinksCount: [14, 'varint'],
  status: [15, STATUS],
  flags: [16, 'fixed32'],
}));
const SCOPE = message(() => ({ name: [1, 'string'], version: [2, 'string'], attributes: [3, KEY_VALUE] }));
const SCOPE_SPANS = message(() => ({ scope: [1, SCOPE], spans: [2, SPAN] }));
const RESOURCE = message(() => ({ attributes: [1, KEY_VALUE] }));
const RESOURCE_SPANS = message(() => ({ resource: [1, RESOURCE], scopeSpans: [2, SCOPE_SPANS] }));
const TRACES_DATA = message(() => ({ resourceSpans: [1, RESOURCE_SPANS] }));

/** `json`: what `otlpJson` wrote for spans. */
export function tracesProtobuf(json: string): Buffer {
  // OTLP/JSON has integers of 64 bits as strings, so no digit is lost.
  return encoded(JSON.parse(json) as JsonObject, TRACES_DATA);
}

/** A field with a length: a text or a message. */
export const lengthField = (number: number, bytes: Uint8Array): readonly Uint8Array[] => [
  tag(number, LENGTH),
  varint(bytes.length),
  bytes,
];

/** A field with a number that is not negative. */
export const numberField = (number: number, value: number): readonly Uint8Array[] => [
  tag(number, VARINT),
  varint(value),
];

function encoded(value: JsonObject, { fields }: Message): Buffer {
  const parts: Uint8Array[] = [];
  const table = fields();
  for (const [name, member] of Object.entries(value)) {
    const [number, kind] = table[name] ?? [0, 'string'];
    if (number === 0) continue;
    for (const each of isList(member) ? member : [member]) parts.push(...encodedField(number, kind, each));
  }
  return Buffer.concat(parts);
}

function encodedField(number: number, kind: Kind, value: Json): readonly Uint8Array[] {
  if (typeof kind === 'object') return isObject(value) ? lengthField(number, encoded(value, kind)) : [];
  switch (kind) {
    case 'string':
      return lengthField(number, Buffer.from(String(value)));
    case 'id':
      return lengthField(number, Buffer.from(String(value), 'hex'));
    case 'bool':
      return [tag(number, VARINT), varint(value === true ? 1 : 0)];
    case 'varint':
      return [tag(number, VARINT), varint(BigInt.asUintN(64, BigInt(String(value))))];
    case 'fixed64':
      return [tag(number, BITS_64), fixed(8, (bytes) => bytes.writeBigUInt64LE(BigInt(String(value))))];
    case 'double':
      return [tag(number, BITS_64), fixed(8, (bytes) => bytes.writeDoubleLE(Number(value)))];
    case 'fixed32':
      return [tag(number, BITS_32), fixed(4, (bytes) => bytes.writeUInt32LE(Number(value)))];
  }
}

function fixed(size: number, write: (bytes: Buffer) => void): Buffer {
  const bytes = Buffer.alloc(size);
  write(bytes);
  return bytes;
}

const tag = (number: number, wire: number): Buffer => varint(number * 8 + wire);

/** An unsigned integer of up to 64 bits. */
function varint(value: number | bigint): Buffer {
  const bytes: number[] = [];
  let rest = value;
  if (typeof rest === 'bigint') for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  else for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}
