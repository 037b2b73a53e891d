/**
 * Expands one raw DEFLATE stream of the arena into the arena, as strict as zlib. There is only a fast loop without
 * bounds checks: zeros follow the source, and data decoded from them is refused afterwards (`checkConsumed`); slack
 * follows the target, and data written into it is refused afterwards (`checkProduced`).
 */
import { FAIL_INFLATE, FAIL_EXPANDED, HEADER_BASE, HEADER_INFLATED, HEADER_INFLATE_END } from '../../layout';
import { fail } from '../fail';
import { pauseNow, pieceEnd } from '../pause';
import {
  buildDistances,
  buildLengths,
  buildLiterals,
  DISTANCES,
  DISTANCE_BITS,
  ENTRY_END,
  ENTRY_EXCEPTION,
  ENTRY_LITERAL,
  ENTRY_SUBTABLE,
  initializeTables,
  LENGTHS,
  LENGTH_BITS,
  REPEATED_LENGTH,
  LITERALS,
  LITERAL_BITS,
  useFixed,
} from './code-table';
import { copyMatch, initializePatterns, repeatPattern } from './match';

const LITERAL_MASK: usize = (1 << LITERAL_BITS) - 1;
const DISTANCE_MASK: usize = (1 << DISTANCE_BITS) - 1;
const MAX_DYNAMIC_LITERALS: u32 = 286;
const MAX_DYNAMIC_DISTANCES: u32 = 30;
const END_OF_BLOCK: u32 = 256;

/** The order of the lengths of the code of code lengths. */
const LENGTH_ORDER = memory.data<u8>([16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]);
/** The lengths of all codes, and slack for runs, which are written 16 bytes at a time. */
const CODE_LENGTHS = memory.data(336, 16);

// The state of the stream between blocks and between pieces of a block. Above the `held` bits, `bits` may already hold
// further bits of the source: or-ing them again changes nothing.
let bits: u64 = 0;
let held: u64 = 0;
let source: usize = 0;
let sourceEnd: usize = 0;
let target: usize = 0;
let targetStart: usize = 0;
let targetLimit: usize = 0;

export function initializeInflate(): void {
  initializeTables();
  initializePatterns();
}

/**
 * Expands the stream at `from` to `to` and refuses output beyond `limit`. HEADER_INFLATED is then the end of the
 * expanded bytes, HEADER_INFLATE_END the byte behind the stream. There must be 64 zeros behind `end` and slack behind
 * `limit`.
 */
export function inflate(from: usize, end: usize, to: usize, limit: usize): void {
  bits = 0;
  held = 0;
  source = from;
  sourceEnd = end;
  target = to;
  targetStart = to;
  targetLimit = limit;
  let last: u64 = 0;
  while (last == 0) {
    pauseNow();
    refill();
    last = take(1);
    const kind = <u32>take(2);
    if (kind == 0) inflateStored();
    else if (kind == 3) refuse();
    else {
      if (kind == 1) useFixed();
      else readCodes();
      while (!inflateCodes()) pauseNow();
    }
    checkConsumed();
    if (target > targetLimit) fail(FAIL_EXPANDED, source);
  }
  store<u32>(HEADER_BASE, target, HEADER_INFLATED);
  store<u32>(HEADER_BASE, source - <usize>(held >> 3), HEADER_INFLATE_END);
}

/** At least 56 bits. */
function refill(): void {
  bits |= load<u64>(source) << held;
  source += <usize>((63 - held) >> 3);
  held |= 56;
}

function take(count: u64): u64 {
  const value = bits & (((<u64>1) << count) - 1);
  bits >>= count;
  held -= count;
  return value;
}

function refuse(): void {
  checkConsumed();
  fail(FAIL_INFLATE, source);
}

/** Refuses a stream that ended before its last block. */
function checkConsumed(): void {
  if (source - <usize>(held >> 3) > sourceEnd) fail(FAIL_INFLATE, sourceEnd);
}

