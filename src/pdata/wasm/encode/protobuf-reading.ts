/**
 * Reads nested values of protobuf bodies directly from the body. The indexer has checked them, so nothing is checked
 * again. Unknown fields are skipped, the last member of a value is used, and so is the last of equal keys.
 */
import * as layout from '../../layout';
import { fail } from '../fail';
import { mayPause } from '../pause';
import { hashName, sameName } from './names';

/** Maps of at most this many entries are compared pairwise, larger ones through a hash table. */
const PAIRWISE_ENTRIES: u32 = 8;

// The results of the last read; callers copy them before the next read.
export let at: usize = 0;
export let foundKind: u32 = layout.KIND_NONE;
export let foundOffset: usize = 0;
export let foundBits: u64 = 0;
export let keyOffset: usize = 0;
export let keyLength: u32 = 0;
export let valueStart: usize = 0;
export let valueEnd: usize = 0;
/** Tables of the maps being printed are stacked from the first free byte of scratch on. */
let tablesTop: usize = 0;

export function setAt(position: usize): void {
  at = position;
}

function readVarint(): u64 {
  let value: u64 = 0;
  let shift: u64 = 0;
  let byte: u64;
  do {
    byte = <u64>load<u8>(at);
    at += 1;
    value |= (byte & 127) << shift;
    shift += 7;
  } while (byte >= 128);
  return value;
}

function skipField(tag: u32): void {
  const wire = tag & 7;
  if (wire == 0) readVarint();
  else if (wire == 1) at += 8;
  else if (wire == 5) at += 4;
  else if (wire == 2) {
    const size = <usize>readVarint();
    at += size;
  } else if (wire == 3) skipGroup();
}

/** Skips to the position after the end of a group; nested groups are only counted. */
function skipGroup(): void {
  let depth = 1;
  while (depth > 0) {
    mayPause();
    const tag = <u32>readVarint();
    if ((tag & 7) == 3) depth += 1;
    else if ((tag & 7) == 4) depth -= 1;
    else skipField(tag);
  }
}

/** Reads an AnyValue into the `found…` variables. */
export function readValue(start: usize, end: usize): void {
  foundKind = layout.KIND_NONE;
  at = start;
  while (at < end) {
    mayPause();
    const tag = <u32>readVarint();
    if (tag == 0x0a || tag == 0x2a || tag == 0x32 || tag == 0x3a) {
      foundBits = readVarint();
      foundOffset = at;
      at += <usize>foundBits;
      foundKind =
        tag == 0x0a
          ? layout.KIND_TEXT
          : tag == 0x2a
            ? layout.KIND_ARRAY
            : tag == 0x32
              ? layout.KIND_MAP
              : layout.KIND_BYTES;
    } else if (tag == 0x10 || tag == 0x18) {
      foundBits = readVarint();
      foundKind = tag == 0x10 ? layout.KIND_BOOL : layout.KIND_INT;
    } else if (tag == 0x21) {
      foundBits = load<u64>(at);
      at += 8;
      foundKind = layout.KIND_DOUBLE;
    } else {
      skipField(tag);
    }
  }
}

/** Moves to the next entry of field 1 below `end`; `valueStart` and `valueEnd` bound it. */
export function nextItem(end: usize): bool {
  while (at < end) {
    mayPause();
    const tag = <u32>readVarint();
    if (tag == 0x0a) {
      const size = <usize>readVarint();
      valueStart = at;
      at += size;
      valueEnd = at;
      return true;
    }
    skipField(tag);
  }
  return false;
}

/** Reads a KeyValue into `key…` and `value…`; an absent value is an empty one. */
export function readEntry(start: usize, end: usize): void {
  keyOffset = start;
  keyLength = 0;
  valueStart = end;
  valueEnd = end;
  at = start;
  while (at < end) {
    mayPause();
    const tag = <u32>readVarint();
    if (tag == 0x0a) {
      keyLength = <u32>readVarint();
      keyOffset = at;
      at += keyLength;
    } else if (tag == 0x12) {
      const size = <usize>readVarint();
      valueStart = at;
      at += size;
      valueEnd = at;
    } else {
      skipField(tag);
    }
  }
}

