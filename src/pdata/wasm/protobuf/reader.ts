/**
 * Varints, tags and lengths of protobuf, and the skipping of unknown fields. Positions are values, not a global cursor:
 * after a varint at `at`, `after(at)` is the next position. One-byte varints use no memory but the body.
 *
 * A one-byte varint may be read at the very end of a message (the arena continues). So every loop over fields ends with
 * `closeMessage`, and every length is checked against the parent before bytes behind it are read.
 */
import { FAIL_PAYLOAD, FAIL_PROTOBUF } from '../../layout';
import { fail } from '../fail';
import { mayPause } from '../pause';

const VARINT: u32 = 0;
const FIXED64: u32 = 1;
const BYTES: u32 = 2;
const GROUP: u32 = 3;
const GROUP_END: u32 = 4;
const FIXED32: u32 = 5;

/** The limit of nested unknown groups. */
const MAX_GROUP_DEPTH: u32 = 100;
const MAX_VARINT_BYTES: u64 = 10;

/** The end of the last varint of several bytes. */
let longEnd: usize = 0;

export function varintTag(field: u32): u32 {
  return (field << 3) | VARINT;
}

export function fixed64Tag(field: u32): u32 {
  return (field << 3) | FIXED64;
}

export function bytesTag(field: u32): u32 {
  return (field << 3) | BYTES;
}

export function fixed32Tag(field: u32): u32 {
  return (field << 3) | FIXED32;
}

/** The position behind the varint at `at`, which must have been read just before. */
export function after(at: usize): usize {
  return load<i8>(at) >= 0 ? at + 1 : longEnd;
}

function readLongVarint(at: usize, end: usize): u64 {
  let value: u64 = 0;
  for (let i: u64 = 0; i < MAX_VARINT_BYTES; i++) {
    if (at >= end) break;
    const byte = <u64>load<u8>(at++);
    // The tenth byte holds the last bit of 64.
    if (i == MAX_VARINT_BYTES - 1 && byte > 1) break;
    value |= (byte & 0x7f) << (i * 7);
    if (byte < 0x80) {
      longEnd = at;
      return value;
    }
  }
  fail(FAIL_PROTOBUF, at);
  return 0;
}

// @ts-ignore: decorator
@inline
export function readVarint(at: usize, end: usize): u64 {
  const byte = <u64>load<u8>(at);
  return byte < 0x80 ? byte : readLongVarint(at, end);
}

function readLongTag(at: usize, end: usize): u32 {
  const tag = readLongVarint(at, end);
  if (tag > 0xffffffff) fail(FAIL_PROTOBUF, at);
  return <u32>tag;
}

// @ts-ignore: decorator
@inline
export function readTag(at: usize, end: usize): u32 {
  mayPause();
  const byte = <u32>load<u8>(at);
  return byte < 0x80 ? byte : readLongTag(at, end);
}

/** The end of the length-delimited field whose length is at `at` and whose content begins at `after(at)`. */
// @ts-ignore: decorator
@inline
export function readEnd(at: usize, end: usize): usize {
  const length = readVarint(at, end);
  const start = after(at);
  // Not start + length: a length near 2^64 would wrap around and point backwards.
  if (start > end || length > <u64>(end - start)) fail(FAIL_PROTOBUF, at);
  return start + <usize>length;
}

// @ts-ignore: decorator
@inline
export function readFixed64(at: usize, end: usize): u64 {
  if (at + 8 > end) fail(FAIL_PROTOBUF, at);
  return load<u64>(at);
}

export function readFixed32(at: usize, end: usize): u32 {
  if (at + 4 > end) fail(FAIL_PROTOBUF, at);
  return load<u32>(at);
}

// @ts-ignore: decorator
@inline
export function closeMessage(at: usize, end: usize): void {
  if (at != end) fail(FAIL_PROTOBUF, at);
}

/**
 * The position behind an unknown field with this tag and its content at `at`. `known` has a bit for each field number
 * of the message: a known field in this call has a wrong wire type.
 */
export function skipUnknown(tag: u32, at: usize, end: usize, known: u32): usize {
  const field = tag >> 3;
  if (field < 32 && ((known >> field) & 1) != 0) fail(FAIL_PROTOBUF, at);
  return skipField(tag, at, end, 0);
}

function skipField(tag: u32, at: usize, end: usize, depth: u32): usize {
  if (tag >> 3 == 0) fail(FAIL_PROTOBUF, at);
  const type = tag & 7;
  let next = end + 1;
  if (type == VARINT) {
    readVarint(at, end);
    next = after(at);
  } else if (type == FIXED64) next = at + 8;
  else if (type == BYTES) next = readEnd(at, end);
  else if (type == GROUP) next = skipGroup(tag, at, end, depth + 1);
  else if (type == FIXED32) next = at + 4;
  if (next > end) fail(FAIL_PROTOBUF, at);
  return next;
}

function skipGroup(tag: u32, at: usize, end: usize, depth: u32): usize {
  if (depth > MAX_GROUP_DEPTH) fail(FAIL_PAYLOAD, at);
  const close = (tag & ~7) | GROUP_END;
  while (at < end) {
    const inner = readTag(at, end);
    at = after(at);
    if (inner == close) return at;
    at = skipField(inner, at, end, depth);
  }
  fail(FAIL_PROTOBUF, at);
  return at;
}
