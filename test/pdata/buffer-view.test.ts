/** Views of resizable memory, and the hidden classes of V8. */
import { setFlagsFromString } from 'node:v8';
import { runInThisContext } from 'node:vm';
import t from 'tap';
import { partOf, viewOf } from '../../src/pdata/buffer-view.ts';
import { ChunkPool } from '../../src/pdata/chunk-pool.ts';

setFlagsFromString('--allow-natives-syntax');
const haveSameClass = runInThisContext('(a, b) => %HaveSameMap(a, b)') as (a: object, b: object) => boolean;

t.test('all views have one hidden class, which those of Buffer have not', async (t) => {
  const Resizable = ArrayBuffer as unknown as new (bytes: number, options: { maxByteLength: number }) => ArrayBuffer;
  const memory = new Resizable(100, { maxByteLength: 200 });
  const view = viewOf(memory, 10, 50);
  for (const other of [viewOf(memory, 20, 5), partOf(view, 1, 9), partOf(viewOf(memory, 0, 7), 3, 7)])
    t.ok(haveSameClass(view, other));
  t.notOk(haveSameClass(Buffer.from(memory, 0, 5), Buffer.from(memory, 5, 5)), 'the reason for this module');
});

t.test('the buffers of a pool have one hidden class', async (t) => {
  const pool = new ChunkPool();
  const [first, second] = [pool.take(5000), pool.take(70_000)];
  t.ok(haveSameClass(first, second));
  pool.give(first);
  t.ok(haveSameClass(pool.take(3000), second));
});

t.test('a part has the bytes that subarray would have', async (t) => {
  const pool = new ChunkPool();
  for (const bytes of [pool.take(4096), Buffer.alloc(4096), new Uint8Array(4096)]) {
    for (const [index] of bytes.entries()) bytes[index] = index * 7;
    for (const [start, end] of [
      [0, 4096],
      [0, 0],
      [5, 4096],
      [100, 3000],
      [4096, 4096],
    ] as const) {
      const part = partOf(bytes, start, end);
      t.same([...part], [...bytes.subarray(start, end)]);
      t.equal(part.buffer, bytes.buffer);
    }
  }
  t.ok(Buffer.isBuffer(partOf(pool.take(4096), 1, 5)));
});
