/** Attribute rows as JSON: one value, the object of an owner's attributes, and values as plain text. */
import * as layout from '../../layout';
import { printJsonNested } from '../json/nested';
import { beginList, hostHasInterned, isLastOfKey, noteKey, recordKey } from '../symbols';
import { allocateScratch } from '../tables';
import { mayPause, pauseNow } from '../pause';
import { classifyText } from '../text';
import { escapeText, putEscaped, putPlain, putRawText } from './json-text';
import { copying } from './columns';
import { keyOrder } from './key-order';
import { putKey } from './keys';
import { putBase64, putDouble, putDoubleText, putSigned } from './numbers';
import { beginRendering, checkLimit, closeList, openList, out, PIECE, put, putByte, room, setOut } from './output';
import { putProtobufNested } from './protobuf-values';

export function attributeRow(row: u32): usize {
  return <usize>layout.ATTRIBUTES_BASE + <usize>row * layout.ATTRIBUTE_STRIDE;
}

// @ts-ignore: decorator
@inline
export function putQuoted(offset: usize, length: u32, flags: u32): void {
  room(32);
  putByte(0x22);
  putEscaped(offset, length, flags);
  putByte(0x22);
}

/** Puts the value of the attribute at address `row` as JSON. */
export function putValue(row: usize): void {
  const kind = <u32>load<u8>(row, layout.ATTRIBUTE_KIND);
  const offset = <usize>load<u32>(row, layout.ATTRIBUTE_OFFSET);
  const length = load<u32>(row, layout.ATTRIBUTE_LENGTH);
  if (kind == layout.KIND_TEXT) {
    putQuoted(offset, length, load<u8>(row, layout.ATTRIBUTE_FLAGS));
  } else if (kind == layout.KIND_BYTES) {
    room(32);
    putByte(0x22);
    putBase64(offset, length);
    putByte(0x22);
  } else if (kind == layout.KIND_BASE64_TEXT) {
    putQuoted(offset, length, 0);
  } else if (kind == layout.KIND_DOUBLE) {
    room(64);
    putDouble(load<f64>(row, layout.ATTRIBUTE_SCALAR));
  } else {
    putOther(row, kind, offset, length);
  }
}

/** Kinds with the same form in JSON and in plain text. */
function putOther(row: usize, kind: u32, offset: usize, length: u32): void {
  room(64);
  switch (kind) {
    case layout.KIND_BOOL:
      if (load<u64>(row, layout.ATTRIBUTE_SCALAR) != 0) put('true');
      else put('false');
      break;
    case layout.KIND_INT:
      putSigned(load<i64>(row, layout.ATTRIBUTE_SCALAR));
      break;
    case layout.KIND_ARRAY:
    case layout.KIND_MAP:
      if (load<u32>(layout.HEADER_BASE, layout.HEADER_ENCODING) == layout.ENCODING_JSON)
        setOut(printJsonNested(out, kind, offset, length));
      else putProtobufNested(kind, offset, length);
      break;
    case layout.KIND_NUMBER_TEXT:
    case layout.KIND_JSON:
      putRawText(offset, length);
      break;
    default:
      put('null');
  }
}

/** Puts a value as plain text: texts as they are, the rest as JSON without quotes around it. */
export function putValueText(row: usize): void {
  const kind = <u32>load<u8>(row, layout.ATTRIBUTE_KIND);
  const offset = <usize>load<u32>(row, layout.ATTRIBUTE_OFFSET);
  const length = load<u32>(row, layout.ATTRIBUTE_LENGTH);
  if (kind == layout.KIND_TEXT) {
    putPlain(offset, length, load<u8>(row, layout.ATTRIBUTE_FLAGS));
  } else if (kind == layout.KIND_BYTES) {
    putBase64(offset, length);
  } else if (kind == layout.KIND_BASE64_TEXT) {
    putRawText(offset, length);
  } else if (kind == layout.KIND_DOUBLE) {
    room(64);
    putDoubleText(load<f64>(row, layout.ATTRIBUTE_SCALAR));
  } else {
    putOther(row, kind, offset, length);
  }
}

/** Supersedes all but the last of equal keys again, among the rows that may be printed. */
function supersedeRenamed(first: u32, count: u32): void {
  const list = beginList();
  for (let index = first; index < first + count; index++) {
    const row = attributeRow(index);
    if (load<u8>(row, layout.ATTRIBUTE_DISPOSITION) == layout.DISPOSITION_KEEP)
      recordKey(load<u32>(row, layout.ATTRIBUTE_SYMBOL), index, list);
  }
}

