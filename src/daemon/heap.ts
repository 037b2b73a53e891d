/**
 * How far the heap of the daemon may grow before it is collected. By the rule of the engine a heap of 16 MiB would be
 * marked again after a few MiB, and the buffers that bodies arrive in count as growth: the heap would be marked every
 * hundred requests. A fixed factor would keep a multiple of a large heap as garbage. So the heap may grow by a fixed
 * number of bytes.
 *
 * The young generation of Node.js 20 and 22 grows to 32 MiB, and is collected after 32 MiB of new buffers. Node.js 24
 * allows 64 MiB for each. Few objects outlive a pass, so more room saves no time.
 */
import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, getHeapStatistics, setFlagsFromString } from 'node:v8';
import { beginCollection } from '../service/collect-garbage.ts';

/** Room for buffers, which the engine frees without marking after every 32 MiB of new ones, and for old objects. */
const HEADROOM_BYTES = 56 * 1024 * 1024;
const MIN_PERCENT = 20;
const MAX_PERCENT = 300;
/** Both halves. The engine doubles it, so it is reached exactly. */
const MAX_YOUNG_BYTES = 16 * 1024 * 1024;
const YOUNG_SPACE = 'new_space';
/** Doubled by the engine for each half. Its default is 8 before this version of V8, and 32 since. */
const BUFFERS_FLAG = '--scavenger-max-new-space-capacity-mb=8';
const BUFFERS_FLAG_SINCE = 13;
/**
 * Since this version V8 keeps the pages that its heap has given up (some 30 MiB, `pooled` of `--trace-gc`) until a
 * collection that is to reduce memory.
 */
const POOL_SINCE = 13;

const isSince = (version: number): boolean => Number.parseInt(process.versions.v8, 10) >= version;

/** Takes effect with the next collection, because the engine reads the flags at each. */
export function letHeapGrow(): void {
  if (isSince(BUFFERS_FLAG_SINCE)) setFlagsFromString(BUFFERS_FLAG);
  setGrowth();
  new PerformanceObserver(setGrowth).observe({ entryTypes: ['gc'] });
}

function setGrowth(): void {
  const percent = (HEADROOM_BYTES * 100) / getHeapStatistics().used_heap_size;
  setFlagsFromString(`--heap-growing-percent=${Math.round(Math.min(MAX_PERCENT, Math.max(MIN_PERCENT, percent)))}`);
  const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === YOUNG_SPACE)?.space_size ?? 0;
  setFlagsFromString(`--semi-space-growth-factor=${young < MAX_YOUNG_BYTES ? 2 : 1}`);
}

/**
 * `beginCollection`, which also returns the pages that the engine keeps for the heap to grow again. It then removes a
 * part of the compiled code.
 */
export function beginReducingCollection(): void {
  // The engine reads this flag when a collection begins.
  if (isSince(POOL_SINCE)) setFlagsFromString('--optimize-for-size');
  beginCollection();
  setFlagsFromString('--no-optimize-for-size');
}
