/** Only the needed parts of a Parquet file are read, from a folder and from S3, and the copy has the wanted rows. */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { Duck } from '../../../src/archive/duckdb.ts';
import { BrokenFile } from '../../../src/archive/reading/left-out.ts';
import { copyParts, type Need, overCopy } from '../../../src/archive/reading/partial-file.ts';
import { footerLength, footerOf, parseFooter, TRAILER_BYTES } from '../../../src/archive/reading/parquet-footer.ts';
import { FolderStore } from '../../../src/object-store/folder-store.ts';
import { StoreError } from '../../../src/object-store/object-store.ts';
import { S3Store } from '../../../src/object-store/s3-store.ts';
import { startS3 } from '../../support/fake-s3.ts';
import { isLong } from '../../support/long.ts';

const ROWS = 20_000;
const folder = mkdtempSync(join(tmpdir(), 'partial-test-'));
const duck = await Duck.open({ memoryBytes: 256 * 2 ** 20, folder });
const fake = await startS3(t);
const s3 = new S3Store({ bucket: fake.bucket, prefix: '', environment: fake.environment });
t.teardown(async () => {
  duck.close();
  await s3.close();
  await rm(folder, { recursive: true, force: true });
});

const FILE = 'whole.parquet';
const PATH = join(folder, 'part.parquet');
// Columns that are not needed are most of a file, and cannot be compressed.
await duck.run(`COPY (
    SELECT 'p' || (i // 10000) AS project, md5((i // 8)::text) AS trace_id, i::BIGINT AS number, CASE WHEN i % 3 = 0 THEN 'x' END AS sparse,
      CASE WHEN i % 80 < 16 THEN 'c-' || (i // 8) END AS thread, NULL::VARCHAR AS empty, md5(i::text) || md5((i + 7)::text) AS content
    FROM range(${ROWS}) t(i) ORDER BY 1, 2, 3)
  TO '${join(folder, FILE)}' (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 2048)`);
const whole = readFileSync(join(folder, FILE));
const folderStore = new FolderStore(folder);
await s3.put(FILE, whole);

const idOf = async (number: number): Promise<string> =>
  String((await duck.rows(`SELECT md5('${number}') AS id`))[0]?.['id']);

async function copied(need: Partial<Need>, store: FolderStore | S3Store = folderStore) {
  let bytes = 0;
  const all: Need = {
    project: null,
    traces: null,
    columns: new Set(['project', 'trace_id', 'number', 'sparse', 'empty']),
    compared: new Set(['project', 'trace_id']),
    ...need,
  };
  const source = { store, key: FILE, bytes: whole.length, count: (read: number) => void (bytes += read) };
  const { rows, columns } = await copyParts(source, all, { duck, path: PATH });
  return { rows, columns, bytes };
}

const numbersOf = async (where: string): Promise<readonly number[]> =>
  (await duck.rows(`SELECT number FROM read_parquet('${PATH}') WHERE ${where} ORDER BY number`)).map((row) =>
    Number(row['number']),
  );

t.test('a footer that is written again is the same', async (t) => {
  const length = footerLength(whole.subarray(-TRAILER_BYTES));
  const footer = parseFooter(whole.subarray(-TRAILER_BYTES - length, -TRAILER_BYTES));
  t.equal(footer.groups.length, 10);
  t.ok(footerOf(footer, footer.groups).equals(whole.subarray(-TRAILER_BYTES - length)));
  t.throws(() => footerLength(Buffer.alloc(TRAILER_BYTES)), /not a Parquet file/u);
  t.throws(() => parseFooter(whole.subarray(-TRAILER_BYTES - length, -200)), /ends early/u);
});

t.test('one trace: one row group of the file', async (t) => {
  for (const store of [folderStore, s3]) {
    const id = await idOf(1300);
    const { rows, bytes } = await copied({ project: 'p1', traces: [{ from: id, to: id }] }, store);
    t.ok(rows > 0 && rows <= 2048, 'rows');
    t.ok(bytes < whole.length / 5, `${bytes} of ${whole.length} bytes`);
    t.same(
      await numbersOf(`project = 'p1' AND trace_id = '${id}'`),
      [0, 1, 2, 3, 4, 5, 6, 7].map((at) => 10_400 + at),
    );
  }
});

