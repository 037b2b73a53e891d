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
export function tracesProtobuf(json: string): Uint8Array {
  const writer = new BackwardWriter();
  // OTLP/JSON has integers of 64 bits as strings, so no digit is lost.
  writeMessage(writer, JSON.parse(json) as JsonObject, TRACES_DATA);
  return writer.bytes();
}

/** A field with a length, a text or a message: what stands before its bytes. */
export function lengthHead(number: number, length: number): Uint8Array {
  const writer = new BackwardWriter();
  writer.varint(length);
  writer.tag(number, LENGTH);
  return writer.bytes();
}

/** A field with a number that is not negative. */
export function numberField(number: number, value: number): Uint8Array {
  const writer = new BackwardWriter();
  writer.varint(value);
  writer.tag(number, VARINT);
  return writer.bytes();
}

/** The last field first, so that the length of a message is known before it is written. */
function writeMessage(writer: BackwardWriter, value: JsonObject, { fields }: Message): void {
  const table = fields();
  for (const [name, member] of Object.entries(value).reverse()) {
    const field = table[name];
    if (field === undefined) continue;
    if (!isList(member)) writeField(writer, field, member);
    else for (const each of member.toReversed()) writeField(writer, field, each);
  }
}

function writeField(writer: BackwardWriter, [number, kind]: readonly [number: number, kind: Kind], value: Json): void {
  const { length } = writer;
  if (typeof kind === 'object') {
    if (!isObject(value)) return;
    writeMessage(writer, value, kind);
    writer.varint(writer.length - length);
    writer.tag(number, LENGTH);
    return;
  }
  writer.tag(number, writeScalar(writer, kind, value));
}

/** Returns the wire type. */
function writeScalar(writer: BackwardWriter, kind: Exclude<Kind, Message>, value: Json): number {
  const { length } = writer;
  switch (kind) {
    case 'string':
    case 'id':
      writer.text(String(value), kind === 'id' ? 'hex' : 'utf8');
      writer.varint(writer.length - length);
      return LENGTH;
    case 'bool':
      writer.varint(value === true ? 1 : 0);
      return VARINT;
    case 'varint':
      writer.varint(typeof value === 'number' ? value : BigInt.asUintN(64, BigInt(String(value))));
      return VARINT;
    case 'fixed64':
      writer.take(8).writeBigUInt64LE(BigInt(String(value)));
      return BITS_64;
    case 'double':
      writer.take(8).writeDoubleLE(Number(value));
      return BITS_64;
    case 'fixed32':
      writer.take(4).writeUInt32LE(Number(value));
      return BITS_32;
  }
}

const FIRST_BYTES = 4096;

/** Writes from the end of a buffer that grows at its beginning. */
class BackwardWriter {
  #buffer = Buffer.allocUnsafe(FIRST_BYTES);
  #start = FIRST_BYTES;

  /** Of what is written. */
  get length(): number {
    return this.#buffer.length - this.#start;
  }

  bytes(): Uint8Array {
    return this.#buffer.subarray(this.#start);
  }

  /** The place of the next bytes, before those that are written. */
  take(size: number): Buffer {
    if (this.#start < size) this.#grow(size);
    this.#start -= size;
    return this.#buffer.subarray(this.#start, this.#start + size);
  }

  text(text: string, encoding: 'hex' | 'utf8'): void {
    this.take(Buffer.byteLength(text, encoding)).write(text, encoding);
  }

  tag(number: number, wire: number): void {
    this.varint(number * 8 + wire);
  }

  /** An unsigned integer of up to 64 bits. */
  varint(value: number | bigint): void {
    if (typeof value === 'number' && value < 0x80) {
      this.#byte(value);
      return;
    }
    const bytes: number[] = [];
    let rest = BigInt(value);
    for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
    this.#byte(Number(rest));
    for (const byte of bytes.reverse()) this.#byte(byte);
  }

  #byte(value: number): void {
    if (this.#start === 0) this.#grow(1);
    this.#start -= 1;
    this.#buffer[this.#start] = value;
  }

  #grow(size: number): void {
    const { length } = this;
    const grown = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, length + size));
    this.#buffer.copy(grown, grown.length - length, this.#start);
    this.#start = grown.length - length;
    this.#buffer = grown;
  }
}
