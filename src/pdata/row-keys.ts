/**
 * The keys of a record's attributes, in order. Both loops run over every attribute of every record, so they read words
 * of the tables instead of using a cursor.
 */
import * as layout from './layout.ts';
import type { Memory } from './memory.ts';

// Bound here: an imported constant is read and checked at each use, a constant of the module is inlined.
const FIRST_WORD = layout.ATTRIBUTES_BASE >>> 2;
const ROW_WORDS = layout.ATTRIBUTE_STRIDE >>> 2;
const LASTING = layout.MAX_SYMBOLS;
const HEAD = layout.ATTRIBUTE_KIND >>> 2;
const DISPOSITION_SHIFT = (layout.ATTRIBUTE_DISPOSITION - layout.ATTRIBUTE_KIND) * 8;
const DISPOSITION_BITS = 0xff << DISPOSITION_SHIFT;
const SUPERSEDED = layout.DISPOSITION_SUPERSEDED << DISPOSITION_SHIFT;
/** Replaces the key of an attribute that a later one of the same key supersedes. */
const SUPERSEDED_KEY = 0xffffffff;

/** Reads the keys of `count` rows into `keys`; false when one of them is valid only for this request. */
export function readKeys({ u32 }: Memory, firstRow: number, count: number, keys: Uint32Array): boolean {
  let word = FIRST_WORD + firstRow * ROW_WORDS;
  for (let index = 0; index < count; index++, word += ROW_WORDS) {
    if ((u32[word] as number) >= LASTING) return false;
    keys[index] = keyAt(u32, word);
  }
  return true;
}

/** Whether the rows from `firstRow` on have these keys. */
export function hasKeys({ u32 }: Memory, firstRow: number, keys: Uint32Array): boolean {
  let word = FIRST_WORD + firstRow * ROW_WORDS;
  for (let index = 0; index < keys.length; index++, word += ROW_WORDS) {
    if (keyAt(u32, word) !== keys[index]) return false;
  }
  return true;
}

function keyAt(u32: Uint32Array, word: number): number {
  return ((u32[word + HEAD] as number) & DISPOSITION_BITS) === SUPERSEDED ? SUPERSEDED_KEY : (u32[word] as number);
}
