/**
 * Units of time. Nanoseconds are bigints, because a time in nanoseconds exceeds 2^53. Loops over all rows have
 * constants of their own, which are faster than imported ones.
 */
export const SECOND_MS = 1_000;
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;
export const DAY_S = 86_400;

export const MS_NS = 1_000_000n;
export const SECOND_NS = 1_000_000_000n;
export const HOUR_NS = 3_600_000_000_000n;
export const DAY_NS = 86_400_000_000_000n;

/** For durations and approximate times, which are numbers. */
export const NS_PER_MS = 1_000_000;
