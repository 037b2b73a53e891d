/**
 * Entries of a nested map in the output: each is recorded with its name, and entries that a later one of the same name
 * supersedes are removed from the output, so that no part of the source is walked twice.
 */
import { HEADER_BASE, HEADER_SCRATCH } from '../../layout';
import { allocateScratch } from '../tables';
import { FEW_NAMES, NAME_LENGTH, NAME_MARK, NAME_OFFSET, NAME_STRIDE, insertName, sameName, slotCount } from './names';

/** The length of a name whose entry is superseded. */
const SUPERSEDED: u32 = 0xffffffff;

/**
 * Records the entry written from `start` to `end` with the name at `offset`; it replaces the previous entry when that
 * has the same name. Returns the end of the output. The rows of the map begin at `rows`.
 */
export function appendEntry(rows: usize, offset: usize, length: u32, start: usize, end: usize): usize {
  const row = allocateScratch(<u32>NAME_STRIDE, start);
  store<u32>(row, <u32>offset, NAME_OFFSET);
  store<u32>(row, length, NAME_LENGTH);
  store<u32>(row, <u32>start, NAME_MARK);
  const before = row - NAME_STRIDE;
  if (row == rows || !sameName(before, row)) return end;
  const place = <usize>load<u32>(before, NAME_MARK);
  memory.copy(place, start, end - start);
  // The names of the two entries may have different distances: an entry may begin with its value.
  store<u32>(before, <u32>(place + (offset - start)), NAME_OFFSET);
  store<u32>(HEADER_BASE, <u32>row, HEADER_SCRATCH);
  return place + (end - start);
}

/**
 * Removes superseded entries from the output, which has the entries of `rows` from `start` to `to`. Returns its end.
 */
export function removeSuperseded(rows: usize, start: usize, to: usize): usize {
  const end = <usize>load<u32>(HEADER_BASE, HEADER_SCRATCH);
  const count = <u32>((end - rows) / NAME_STRIDE);
  if (count < 3) return to; // Adjacent entries never have the same name.
  const found = count > FEW_NAMES ? markByTable(rows, count) : markByPairs(rows, end);
  if (!found) return to;
  let target = start;
  for (let row = rows; row < end; row += NAME_STRIDE) {
    const from = <usize>load<u32>(row, NAME_MARK);
    const behind = row + NAME_STRIDE < end ? <usize>load<u32>(row, NAME_STRIDE + NAME_MARK) : to;
    if (load<u32>(row, NAME_LENGTH) == SUPERSEDED) continue;
    memory.copy(target, from, behind - from);
    target += behind - from;
  }
  return target;
}

function markByPairs(rows: usize, end: usize): bool {
  let found = false;
  for (let row = rows; row < end; row += NAME_STRIDE) {
    for (let later = row + NAME_STRIDE; later < end; later += NAME_STRIDE) {
      if (!sameName(later, row)) continue;
      store<u32>(row, SUPERSEDED, NAME_LENGTH);
      found = true;
      break;
    }
  }
  return found;
}

function markByTable(rows: usize, count: u32): bool {
  const slots = slotCount(count);
  const table = allocateScratch(slots << 2, rows);
  memory.fill(table, 0, (<usize>slots) << 2);
  let found = false;
  for (let left = count; left; left--) {
    if (insertName(table, slots, rows, left - 1)) continue;
    store<u32>(rows + <usize>(left - 1) * NAME_STRIDE, SUPERSEDED, NAME_LENGTH);
    found = true;
  }
  return found;
}
