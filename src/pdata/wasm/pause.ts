/**
 * Where long work may stop for a while. The build makes two modules of this one: in the first nothing pauses, in the second the
 * functions that lead to `pause` are rewritten so that the host can unwind the call there and resume it later (Binaryen's
 * Asyncify). The second is about half as fast, and used for large bodies only.
 */

/** Whether this is the module that pauses. The build makes it a constant. */
// @ts-ignore: decorator
@external("host", "pauses")
declare const pauses: bool;

/** Returns at once, or unwinds the whole call until the host resumes it. */
// @ts-ignore: decorator
@external("host", "pause")
declare function pause(): void;

/** The host is asked once in this many iterations: some ten microseconds. */
const INTERVAL: u32 = 1024;
let left: u32 = INTERVAL;

/** To be called for each large piece of a text. */
// @ts-ignore: decorator
@inline
export function pauseNow(): void {
  if (pauses) pause();
}

/** To be called in every loop whose length is bounded by nothing smaller than the body. */
// @ts-ignore: decorator
@inline
export function mayPause(): void {
  if (!pauses) return;
  left -= 1;
  if (left == 0) {
    left = INTERVAL;
    pause();
  }
}
