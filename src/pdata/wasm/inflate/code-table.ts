/**
 * Decode tables of DEFLATE's prefix codes: a first table of the next bits, and second tables behind it for longer
 * codes. An entry holds all data of a symbol, so decoding one is a load, a shift and a subtraction:
 *
 * - bits 0–7: bits to drop, code and extra bits together (in a link to a second table: those of the first table)
 * - bits 8–11: of these, the bits of the code; in a link: the number of bits that index the second table
 * - bit 12: a literal
 * - bits 13, 14, 15: the end of the block; a link to a second table; an exception, which is one of these two or no code
 * - bits 16–31: the literal, the base of a length or distance, or the start of the second table; for code lengths the
 *   base of the run and, from bit 24 on, the length
 */
export const ENTRY_END: u64 = 0x2000;
export const ENTRY_SUBTABLE: u64 = 0x4000;
export const ENTRY_EXCEPTION: u64 = 0x8000;
export const ENTRY_LITERAL: u64 = 0x1000;

export const LITERAL_BITS: u32 = 11;
export const DISTANCE_BITS: u32 = 8;
/** In an entry of code lengths: the length is that of the symbol before. */
export const REPEATED_LENGTH: u32 = 16;
/** No code of code lengths is longer. */
export const LENGTH_BITS: u32 = 7;
const MAX_CODE_BITS: u32 = 15;

const MAX_LITERALS: u32 = 288;
const MAX_DISTANCES: u32 = 32;

// Entries that any code of this many symbols and 15 bits may need; computed by zlib's examples/enough.c.
const LITERAL_ENTRIES = 2342;
const DISTANCE_ENTRIES = 402;

export const LITERALS = memory.data(LITERAL_ENTRIES * 4, 16);
export const DISTANCES = memory.data(DISTANCE_ENTRIES * 4, 16);
const FIXED_LITERALS = memory.data(LITERAL_ENTRIES * 4, 16);
const FIXED_DISTANCES = memory.data(DISTANCE_ENTRIES * 4, 16);
export const LENGTHS = memory.data(128 * 4, 16);

/** The meaning of a symbol, as an entry without its code: u32 each. */
const LITERAL_MEANINGS = memory.data(288 * 4, 16);
const DISTANCE_MEANINGS = memory.data(32 * 4, 16);
const LENGTH_MEANINGS = memory.data(19 * 4, 16);

/** Codes of each length, u32. */
const COUNTS = memory.data(64, 16);
/** The result of `unusedCodes` when there is no code. */
const ALL_CODES: i32 = 1 << 15;
/** The start of each length among the sorted symbols, u32. */
const STARTS = memory.data(64, 16);
/** Symbols by length and number, u16. */
const SORTED = memory.data(288 * 2, 16);

/** Computes the meanings and the tables of the fixed code. Called once. */
export function initializeTables(): void {
  for (let length: u32 = 0; length < 16; length++)
    store<u32>(LENGTH_MEANINGS + (length << 2), (length << 24) | (1 << 16));
  store<u32>(LENGTH_MEANINGS + (16 << 2), (REPEATED_LENGTH << 24) | (3 << 16) | 2);
  store<u32>(LENGTH_MEANINGS + (17 << 2), (3 << 16) | 3);
  store<u32>(LENGTH_MEANINGS + (18 << 2), (11 << 16) | 7);
  for (let symbol: u32 = 0; symbol < 256; symbol++) {
    store<u32>(LITERAL_MEANINGS + (symbol << 2), <u32>ENTRY_LITERAL | (symbol << 16));
  }
  store<u32>(LITERAL_MEANINGS + (256 << 2), <u32>(ENTRY_EXCEPTION | ENTRY_END));
  let base: u32 = 3;
  for (let code: u32 = 0; code < 28; code++) {
    const extra: u32 = code < 8 ? 0 : (code >> 2) - 1;
    store<u32>(LITERAL_MEANINGS + ((257 + code) << 2), (base << 16) | extra);
    base += (<u32>1) << extra;
  }
  store<u32>(LITERAL_MEANINGS + (285 << 2), 258 << 16);
  base = 1;
  for (let code: u32 = 0; code < 30; code++) {
    const extra: u32 = code < 4 ? 0 : (code >> 1) - 1;
    store<u32>(DISTANCE_MEANINGS + (code << 2), (base << 16) | extra);
    base += (<u32>1) << extra;
  }
  // The fixed code has codes for these symbols, which have no meaning.
  for (let symbol: u32 = 286; symbol < 288; symbol++)
    store<u32>(LITERAL_MEANINGS + (symbol << 2), <u32>ENTRY_EXCEPTION);
  for (let symbol: u32 = 30; symbol < 32; symbol++) store<u32>(DISTANCE_MEANINGS + (symbol << 2), <u32>ENTRY_EXCEPTION);
  buildFixed();
}

