/** How long a timer can wait. What is longer does not wait at all, so the options that set timers end here. */

/** In milliseconds: whole days below 2³¹ of them. */
export const LONGEST_WAIT_MS = 24 * 86_400_000;
