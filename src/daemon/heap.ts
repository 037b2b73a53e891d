/**
 * How far the heap of the daemon may grow before it is collected. By the rule of the engine a heap of 16 MiB would be marked again
 * after a few MiB. The heap holds what requests that wait need, so a larger factor would keep a multiple of that as garbage.
 */
import { setFlagsFromString } from 'node:v8';

/** It may double. The limit of the engine on the heap as a whole stays. */
const GROWING_PERCENT = 100;

/** Takes effect with the next collection; the flag is read anew at each. */
export function letHeapGrow(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWING_PERCENT}`);
}
