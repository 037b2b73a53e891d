/**
 * Waiting for a condition of the outside world (a process gone, a server answering) that nobody announces.
 */
import { setTimeout as pause } from 'node:timers/promises';

export interface WaitLimits {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 200;

/** Asks again, at growing intervals, until the answer is not undefined; undefined when the time is over. */
export async function waitFor<T>(ask: () => Promise<T | undefined>, limits: WaitLimits): Promise<T | undefined> {
  const deadline = performance.now() + limits.timeoutMs;
  for (let interval = FIRST_PAUSE_MS; ; interval = Math.min(interval * 1.5, LONGEST_PAUSE_MS)) {
    limits.signal?.throwIfAborted();
    const answer = await ask();
    if (answer !== undefined) return answer;
    if (performance.now() >= deadline) return undefined;
    await pause(interval, undefined, limits.signal === undefined ? {} : { signal: limits.signal });
  }
}
