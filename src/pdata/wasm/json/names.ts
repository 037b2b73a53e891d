/**
 * Unknown member names, kept until their object ends and then checked for duplicates. The names of an object are stored
 * on top of those of the enclosing objects, so one hash table, built when an object closes, serves all depths.
 *
 * The rows and the table are in the output region: nothing is encoded while a body is indexed.
 */
import { FAIL_BUDGET, FAIL_PAYLOAD, MAX_MAP_ENTRIES, OUTPUT_BASE, OUTPUT_CAPACITY } from '../../layout';
import { fail } from '../fail';
import { hashKey } from '../symbols';
import { sameBytes } from '../text';

/** A name: its position (decoded), its length, its hash (when a table is built), and an address of the caller. */
export const NAME_STRIDE: usize = 16;
export const NAME_OFFSET: usize = 0;
export const NAME_LENGTH: usize = 4;
const NAME_HASH: usize = 8;
export const NAME_MARK: usize = 12;

/**
 * Half of the region is for the rows, half for the table; no body within the size limit has enough names to fill
 * either.
 */
const NAMES_END: usize = OUTPUT_BASE + OUTPUT_CAPACITY / 2;
const SLOTS: usize = NAMES_END;
/** Up to this many names are compared pairwise. */
export const FEW_NAMES: u32 = 12;

let namesTop: usize = OUTPUT_BASE;

export function resetNames(): void {
  namesTop = OUTPUT_BASE;
}

/** The start of the names of an object that opens now. */
export function namesMark(): usize {
  return namesTop;
}

/** `at`: the place for a refusal, as a decoded name is not in the body. */
export function addName(offset: usize, length: u32, at: usize): void {
  if (namesTop + NAME_STRIDE > NAMES_END) fail(FAIL_BUDGET, at);
  store<u64>(namesTop, <u64>offset | ((<u64>length) << 32));
  store<u32>(namesTop, <u32>at, NAME_MARK);
  namesTop += NAME_STRIDE;
}

// @ts-ignore: decorator
@inline
export function sameName(a: usize, b: usize): bool {
  const length = load<u32>(a, NAME_LENGTH);
  return load<u32>(b, NAME_LENGTH) == length && sameBytes(load<u32>(a, NAME_OFFSET), load<u32>(b, NAME_OFFSET), length);
}

/** Forgets the names from `base` on; `fail`s when two are equal. */
export function closeNames(base: usize): void {
  if (namesTop - base > NAME_STRIDE) refuseDuplicates(base);
  namesTop = base;
}

function refuseDuplicates(base: usize): void {
  const count = <u32>((namesTop - base) / NAME_STRIDE);
  if (count > <u32>MAX_MAP_ENTRIES) fail(FAIL_BUDGET, load<u32>(base, NAME_MARK));
  if (count > FEW_NAMES) return refuseDuplicatesByTable(base, count);
  for (let row = base + NAME_STRIDE; row < namesTop; row += NAME_STRIDE) {
    for (let earlier = base; earlier < row; earlier += NAME_STRIDE) {
      if (sameName(earlier, row)) fail(FAIL_PAYLOAD, load<u32>(row, NAME_MARK));
    }
  }
}

function refuseDuplicatesByTable(base: usize, count: u32): void {
  const slots = slotCount(count);
  memory.fill(SLOTS, 0, (<usize>slots) << 2);
  for (let index: u32 = 0; index < count; index++) {
    if (!insertName(SLOTS, slots, base, index))
      fail(FAIL_PAYLOAD, load<u32>(base + <usize>index * NAME_STRIDE, NAME_MARK));
  }
}

/** A power of two that leaves at least half of the table free. */
export function slotCount(count: u32): u32 {
  return (<u32>1) << (33 - clz(count));
}

/** Inserts name `index` of the rows at `rows` into the zeroed table; false when it has an equal name already. */
export function insertName(table: usize, slots: u32, rows: usize, index: u32): bool {
  const row = rows + <usize>index * NAME_STRIDE;
  const hash = hashKey(load<u32>(row, NAME_OFFSET), load<u32>(row, NAME_LENGTH));
  store<u32>(row, hash, NAME_HASH);
  let slot = hash & (slots - 1);
  while (true) {
    const at = table + ((<usize>slot) << 2);
    const taken = load<u32>(at);
    if (!taken) {
      store<u32>(at, index + 1);
      return true;
    }
    const other = rows + <usize>(taken - 1) * NAME_STRIDE;
    if (load<u32>(other, NAME_HASH) == hash && sameName(other, row)) return false;
    slot = (slot + 1) & (slots - 1);
  }
}
