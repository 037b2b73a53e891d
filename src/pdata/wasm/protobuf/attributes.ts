/**
 * KeyValue messages as attribute rows. The messages of a list are indexed one after another; lists are never
 * interleaved.
 */
import * as layout from '../../layout';
import { fail } from '../fail';
import { beginList, internKey, internNextKey, recordKey } from '../symbols';
import { appendScalarAttribute, countOf } from '../tables';
import { after, bytesTag, closeMessage, readEnd, readTag, skipUnknown } from './reader';
import { readValue } from './value';

// KeyValue { key 1, value 2 }
const KEY_VALUE_FIELDS: u32 = (1 << 1) | (1 << 2);

function rowAddress(row: u32): usize {
  return <usize>layout.ATTRIBUTES_BASE + <usize>row * layout.ATTRIBUTE_STRIDE;
}

/**
 * Appends the attribute of one KeyValue to list `list` (see `beginList`) and returns its key, which the caller passes
 * as `previous` with the next one, 0 with the first. See `value.ts` for a repeated value.
 */
export function indexAttribute(at: usize, end: usize, list: u32, previous: u32): u32 {
  const row = appendScalarAttribute(0, layout.KIND_NONE, 0, at);
  let symbol: u32 = 0;
  let hasValue = false;
  while (at < end) {
    const tag = readTag(at, end);
    at = after(at);
    if (tag == bytesTag(1)) {
      const last = readEnd(at, end);
      const start = after(at);
      symbol = internNextKey(previous, start, <u32>(last - start));
      at = last;
    } else if (tag == bytesTag(2)) {
      const last = readEnd(at, end);
      if (hasValue) fail(layout.FAIL_PROTOBUF, at);
      hasValue = true;
      readValue(after(at), last, rowAddress(row));
      at = last;
    } else at = skipUnknown(tag, at, end, KEY_VALUE_FIELDS);
  }
  closeMessage(at, end);
  if (!symbol) symbol = internKey(at, 0);
  store<u32>(rowAddress(row), symbol, layout.ATTRIBUTE_SYMBOL);
  recordKey(symbol, row, list);
  return symbol;
}

/** Appends the row of a value without a key, and returns its index. */
export function indexKeylessValue(at: usize, end: usize): u32 {
  const row = appendScalarAttribute(0, layout.KIND_NONE, 0, at);
  readValue(at, end, rowAddress(row));
  return row;
}

/** The index of the next free attribute row: the start of a list, and the base of its length. */
// @ts-ignore: decorator
@inline
export function nextAttribute(): u32 {
  return countOf(layout.HEADER_ATTRIBUTES);
}

/**
 * Begins a new list with the rows of an earlier list, whose owner is repeated: they move to the end of the table, so
 * that the further attributes of the owner follow them.
 */
export function continueList(first: u32, count: u32, at: usize): u32 {
  const list = beginList();
  for (let row = first; row < first + count; row++) {
    const from = rowAddress(row);
    if (load<u8>(from, layout.ATTRIBUTE_DISPOSITION) == layout.DISPOSITION_SUPERSEDED) continue;
    const moved = appendScalarAttribute(0, layout.KIND_NONE, 0, at);
    memory.copy(rowAddress(moved), from, layout.ATTRIBUTE_STRIDE);
    store<u8>(from, layout.DISPOSITION_SUPERSEDED, layout.ATTRIBUTE_DISPOSITION);
    recordKey(load<u32>(from, layout.ATTRIBUTE_SYMBOL), moved, list);
  }
  return list;
}
