/**
 * The places where a long call may pause. The build makes two modules: in the first nothing pauses; in the second the
 * functions that lead to `pause` are rewritten so that the host can unwind the call there and resume it later
 * (Binaryen's Asyncify). The second is about half as fast and is used only for large bodies.
 */

/** Whether this is the module that pauses. The build makes it a constant. */
// @ts-ignore: decorator
@external("host", "pauses")
export declare const pauses: bool;

/** Returns at once, or unwinds the whole call until the host resumes it. */
// @ts-ignore: decorator
@external("host", "pause")
declare function pause(): void;

/** The host is asked once in this many iterations, which take some ten microseconds. */
const INTERVAL: u32 = 1024;
let left: u32 = INTERVAL;

/** Called for each large piece of a text. */
export function pauseNow(): void {
  if (pauses) pause();
}

/** Called in every loop whose length is limited only by the size of the body. */
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

/** A loop over one text asks the host once in so many bytes, which take some tens of microseconds. */
export const PAUSE_BYTES: usize = 16384;

/** The end of a piece from `at` on, up to `end`: a loop that ends there calls `pauseNow` outside of it. */
export function pieceEnd(at: usize, end: usize): usize {
  return pauses ? min(at + PAUSE_BYTES, end) : end;
}

/** Called in a loop over a text of any length, at `at`; returns the address from which it asks again. */
// @ts-ignore: decorator
@inline
export function mayPauseAt(at: usize, mark: usize): usize {
  if (!pauses || at < mark) return mark;
  pause();
  return at + PAUSE_BYTES;
}
