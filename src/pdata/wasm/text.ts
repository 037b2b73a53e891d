/**
 * Raw UTF-8 for both indexers and the symbols: checking it and finding what JSON output has to escape, in one pass, and
 * comparing it. All functions load 16 bytes even at the end of a text (the slack of every region allows it) and mask
 * the bytes past the end, since most texts are shorter than a block.
 */
import { TEXT_HAS_NUL, TEXT_NEEDS_ESCAPE } from '../layout';

/** The result of `classifyText` for bytes that are not UTF-8. */
export const TEXT_INVALID: i32 = -1;

// The classes of the three-table check below: bits of the possible faults of two adjacent bytes.
const TOO_SHORT: i8 = 1; // a lead byte, then no continuation
const TOO_LONG: i8 = 2; // ASCII, then a continuation
const OVERLONG_3: i8 = 4; // E0, then 80…9F
const TOO_LARGE: i8 = 8; // F4, then 90…BF, or a lead above F4
const SURROGATE: i8 = 16; // ED, then A0…BF
const OVERLONG_2: i8 = 32; // C0 or C1
const TOO_LARGE_1000: i8 = 64; // F5… then 80…8F; shares its bit with an overlong of four bytes
const OVERLONG_4: i8 = 64; // F0, then 80…8F
const TWO_CONTS: i8 = -128; // two continuations, right only as third or fourth byte
const CARRY: i8 = TOO_SHORT | TOO_LONG | TWO_CONTS;

function blockMask(length: usize): v128 {
  return i8x16.lt_u(v128(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15), i8x16.splat(<i8>length));
}

/** The last 0…16 bytes of a text, followed by spaces. */
function lastBlock(at: usize, length: usize): v128 {
  return v128.bitselect(v128.load(at), i8x16.splat(0x20), blockMask(length));
}

/**
 * Non-zero where `block` violates UTF-8, given the block before it. The published three-table method (Keiser and
 * Lemire): the halves of a byte and the upper half of the next byte each select possible faults; a fault in all three
 * is one.
 */
function utf8Faults(block: v128, before: v128): v128 {
  const low = i8x16.splat(15);
  const first = i8x16.shuffle(before, block, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30);
  const firstHigh = i8x16.swizzle(
    i8x16(
      TOO_LONG,
      TOO_LONG,
      TOO_LONG,
      TOO_LONG,
      TOO_LONG,
      TOO_LONG,
      TOO_LONG,
      TOO_LONG,
      TWO_CONTS,
      TWO_CONTS,
      TWO_CONTS,
      TWO_CONTS,
      TOO_SHORT | OVERLONG_2,
      TOO_SHORT,
      TOO_SHORT | OVERLONG_3 | SURROGATE,
      TOO_SHORT | TOO_LARGE | TOO_LARGE_1000 | OVERLONG_4,
    ),
    i8x16.shr_u(first, 4),
  );
  const firstLow = i8x16.swizzle(
    i8x16(
      CARRY | OVERLONG_3 | OVERLONG_2 | OVERLONG_4,
      CARRY | OVERLONG_2,
      CARRY,
      CARRY,
      CARRY | TOO_LARGE,
      CARRY | TOO_LARGE | TOO_LARGE_1000,
      CARRY | TOO_LARGE | TOO_LARGE_1000,
      CARRY | TOO_LARGE | TOO_LARGE_1000,
      CARRY | TOO_LARGE | TOO_LARGE_1000,
      CARRY | TOO_LARGE | TOO_LARGE_1000,
      CARRY | TOO_LARGE | TOO_LARGE_1000,
      CARRY | TOO_LARGE | TOO_LARGE_1000,
      CARRY | TOO_LARGE | TOO_LARGE_1000,
      CARRY | TOO_LARGE | TOO_LARGE_1000 | SURROGATE,
      CARRY | TOO_LARGE | TOO_LARGE_1000,
      CARRY | TOO_LARGE | TOO_LARGE_1000,
    ),
    v128.and(first, low),
  );
  const secondHigh = i8x16.swizzle(
    i8x16(
      TOO_SHORT,
      TOO_SHORT,
      TOO_SHORT,
      TOO_SHORT,
      TOO_SHORT,
      TOO_SHORT,
      TOO_SHORT,
      TOO_SHORT,
      TOO_LONG | OVERLONG_2 | TWO_CONTS | OVERLONG_3 | TOO_LARGE_1000 | OVERLONG_4,
      TOO_LONG | OVERLONG_2 | TWO_CONTS | OVERLONG_3 | TOO_LARGE,
      TOO_LONG | OVERLONG_2 | TWO_CONTS | SURROGATE | TOO_LARGE,
      TOO_LONG | OVERLONG_2 | TWO_CONTS | SURROGATE | TOO_LARGE,
      TOO_SHORT,
      TOO_SHORT,
      TOO_SHORT,
      TOO_SHORT,
    ),
    i8x16.shr_u(block, 4),
  );
  const faults = v128.and(v128.and(firstHigh, firstLow), secondHigh);
  // Third and fourth bytes must be continuations after continuations, and no other byte may be one.
  const third = i8x16.sub_sat_u(
    i8x16.shuffle(before, block, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29),
    i8x16.splat(0x60),
  );
  const fourth = i8x16.sub_sat_u(
    i8x16.shuffle(before, block, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28),
    i8x16.splat(0x70),
  );
  return v128.xor(v128.and(v128.or(third, fourth), i8x16.splat(-128)), faults);
}

