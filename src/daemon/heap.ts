/**
 * How far the heap of the daemon may grow before it is collected. By the rule of the engine a heap of 16 MiB would be
 * marked again after a few MiB, and the buffers that bodies arrive in count as growth: the heap would be marked every
 * hundred requests. A fixed factor would keep a multiple of a large heap as garbage. So the heap may grow by a fixed
 * number of bytes.
 */
import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';

/** Room for what the engine frees without marking: it does so after every 32 MiB of new buffers. */
const HEADROOM_BYTES = 40 * 1024 * 1024;
const MIN_PERCENT = 20;
const MAX_PERCENT = 300;

/** Takes effect with the next collection, because the engine reads the flag at each. */
export function letHeapGrow(): void {
  setGrowth();
  new PerformanceObserver(setGrowth).observe({ entryTypes: ['gc'] });
}

function setGrowth(): void {
  const percent = (HEADROOM_BYTES * 100) / getHeapStatistics().used_heap_size;
  setFlagsFromString(`--heap-growing-percent=${Math.round(Math.min(MAX_PERCENT, Math.max(MIN_PERCENT, percent)))}`);
}
