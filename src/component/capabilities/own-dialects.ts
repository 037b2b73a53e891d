/**
 * The dialects that a configuration adds to one pipeline. `normalization` has them as options; `privacy` needs to know
 * their content and `pricing` their stated costs.
 */
import type { Capability } from './capability.ts';

/** `T` is the type of a dialect, which components may not name here. The list is empty without such dialects. */
export function ownDialects<T>(pipeline: string | undefined): Capability<T[]> {
  return { name: `own dialects of ${pipeline ?? 'a pipeline'}` };
}
