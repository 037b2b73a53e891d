/** Time and timers. Tests pass their own. */
export interface Clock {
  /** Milliseconds since 1970, for dates in headers. */
  wallMs(): number;
  /** Milliseconds from an arbitrary point that never move backwards, for limits. */
  monotonicMs(): number;
  /** Runs the task after the delay. The result cancels it. An idle timer does not keep the process running. */
  after(delayMs: number, task: () => void, options?: { readonly idle?: boolean }): () => void;
}

export const SYSTEM_CLOCK: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after: (delayMs, task, options) => {
    const timer = setTimeout(task, delayMs);
    if (options?.idle === true) timer.unref();
    return () => clearTimeout(timer);
  },
};

export function waitMs(clock: Clock, delayMs: number): Promise<void> {
  return new Promise((resolve) => void clock.after(delayMs, resolve));
}

/** Waits for the promise, at most the given time. False when the time ran out first. A failure counts as finished. */
export function settledWithin(clock: Clock, limitMs: number, promise: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const cancel = clock.after(limitMs, () => resolve(false));
    const finish = (): void => {
      cancel();
      resolve(true);
    };
    promise.then(finish, finish);
  });
}
