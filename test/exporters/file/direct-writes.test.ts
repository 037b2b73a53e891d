// Appends that are written past the page cache: the file is the same as with appends through it.
import { constants, truncateSync } from 'node:fs';
import { mkdtemp, open, readFile, rm, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import type { FileSystem } from '../../../src/exporters/file/rotated-files.ts';
import { makeNdjsonScene, type NdjsonScene } from '../../support/ndjson-scene.ts';

const BLOCK_BYTES = 4096;
const RUNS = 60;
/** Three writes. */
const LARGE_BYTES = 10_000_000;

const scene = () => makeNdjsonScene({ directBytes: BLOCK_BYTES });

/** Lines of which each has its number. */
const lineOf = (number: number, bytes: number): string => `{"signal":"${number} `.padEnd(bytes, 'x');
const chunksOf = (lines: readonly string[]): Buffer[] => lines.map((line) => Buffer.from(`${line}\n`));

interface Writes {
  count: number;
  /** The memory of the last one. */
  memory: Buffer | null;
  /** Called before each write with its number, from 1. */
  before?: (count: number) => void;
}

/** Observes the writes past the cache. */
function observeWrites(here: NdjsonScene): Writes {
  const writes: Writes = { count: 0, memory: null };
  const open = here.files.open as (...parameters: unknown[]) => Promise<object>;
  Object.assign(here.files, {
    open: async (path: string, flags: string | number, mode?: number) => {
      const handle = await open(path, flags, mode);
      if (typeof flags === 'string' || (flags & constants.O_DIRECT) === 0) return handle;
      return new Proxy(handle, {
        get(target, name) {
          const value: unknown = Reflect.get(target, name);
          if (typeof value !== 'function') return value;
          return (...parameters: unknown[]) => {
            if (name === 'write') {
              writes.count++;
              writes.before?.(writes.count);
              writes.memory = parameters[0] as Buffer;
            }
            return value.apply(target, parameters);
          };
        },
      });
    },
  } satisfies Partial<Record<keyof FileSystem, unknown>>);
  return writes;
}

/** Why nothing can be observed: on a file system that refuses such writes, all appends go through the cache. */
async function missingSupport(): Promise<string | false> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-direct-'));
  try {
    await (await open(join(folder, 'probe'), constants.O_CREAT | constants.O_DIRECT)).close();
    return false;
  } catch {
    return 'the file system of the temporary folder has no O_DIRECT';
  } finally {
    await rm(folder, { recursive: true });
  }
}

const skip = await missingSupport();

t.test('a large append is written past the cache, and a small one is not', { skip }, async (t) => {
  const here = await scene();
  t.teardown(here.close);
  const writes = observeWrites(here);
  const file = await here.open();
  await file.append(chunksOf([lineOf(0, BLOCK_BYTES - 2)]));
  t.equal(writes.count, 0);
  await file.append(chunksOf([lineOf(1, LARGE_BYTES)]));
  t.equal(writes.count, 3);
  t.same(await linesIn(here), [lineOf(0, BLOCK_BYTES - 2), lineOf(1, LARGE_BYTES)]);
});

t.test('the end of a file releases the memory of its writes', { skip }, async (t) => {
  const here = await makeNdjsonScene({ directBytes: BLOCK_BYTES, rotation: { max_size: LARGE_BYTES } });
  t.teardown(here.close);
  const writes = observeWrites(here);
  const file = await here.open();
  await file.append(chunksOf([lineOf(0, LARGE_BYTES)]));
  const { memory } = writes;
  t.ok((memory?.buffer.byteLength ?? 0) > 0);
  await file.append(chunksOf([lineOf(1, LARGE_BYTES)]));
  t.not(writes.memory?.buffer, memory?.buffer, 'the file was rotated');
  t.equal(memory?.buffer.byteLength, 0);
});

t.test('the file has the bytes of all appends, in order, for every size of an append', async () => {
  const sizes = fc.array(
    fc.oneof(
      fc.integer({ min: 20, max: 3 * BLOCK_BYTES }),
      fc.constantFrom(BLOCK_BYTES - 1, BLOCK_BYTES, 2 * BLOCK_BYTES - 1, 2 * BLOCK_BYTES, 10 * BLOCK_BYTES),
    ),
    { minLength: 1, maxLength: 4 },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(sizes, { maxLength: 8 }), async (appends) => {
      const here = await scene();
      try {
        const file = await here.open();
        let number = 0;
        const expected: string[] = [];
        for (const append of appends) {
          // A line has one byte more, its end.
          const lines = append.map((bytes) => lineOf(number++, bytes - 1));
          await file.append(chunksOf(lines));
          expected.push(...lines);
          if ((await linesIn(here)).join('\n') !== expected.join('\n')) throw new Error('the file is another');
        }
      } finally {
        await here.close();
      }
    }),
    { numRuns: RUNS },
  );
});

t.test('a file system that refuses such a write gets all bytes through the cache', async (t) => {
  const here = await scene();
  t.teardown(here.close);
  const file = await here.open();
  await file.append(chunksOf([lineOf(0, 100)]));
  for (const nth of [1, 2]) {
    let writes = 0;
    here.files.fault = (operation) => (operation === 'write' && ++writes === nth ? 'EINVAL' : null);
    await file.append(chunksOf([lineOf(nth, LARGE_BYTES)]));
    t.ok(file.healthy);
  }
  t.same(await linesIn(here), [lineOf(0, 100), lineOf(1, LARGE_BYTES), lineOf(2, LARGE_BYTES)]);
});

