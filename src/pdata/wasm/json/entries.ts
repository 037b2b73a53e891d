/**
 * Entries of a nested map on their way out: each is noted with the name it was written under, and what a later one of the same
 * name supersedes is taken out of the output again, so that no part of the source is walked twice.
 */
import { HEADER_BASE, HEADER_SCRATCH } from "../../layout";
import { allocateScratch } from "../tables";
import { FEW_NAMES, NAME_LENGTH, NAME_MARK, NAME_OFFSET, NAME_STRIDE, insertName, sameName, slotCount } from "./names";

/** The length of a name whose entry is superseded. */
const SUPERSEDED: u32 = 0xffffffff;

/**
 * Notes the entry written from `start` to `end` under the name at `offset`, in the place of the one before it when that has the
 * same name; the end of the output. The rows of the map begin at `rows`.
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
  // The two entries may hold their names at different distances: an entry may begin with its value.
  store<u32>(before, <u32>(place + (offset - start)), NAME_OFFSET);
  store<u32>(HEADER_BASE, <u32>row, HEADER_SCRATCH);
  return place + (end - start);
}

/** Takes entries whose name comes again out of the output, which has the entries of `rows` from `start` to `to`; its end. */
export function removeSuperseded(rows: usize, start: usize, to: usize): usize {
  const end = <usize>load<u32>(HEADER_BASE, HEADER_SCRATCH);
  const count = <u32>((end - rows) / NAME_STRIDE);
  if (count < 3) return to; // neighbours never have the same name
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
  memory.fill(table, 0, <usize>slots << 2);
  let found = false;
  for (let left = count; left; left--) {
    if (insertName(table, slots, rows, left - 1)) continue;
    store<u32>(rows + <usize>(left - 1) * NAME_STRIDE, SUPERSEDED, NAME_LENGTH);
    found = true;
  }
  return found;
}
