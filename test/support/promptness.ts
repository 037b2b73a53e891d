/**
 * Whether something ends promptly, measured so that a busy machine does not change the answer: in processor time of
 * this process, and as the best of several attempts. The time limit of the test file ends work that never ends.
 */
import { ownProcessorMs } from '../../bench/processor-time.ts';

/** The garbage collector, the compiler or other processes can make one attempt slow, but hardly all of them. */
const ATTEMPTS = 10;

export async function isPrompt(limitMs: number, work: () => unknown): Promise<boolean> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const before = ownProcessorMs();
    await work();
    if (ownProcessorMs() - before <= limitMs) return true;
  }
  return false;
}