for (const code of ['ENOSPC', 'short'])
  t.test(`a write past the cache that ends early: ${code}`, async (t) => {
    for (const nth of [1, 2, 3, 4]) {
      const here = await scene();
      t.teardown(here.close);
      const file = await here.open();
      await file.append(chunksOf([lineOf(0, 100)]));
      let writes = 0;
      here.files.fault = (operation) => (operation === 'write' && ++writes === nth ? code : null);
      const outcome = await file.append(chunksOf([lineOf(1, LARGE_BYTES)])).then(
        () => 'stored',
        () => 'refused',
      );
      t.equal(outcome, code === 'short' ? 'stored' : 'refused');
      here.files.fault = () => null;
      await file.append(chunksOf([lineOf(2, 100)]));
      const middle = code === 'short' ? [lineOf(1, LARGE_BYTES)] : [];
      t.same(await linesIn(here), [lineOf(0, 100), ...middle, lineOf(2, 100)], `write ${nth}`);
    }
  });

// With its line end, the first append ends within a block, and at its end.
for (const bytes of [3 * BLOCK_BYTES, 3 * BLOCK_BYTES - 1])
  t.test(`another program empties a file of a line of ${bytes} bytes: later lines follow no hole`, async (t) => {
    const here = await scene();
    t.teardown(here.close);
    const file = await here.open();
    await file.append(chunksOf([lineOf(0, bytes)]));
    await truncate(here.path, 0);
    await file.append(chunksOf([lineOf(1, bytes)]));
    await file.append(chunksOf([lineOf(2, bytes)]));
    t.same(await linesIn(here), [lineOf(1, bytes), lineOf(2, bytes)]);
  });

for (const nth of [1, 2, 3])
  for (const bytes of [100, 3 * BLOCK_BYTES])
    t.test(
      `another program empties a file of ${bytes} bytes before write ${nth}: no hole, and all lines`,
      { skip },
      async (t) => {
        const here = await scene();
        t.teardown(here.close);
        const writes = observeWrites(here);
        const file = await here.open();
        await file.append(chunksOf([lineOf(0, bytes - 1)]));
        const earlier = writes.count;
        writes.before = (count) => {
          if (count - earlier === nth) truncateSync(here.path);
        };
        await file.append(chunksOf([lineOf(1, LARGE_BYTES)]));
        await file.append(chunksOf([lineOf(2, 100)]));
        const found = await linesIn(here);
        // The first block of a write is written again with the bytes that it has already.
        const repeated = nth === 1 && bytes < BLOCK_BYTES ? [lineOf(0, bytes - 1)] : [];
        const expected = [...repeated, lineOf(1, LARGE_BYTES), lineOf(2, 100)];
        // Not compared by tap, which takes minutes for the difference of such lines.
        t.ok(found.join('\n') === expected.join('\n'), `${found.map(({ length }) => length)} bytes`);
      },
    );

t.test(
  'another program empties the file while the lines are written again: the append fails whole',
  { skip },
  async (t) => {
    const here = await scene();
    t.teardown(here.close);
    const writes = observeWrites(here);
    const file = await here.open();
    await file.append(chunksOf([lineOf(0, 3 * BLOCK_BYTES)]));
    const earlier = writes.count;
    writes.before = (count) => {
      if ([2, 5].includes(count - earlier)) truncateSync(here.path);
    };
    await t.rejects(file.append(chunksOf([lineOf(1, LARGE_BYTES)])));
    await file.append(chunksOf([lineOf(2, 100)]));
    t.same(await linesIn(here), [lineOf(2, 100)]);
  },
);

t.test('a reader of the growing file reads every byte once, and no zeros', async (t) => {
  const here = await scene();
  t.teardown(here.close);
  const file = await here.open();
  const reader = await open(here.path, 'r');
  t.teardown(() => reader.close());
  const expected: string[] = [];
  let isWriting = true;
  const read = readAll(reader, () => isWriting);
  for (let number = 0; number < 60; number++) {
    const lines = [lineOf(number, 100 + number * 997)];
    expected.push(...lines);
    await file.append(chunksOf(lines));
  }
  isWriting = false;
  t.same((await read).split('\n').slice(0, -1), expected);
});

/** Follows a file, like `tail -f`. */
async function readAll(
  reader: { read: (bytes: Buffer, offset: number, length: number, at: number) => Promise<{ bytesRead: number }> },
  continues: () => boolean,
): Promise<string> {
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const isLast = !continues();
    const part = Buffer.alloc(10000);
    const { bytesRead } = await reader.read(part, 0, part.length, at);
    parts.push(part.subarray(0, bytesRead));
    at += bytesRead;
    if (isLast && bytesRead === 0) return Buffer.concat(parts).toString();
  }
}

async function linesIn({ path }: NdjsonScene): Promise<string[]> {
  return (await readFile(path, 'utf8')).split('\n').slice(0, -1);
}
