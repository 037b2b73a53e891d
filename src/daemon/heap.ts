/**
 * Sets how far the heap may grow before it is collected. By V8's default rule, a heap of 16 MiB is collected again
 * after a few MiB. The heap holds the data of waiting requests, so a larger factor would keep a multiple of that as
 * garbage.
 */
import { setFlagsFromString } from 'node:v8';

/** The heap may double. V8's limit on the total heap size still applies. */
const GROWING_PERCENT = 100;

/** Takes effect with the next collection: V8 reads the flag at each one. */
export function letHeapGrow(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWING_PERCENT}`);
}
