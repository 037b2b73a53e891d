/**
 * KeyValue messages as attribute rows. The messages of a list are indexed one after another; lists are never
 * interleaved.
 */
import * as layout from '../../layout';
import { internKey, internNextKey, recordKey } from '../symbols';
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
 * as `previous` with the next one, 0 with the first.
 */
export function indexAttribute(at: usize, end: usize, list: u32, previous: u32): u32 {
  const row = appendScalarAttribute(0, layout.KIND_NONE, 0, at);
  let symbol: u32 = 0;
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

/** Supersedes the rows of a list whose owner was repeated: the last owner replaces it completely. */
export function supersedeAttributes(first: u32, count: u32): void {
  for (let row = first; row < first + count; row++)
    store<u8>(rowAddress(row), layout.DISPOSITION_SUPERSEDED, layout.ATTRIBUTE_DISPOSITION);
}
