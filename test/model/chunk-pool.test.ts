/** The pool of row buffers: sizes, reuse, bounds. */
import t from 'tap';
import { ChunkPool, MAX_CHUNK_BYTES, MIN_CHUNK_BYTES } from '../../src/model/chunk-pool.ts';

t.test('a buffer is the next power of two, from the smallest to the largest size', async (t) => {
  const pool = new ChunkPool();
  for (const [size, length] of [
    [0, MIN_CHUNK_BYTES],
    [1, MIN_CHUNK_BYTES],
    [MIN_CHUNK_BYTES, MIN_CHUNK_BYTES],
    [MIN_CHUNK_BYTES + 1, MIN_CHUNK_BYTES * 2],
    [1_000_000, 1_048_576],
    [MAX_CHUNK_BYTES, MAX_CHUNK_BYTES],
    [MAX_CHUNK_BYTES + 1, MAX_CHUNK_BYTES + 1],
  ] as const) {
    t.equal(pool.take(size).length, length, `for ${size} bytes`);
  }
});

t.test('what was given back is taken again, by requests of its size only', async (t) => {
  const pool = new ChunkPool();
  const chunk = pool.take(20_000);
  pool.give(chunk);
  t.equal(pool.idleBytes, chunk.length);
  t.not(pool.take(10_000), chunk);
  t.equal(pool.take(30_000), chunk);
  t.equal(pool.idleBytes, 0);
  t.not(pool.take(30_000), chunk);
});

t.test('buffers beyond the largest size or the bound are not kept', async (t) => {
  const pool = new ChunkPool(MIN_CHUNK_BYTES * 2);
  pool.give(pool.take(MAX_CHUNK_BYTES + 1));
  t.equal(pool.idleBytes, 0);
  for (const chunk of [pool.take(1), pool.take(1), pool.take(1)]) pool.give(chunk);
  t.equal(pool.idleBytes, MIN_CHUNK_BYTES * 2);
});
