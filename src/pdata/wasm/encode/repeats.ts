/**
 * What neighbouring rows have in common is written once: the first row of a piece renders it, those after it copy the bytes from
 * there while the processor still holds them. Nothing outlives its piece, since the next one is written over it.
 */
import { copyBytes, out, room, setOut } from "./output";

/** One place for each group of columns. */
export const REPEAT_OWNER: u32 = 0;
export const REPEAT_SOURCE: u32 = 1;
export const REPEAT_NOTHING_DERIVED: u32 = 2;
export const REPEAT_RECEIVED_AT: u32 = 3;

// A place holds what the columns were made from (0: nothing yet), where they begin in the output, and their length.
const PLACE_SHIFT: usize = 4;
const PLACE_FROM: usize = 8;
const PLACE_LENGTH: usize = 12;
const PLACES_BYTES: usize = 4 << 4;
const places = memory.data(64, 16);

/** A key for columns that are the same in every row. */
export const ALWAYS: u64 = 1;

/** To be called wherever a piece begins. */
export function forgetRepeats(): void {
  memory.fill(places, 0, PLACES_BYTES);
}

/** Puts the columns again that were remembered under the same key; false when others were, or none. */
// @ts-ignore: decorator
@inline
export function putRepeat(place: u32, key: u64): bool {
  const at = places + (<usize>place << PLACE_SHIFT);
  if (load<u64>(at) != key) return false;
  const length = <usize>load<u32>(at, PLACE_LENGTH);
  room(length + 64);
  setOut(copyBytes(out, load<u32>(at, PLACE_FROM), length));
  return true;
}

/** Remembers that what stands in the output since `from` was made from `key`, which is not 0. */
// @ts-ignore: decorator
@inline
export function rememberRepeat(place: u32, key: u64, from: usize): void {
  const at = places + (<usize>place << PLACE_SHIFT);
  store<u64>(at, key);
  store<u32>(at, <u32>from, PLACE_FROM);
  store<u32>(at, <u32>(out - from), PLACE_LENGTH);
}
