/**
 * Attributes and values as protobuf messages. Values that may not be stored may not be sent either. Values that were
 * moved to their own column are sent, because OTLP has no such columns.
 */
import * as layout from '../../../layout';
import { bytesLength, bytesOffset, decodeBase64 } from '../../json/binary';
import { doubleValue, readDouble, resetNumbers } from '../../json/number';
import { beginList, hostHasInterned, isLastOfKey, noteKey, symbolRow } from '../../symbols';
import { mayPause } from '../../pause';
import { attributeRow } from '../values';
import { STRING_VALUE, BOOL_VALUE, INT_VALUE, DOUBLE_VALUE, BYTES_VALUE, KEY, VALUE, putInteger } from './any-value';
import { beginMessage, endMessage, putBits, putBytes, putText } from './fields';
import { putJsonSource } from './json-source';
import { putPlainJson } from './plain-json';
import { putProtobufSource } from './protobuf-source';

/** Puts the member of the AnyValue whose attribute row stands at `row`; a value without one stays empty. */
export function putValueMember(row: usize): void {
  const kind = <u32>load<u8>(row, layout.ATTRIBUTE_KIND);
  const offset = <usize>load<u32>(row, layout.ATTRIBUTE_OFFSET);
  const length = load<u32>(row, layout.ATTRIBUTE_LENGTH);
  switch (kind) {
    case layout.KIND_TEXT:
      return putText(STRING_VALUE, offset, length, load<u8>(row, layout.ATTRIBUTE_FLAGS));
    case layout.KIND_BOOL:
      return putInteger(BOOL_VALUE, load<u64>(row, layout.ATTRIBUTE_SCALAR));
    case layout.KIND_INT:
      return putInteger(INT_VALUE, load<u64>(row, layout.ATTRIBUTE_SCALAR));
    case layout.KIND_DOUBLE:
      return putBits(DOUBLE_VALUE, load<u64>(row, layout.ATTRIBUTE_SCALAR));
    case layout.KIND_BYTES:
      return putBytes(BYTES_VALUE, offset, length);
    case layout.KIND_BASE64_TEXT:
      return putBase64Text(offset, length);
    case layout.KIND_NUMBER_TEXT:
      return putNumberText(offset);
    case layout.KIND_ARRAY:
    case layout.KIND_MAP:
      if (load<u32>(layout.HEADER_BASE, layout.HEADER_ENCODING) == layout.ENCODING_JSON) putJsonSource(kind, offset);
      else putProtobufSource(kind, offset, length);
      return;
    case layout.KIND_JSON:
      putPlainJson(offset);
  }
}

/** Bytes that are base64 in the body. */
function putBase64Text(offset: usize, length: u32): void {
  const scratch = load<u32>(layout.HEADER_BASE, layout.HEADER_SCRATCH);
  decodeBase64(offset, length);
  putBytes(BYTES_VALUE, bytesOffset, bytesLength);
  store<u32>(layout.HEADER_BASE, scratch, layout.HEADER_SCRATCH);
}

/** A double that is text in the body. */
function putNumberText(offset: usize): void {
  resetNumbers();
  readDouble(offset);
  putBits(DOUBLE_VALUE, reinterpret<u64>(doubleValue));
}

function mayLeave(row: usize): bool {
  const disposition = <u32>load<u8>(row, layout.ATTRIBUTE_DISPOSITION);
  return disposition == layout.DISPOSITION_KEEP || disposition == layout.DISPOSITION_MOVED;
}

/** Whether the log body, or any other value without a key, may be sent. */
export function valueMayLeave(row: usize): bool {
  return mayLeave(row);
}

/**
 * Puts the attributes of an owner as KeyValues of a field. Of attributes that were renamed to the same key, the last is
 * written.
 */
export function putAttributes(field: u32, first: u32, count: u32): void {
  const renamed = hostHasInterned;
  if (renamed) noteKeys(first, count);
  for (let index = first; index < first + count; index++) {
    mayPause();
    const row = attributeRow(index);
    if (!mayLeave(row)) continue;
    const symbol = load<u32>(row, layout.ATTRIBUTE_SYMBOL);
    if (renamed && !isLastOfKey(symbol, index)) continue;
    const entry = beginMessage(field);
    const key = symbolRow(symbol);
    putBytes(KEY, load<u32>(key, layout.SYMBOL_OFFSET), load<u32>(key, layout.SYMBOL_LENGTH));
    const value = beginMessage(VALUE);
    putValueMember(row);
    endMessage(value);
    endMessage(entry);
  }
}

/** Dispositions do not change here: another encoder may run afterwards. */
function noteKeys(first: u32, count: u32): void {
  const list = beginList();
  for (let index = first; index < first + count; index++) {
    const row = attributeRow(index);
    if (mayLeave(row)) noteKey(load<u32>(row, layout.ATTRIBUTE_SYMBOL), index, list);
  }
}
