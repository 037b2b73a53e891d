/** Copies within the expanded bytes. A copy may overlap its source, and may write up to 15 bytes past its end. */

/**
 * For each distance below 16: the order in which 16 loaded bytes repeat, and how far 16 of them reach without a break.
 */
const PATTERNS = memory.data(16 * 16, 16);
const STEPS = memory.data(16, 16);

export function initializePatterns(): void {
  for (let distance: u32 = 1; distance < 16; distance++) {
    for (let i: u32 = 0; i < 16; i++) store<u8>(PATTERNS + (distance << 4) + i, i % distance);
    store<u8>(STEPS + distance, 16 - (16 % distance));
  }
}

/**
 * Fills `to` up to `end` with the bytes `distance` bytes before, 16 or more. Most matches are shorter than 16 bytes.
 */
export function copyMatch(to: usize, end: usize, distance: usize): void {
  v128.store(to, v128.load(to - distance));
  for (to += 16; to < end; to += 16) v128.store(to, v128.load(to - distance));
}

/** As `copyMatch`, with a distance below 16. */
export function repeatPattern(to: usize, end: usize, distance: usize): void {
  const pattern = i8x16.swizzle(v128.load(to - distance), v128.load(PATTERNS + (distance << 4)));
  const step = <usize>load<u8>(STEPS + distance);
  do {
    v128.store(to, pattern);
    to += step;
  } while (to < end);
}