function countItems(start: usize, end: usize): u32 {
  let count: u32 = 0;
  at = start;
  while (nextItem(end)) count += 1;
  return count;
}

/** Whether the key last read is printed as the same name as another. */
function isKey(offset: usize, length: u32): bool {
  return sameName(keyOffset, keyLength, offset, length);
}

/** Whether a later entry, from `from` on, has the key of the entry `[start, end)`. */
function isRepeatedLater(start: usize, end: usize, from: usize, mapEnd: usize): bool {
  readEntry(start, end);
  const offset = keyOffset;
  const length = keyLength;
  at = from;
  while (nextItem(mapEnd)) {
    const next = at;
    readEntry(valueStart, valueEnd);
    if (isKey(offset, length)) return true;
    at = next;
  }
  return false;
}

// A slot of the table is an entry's start and end, 8 bytes; zero is empty.

/** The slot of the key last read: the one that holds it, or the empty one for it. */
function slotOf(table: usize, mask: u32): usize {
  const offset = keyOffset;
  const length = keyLength;
  let index = hashName(offset, length) & mask;
  while (true) {
    const slot = table + ((<usize>index) << 3);
    const start = <usize>load<u32>(slot);
    if (start == 0) return slot;
    readEntry(start, load<u32>(slot, 4));
    if (isKey(offset, length)) return slot;
    index = (index + 1) & mask;
  }
}

/** Builds the table of a map's keys, each with its last entry, and returns its mask. */
function tableOf(table: usize, start: usize, end: usize, count: u32): u32 {
  const size: u32 = 2 << (31 - clz(count * 2 - 1));
  const bytes = (<usize>size) << 3;
  if (table + bytes > <usize>layout.SCRATCH_BASE + layout.SCRATCH_CAPACITY) fail(layout.FAIL_OUTPUT, 0);
  memory.fill(table, 0, bytes);
  at = start;
  while (nextItem(end)) {
    const next = at;
    const entryStart = valueStart;
    const entryEnd = valueEnd;
    readEntry(entryStart, entryEnd);
    const slot = slotOf(table, size - 1);
    store<u32>(slot, <u32>entryStart);
    store<u32>(slot, <u32>entryEnd, 4);
    at = next;
  }
  return size - 1;
}

/** Whether the entry is the last one with its key. */
function isLast(table: usize, mask: u32, start: usize, end: usize): bool {
  readEntry(start, end);
  return load<u32>(slotOf(table, mask)) == <u32>start;
}

/** Begins a walk over one nested value. */
export function beginNested(): void {
  tablesTop = (<usize>load<u32>(layout.HEADER_BASE, layout.HEADER_SCRATCH) + 7) & ~7;
}

function tableBytes(mask: u32): usize {
  return mask ? (<usize>(mask + 1)) << 3 : 0;
}

/** Prepares a map for `wins`. Returns the mask of its table, or 0 for a map of few entries, which needs none. */
export function beginMap(start: usize, end: usize): u32 {
  const count = countItems(start, end);
  if (count <= PAIRWISE_ENTRIES) return 0;
  const mask = tableOf(tablesTop, start, end, count);
  tablesTop += tableBytes(mask);
  return mask;
}

/**
 * Whether the entry `[start, end)` of the innermost map is the last of its key; the entries behind it end at `mapEnd`.
 */
export function wins(mask: u32, start: usize, end: usize, mapEnd: usize): bool {
  return mask ? isLast(tablesTop - tableBytes(mask), mask, start, end) : !isRepeatedLater(start, end, end, mapEnd);
}

export function endMap(mask: u32): void {
  tablesTop -= tableBytes(mask);
}
