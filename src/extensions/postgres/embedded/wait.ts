/** Polls for a condition without a notification: a process has ended, a server answers. */
import { setTimeout as pause } from 'node:timers/promises';

export interface WaitLimits {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 200;

/** Polls at growing intervals until the result is not undefined. Returns undefined at the timeout. */
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
