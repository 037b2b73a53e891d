/** The fields of a message of protobuf, for code that reads, copies or writes a message without its schema. */
export const VARINT = 0;
export const BITS_64 = 1;
export const LENGTH = 2;
export const BITS_32 = 5;
const MOST_VARINT_BYTES = 10;

export interface WireField {
  readonly number: number;
  /** The value of a varint, exact below 2^53; null for other fields. */
  readonly value: number | null;
  /** The content of a field with a length; null for other fields. */
  readonly content: Buffer | null;
  readonly whole: Buffer;
}

/** In their order. Throws for bytes that are no message. */
export function* fieldsOf(message: Buffer): Generator<WireField> {
  for (let at = 0; at < message.length; ) {
    const start = at;
    const [tag, afterTag] = readVarint(message, at);
    const [number, type] = [Math.floor(tag / 8), tag % 8];
    let value: number | null = null;
    let content: Buffer | null = null;
    at = afterTag;
    if (type === VARINT) [value, at] = readVarint(message, at);
    else if (type === BITS_64) at += 8;
    else if (type === BITS_32) at += 4;
    else if (type === LENGTH) {
      const [length, afterLength] = readVarint(message, at);
      at = afterLength + length;
      content = message.subarray(afterLength, at);
    } else throw new Error(`a field has the wire type ${type}`);
    if (at > message.length) throw new Error('a field is longer than its message');
    yield { number, value, content, whole: message.subarray(start, at) };
  }
}

/** The value, exact below 2^53, and the place after it. */
function readVarint(bytes: Buffer, start: number): readonly [value: number, after: number] {
  let value = 0;
  for (let at = 0; at < MOST_VARINT_BYTES; at++) {
    const byte = bytes[start + at];
    if (byte === undefined) break;
    value += (byte & 0x7f) * 2 ** (7 * at);
    if (byte < 0x80) return [value, start + at + 1];
  }
  throw new Error('a number does not end');
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest % 128) + 128);
  }
}

const tag = (number: number, type: number): Buffer => varint(number * 8 + type);

/** A field with a length, a text or a message, in pieces. */
export const lengthField = (number: number, content: Buffer): readonly Buffer[] => [
  tag(number, LENGTH),
  varint(content.length),
  content,
];

/** A field with an integer that is not negative. */
export const numberField = (number: number, value: number): Buffer =>
  Buffer.concat([tag(number, VARINT), varint(value)]);

/** A field with the eight bytes of an integer or a double. */
export const bits64Field = (number: number, bits: Buffer): Buffer => Buffer.concat([tag(number, BITS_64), bits]);
