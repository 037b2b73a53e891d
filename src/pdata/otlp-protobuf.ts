/**
 * OTLP/JSON of traces as protobuf. A `TracesData` message has the same bytes as an export request, and the messages of
 * several parts of a trace can be written one after the other.
 */
import { isList, isObject, type Json, type JsonObject } from './exact-json.ts';
import { type Field, MESSAGES, type MessageName, type Scalar } from './otlp-messages.ts';
import { BITS_32, BITS_64, LENGTH, VARINT } from './protobuf-fields.ts';

/** By the JSON name of a field: its number and type. */
type Table = ReadonlyMap<string, readonly [number: number, type: Field[1]]>;
const TABLES = new Map<MessageName, Table>();

function tableOf(name: MessageName): Table {
  const known = TABLES.get(name);
  if (known !== undefined) return known;
  const fields = Object.entries<Field>(MESSAGES[name]);
  const table: Table = new Map(fields.map(([number, [key, type]]) => [key.replace('[]', ''), [Number(number), type]]));
  TABLES.set(name, table);
  return table;
}

const isMessage = (type: Field[1]): type is MessageName => type in MESSAGES;

/** `json`: what `otlpJson` wrote for spans. */
export function tracesProtobuf(json: string): Uint8Array {
  const writer = new BackwardWriter();
  // OTLP/JSON has integers of 64 bits as strings, so no digit is lost.
  writeMessage(writer, JSON.parse(json) as JsonObject, 'TracesRequest');
  return writer.bytes();
}

/** The last field first, so that the length of a message is known before it is written. */
function writeMessage(writer: BackwardWriter, value: JsonObject, name: MessageName): void {
  const table = tableOf(name);
  for (const [key, member] of Object.entries(value).reverse()) {
    const field = table.get(key);
    if (field === undefined) continue;
    if (!isList(member)) writeField(writer, field, member);
    else for (const each of member.toReversed()) writeField(writer, field, each);
  }
}

function writeField(
  writer: BackwardWriter,
  [number, type]: readonly [number: number, type: Field[1]],
  value: Json,
): void {
  const { length } = writer;
  if (isMessage(type)) {
    if (!isObject(value)) return;
    writeMessage(writer, value, type);
    writer.varint(writer.length - length);
    writer.tag(number, LENGTH);
    return;
  }
  writer.tag(number, writeScalar(writer, type, value));
}

/** Returns the wire type. */
function writeScalar(writer: BackwardWriter, type: Scalar, value: Json): number {
  const { length } = writer;
  switch (type) {
    case 'text':
    case 'id':
      writer.text(String(value), type === 'id' ? 'hex' : 'utf8');
      writer.varint(writer.length - length);
      return LENGTH;
    case 'flag':
      writer.varint(value === true ? 1 : 0);
      return VARINT;
    case 'small':
    case 'integer':
      writer.varint(typeof value === 'number' ? value : BigInt.asUintN(64, BigInt(String(value))));
      return VARINT;
    case 'fixed':
      writer.take(8).writeBigUInt64LE(BigInt(String(value)));
      return BITS_64;
    case 'double':
      writer.take(8).writeDoubleLE(Number(value));
      return BITS_64;
    case 'word':
      writer.take(4).writeUInt32LE(Number(value));
      return BITS_32;
    default:
      throw new Error(`no field of a trace has the type ${type}`);
  }
}

const FIRST_BYTES = 4096;

/** Writes from the end of a buffer that grows at its beginning. */
class BackwardWriter {
  #buffer = Buffer.allocUnsafe(FIRST_BYTES);
  #start = FIRST_BYTES;

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
