/**
 * Columns that adjacent rows share are rendered once: the first row of a piece renders them, and the later ones copy
 * the bytes while they are in the CPU cache. Nothing is kept beyond a piece, since the next one overwrites it.
 */
import { copyBytes, out, room, setOut } from './output';

/** One entry for each group of columns. */
export const REPEAT_OWNER: u32 = 0;
export const REPEAT_SOURCE: u32 = 1;
export const REPEAT_NOTHING_DERIVED: u32 = 2;
export const REPEAT_RECEIVED_AT: u32 = 3;

// An entry holds the key of the columns (0: none yet), their position in the output, and their length.
const PLACE_SHIFT: usize = 4;
const PLACE_FROM: usize = 8;
const PLACE_LENGTH: usize = 12;
const PLACES_BYTES: usize = 4 << 4;
const places = memory.data(64, 16);

/** A key for columns that are the same in every row. */
export const ALWAYS: u64 = 1;

/** Called at the beginning of each piece. */
export function forgetRepeats(): void {
  memory.fill(places, 0, PLACES_BYTES);
}

/** Repeats the columns if they were remembered under the same key; else returns false. */
// @ts-ignore: decorator
@inline
export function putRepeat(place: u32, key: u64): bool {
  const at = places + ((<usize>place) << PLACE_SHIFT);
  if (load<u64>(at) != key) return false;
  const length = <usize>load<u32>(at, PLACE_LENGTH);
  room(length + 64);
  setOut(copyBytes(out, load<u32>(at, PLACE_FROM), length));
  return true;
}

/** Remembers that the output since `from` was rendered from `key`, which is not 0. */
export function rememberRepeat(place: u32, key: u64, from: usize): void {
  const at = places + ((<usize>place) << PLACE_SHIFT);
  store<u64>(at, key);
  store<u32>(at, <u32>from, PLACE_FROM);
  store<u32>(at, <u32>(out - from), PLACE_LENGTH);
}
