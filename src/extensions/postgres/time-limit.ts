/** A time limit for an answer of the database that does not count pauses of this process. */

/** A timer that is late by more than this part of its time shows that the process itself was paused. */
const LATE_PART = 0.25;

/** Settles as the promise does, or rejects when it has not settled after `limitMs`. */
export function within<T>(limitMs: number, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout;
    const wait = (): void => {
      const due = performance.now() + limitMs;
      timer = setTimeout(() => {
        // After a pause the answer may have arrived unread: the sockets are read before the next decision.
        if (performance.now() - due > limitMs * LATE_PART) return wait();
        setImmediate(() => reject(new Error(`no answer within ${limitMs} ms`)));
      }, limitMs);
    };
    wait();
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
