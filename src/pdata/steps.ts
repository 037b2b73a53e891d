import { setImmediate } from 'node:timers/promises';

/**
 * Work in steps, so that other work can run in between. Each `next` runs for about a millisecond at most. An abandoned
 * generator gets a `return` and releases its resources in a `finally`.
 */
export type Steps<Result = void> = Generator<void, Result, void>;

/** A call that is one step. */
// biome-ignore lint/correctness/useYield: one step
export function* atOnce<Result>(call: () => Result): Steps<Result> {
  return call();
}

/** Runs all steps. The event loop is polled between two of them. */
export async function finishWithPolls<Result>(steps: Steps<Result>): Promise<Result> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    await setImmediate();
  }
}

/** Runs all steps at once. */
export function finish<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
