/**
 * Arrays as pipeline parameters in the binary format of Postgres: whole columns of keys in one parameter, without
 * conversion to text and back.
 */

import type { ClaimedTraces } from '../../pdata/claimed-traces.ts';

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
const TRACE_ID_BYTES = 16;
/** Elements of at least this size are not copied. */
const LARGE_BYTES = 65536;
const NULL_LENGTH = -1;

/** Equal values that follow each other are encoded once. */
export function textArray(values: readonly string[]): Buffer {
  let encoded = Buffer.alloc(0);
  const elements = values.map((value, index) => {
    if (index === 0 || value !== values[index - 1]) encoded = Buffer.from(value);
    return encoded;
  });
  return arrayOf(TEXT, elements);
}

export function byteaArray(values: readonly Uint8Array[]): Buffer {
  return arrayOf(BYTEA, values);
}

function arrayOf(type: number, elements: readonly Uint8Array[]): Buffer {
  const bytes = elements.reduce((sum, element) => sum + element.length, 0);
  const array = openArray(type, elements.length, bytes);
  let at = HEADER_BYTES;
  for (const element of elements) {
    array.writeInt32BE(element.length, at);
    array.set(element, at + LENGTH_BYTES);
    at += LENGTH_BYTES + element.length;
  }
  return array;
}

/** The ids of traces from one index to another. */
export function idArray(traces: ClaimedTraces, from: number, to: number): Buffer {
  const array = openArray(BYTEA, to - from, (to - from) * TRACE_ID_BYTES);
  let at = HEADER_BYTES;
  for (let index = from; index < to; index++) {
    at = array.writeInt32BE(TRACE_ID_BYTES, at);
    traces.writeId(index, array, at);
    at += TRACE_ID_BYTES;
  }
  return array;
}

/** The first times, or the last ones, of traces from one index to another; null for a trace without times. */
export function timeArray(traces: ClaimedTraces, from: number, to: number, time: 'first' | 'last'): Buffer {
  let known = 0;
  for (let index = from; index < to; index++) if (traces.hasTimes(index)) known++;
  const array = openArray(INT8, to - from, known * INT8_BYTES);
  let at = HEADER_BYTES;
  for (let index = from; index < to; index++) {
    const hasTimes = traces.hasTimes(index);
    at = array.writeInt32BE(hasTimes ? INT8_BYTES : NULL_LENGTH, at);
    if (!hasTimes) continue;
    if (time === 'first') traces.writeFirstNs(index, array, at);
    else traces.writeLastNs(index, array, at);
    at += INT8_BYTES;
  }
  return array;
}

/** Elements of eight bytes. */
export function integerArray(values: readonly number[]): Buffer {
  const array = openArray(INT8, values.length, values.length * INT8_BYTES);
  let at = HEADER_BYTES;
  for (const value of values) {
    at = array.writeInt32BE(INT8_BYTES, at);
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
