// Large requests are written to the file in parts, with other requests in between. Either all of their lines stay in
// the file, or none.
import { renameSync, rmSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import t from 'tap';
import type { NdjsonFile } from '../../../src/exporters/file/ndjson-file.ts';
import { type FaultyFiles, faultsInOrder, type Operation } from '../../support/faulty-files.ts';
import { makeNdjsonScene } from '../../support/ndjson-scene.ts';

const PART_BYTES = 40;
const RUNS = 25;

const scene = (maxSize = 0) => makeNdjsonScene({ rotation: { max_size: maxSize }, partBytes: PART_BYTES });

const lineOf = (text: string): string => `{"signal":"${text}"}`;
const chunksOf = (lines: readonly string[]): Buffer[] => lines.map((line) => Buffer.from(`${line}\n`));
/** Each line is a part. */
const large = (name: string, parts = 3): string[] =>
  Array.from({ length: parts }, (_, index) => lineOf(`${name} ${index} ${'x'.repeat(PART_BYTES)}`));

/** Appends the lines of a large request, and small requests while its first part is written. */
async function appendAround(here: { readonly files: FaultyFiles }, file: NdjsonFile, texts: readonly string[]) {
  const small: Promise<void>[] = [];
  const { fault } = here.files;
  here.files.fault = (operation) => {
    if (operation === 'write' && small.length === 0)
      for (const text of texts) small.push(file.append(chunksOf([text])));
    return fault(operation);
  };
  const giant = await Promise.allSettled([file.append(chunksOf(large('giant')))]);
  return [...giant, ...(await Promise.allSettled(small))].map(({ status }) => status);
}

/** Fails the operation at its `nth` call from now. */
function failAt(files: FaultyFiles, operation: Operation, nth: number, code: string): void {
  let calls = 0;
  files.fault = (asked) => (asked === operation && ++calls === nth ? code : null);
}

for (const [operation, code] of [
  ['write', 'ENOSPC'],
  ['sync', 'EIO'],
] as const)
  t.test(`a ${operation} that fails in a later part leaves nothing of the request`, async (t) => {
    const here = await scene();
    t.teardown(here.close);
    const file = await here.open();
    await file.append(chunksOf(['before']));
    failAt(here.files, operation, 5, code);
    const outcomes = await appendAround(here, file, ['between 1', 'between 2']);
    t.same(outcomes, ['rejected', 'fulfilled', 'fulfilled']);
    await file.append(chunksOf(large('giant')));
    t.same(await here.lines(), ['before', 'between 1', 'between 2', ...large('giant')], 'a retry is there once');
    t.notOk((await readdir(here.folder)).some((name) => name.includes('kept')));
  });

t.test('a part that fails without lines of others behind it is cut off', async (t) => {
  const here = await scene();
  t.teardown(here.close);
  const file = await here.open();
  await file.append(chunksOf(['before']));
  failAt(here.files, 'write', 2, 'ENOSPC');
  await t.rejects(file.append(chunksOf(large('giant'))), { code: 'ENOSPC' });
  t.same(await here.lines(), ['before']);
});

t.test('a disk that stays full keeps no copy of the lines behind a failed part', async (t) => {
  const here = await scene();
  t.teardown(here.close);
  const file = await here.open();
  let writes = 0;
  here.files.fault = (operation) => (operation === 'write' && ++writes >= 5 ? 'ENOSPC' : null);
  t.same(await appendAround(here, file, ['between 1', 'between 2']), ['rejected', 'fulfilled', 'fulfilled']);
  t.equal((await Promise.allSettled([file.append(chunksOf(['refused']))]))[0]?.status, 'rejected');
  t.same(await readdir(here.folder), ['out.ndjson']);
  here.files.fault = () => null;
  await file.append(chunksOf(['after']));
  t.same(await here.lines(), ['between 1', 'between 2', 'after']);
});

t.test('the copy of a process that crashed while it made it is removed at the start', async (t) => {
  const here = await scene();
  t.teardown(here.close);
  await writeFile(`${here.path}.kept.unfinished`, 'a part');
  await (await here.open()).append(chunksOf(['after']));
  t.same(await here.lines(), ['after']);
});

t.test('the sync of another request that fails refuses the large request too, with all its parts', async (t) => {
  const here = await scene();
  t.teardown(here.close);
  const file = await here.open();
  failAt(here.files, 'sync', 2, 'EIO');
  t.same(await appendAround(here, file, ['between']), ['rejected', 'rejected']);
  await file.append(chunksOf(['after']));
  t.same(await here.lines(), ['after']);
});

t.test('the file is rotated before or after a large request, not between its parts', async (t) => {
  const here = await scene(150);
  t.teardown(here.close);
  const file = await here.open();
  await file.append(chunksOf(['x'.repeat(100)]));
  t.same(await appendAround(here, file, ['between']), ['fulfilled', 'fulfilled']);
  await file.append(chunksOf(['after']));
  t.equal((await readdir(here.folder)).length, 3);
  t.equal(await readFile(here.path, 'utf8'), 'after\n');
});

t.test(
  'a file that is removed between two parts refuses the large request; a renamed one keeps its parts',
  async (t) => {
    for (const how of ['removed', 'renamed'] as const) {
      const here = await scene();
      t.teardown(here.close);
      const file = await here.open();
      let syncs = 0;
      here.files.fault = (operation) => {
        // The second sync is that of the request between two parts.
        if (operation !== 'sync' || ++syncs !== 2) return null;
        if (how === 'removed') rmSync(here.path);
        else renameSync(here.path, join(here.folder, 'away'));
        return null;
      };
      const [giant] = await appendAround(here, file, ['between']);
      t.equal(giant, how === 'removed' ? 'rejected' : 'fulfilled', how);
      await file.append(chunksOf(['after']));
      const expected = how === 'removed' ? ['between'] : ['between', ...large('giant')];
      t.same((await here.lines()).sort(), [...expected, 'after'].sort(), how);
    }
  },
);

const FAULTS: readonly (readonly [Operation, string])[] = [
  ['open', 'EMFILE'],
  ['write', 'ENOSPC'],
  ['write', 'short'],
  ['sync', 'EIO'],
  ['truncate', 'EIO'],
  ['rename', 'EACCES'],
  ['unlink', 'EIO'],
  ['sync folder', 'EIO'],
];

t.test('with any fault at any time, each request is stored once as a whole or not at all', async () => {
  const burst = fc.record({
    /** The parts of each request, which are sent together. */
    requests: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 4 }),
    faults: fc.array(fc.constantFrom(null, null, null, null, null, ...FAULTS), { maxLength: 14 }),
    /** Another process continues, which finds the file as it is after the faults. */
    crash: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(burst, { maxLength: 6 }), fc.boolean(), async (bursts, rotates) => {
      const here = await scene(rotates ? 400 : 0);
      const [stored, refused]: [Set<string>, Set<string>] = [new Set(), new Set()];
      let file = await here.open();
      try {
        for (const [index, { requests, faults, crash }] of bursts.entries()) {
          here.files.fault = faultsInOrder(faults);
          const sent = requests.map(async (parts, which) => {
            const lines = large(`${index}.${which}`, parts);
            const into = await file.append(chunksOf(lines)).then(
              () => stored,
              () => refused,
            );
            for (const line of lines) into.add(line);
          });
          await Promise.all(sent);
          here.files.fault = () => null;
          if (crash) file = await here.open();
        }
        await file.append(chunksOf(['last']));
        const found = await here.lines();
        const crashed = bursts.some(({ crash }) => crash);
        // After a crash, refused lines may not be removed yet: then they stay.
        const kept = crashed ? found.filter((line) => !refused.has(line)) : found;
        const expected = [...stored, 'last'];
        if (kept.toSorted().join('\n') !== expected.toSorted().join('\n'))
          throw new Error(`found ${found.join('\n')} for ${expected.join('\n')}`);
      } finally {
        await here.close();
      }
    }),
    { numRuns: RUNS },
  );
});
