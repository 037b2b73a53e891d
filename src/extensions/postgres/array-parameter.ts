/**
 * Arrays as pipeline parameters in the binary format of Postgres: whole columns of keys in one parameter, without
 * conversion to text and back.
 */

/** OIDs of the element types, the same in every database. */
export const BYTEA = 17;
const INT8 = 20;
export const TEXT = 25;
export const JSONB = 3802;
/**
 * The number of dimensions, the flag for nulls and the element type; then the length and lower bound of the only
 * dimension.
 */
const EMPTY_BYTES = 12;
const HEADER_BYTES = 20;
const LENGTH_BYTES = 4;
const INT8_BYTES = 8;
/** Elements of at least this size are not copied. */
const LARGE_BYTES = 65536;
const NULL_LENGTH = -1;

export function textArray(values: readonly string[]): Buffer {
  const bytes = values.reduce((sum, value) => sum + Buffer.byteLength(value), 0);
  const array = openArray(TEXT, values.length, bytes);
  let at = HEADER_BYTES;
  for (const value of values) {
    const length = array.write(value, at + LENGTH_BYTES);
    array.writeInt32BE(length, at);
    at += LENGTH_BYTES + length;
  }
  return array;
}

export function byteaArray(values: readonly Uint8Array[]): Buffer {
  const bytes = values.reduce((sum, value) => sum + value.length, 0);
  const array = openArray(BYTEA, values.length, bytes);
  let at = HEADER_BYTES;
  for (const value of values) {
    array.writeInt32BE(value.length, at);
    array.set(value, at + LENGTH_BYTES);
    at += LENGTH_BYTES + value.length;
  }
  return array;
}

/** Converts hexadecimal ids to bytes. */
export function hexArray(values: readonly string[]): Buffer {
  const digits = values.reduce((sum, value) => sum + value.length, 0);
  const array = openArray(BYTEA, values.length, digits / 2);
  let at = HEADER_BYTES;
  for (const value of values) {
    const length = array.write(value, at + LENGTH_BYTES, 'hex');
    array.writeInt32BE(length, at);
    at += LENGTH_BYTES + length;
  }
  return array;
}

/** Elements of eight bytes. */
export function integerArray(values: readonly (number | bigint | null)[]): Buffer {
  const known = values.reduce<number>((count, value) => (value === null ? count : count + 1), 0);
  const array = openArray(INT8, values.length, known * INT8_BYTES);
  let at = HEADER_BYTES;
  for (const value of values) {
    array.writeInt32BE(value === null ? NULL_LENGTH : INT8_BYTES, at);
    at += LENGTH_BYTES;
    if (value === null) continue;
    at = array.writeBigInt64BE(BigInt(value), at);
  }
  return array;
}

/**
 * A parameter with its length in front, of elements in wire format: a length (-1 for null) and the value. Large
 * elements are not copied.
 */
export function fieldArray(type: number, elements: readonly Buffer[]): readonly Buffer[] {
  const bytes = elements.reduce((sum, element) => sum + element.length, 0);
  const head = Buffer.alloc(LENGTH_BYTES + HEADER_BYTES);
  for (const [index, word] of [HEADER_BYTES + bytes, 1, 0, type, elements.length, 1].entries())
    head.writeInt32BE(word, index * LENGTH_BYTES);
  const chunks: Buffer[] = [];
  let small: Buffer[] = [head];
  for (const element of elements) {
    if (element.length < LARGE_BYTES) {
      small.push(element);
      continue;
    }
    chunks.push(Buffer.concat(small), element);
    small = [];
  }
  return small.length === 0 ? chunks : [...chunks, Buffer.concat(small)];
}

/**
 * `bytes` is the total size of the elements without their lengths. The flag for nulls stays 0: the server checks
 * itself.
 */
function openArray(type: number, count: number, bytes: number): Buffer {
  const isEmpty = count === 0;
  const array = Buffer.allocUnsafe(isEmpty ? EMPTY_BYTES : HEADER_BYTES + count * LENGTH_BYTES + bytes);
  const header = isEmpty ? [0, 0, type] : [1, 0, type, count, 1];
  for (const [index, word] of header.entries()) array.writeInt32BE(word, index * LENGTH_BYTES);
  return array;
}
