/**
 * Nested values of protobuf bodies, rewritten instead of copied: unknown fields and entries that a later one of the
 * same key supersedes were not checked by privacy rules and may not be sent.
 */
import { KIND_ARRAY, KIND_BOOL, KIND_BYTES, KIND_DOUBLE, KIND_INT, KIND_MAP, KIND_TEXT } from '../../../layout';
import { UNKNOWN_TEXT } from '../keys';
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
} from '../protobuf-reading';
import { beginMessage, endMessage, putBits, putBytes, putText } from './fields';
import * as anyValue from './any-value';

/** Puts the member of an AnyValue that holds the ArrayValue or KeyValueList of `length` bytes at `offset`. */
export function putProtobufSource(kind: u32, offset: usize, length: u32): void {
  beginNested();
  if (kind == KIND_ARRAY) putArray(offset, offset + length);
  else putMap(offset, offset + length);
}

function putMember(start: usize, end: usize): void {
  readValue(start, end);
  const bits = foundBits;
  const offset = foundOffset;
  switch (foundKind) {
    case KIND_TEXT:
      return putText(anyValue.STRING_VALUE, offset, <u32>bits, UNKNOWN_TEXT);
    case KIND_BOOL:
      return anyValue.putInteger(anyValue.BOOL_VALUE, <u64>(bits != 0));
    case KIND_INT:
      return anyValue.putInteger(anyValue.INT_VALUE, bits);
    case KIND_DOUBLE:
      return putBits(anyValue.DOUBLE_VALUE, bits);
    case KIND_BYTES:
      return putBytes(anyValue.BYTES_VALUE, offset, <u32>bits);
    case KIND_ARRAY:
      return putArray(offset, offset + <usize>bits);
    case KIND_MAP:
      putMap(offset, offset + <usize>bits);
  }
}

function putArray(start: usize, end: usize): void {
  const list = beginMessage(anyValue.ARRAY_VALUE);
  setAt(start);
  while (nextItem(end)) {
    const next = at;
    const value = beginMessage(anyValue.VALUES);
    putMember(valueStart, next);
    endMessage(value);
    setAt(next);
  }
  endMessage(list);
}

function putMap(start: usize, end: usize): void {
  const list = beginMessage(anyValue.KVLIST_VALUE);
  const mask = beginMap(start, end);
  setAt(start);
  while (nextItem(end)) {
    const next = at;
    const entryStart = valueStart;
    if (wins(mask, entryStart, next, end)) putEntry(entryStart, next);
    setAt(next);
  }
  endMap(mask);
  endMessage(list);
}

function putEntry(start: usize, end: usize): void {
  readEntry(start, end);
  const from = valueStart;
  const to = valueEnd;
  const entry = beginMessage(anyValue.VALUES);
  putText(anyValue.KEY, keyOffset, keyLength, UNKNOWN_TEXT);
  const value = beginMessage(anyValue.VALUE);
  putMember(from, to);
  endMessage(value);
  endMessage(entry);
}