t.test('a trace that is not in the file is excluded by the bloom filters', async (t) => {
  const id = await idOf(ROWS);
  const { rows, bytes } = await copied({ traces: [{ from: id, to: id }] });
  t.equal(rows, 0);
  t.ok(bytes < whole.length / 5);
});

t.test('several traces, and a value of another column: only row groups that may have them', async (t) => {
  const ids = [await idOf(10), await idOf(1300)];
  const several = await copied({ traces: ids.map((id) => ({ from: id, to: id })) });
  t.ok(several.rows <= 2 * 2048, `${several.rows} rows`);
  t.equal((await numbersOf(`trace_id IN ('${ids.join("', '")}')`)).length, 16);
  const compared = new Set(['project', 'trace_id', 'thread']);
  const rare = await copied({ equal: { column: 'thread', value: 'c-1300' }, compared });
  t.ok(rare.rows > 0 && rare.rows <= 2048, `${rare.rows} rows`);
  t.equal((await copied({ equal: { column: 'thread', value: 'c-none' }, compared })).rows, 0);
});

t.test('the beginning of an id, one project, and everything', async (t) => {
  const id = await idOf(1300);
  const range = { from: id.slice(0, 6).padEnd(32, '0'), to: id.slice(0, 6).padEnd(32, 'f') };
  await copied({ traces: [range] });
  t.equal((await numbersOf(`trace_id BETWEEN '${range.from}' AND '${range.to}'`)).length, 8);
  await copied({ project: 'p1' });
  t.equal((await numbersOf("project = 'p1'")).length, ROWS / 2);
  const all = await copied({});
  t.equal(all.rows, ROWS);
  t.equal((await numbersOf('sparse IS NULL AND empty IS NULL')).length, Math.floor((ROWS * 2) / 3));
});

t.test('columns that a file of an earlier version does not have are left out', async (t) => {
  const { columns } = await copied({ columns: new Set(['project', 'trace_id', 'later']) });
  t.same([...columns], ['project', 'trace_id']);
});

/** Each byte of the file is damaged in some run: with few runs only some of them. */
t.test('a damaged file is read without an error, or is said to be broken', async (t) => {
  const source = { store: folderStore, key: 'damaged.parquet', bytes: whole.length, count: () => undefined };
  const columns = new Set(['project', 'trace_id', 'number', 'sparse', 'thread']);
  const need: Need = { project: null, traces: null, columns, compared: columns };
  const step = Math.ceil(whole.length / (isLong ? 4000 : 60));
  const last = whole.length - 8 - footerLength(whole.subarray(-TRAILER_BYTES));
  const places = [
    ...Array.from({ length: Math.ceil(last / step) }, (_, index) => index * step),
    ...Array.from({ length: isLong ? whole.length - last : 60 }, (_, index) => last + index * (isLong ? 1 : 97)),
  ].filter((at) => at < whole.length);
  let broken = 0;
  for (const at of places) {
    const bytes = Buffer.from(whole);
    bytes[at] = (bytes[at] ?? 0) ^ (at % 2 === 0 ? 0xff : 0x40);
    writeFileSync(join(folder, source.key), bytes);
    try {
      const copy = await copyParts(source, need, { duck, path: PATH });
      const read = `SELECT ${[...copy.columns].map((name) => `max(${name})`).join(', ')} FROM read_parquet('${PATH}')`;
      if (copy.rows > 0) await overCopy(duck, copy, () => duck.rows(read));
    } catch (error) {
      if (!(error instanceof BrokenFile || error instanceof StoreError)) throw error;
      broken++;
    }
  }
  t.ok(broken > 10, `${broken} of ${places.length} are noticed`);
});
