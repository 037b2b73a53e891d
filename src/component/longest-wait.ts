/**
 * The longest delay of a timer. Node.js fires longer timers at once, so the options that set timers have this maximum.
 */

/** In milliseconds: the whole days below 2³¹ ms. */
export const LONGEST_WAIT_MS = 24 * 86_400_000;
