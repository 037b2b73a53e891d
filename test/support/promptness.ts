/**
 * Whether something ends at once, asked so that a busy machine can not change the answer: in processor time of this process, and as
 * the best of several attempts. What never ends is stopped by the time of the whole file.
 */
import { ownProcessorMs } from '../../bench/processor-time.ts';

/** A collector, a compiler or neighbours in the cache make one attempt slow, hardly all of them. */
const ATTEMPTS = 10;

export async function isPrompt(limitMs: number, work: () => unknown): Promise<boolean> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const before = ownProcessorMs();
    await work();
    if (ownProcessorMs() - before <= limitMs) return true;
  }
  return false;
}
