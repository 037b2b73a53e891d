/**
 * Buffers for encoded rows, used again and again: a fresh buffer of that size for every request would cost more than the
 * encoding. Sizes are powers of two; larger ones than the pool keeps are allocated and left to the garbage collector.
 */

/** The smallest and the largest buffer that is kept. */
export const MIN_CHUNK_BYTES = 16 * 1024;
export const MAX_CHUNK_BYTES = 2 * 1024 * 1024;
/** What a pool keeps at most while nobody uses it. */
const DEFAULT_POOL_BYTES = 64 * 1024 * 1024;

const SMALLEST_SHIFT = Math.log2(MIN_CHUNK_BYTES);
const SIZE_CLASSES = Math.log2(MAX_CHUNK_BYTES) - SMALLEST_SHIFT + 1;

/** Which size class a buffer of `size` bytes belongs to; at or beyond SIZE_CLASSES for those that are not pooled. */
function classOf(size: number): number {
  return size <= MIN_CHUNK_BYTES ? 0 : 32 - Math.clz32(size - 1) - SMALLEST_SHIFT;
}

export class ChunkPool {
  readonly #limit: number;
  readonly #idle: Buffer[][] = Array.from({ length: SIZE_CLASSES }, () => []);
  #idleBytes = 0;

  /** `limit`: bytes kept while idle; what is given back beyond it is dropped. */
  constructor(limit = DEFAULT_POOL_BYTES) {
    this.#limit = limit;
  }

  get idleBytes(): number {
    return this.#idleBytes;
  }

  /** A buffer of at least `size` bytes with whatever it last held. */
  take(size: number): Buffer {
    const sizeClass = classOf(size);
    if (sizeClass >= SIZE_CLASSES) return Buffer.allocUnsafeSlow(size);
    const idle = this.#idle[sizeClass]?.pop();
    if (idle === undefined) return Buffer.allocUnsafeSlow(MIN_CHUNK_BYTES << sizeClass);
    this.#idleBytes -= idle.length;
    return idle;
  }

  /** Takes a buffer of `take` back. Nobody may use it afterwards. */
  give(chunk: Buffer): void {
    const list = this.#idle[classOf(chunk.length)];
    if (list === undefined || this.#idleBytes + chunk.length > this.#limit) return;
    list.push(chunk);
    this.#idleBytes += chunk.length;
  }
}