function buildFixed(): void {
  memory.fill(FIXED_LITERALS, 8, 144);
  memory.fill(FIXED_LITERALS + 144, 9, 112);
  memory.fill(FIXED_LITERALS + 256, 7, 24);
  memory.fill(FIXED_LITERALS + 280, 8, 8);
  sortSymbols(FIXED_LITERALS, MAX_LITERALS);
  fillTable(FIXED_LITERALS, LITERAL_BITS, LITERAL_MEANINGS);
  memory.fill(FIXED_DISTANCES, 5, MAX_DISTANCES);
  sortSymbols(FIXED_DISTANCES, MAX_DISTANCES);
  fillTable(FIXED_DISTANCES, DISTANCE_BITS, DISTANCE_MEANINGS);
}

/** Whether the tables hold the fixed code: a stream of many small blocks then pays for one copy. */
let fixedInUse: bool = false;

/** Selects the fixed code. */
export function useFixed(): void {
  if (fixedInUse) return;
  memory.copy(LITERALS, FIXED_LITERALS, LITERAL_ENTRIES * 4);
  memory.copy(DISTANCES, FIXED_DISTANCES, DISTANCE_ENTRIES * 4);
  fixedInUse = true;
}

/**
 * Builds the code of literals and lengths from one byte of code length per symbol. Returns false when that is no code.
 */
export function buildLiterals(lengths: usize, symbols: u32): bool {
  fixedInUse = false;
  sortSymbols(lengths, symbols);
  return buildLenient(LITERALS, LITERAL_BITS, LITERAL_MEANINGS);
}

export function buildDistances(lengths: usize, symbols: u32): bool {
  fixedInUse = false;
  sortSymbols(lengths, symbols);
  return buildLenient(DISTANCES, DISTANCE_BITS, DISTANCE_MEANINGS);
}

/** The code of code lengths has to be complete. */
export function buildLengths(lengths: usize, symbols: u32): bool {
  sortSymbols(lengths, symbols);
  if (unusedCodes() != 0) return false;
  fillTable(LENGTHS, LENGTH_BITS, LENGTH_MEANINGS);
  return true;
}

/**
 * Accepts what zlib accepts: a complete code, a single code of one bit, or no code at all. Using an absent code is a
 * fault later.
 */
function buildLenient(table: usize, tableBits: u32, meanings: usize): bool {
  const unused = unusedCodes();
  if (unused == 0) {
    fillTable(table, tableBits, meanings);
    return true;
  }
  const none = unused == ALL_CODES;
  if (!none && (unused != ALL_CODES >> 1 || load<u32>(COUNTS, 4) != 1)) return false;
  const entry = none ? <u32>ENTRY_EXCEPTION : entryOf(meanings, 0, 1);
  for (let i: usize = 0; i < (<usize>4) << tableBits; i += 8) {
    store<u32>(table + i, entry);
    store<u32>(table + i, <u32>ENTRY_EXCEPTION, 4);
  }
  return true;
}

/** The number of free codes of the greatest length; negative when there are too many codes. */
function unusedCodes(): i32 {
  let left: i32 = 1;
  for (let length: u32 = 1; length <= MAX_CODE_BITS; length++) {
    left = (left << 1) - load<i32>(COUNTS + (length << 2));
    if (left < 0) return -1;
  }
  return left;
}

/**
 * Which of the 16 symbols from `first` on have a code, one bit each. A loop over the bits takes half the time of a loop
 * over the symbols, because the processor cannot predict which symbols have none.
 */
function codedSymbols(lengths: usize, first: u32, symbols: u32): u32 {
  const coded = <u32>i8x16.bitmask(i8x16.ne(v128.load(lengths + first), i64x2.splat(0)));
  const left = symbols - first;
  return left < 16 ? coded & (((<u32>1) << left) - 1) : coded;
}

