/**
 * Attributes and values as protobuf messages. Values that may not be stored may not be sent either. Values that were
 * moved to their own column are sent, because OTLP has no such columns.
 */
import {
  ATTRIBUTE_FLAGS,
  ATTRIBUTE_KIND,
  ATTRIBUTE_LENGTH,
  ATTRIBUTE_OFFSET,
  ATTRIBUTE_SCALAR,
  ATTRIBUTE_SYMBOL,
  ATTRIBUTE_DISPOSITION,
  ENCODING_JSON,
  HEADER_BASE,
  HEADER_ENCODING,
  HEADER_SCRATCH,
  KIND_ARRAY,
  KIND_BASE64_TEXT,
  KIND_BOOL,
  KIND_BYTES,
  KIND_DOUBLE,
  KIND_INT,
  KIND_JSON,
  KIND_MAP,
  KIND_NUMBER_TEXT,
  KIND_TEXT,
  SYMBOL_LENGTH,
  SYMBOL_OFFSET,
  DISPOSITION_KEEP,
  DISPOSITION_MOVED,
} from '../../../layout';
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
  const kind = <u32>load<u8>(row, ATTRIBUTE_KIND);
  const offset = <usize>load<u32>(row, ATTRIBUTE_OFFSET);
  const length = load<u32>(row, ATTRIBUTE_LENGTH);
  switch (kind) {
    case KIND_TEXT:
      return putText(STRING_VALUE, offset, length, load<u8>(row, ATTRIBUTE_FLAGS));
    case KIND_BOOL:
      return putInteger(BOOL_VALUE, load<u64>(row, ATTRIBUTE_SCALAR));
    case KIND_INT:
      return putInteger(INT_VALUE, load<u64>(row, ATTRIBUTE_SCALAR));
    case KIND_DOUBLE:
      return putBits(DOUBLE_VALUE, load<u64>(row, ATTRIBUTE_SCALAR));
    case KIND_BYTES:
      return putBytes(BYTES_VALUE, offset, length);
    case KIND_BASE64_TEXT:
      return putBase64Text(offset, length);
    case KIND_NUMBER_TEXT:
      return putNumberText(offset);
    case KIND_ARRAY:
    case KIND_MAP:
      if (load<u32>(HEADER_BASE, HEADER_ENCODING) == ENCODING_JSON) putJsonSource(kind, offset);
      else putProtobufSource(kind, offset, length);
      return;
    case KIND_JSON:
      putPlainJson(offset);
  }
}

/** Bytes that are base64 in the body. */
function putBase64Text(offset: usize, length: u32): void {
  const scratch = load<u32>(HEADER_BASE, HEADER_SCRATCH);
  decodeBase64(offset, length);
  putBytes(BYTES_VALUE, bytesOffset, bytesLength);
  store<u32>(HEADER_BASE, scratch, HEADER_SCRATCH);
}

/** A double that is text in the body. */
function putNumberText(offset: usize): void {
  resetNumbers();
  readDouble(offset);
  putBits(DOUBLE_VALUE, reinterpret<u64>(doubleValue));
}

// @ts-ignore: decorator
@inline
function mayLeave(row: usize): bool {
  const disposition = <u32>load<u8>(row, ATTRIBUTE_DISPOSITION);
  return disposition == DISPOSITION_KEEP || disposition == DISPOSITION_MOVED;
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
    const symbol = load<u32>(row, ATTRIBUTE_SYMBOL);
    if (renamed && !isLastOfKey(symbol, index)) continue;
    const entry = beginMessage(field);
    const key = symbolRow(symbol);
    putBytes(KEY, load<u32>(key, SYMBOL_OFFSET), load<u32>(key, SYMBOL_LENGTH));
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
    if (mayLeave(row)) noteKey(load<u32>(row, ATTRIBUTE_SYMBOL), index, list);
  }
}