/** A stored block, from the next whole byte on. */
function inflateStored(): void {
  const at = source - <usize>(held >> 3);
  if (at + 4 > sourceEnd) fail(FAIL_INFLATE, sourceEnd);
  const length = <usize>load<u16>(at);
  if (length != <usize>(load<u16>(at, 2) ^ 0xffff)) fail(FAIL_INFLATE, at);
  if (at + 4 + length > sourceEnd) fail(FAIL_INFLATE, sourceEnd);
  if (target + length > targetLimit) fail(FAIL_EXPANDED, at);
  memory.copy(target, at + 4, length);
  target += length;
  source = at + 4 + length;
  bits = 0;
  held = 0;
}

/** Reads the codes of a dynamic block. */
function readCodes(): void {
  const literals = <u32>take(5) + 257;
  const distances = <u32>take(5) + 1;
  const lengths = <u32>take(4) + 4;
  if (literals > MAX_DYNAMIC_LITERALS || distances > MAX_DYNAMIC_DISTANCES) refuse();
  fillLengths(CODE_LENGTHS, 0, 19);
  refill();
  for (let i: u32 = 0; i < lengths; i++) {
    if (i == 16) refill();
    store<u8>(CODE_LENGTHS + <usize>load<u8>(LENGTH_ORDER + i), <u8>take(3));
  }
  if (!buildLengths(CODE_LENGTHS, 19)) refuse();
  readCodeLengths(literals + distances);
  if (load<u8>(CODE_LENGTHS + END_OF_BLOCK) == 0) refuse();
  if (!buildLiterals(CODE_LENGTHS, literals)) refuse();
  if (!buildDistances(CODE_LENGTHS + literals, distances)) refuse();
}

/** `memory.fill` would be a call into the engine, and most runs are short. */
function fillLengths(to: usize, length: u8, count: u32): void {
  for (let i: u32 = 0; i < count; i += 16) v128.store(to + i, i8x16.splat(length));
}

/**
 * Reads `count` code lengths, run-length encoded. A run may continue from the literals into the distances, but not past
 * them. A single length is a run of one: the processor cannot predict which symbols are runs. The state of the stream
 * is in local variables, as in `inflateCodes`.
 */
function readCodeLengths(count: u32): void {
  let b = bits;
  let h = held;
  let at = source;
  let done: u32 = 0;
  let length: u32 = 0;
  while (done < count) {
    b |= load<u64>(at) << h;
    at += <usize>((63 - h) >> 3);
    h |= 56;
    const entry = <u64>load<u32>(<usize>((b & ((1 << LENGTH_BITS) - 1)) << 2), LENGTHS);
    const run = <u32>decodedValue(entry & 0xffffff, b);
    b >>= entry & 0xff;
    h -= entry & 0xff;
    const repeats = <u32>(entry >> 24) == REPEATED_LENGTH;
    if (done + run > count || repeats & (done == 0)) break;
    length = repeats ? length : <u32>(entry >> 24);
    fillLengths(CODE_LENGTHS + done, <u8>length, run);
    done += run;
  }
  keep(b, h, at, target);
  if (done < count) refuse();
  checkConsumed();
}

/** The base of an entry plus the extra bits behind its code in `from`. */
function decodedValue(entry: u64, from: u64): usize {
  return <usize>(entry >> 16) + <usize>((from & (((<u64>1) << entry) - 1)) >> (entry >> 8));
}

function literalOrLength(from: u64): u64 {
  return <u64>load<u32>((<usize>from & LITERAL_MASK) << 2, LITERALS);
}

/** The entry of a second table. */
function follow(table: usize, entry: u64, from: u64): u64 {
  const index = (entry >> 16) + (from & (((<u64>1) << (entry >> 8)) - 1));
  return <u64>load<u32>(table + <usize>(index << 2));
}

