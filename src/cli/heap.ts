/**
 * How the daemon's heap may grow. What lives in it is small and hardly changes; what comes and goes with every request are the
 * buffers of bodies, which the engine counts with it. By its own rule it would mark the whole heap again every hundred requests.
 */
import { setFlagsFromString } from 'node:v8';

/** A heap of 16 MiB may grow to 64 MiB before it is marked. The engine's limit on the heap as a whole stays. */
const GROWING_PERCENT = 300;

/** Takes effect with the next collection; the flag is read anew at each. */
export function letHeapGrow(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWING_PERCENT}`);
}
