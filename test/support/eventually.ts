/** Waiting for a condition, without a fixed time. */
import { waitFor } from '../../src/extensions/postgres/embedded/wait.ts';
import { PATIENCE_MS } from './patience.ts';

/** Waits until the condition holds; throws after the patience of tests. */
export async function eventually(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const held = await waitFor(async () => ((await holds()) ? true : undefined), { timeoutMs: PATIENCE_MS });
  if (held === undefined) throw new Error(`never happened: ${what}`);
}
