/**
 * AnyValue: the value of an attribute is stored in its row. Nested values stay in the body and are only checked, so
 * that the encoders can walk them again without checks.
 */
import {
  ATTRIBUTE_KIND,
  ATTRIBUTE_OFFSET,
  FAIL_BUDGET,
  FAIL_PAYLOAD,
  FAIL_PROTOBUF,
  HEADER_BASE,
  HEADER_MAX_DEPTH,
  KIND_ARRAY,
  KIND_BOOL,
  KIND_BYTES,
  KIND_DOUBLE,
  KIND_INT,
  KIND_MAP,
  KIND_NONE,
  KIND_TEXT,
  MAX_MAP_ENTRIES,
  TEXT_HAS_NUL,
} from '../../layout';
import { fail } from '../fail';
import { classifyText, TEXT_INVALID } from '../text';
import {
  after,
  bytesTag,
  closeMessage,
  fixed64Tag,
  readEnd,
  readFixed64,
  readTag,
  readVarint,
  skipUnknown,
  varintTag,
} from './reader';

/** The limit of the format and of the recursion, whatever the host requests. */
const DEPTH_CEILING: u32 = 100;

// AnyValue { string 1, bool 2, int 3, double 4, array 5, kvlist 6, bytes 7 }, ArrayValue { values 1 },
// KeyValueList { values 1 }, KeyValue { key 1, value 2 }
const VALUE_FIELDS: u32 = 0xfe;
const LIST_FIELDS: u32 = 1 << 1;
const KEY_VALUE_FIELDS: u32 = (1 << 1) | (1 << 2);

/** Text flags of a string field; `fail`s when it is not UTF-8. */
// @ts-ignore: decorator
@inline
export function checkText(start: usize, end: usize): u32 {
  const flags = classifyText(start, <u32>(end - start));
  if (flags == TEXT_INVALID) fail(FAIL_PROTOBUF, start);
  return <u32>flags;
}

/** Whether a nested key of the request contains U+0000: then keys of different bytes may be printed equally. */
export let nestedKeysHoldNul: bool = false;

/** Forgets the last request. */
export function resetValues(): void {
  nestedKeysHoldNul = false;
}

// @ts-ignore: decorator
@inline
function setText(row: usize, kind: u32, flags: u32, start: usize, end: usize): void {
  store<u32>(row, kind | (flags << 8), ATTRIBUTE_KIND);
  store<u64>(row, <u64>start | ((<u64>(end - start)) << 32), ATTRIBUTE_OFFSET);
}

// @ts-ignore: decorator
@inline
function setScalar(row: usize, kind: u32, bits: u64): void {
  store<u32>(row, kind, ATTRIBUTE_KIND);
  store<u64>(row, bits, ATTRIBUTE_OFFSET);
}

/**
 * Writes kind, flags, disposition and value of the attribute row at address `row`. The last member of the oneof wins.
 */
export function readValue(at: usize, end: usize, row: usize): void {
  setScalar(row, KIND_NONE, 0);
  while (at < end) {
    const tag = readTag(at, end);
    at = after(at);
    if (tag == bytesTag(1)) {
      const last = readEnd(at, end);
      const start = after(at);
      setText(row, KIND_TEXT, checkText(start, last), start, last);
      at = last;
    } else if (tag == varintTag(3)) {
      setScalar(row, KIND_INT, readVarint(at, end));
      at = after(at);
    } else if (tag == fixed64Tag(4)) {
      setScalar(row, KIND_DOUBLE, readFixed64(at, end));
      at += 8;
    } else if (tag == varintTag(2)) {
      setScalar(row, KIND_BOOL, <u64>(readVarint(at, end) != 0));
      at = after(at);
    } else at = readStructure(tag, at, end, row);
  }
  closeMessage(at, end);
}

/** The rarer members of an AnyValue of depth 1. */
function readStructure(tag: u32, at: usize, end: usize, row: usize): usize {
  if (tag != bytesTag(5) && tag != bytesTag(6) && tag != bytesTag(7)) return skipUnknown(tag, at, end, VALUE_FIELDS);
  const last = readEnd(at, end);
  const start = after(at);
  let kind: u32 = KIND_BYTES;
  if (tag == bytesTag(5)) {
    kind = KIND_ARRAY;
    checkArray(start, last, 1);
  } else if (tag == bytesTag(6)) {
    kind = KIND_MAP;
    checkMap(start, last, 1);
  }
  setText(row, kind, 0, start, last);
  return last;
}

/** Checks an AnyValue of the given depth that gets no row. */
export function checkValue(at: usize, end: usize, depth: u32): void {
  if (depth > min(load<u32>(HEADER_BASE, HEADER_MAX_DEPTH), DEPTH_CEILING)) fail(FAIL_PAYLOAD, at);
  while (at < end) {
    const tag = readTag(at, end);
    at = after(at);
    if (tag == varintTag(2) || tag == varintTag(3)) {
      readVarint(at, end);
      at = after(at);
    } else if (tag == fixed64Tag(4)) {
      at += 8;
    } else if (tag == bytesTag(1) || tag == bytesTag(5) || tag == bytesTag(6) || tag == bytesTag(7)) {
      const last = readEnd(at, end);
      const start = after(at);
      if (tag == bytesTag(1)) checkText(start, last);
      else if (tag == bytesTag(5)) checkArray(start, last, depth);
      else if (tag == bytesTag(6)) checkMap(start, last, depth);
      at = last;
    } else at = skipUnknown(tag, at, end, VALUE_FIELDS);
  }
  closeMessage(at, end);
}

function checkArray(at: usize, end: usize, depth: u32): void {
  while (at < end) {
    const tag = readTag(at, end);
    at = after(at);
    if (tag == bytesTag(1)) {
      const last = readEnd(at, end);
      checkValue(after(at), last, depth + 1);
      at = last;
    } else at = skipUnknown(tag, at, end, LIST_FIELDS);
  }
  closeMessage(at, end);
}

function checkMap(at: usize, end: usize, depth: u32): void {
  let entries: u32 = 0;
  while (at < end) {
    const tag = readTag(at, end);
    at = after(at);
    if (tag == bytesTag(1)) {
      if (++entries > <u32>MAX_MAP_ENTRIES) fail(FAIL_BUDGET, at);
      const last = readEnd(at, end);
      checkKeyValue(after(at), last, depth);
      at = last;
    } else at = skipUnknown(tag, at, end, LIST_FIELDS);
  }
  closeMessage(at, end);
}

function checkKeyValue(at: usize, end: usize, depth: u32): void {
  while (at < end) {
    const tag = readTag(at, end);
    at = after(at);
    if (tag == bytesTag(1) || tag == bytesTag(2)) {
      const last = readEnd(at, end);
      const start = after(at);
      if (tag == bytesTag(2)) checkValue(start, last, depth + 1);
      else if (checkText(start, last) & TEXT_HAS_NUL) nestedKeysHoldNul = true;
      at = last;
    } else at = skipUnknown(tag, at, end, KEY_VALUE_FIELDS);
  }
  closeMessage(at, end);
}
