/**
 * Writes protobuf fields. A message begins with one byte for its length, since most are short; the content of a longer
 * message is moved when it ends.
 */
import { putPlain } from '../json-text';
import { FIXED_ROOM, copyBytes, out, putByte, room, setOut } from '../output';

/** The tag of a field below 16. Wire types: 0 varint, 1 fixed 64, 2 length-delimited, 5 fixed 32. */
export function tagOf(field: u32, wire: u32): u32 {
  return (field << 3) | wire;
}

const LONGEST_LENGTH: usize = 5;
const SHORT: usize = 128;

export function putVarint(value: u64): void {
  let target = out;
  for (; value >= 128; value >>= 7) store<u8>(target++, <u32>value | 128);
  store<u8>(target, <u32>value);
  setOut(target + 1);
}

/** Opens the message of a field; the result is the argument of `endMessage`. */
export function beginMessage(field: u32): usize {
  room(FIXED_ROOM);
  putByte(tagOf(field, 2));
  putByte(0);
  return out;
}

/** Closes the message that began at `start`; returns how far its content was moved. */
export function endMessage(start: usize): usize {
  const length = out - start;
  if (length < SHORT) {
    store<u8>(start - 1, <u32>length);
    return 0;
  }
  let extra: usize = 1;
  for (let rest = length >> 14; rest; rest >>= 7) extra++;
  room(LONGEST_LENGTH);
  memory.copy(start + extra, start, length);
  setOut(start - 1);
  putVarint(length);
  setOut(start + extra + length);
  return extra;
}

/** A text that is present, also when it is empty: a member of a oneof, a key. */
export function putText(field: u32, offset: usize, length: u32, flags: u32): void {
  if (flags == 0) return putBytes(field, offset, length);
  const start = beginMessage(field);
  putPlain(offset, length, flags);
  endMessage(start);
}

/** A text whose absence means the empty one. */
// @ts-ignore: decorator
@inline
export function putOptionalText(field: u32, offset: usize, length: u32, flags: u32): void {
  if (length) putText(field, offset, length, flags);
}

export function putBytes(field: u32, offset: usize, length: u32): void {
  room(<usize>length + FIXED_ROOM);
  putByte(tagOf(field, 2));
  putVarint(length);
  setOut(copyBytes(out, offset, length));
}

/** An id of 16 bytes; all zero is absent. */
export function putTraceId(field: u32, id: usize): void {
  if ((load<u64>(id) | load<u64>(id, 8)) != 0) putBytes(field, id, 16);
}

/** An id of 8 bytes; all zero is absent. */
export function putSpanId(field: u32, id: usize): void {
  if (load<u64>(id) != 0) putBytes(field, id, 8);
}

/** A number whose absence means 0. */
export function putNumber(field: u32, value: u64): void {
  if (value == 0) return;
  room(FIXED_ROOM);
  putByte(tagOf(field, 0));
  putVarint(value);
}

/** A signed number of 32 bits in zigzag form; absence means 0. */
export function putZigzag(field: u32, value: i32): void {
  putNumber(field, <u32>((value << 1) ^ (value >> 31)));
}

/** 64 bits that are present, also when they are 0. */
export function putBits(field: u32, bits: u64): void {
  room(FIXED_ROOM);
  putByte(tagOf(field, 1));
  store<u64>(out, bits);
  setOut(out + 8);
}

/** A time or a count of 64 bits; absence means 0. */
// @ts-ignore: decorator
@inline
export function putFixed64(field: u32, value: u64): void {
  if (value != 0) putBits(field, value);
}

/** The flags of a span, a link or a log record; absence means 0. */
export function putFixed32(field: u32, value: u32): void {
  if (value == 0) return;
  room(FIXED_ROOM);
  putVarint(tagOf(field, 5));
  store<u32>(out, value);
  setOut(out + 4);
}
