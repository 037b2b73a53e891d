/**
 * AnyValue: the value of an attribute is stored in its row. Nested values stay in the body and are only checked, so
 * that the encoders can walk them again without checks.
 *
 * Repeated messages are merged, but not values, which stay in the body: a value that is given twice, and an array or
 * map that is given twice in sequence, are refused.
 */
import * as layout from '../../layout';
import { fail } from '../fail';
import { classifyText, TEXT_INVALID } from '../text';
import * as reader from './reader';

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
  if (flags == TEXT_INVALID) fail(layout.FAIL_PROTOBUF, start);
  return <u32>flags;
}

/** Fills the text columns of a row with a string field. The length of a text follows its offset. */
// @ts-ignore: decorator
@inline
export function storeText(row: usize, start: usize, end: usize, offset: usize, flags: usize): void {
  store<u8>(row + flags, checkText(start, end));
  store<u32>(row + offset, start);
  store<u32>(row + offset, end - start, 4);
}

/** Whether a nested key of the request contains U+0000: then keys of different bytes may be printed equally. */
export let nestedKeysHoldNul: bool = false;

/** Forgets the last request. */
export function resetValues(): void {
  nestedKeysHoldNul = false;
}

function setText(row: usize, kind: u32, flags: u32, start: usize, end: usize): void {
  store<u32>(row, kind | (flags << 8), layout.ATTRIBUTE_KIND);
  store<u64>(row, <u64>start | ((<u64>(end - start)) << 32), layout.ATTRIBUTE_OFFSET);
}

function setScalar(row: usize, kind: u32, bits: u64): void {
  store<u32>(row, kind, layout.ATTRIBUTE_KIND);
  store<u64>(row, bits, layout.ATTRIBUTE_OFFSET);
}

/**
 * Writes kind, flags, disposition and value of the attribute row at address `row`. The last member of the oneof wins.
 */
export function readValue(at: usize, end: usize, row: usize): void {
  setScalar(row, layout.KIND_NONE, 0);
  while (at < end) {
    const tag = reader.readTag(at, end);
    at = reader.after(at);
    if (tag == reader.bytesTag(1)) {
      const last = reader.readEnd(at, end);
      const start = reader.after(at);
      setText(row, layout.KIND_TEXT, checkText(start, last), start, last);
      at = last;
    } else if (tag == reader.varintTag(3)) {
      setScalar(row, layout.KIND_INT, reader.readVarint(at, end));
      at = reader.after(at);
    } else if (tag == reader.fixed64Tag(4)) {
      setScalar(row, layout.KIND_DOUBLE, reader.readFixed64(at, end));
      at += 8;
    } else if (tag == reader.varintTag(2)) {
      setScalar(row, layout.KIND_BOOL, <u64>(reader.readVarint(at, end) != 0));
      at = reader.after(at);
    } else at = readStructure(tag, at, end, row);
  }
  reader.closeMessage(at, end);
}

/** The rarer members of an AnyValue of depth 1. */
function readStructure(tag: u32, at: usize, end: usize, row: usize): usize {
  if (tag != reader.bytesTag(5) && tag != reader.bytesTag(6) && tag != reader.bytesTag(7))
    return reader.skipUnknown(tag, at, end, VALUE_FIELDS);
  const last = reader.readEnd(at, end);
  const start = reader.after(at);
  const before = load<u8>(row, layout.ATTRIBUTE_KIND);
  let kind: u32 = layout.KIND_BYTES;
  if (tag == reader.bytesTag(5)) {
    kind = layout.KIND_ARRAY;
    checkArray(start, last, 1);
  } else if (tag == reader.bytesTag(6)) {
    kind = layout.KIND_MAP;
    checkMap(start, last, 1);
  }
  if (kind == before && kind != layout.KIND_BYTES) fail(layout.FAIL_PROTOBUF, start);
  setText(row, kind, 0, start, last);
  return last;
}

/** Checks an AnyValue of the given depth that gets no row. */
export function checkValue(at: usize, end: usize, depth: u32): void {
  if (depth > min(load<u32>(layout.HEADER_BASE, layout.HEADER_MAX_DEPTH), DEPTH_CEILING)) fail(layout.FAIL_PAYLOAD, at);
  let member: u32 = 0;
  while (at < end) {
    const tag = reader.readTag(at, end);
    at = reader.after(at);
    if (tag == reader.varintTag(2) || tag == reader.varintTag(3)) {
      reader.readVarint(at, end);
      at = reader.after(at);
      member = tag;
    } else if (tag == reader.fixed64Tag(4)) {
      at += 8;
      member = tag;
    } else if (
      tag == reader.bytesTag(1) ||
      tag == reader.bytesTag(5) ||
      tag == reader.bytesTag(6) ||
      tag == reader.bytesTag(7)
    ) {
      const last = reader.readEnd(at, end);
      const start = reader.after(at);
      if (tag == reader.bytesTag(1)) checkText(start, last);
      else if (tag == reader.bytesTag(5)) checkArray(start, last, depth);
      else if (tag == reader.bytesTag(6)) checkMap(start, last, depth);
      if (tag == member && (tag == reader.bytesTag(5) || tag == reader.bytesTag(6))) fail(layout.FAIL_PROTOBUF, start);
      member = tag;
      at = last;
    } else at = reader.skipUnknown(tag, at, end, VALUE_FIELDS);
  }
  reader.closeMessage(at, end);
}

function checkArray(at: usize, end: usize, depth: u32): void {
  while (at < end) {
    const tag = reader.readTag(at, end);
    at = reader.after(at);
    if (tag == reader.bytesTag(1)) {
      const last = reader.readEnd(at, end);
      checkValue(reader.after(at), last, depth + 1);
      at = last;
    } else at = reader.skipUnknown(tag, at, end, LIST_FIELDS);
  }
  reader.closeMessage(at, end);
}

function checkMap(at: usize, end: usize, depth: u32): void {
  let entries: u32 = 0;
  while (at < end) {
    const tag = reader.readTag(at, end);
    at = reader.after(at);
    if (tag == reader.bytesTag(1)) {
      if (++entries > <u32>layout.MAX_MAP_ENTRIES) fail(layout.FAIL_BUDGET, at);
      const last = reader.readEnd(at, end);
      checkKeyValue(reader.after(at), last, depth);
      at = last;
    } else at = reader.skipUnknown(tag, at, end, LIST_FIELDS);
  }
  reader.closeMessage(at, end);
}

function checkKeyValue(at: usize, end: usize, depth: u32): void {
  let hasValue = false;
  while (at < end) {
    const tag = reader.readTag(at, end);
    at = reader.after(at);
    if (tag == reader.bytesTag(1) || tag == reader.bytesTag(2)) {
      const last = reader.readEnd(at, end);
      const start = reader.after(at);
      if (tag == reader.bytesTag(2)) {
        if (hasValue) fail(layout.FAIL_PROTOBUF, start);
        hasValue = true;
        checkValue(start, last, depth + 1);
      } else if (checkText(start, last) & layout.TEXT_HAS_NUL) nestedKeysHoldNul = true;
      at = last;
    } else at = reader.skipUnknown(tag, at, end, KEY_VALUE_FIELDS);
  }
  reader.closeMessage(at, end);
}
