/**
 * AnyValue and lists of attributes. The value of an attribute becomes a row; nested values are checked and stay in the
 * body, and the encoders print them from there.
 */
import * as layout from '../../layout';
import { fail } from '../fail';
import { beginList, internNextKey, recordKey } from '../symbols';
import { appendScalarAttribute, countOf, storeRange } from '../tables';
import { bytesLength, bytesOffset, checkBase64, decodeBase64, isCanonicalBase64 } from './binary';
import * as members from './members';
import {
  doubleValue,
  integerValue,
  isPlain,
  locateDouble,
  numberEnd,
  numberOffset,
  parseNumber,
  readSigned,
} from './number';
import * as schema from './schema';
import {
  decodeText,
  readPlainText,
  readText,
  scanString,
  stringEscapes,
  textFlags,
  textLength,
  textOffset,
} from './text';

/** The upper limit of any setting: deeper calls would overflow the stack. */
const DEPTH_CEILING: u32 = 100;

/** The value read last: kind and text flags together, as in the row, and the 64 bits of (offset, length) or scalar. */
let valueKind: u32 = layout.KIND_NONE;
let valueBits: u64 = 0;

function setText(kind: u32, offset: usize, length: u32): void {
  valueKind = kind;
  valueBits = <u64>offset | ((<u64>length) << 32);
}

function setScalar(kind: u32, bits: u64): void {
  valueKind = kind;
  valueBits = bits;
}

function scratchTop(): u32 {
  return load<u32>(layout.HEADER_BASE, layout.HEADER_SCRATCH);
}

/** Releases the scratch of an abandoned reading. */
function releaseScratch(top: u32): void {
  store<u32>(layout.HEADER_BASE, top, layout.HEADER_SCRATCH);
}

/** The deepest allowed AnyValue. */
function maxDepth(): u32 {
  return min(load<u32>(layout.HEADER_BASE, layout.HEADER_MAX_DEPTH), DEPTH_CEILING);
}

/** Reads the AnyValue at `at`, which is `depth` deep; returns the address behind it. */
function readValue(at: usize, depth: u32): usize {
  // Nearly all values are texts written without spaces: {"stringValue":"…"}
  const start = v128(0x7b, 0x22, 0x73, 0x74, 0x72, 0x69, 0x6e, 0x67, 0x56, 0x61, 0x6c, 0x75, 0x65, 0x22, 0x3a, 0x22);
  if (i8x16.all_true(i8x16.eq(v128.load(at), start))) {
    const scratch = scratchTop();
    const next = readText(at + 15);
    if (load<u8>(next) == 0x7d && depth <= maxDepth()) {
      setText(layout.KIND_TEXT | (textFlags << 8), textOffset, textLength);
      return next + 1;
    }
    releaseScratch(scratch);
  }
  return readAnyValue(at, depth);
}

function readAnyValue(at: usize, depth: u32): usize {
  if (depth > maxDepth()) fail(layout.FAIL_PAYLOAD, at);
  let found = false;
  setScalar(layout.KIND_NONE, 0);
  at = members.openMessage(at, schema.ANY_VALUE_MESSAGE);
  while ((at = members.nextMember(at))) {
    if (found) fail(layout.FAIL_JSON, at);
    found = true;
    at = readMember(at, depth);
  }
  return members.endOfList;
}

function readMember(at: usize, depth: u32): usize {
  switch (members.memberKind) {
    case schema.STRING_VALUE: {
      at = readText(at);
      setText(layout.KIND_TEXT | (textFlags << 8), textOffset, textLength);
      return at;
    }
    case schema.BOOL_VALUE: {
      at = members.readBool(at);
      setScalar(layout.KIND_BOOL, <u64>members.boolValue);
      return at;
    }
    case schema.INT_VALUE: {
      at = readSigned(at);
      setScalar(layout.KIND_INT, integerValue);
      return at;
    }
    case schema.DOUBLE_VALUE:
      return readDoubleValue(at);
    case schema.BYTES_VALUE:
      return readBytesValue(at);
    case schema.ARRAY_VALUE: {
      const end = checkArray(at, depth);
      setText(layout.KIND_ARRAY, at, <u32>(end - at));
      return end;
    }
    default: {
      const end = checkMap(at, depth);
      setText(layout.KIND_MAP, at, <u32>(end - at));
      return end;
    }
  }
}

