/** Nested values of protobuf bodies as JSON, read by `protobuf-reading`. */
import { KIND_ARRAY, KIND_BOOL, KIND_BYTES, KIND_DOUBLE, KIND_INT, KIND_MAP, KIND_TEXT } from '../../layout';
import { putEscaped } from './json-text';
import { UNKNOWN_TEXT, putRawKey } from './keys';
import { putBase64, putDouble, putSigned } from './numbers';
import { closeList, openList, put, putByte, room } from './output';
import {
  at,
  beginMap,
  beginNested,
  endMap,
  foundBits,
  foundKind,
  foundOffset,
  keyLength,
  keyOffset,
  nextItem,
  readEntry,
  readValue,
  setAt,
  valueEnd,
  valueStart,
  wins,
} from './protobuf-reading';

function putAnyValue(start: usize, end: usize): void {
  readValue(start, end);
  const bits = foundBits;
  const offset = foundOffset;
  room(64);
  switch (foundKind) {
    case KIND_TEXT:
      putByte(0x22);
      putEscaped(offset, <u32>bits, UNKNOWN_TEXT);
      putByte(0x22);
      break;
    case KIND_BOOL:
      if (bits != 0) put('true');
      else put('false');
      break;
    case KIND_INT:
      putSigned(<i64>bits);
      break;
    case KIND_DOUBLE:
      putDouble(reinterpret<f64>(bits));
      break;
    case KIND_ARRAY:
      putArray(offset, offset + <usize>bits);
      break;
    case KIND_MAP:
      putMap(offset, offset + <usize>bits);
      break;
    case KIND_BYTES:
      putByte(0x22);
      putBase64(offset, <u32>bits);
      putByte(0x22);
      break;
    default:
      put('null');
  }
}

function putArray(start: usize, end: usize): void {
  const first = openList(0x5b);
  setAt(start);
  while (nextItem(end)) {
    const next = at;
    putAnyValue(valueStart, valueEnd);
    putByte(0x2c);
    setAt(next);
  }
  closeList(first, 0x5d);
}

function putMap(start: usize, end: usize): void {
  const first = openList(0x7b);
  const mask = beginMap(start, end);
  setAt(start);
  while (nextItem(end)) {
    const next = at;
    const entryStart = valueStart;
    if (wins(mask, entryStart, next, end)) {
      readEntry(entryStart, next);
      const from = valueStart;
      const to = valueEnd;
      putRawKey(keyOffset, keyLength);
      putAnyValue(from, to);
      putByte(0x2c);
    }
    setAt(next);
  }
  endMap(mask);
  closeList(first, 0x7d);
}

/** Puts the body of an ArrayValue or a KeyValueList. */
export function putProtobufNested(kind: u32, offset: usize, length: u32): void {
  beginNested();
  if (kind == KIND_ARRAY) putArray(offset, offset + length);
  else putMap(offset, offset + length);
}
