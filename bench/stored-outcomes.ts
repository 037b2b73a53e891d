/** A measurement counts only when every request was stored. */
import type { Outcome } from '../src/cli/bench/client.ts';

/** Throws when a request was answered with another status than 200. */
export function assertStored(outcomes: readonly Outcome[]): void {
  const failed = outcomes.find(({ status }) => status !== 200);
  if (failed !== undefined) throw new Error(`status ${failed.status} while measuring`);
}