function sortSymbols(lengths: usize, symbols: u32): void {
  for (let i: usize = 0; i < 64; i += 16) v128.store(COUNTS + i, i64x2.splat(0));
  for (let first: u32 = 0; first < symbols; first += 16) {
    for (let coded = codedSymbols(lengths, first, symbols); coded != 0; coded &= coded - 1) {
      const count = COUNTS + ((<usize>load<u8>(lengths + first + ctz<u32>(coded))) << 2);
      store<u32>(count, load<u32>(count) + 1);
    }
  }
  let start: u32 = 0;
  for (let length: u32 = 1; length <= MAX_CODE_BITS; length++) {
    store<u32>(STARTS + (length << 2), start);
    start += load<u32>(COUNTS + (length << 2));
  }
  for (let first: u32 = 0; first < symbols; first += 16) {
    for (let coded = codedSymbols(lengths, first, symbols); coded != 0; coded &= coded - 1) {
      const symbol = first + ctz<u32>(coded);
      const place = STARTS + ((<usize>load<u8>(lengths + symbol)) << 2);
      const rank = load<u32>(place);
      store<u16>(SORTED + (rank << 1), <u16>symbol);
      store<u32>(place, rank + 1);
    }
  }
}

function entryOf(meanings: usize, rank: u32, bits: u32): u32 {
  return load<u32>(meanings + ((<usize>load<u16>(SORTED + (rank << 1))) << 2)) + (bits << 8) + bits;
}

/** The code after `code`, counted from the bit that is read last. Never called for the last code, which is all ones. */
function nextCode(code: u32, length: u32): u32 {
  const bit = (<u32>1) << (31 - clz<u32>(code ^ (((<u32>1) << length) - 1)));
  return (code & (bit - 1)) | bit;
}

/** Most copies are small, and `memory.copy` is a call into the engine. */
function doubleTable(table: usize, size: u32): void {
  const bytes = (<usize>size) << 2;
  if (bytes < 16) for (let i: usize = 0; i < bytes; i += 4) store<u32>(table + bytes + i, load<u32>(table + i));
  else for (let i: usize = 0; i < bytes; i += 16) v128.store(table + bytes + i, v128.load(table + i));
}

/**
 * Fills a table from the sorted symbols of a complete code. A code is written once; each additional bit doubles the
 * table.
 */
function fillTable(table: usize, tableBits: u32, meanings: usize): void {
  let code: u32 = 0;
  let rank: u32 = 0;
  let size: u32 = 1;
  for (let length: u32 = 1; length <= tableBits; length++) {
    doubleTable(table, size);
    size <<= 1;
    for (let left = load<u32>(COUNTS + (length << 2)); left > 0; left--) {
      store<u32>(table + (code << 2), entryOf(meanings, rank++, length));
      if (code == size - 1) {
        for (; length < tableBits; length++) {
          doubleTable(table, size);
          size <<= 1;
        }
        return;
      }
      code = nextCode(code, length);
    }
  }
  fillSubtables(table, tableBits, meanings, code, rank);
}

/**
 * The codes that are longer than the first table's index, from `code` on: adjacent codes with the same first bits share
 * a table.
 */
function fillSubtables(table: usize, tableBits: u32, meanings: usize, code: u32, rank: u32): void {
  const firstBits = ((<u32>1) << tableBits) - 1;
  let prefix: u32 = u32.MAX_VALUE;
  let start: u32 = 0;
  let end: u32 = 1 << tableBits;
  for (let length = tableBits + 1; ; length++) {
    const count = load<u32>(COUNTS + (length << 2));
    for (let left = count; left > 0; left--) {
      if ((code & firstBits) != prefix) {
        prefix = code & firstBits;
        start = end;
        const bits = subtableBits(length - tableBits, left, tableBits);
        end = start + ((<u32>1) << bits);
        store<u32>(
          table + (prefix << 2),
          (start << 16) | <u32>(ENTRY_EXCEPTION | ENTRY_SUBTABLE) | (bits << 8) | tableBits,
        );
      }
      const entry = entryOf(meanings, rank++, length - tableBits);
      const stride = (<u32>1) << (length - tableBits);
      for (let i = start + (code >> tableBits); i < end; i += stride) store<u32>(table + (i << 2), entry);
      if (code == ((<u32>1) << length) - 1) return;
      code = nextCode(code, length);
    }
  }
}

/** The index bits of a second table that begins with the `left` codes of length `bits`. */
function subtableBits(bits: u32, left: u32, tableBits: u32): u32 {
  let used = left;
  while (used < (<u32>1) << bits) {
    bits++;
    used = (used << 1) + load<u32>(COUNTS + ((tableBits + bits) << 2));
  }
  return bits;
}