function quotes(block: v128): v128 {
  return v128.or(i8x16.eq(block, i8x16.splat(0x22)), i8x16.eq(block, i8x16.splat(0x5c)));
}

/** Checks UTF-8 and classifies a text: text flags, or TEXT_INVALID. */
export function classifyText(offset: usize, length: u32): i32 {
  return length <= 16 ? classifyBlock(offset, length) : classifyBlocks(offset, length);
}

/** At most 16 bytes. Most of them are plain ASCII, and most texts are this short. */
function classifyBlock(offset: usize, length: u32): i32 {
  const spaces = i8x16.splat(0x20);
  const block = lastBlock(offset, length);
  if (i8x16.bitmask(block)) {
    const faults = v128.or(utf8Faults(block, spaces), utf8Faults(spaces, block));
    if (v128.any_true(faults)) return TEXT_INVALID;
  }
  if (!v128.any_true(v128.or(quotes(block), i8x16.lt_u(block, spaces)))) return 0;
  return i8x16.all_true(block) ? TEXT_NEEDS_ESCAPE : TEXT_NEEDS_ESCAPE | TEXT_HAS_NUL;
}

function classifyBlocks(offset: usize, length: u32): i32 {
  const end = offset + length;
  let at = offset;
  let before = i8x16.splat(0x20);
  let lowest = before; // The least byte at each position finds control characters and NUL.
  let special = i8x16.splat(0);
  let faults = i8x16.splat(0);
  while (at + 64 <= end) {
    const a = v128.load(at);
    const b = v128.load(at, 16);
    const c = v128.load(at, 32);
    const d = v128.load(at, 48);
    lowest = i8x16.min_u(lowest, i8x16.min_u(i8x16.min_u(a, b), i8x16.min_u(c, d)));
    special = v128.or(special, v128.or(v128.or(quotes(a), quotes(b)), v128.or(quotes(c), quotes(d))));
    if (i8x16.bitmask(v128.or(v128.or(v128.or(a, b), v128.or(c, d)), before))) {
      faults = v128.or(faults, v128.or(utf8Faults(a, before), utf8Faults(b, a)));
      faults = v128.or(faults, v128.or(utf8Faults(c, b), utf8Faults(d, c)));
    }
    before = d;
    at += 64;
  }
  while (at < end) {
    const block = at + 16 <= end ? v128.load(at) : lastBlock(at, end - at);
    lowest = i8x16.min_u(lowest, block);
    special = v128.or(special, quotes(block));
    if (i8x16.bitmask(v128.or(block, before))) faults = v128.or(faults, utf8Faults(block, before));
    before = block;
    at += 16;
  }
  // A sequence that the end cuts off is detected by the space that follows.
  if (i8x16.bitmask(before)) faults = v128.or(faults, utf8Faults(i8x16.splat(0x20), before));
  if (v128.any_true(faults)) return TEXT_INVALID;
  special = v128.or(special, i8x16.lt_u(lowest, i8x16.splat(0x20)));
  if (!v128.any_true(special)) return 0;
  return i8x16.all_true(lowest) ? TEXT_NEEDS_ESCAPE : TEXT_NEEDS_ESCAPE | TEXT_HAS_NUL;
}

/** Whether two texts of the same length have the same bytes. */
export function sameBytes(a: usize, b: usize, length: usize): bool {
  while (length > 16) {
    if (i8x16.bitmask(i8x16.eq(v128.load(a), v128.load(b))) != 0xffff) return false;
    a += 16;
    b += 16;
    length -= 16;
  }
  const equal = i8x16.bitmask(i8x16.eq(v128.load(a), v128.load(b)));
  return ((equal | (0xffff << (<i32>length))) & 0xffff) == 0xffff;
}
