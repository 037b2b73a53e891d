/**
 * Work that is done in steps, so that other work can be done in between. Each `next` does a piece of about a millisecond at
 * most. A generator that is given up is told so with `return`, and releases what it holds in a `finally`.
 */
export type Steps<Result = void> = Generator<void, Result, void>;

/** Does all steps at once, for callers that have nothing else to do. */
export function finish<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