/** Puts the JSON object of the attributes that may be printed here. */
export function putAttributes(first: u32, count: u32): void {
  if (hostHasInterned) supersedeRenamed(first, count);
  const start = openList(0x7b);
  let row = attributeRow(first);
  const end = row + <usize>count * layout.ATTRIBUTE_STRIDE;
  for (; row < end; row += layout.ATTRIBUTE_STRIDE) putAttribute(row);
  closeList(start, 0x7d);
}

/** As `putAttributes`, for tables in the order of jsonb: the server then need not sort the keys. */
export function putAttributesInOrder(first: u32, count: u32): void {
  const order = copying ? keyOrder(first, count) : 0;
  if (order == 0) {
    putAttributes(first, count);
    return;
  }
  if (hostHasInterned) supersedeRenamed(first, count);
  const start = openList(0x7b);
  for (let i: usize = 0; i < <usize>count; i++) putAttribute(attributeRow(first + load<u32>(order + (i << 2))));
  closeList(start, 0x7d);
}

/** Puts the key and value of the attribute at address `row`, and a comma, if it may be printed here. */
// @ts-ignore: decorator
@inline
function putAttribute(row: usize): void {
  mayPause();
  if (load<u8>(row, layout.ATTRIBUTE_DISPOSITION) != layout.DISPOSITION_KEEP) return;
  putKey(load<u32>(row, layout.ATTRIBUTE_SYMBOL));
  putValue(row);
  putByte(0x2c);
  checkLimit();
}

/** The attribute row of a reference, as an address. */
function referenceRow(reference: u32): usize {
  return attributeRow(load<u32>(<usize>layout.REFERENCES_BASE + <usize>reference * layout.REFERENCE_STRIDE));
}

/** Whether any of the references may be stored. */
export function anyReference(first: u32, count: u32): bool {
  for (let i: u32 = 0; i < count; i++) {
    if (load<u8>(referenceRow(first + i), layout.ATTRIBUTE_DISPOSITION) != layout.DISPOSITION_DROP) return true;
  }
  return false;
}

/**
 * Puts the JSON object of the referenced attributes, without those that may not be stored. Of equal keys the last is
 * used.
 */
export function putReferences(first: u32, count: u32): void {
  const list = beginList();
  for (let i: u32 = 0; i < count; i++) {
    const row = referenceRow(first + i);
    if (load<u8>(row, layout.ATTRIBUTE_DISPOSITION) != layout.DISPOSITION_DROP)
      noteKey(load<u32>(row, layout.ATTRIBUTE_SYMBOL), i, list);
  }
  const start = openList(0x7b);
  for (let i: u32 = 0; i < count; i++) {
    mayPause();
    const row = referenceRow(first + i);
    const symbol = load<u32>(row, layout.ATTRIBUTE_SYMBOL);
    if (load<u8>(row, layout.ATTRIBUTE_DISPOSITION) == layout.DISPOSITION_DROP || !isLastOfKey(symbol, i)) continue;
    putKey(symbol);
    putValue(row);
    putByte(0x2c);
  }
  closeList(start, 0x7d);
}

/**
 * Turns the output since `start` into the inside of a JSON string. JSON text at most doubles: it has no control
 * characters.
 */
export function escapeSince(start: usize): void {
  const length = out - start;
  room(length + 256);
  const copy = start + length + 128;
  if (length > PIECE) pauseNow();
  memory.copy(copy, start, length);
  setOut(start);
  for (let done: usize = 0; done < length; done += PIECE) {
    if (length > PIECE) pauseNow();
    setOut(escapeText(out, copy + done, min(length - done, PIECE)));
  }
}

/** Renders an attribute's value as JSON into scratch, for processors; the text is returned through the header. */
export function renderJson(row: u32): void {
  beginRendering();
  putValue(attributeRow(row));
  const length = <u32>(out - layout.OUTPUT_BASE);
  const target = allocateScratch(length, 0);
  memory.copy(target, layout.OUTPUT_BASE, length);
  store<u32>(layout.HEADER_BASE, target, layout.HEADER_TEXT_OFFSET);
  store<u32>(layout.HEADER_BASE, length, layout.HEADER_TEXT_LENGTH);
  store<u32>(layout.HEADER_BASE, classifyText(target, length), layout.HEADER_TEXT_FLAGS);
}