function readDoubleValue(at: usize): usize {
  at = locateDouble(at);
  if (numberOffset && isPlain()) {
    setText(layout.KIND_NUMBER_TEXT, numberOffset, <u32>(numberEnd - numberOffset));
    return at;
  }
  if (numberOffset) parseNumber();
  setScalar(layout.KIND_DOUBLE, reinterpret<u64>(doubleValue));
  return at;
}

function readBytesValue(at: usize): usize {
  at = readPlainText(at);
  checkBase64(textOffset, textLength);
  if (isCanonicalBase64(textOffset, textLength)) {
    setText(layout.KIND_BASE64_TEXT, textOffset, textLength);
    return at;
  }
  decodeBase64(textOffset, textLength);
  setText(layout.KIND_BYTES, bytesOffset, bytesLength);
  return at;
}

/** Checks the ArrayValue at `at`, the value of an AnyValue `depth` deep. */
function checkArray(at: usize, depth: u32): usize {
  at = members.openMessage(at, schema.LIST_MESSAGE);
  while ((at = members.nextMember(at))) {
    for (let element = members.firstElement(at); element; )
      element = members.nextElement(readValue(element, depth + 1));
    at = members.endOfList;
  }
  return members.endOfList;
}

function checkMap(at: usize, depth: u32): usize {
  let entries: u32 = 0;
  at = members.openMessage(at, schema.LIST_MESSAGE);
  while ((at = members.nextMember(at))) {
    for (let element = members.firstElement(at); element; ) {
      if (++entries > <u32>layout.MAX_MAP_ENTRIES) fail(layout.FAIL_BUDGET, element);
      element = members.nextElement(checkKeyValue(element, depth));
    }
    at = members.endOfList;
  }
  return members.endOfList;
}

function checkKeyValue(at: usize, depth: u32): usize {
  at = members.openMessage(at, schema.KEY_VALUE_MESSAGE);
  while ((at = members.nextMember(at))) at = members.memberKind == schema.KEY ? readText(at) : readValue(at, depth + 1);
  return members.endOfList;
}

/** The key read last. */
let keyOffset: usize = 0;
let keyLength: u32 = 0;

/**
 * Reads the list of attributes at `at` into rows; returns the address behind it. First row and count go to `owner`, two
 * adjacent fields in every kind of owner.
 */
export function readAttributes(at: usize, owner: usize): usize {
  const list = beginList();
  const first = countOf(layout.HEADER_ATTRIBUTES);
  let symbol: u32 = 0;
  for (let element = members.firstElement(at); element; ) {
    const next = readKeyValue(element);
    symbol = internNextKey(symbol, keyOffset, keyLength);
    recordKey(symbol, appendScalarAttribute(symbol, valueKind, valueBits, element), list);
    element = members.nextElement(next);
  }
  storeRange(owner, layout.HEADER_ATTRIBUTES, first);
  return members.endOfList;
}

/** Reads a KeyValue: `keyOffset`, `keyLength` and the value. */
function readKeyValue(at: usize): usize {
  // Nearly all are written {"key":"…","value":…} without spaces.
  if (load<u64>(at) == 0x223a2279656b227b) {
    const end = scanString(at + 8);
    const isPlainKey = !stringEscapes && load<u64>(end) == 0x65756c6176222c22;
    if (isPlainKey && (load<u32>(end, 8) & 0xffffff) == 0x7b3a22) {
      const scratch = scratchTop();
      const next = readValue(end + 10, 1);
      if (load<u8>(next) == 0x7d) {
        keyOffset = at + 8;
        keyLength = <u32>(end - at - 8);
        return next + 1;
      }
      releaseScratch(scratch);
    }
  }
  return readAnyKeyValue(at);
}

function readAnyKeyValue(at: usize): usize {
  keyOffset = at;
  keyLength = 0;
  setScalar(layout.KIND_NONE, 0);
  at = members.openMessage(at, schema.KEY_VALUE_MESSAGE);
  while ((at = members.nextMember(at))) {
    if (members.memberKind != schema.KEY) {
      at = readValue(at, 1);
      continue;
    }
    at = readText(at);
    if (textFlags & layout.TEXT_JSON_ESCAPED) decodeText();
    keyOffset = textOffset;
    keyLength = textLength;
  }
  return members.endOfList;
}

/** Reads the AnyValue at `at` into a row without a key. The row's number is `bodyRow`. */
export function readBody(at: usize): usize {
  const next = readValue(at, 1);
  bodyRow = appendScalarAttribute(0, valueKind, valueBits, at);
  return next;
}
export let bodyRow: u32 = 0;
