// Buffers that are reused, in a memory that shrinks.
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import t from 'tap';
import { ChunkPool, CHUNK_STEP_BYTES } from '../../src/pdata/chunk-pool.ts';

const MIB = 1024 * 1024;
/** Address space, and the time after which unused memory is returned. */
const MAX_BYTES = 512 * MIB;
const TRIM_MS = 100;

t.test('a chunk has the requested size, and a returned chunk is reused', async (t) => {
  const pool = new ChunkPool();
  const first = pool.take(3000);
  t.equal(first.length, 3000);
  t.equal(pool.usedBytes, CHUNK_STEP_BYTES);
  t.equal(pool.take(CHUNK_STEP_BYTES + 1).length, CHUNK_STEP_BYTES + 1);
  t.equal(pool.usedBytes, 3 * CHUNK_STEP_BYTES);
  t.equal(pool.take(5 * MIB).length, 5 * MIB);
  const held = pool.heldBytes;
  pool.give(first);
  const again = pool.take(4000);
  t.equal(again.byteOffset, first.byteOffset);
  t.equal(pool.heldBytes, held);
});

t.test('a small chunk is not taken from the memory', async (t) => {
  const pool = new ChunkPool();
  const chunk = pool.take(100);
  t.equal(chunk.length, 100);
  t.equal(pool.heldBytes, 0);
  pool.give(chunk);
  t.equal(pool.usedBytes, 0);
});

t.test('chunks never overlap, in any order of taking and returning', async () => {
  const sizes = fc.array(fc.tuple(fc.boolean(), fc.integer({ min: 1, max: 3 * MIB })), { maxLength: 60 });
  fc.assert(
    fc.property(sizes, (steps) => {
      const pool = new ChunkPool(32 * MIB);
      const live: { chunk: Buffer; mark: number }[] = [];
      for (const [index, [gives, size]] of steps.entries()) {
        if (gives && live.length > 0) {
          const { chunk, mark } = live.splice(size % live.length, 1)[0] as (typeof live)[number];
          if (chunk[0] !== mark || chunk.at(-1) !== mark) return false;
          pool.give(chunk);
        } else {
          const chunk = pool.take(size);
          if (chunk.length !== size) return false;
          const mark = (index % 255) + 1;
          chunk[0] = mark;
          chunk[chunk.length - 1] = mark;
          live.push({ chunk, mark });
        }
      }
      for (const { chunk, mark } of live) if (chunk[0] !== mark || chunk.at(-1) !== mark) return false;
      for (const { chunk } of live) pool.give(chunk);
      return pool.usedBytes === 0;
    }),
  );
});

t.test('beyond the address space chunks are separate buffers', async (t) => {
  const pool = new ChunkPool(2 * MIB);
  const inside = pool.take(2 * MIB);
  const outside = pool.take(3000);
  t.not(outside.buffer, inside.buffer);
  t.equal(outside.length, 3000);
  pool.give(outside);
  pool.give(inside);
  t.equal(pool.take(3000).buffer, inside.buffer);
});

t.test('memory unused for a while is returned to the system; used memory stays', async (t) => {
  const resident = (): number => Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1024;
  const pool = new ChunkPool(MAX_BYTES, TRIM_MS);
  const stays = pool.take(6 * MIB).fill(7);
  const chunks = Array.from({ length: 64 }, () => pool.take(MIB).fill(1));
  const full = resident();
  t.equal(pool.heldBytes, 70 * MIB);
  for (const chunk of chunks) pool.give(chunk);
  while (pool.heldBytes > 6 * MIB) await pause(50);
  t.ok(full - resident() > 40 * MIB, `${full - resident()} bytes were returned`);
  t.ok(stays.every((byte) => byte === 7));
  pool.give(stays);
  while (pool.heldBytes > 0) await pause(50);
  t.equal(pool.take(4 * MIB).length, 4 * MIB);
});