function keep(b: u64, h: u64, at: usize, out: usize): void {
  bits = b;
  held = h & 63;
  source = at;
  target = out;
}

/**
 * A block of codes, or a piece of it: returns whether the block has ended. Shifts use their count modulo 64, so an
 * entry is used as a shift count directly; `h` collects invalid bits above its low six bits in the same way, which are
 * cut off at the end.
 *
 * At the head of the loop at least 56 bits are present and the next entry is looked up. That is enough for a length
 * and a distance, 48 bits at most, or for three literals of the first table and the look-up of the next entry. Beyond
 * the end of the source the loop decodes invalid data until the block ends or the target is full, which is refused
 * then: at most two bytes of source per byte of target, and the arena has that many behind the source. The loop makes
 * no calls: values that live across a call would be written to the stack in each iteration. For the same reason the
 * function never pauses itself.
 */
function inflateCodes(): bool {
  let b = bits;
  let h = held;
  let at = source;
  let out = target;
  const limit = pieceEnd(out, targetLimit);
  b |= load<u64>(at) << h;
  at += <usize>((h & 63) ^ 63) >> 3;
  h |= 56;
  let entry = literalOrLength(b);
  while (out <= limit) {
    if (entry & ENTRY_LITERAL) {
      b >>= entry;
      h -= entry;
      store<u8>(out++, <u8>(entry >> 16));
      entry = literalOrLength(b);
      if (entry & ENTRY_LITERAL) {
        b >>= entry;
        h -= entry;
        store<u8>(out++, <u8>(entry >> 16));
        entry = literalOrLength(b);
        if (entry & ENTRY_LITERAL) {
          b >>= entry;
          h -= entry;
          store<u8>(out++, <u8>(entry >> 16));
        }
      }
      b |= load<u64>(at) << h;
      at += <usize>((h & 63) ^ 63) >> 3;
      h |= 56;
      entry = literalOrLength(b);
      continue;
    }
    if (entry & ENTRY_EXCEPTION) {
      if (entry & ENTRY_SUBTABLE) {
        b >>= entry;
        h -= entry;
        entry = follow(LITERALS, entry, b);
      }
      if (entry & ENTRY_LITERAL) {
        b >>= entry;
        h -= entry;
        store<u8>(out++, <u8>(entry >> 16));
        b |= load<u64>(at) << h;
        at += <usize>((h & 63) ^ 63) >> 3;
        h |= 56;
        entry = literalOrLength(b);
        continue;
      }
      if (entry & ENTRY_EXCEPTION) {
        keep(b >> entry, h - entry, at, out);
        if (!(entry & ENTRY_END)) refuse();
        return true;
      }
    }
    const length = decodedValue(entry, b);
    b >>= entry;
    h -= entry;
    entry = <u64>load<u32>((<usize>b & DISTANCE_MASK) << 2, DISTANCES);
    if (entry & ENTRY_EXCEPTION) {
      if (entry & ENTRY_SUBTABLE) {
        b >>= entry;
        h -= entry;
        entry = follow(DISTANCES, entry, b);
      }
      if (entry & ENTRY_EXCEPTION) {
        keep(b, h, at, out);
        refuse();
        return true;
      }
    }
    const distance = decodedValue(entry, b);
    b >>= entry;
    h -= entry;
    if (distance > out - targetStart) {
      keep(b, h, at, out);
      refuse();
      return true;
    }
    // The next symbol is looked up before the copy, so that the two overlap.
    b |= load<u64>(at) << h;
    at += <usize>((h & 63) ^ 63) >> 3;
    h |= 56;
    entry = literalOrLength(b);
    const end = out + length;
    if (distance < 16) repeatPattern(out, end, distance);
    else copyMatch(out, end, distance);
    out = end;
  }
  keep(b, h, at, out);
  checkConsumed();
  if (out > targetLimit) fail(FAIL_EXPANDED, at);
  return false;
}
