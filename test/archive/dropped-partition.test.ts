/**
 * The partition of a day is dropped right before each statement that names it: the commands and the maintenance do the
 * rest without it. A drop that has to wait for a lock shows that the statement is protected.
 */
import pg from 'pg';
import t, { type Test } from 'tap';
import { lockArchive, unlockArchive } from '../../src/archive/archive.ts';
import type { Work } from '../../src/archive/archive-day.ts';
import { tableOf } from '../../src/archive/lake-table.ts';
import { restoreTable } from '../../src/archive/restore-day.ts';
import { partitionsOf } from '../../src/cli/restore-day.ts';
import { readStoredData } from '../../src/cli/stored-data.ts';
import type { Query } from '../../src/component/capabilities/postgres.ts';
import { dropUnlessKept } from '../../src/exporters/postgres/archived-days.ts';
import { buildIndexes } from '../../src/exporters/postgres/indexes.ts';
import { dayOf, partitionName } from '../../src/exporters/postgres/partitions.ts';
import { Database } from '../../src/extensions/postgres/database.ts';
import { removeRecords } from '../../src/extensions/postgres/removal/records.ts';
import { FolderStore } from '../../src/object-store/folder-store.ts';
import { rowOf, storeRow, storeRows } from '../support/archive-rows.ts';
import { longTest } from '../support/long.ts';
import { CLOSED_MS, linesOfView, makeScene, sessionOf } from '../support/archive-scene.ts';
import '../support/long-file.ts';

t.setTimeout(300_000);

const scene = await makeScene(t);
const { query, openDays, run } = scene;
const database = new Database().use({ connectionString: scene.url });
t.teardown(() => database.close());
const SPANS = { name: 'spans', key: 'nanoseconds', retentionMs: 0 } as const;
const PARTITION = { day: dayOf(CLOSED_MS), name: partitionName(SPANS, dayOf(CLOSED_MS)) };
const DAY = new Date(CLOSED_MS).toISOString().slice(0, 10);

const client = await scene.connect();
const plain = sessionOf(client);
const dropping = await scene.connect();
await dropping.query('SET lock_timeout = 20');

async function drop(): Promise<void> {
  await dropping.query(`DROP TABLE IF EXISTS sluice.${PARTITION.name}`).catch((error: pg.DatabaseError) => {
    if (error.code !== '55P03') throw error;
  });
}

/** Repeats the work until it has ended without a drop. `prepare` comes before each run, with the partition there. */
async function dropAtEach(
  t: Test,
  work: (query: Query) => Promise<unknown>,
  prepare: () => Promise<unknown> = async () => undefined,
): Promise<void> {
  for (let place = 0; ; place++) {
    await openDays();
    await prepare();
    let named = 0;
    const watched: Query = async (text, values = []) => {
      if (`${text} ${values.join(' ')}`.includes(PARTITION.name) && named++ === place) await drop();
      return plain.query(text, values);
    };
    await work(watched).catch((error: Error) => t.error(error, `dropped before statement ${place}`));
    if (named > place) continue;
    t.ok(place > 0, `${place} statements name the partition`);
    return;
  }
}

const workWith = (query: Query): Work => ({
  session: { ...plain, query },
  store: new FolderStore(scene.lake),
  duck: scene.duck,
  folder: scene.folder,
  views: 'public',
  report: () => undefined,
});

t.test('the archive leaves out a partition that is dropped meanwhile', async (t) => {
  const archive = (query: Query) => run({ session: { ...plain, query } });
  await t.test('of an empty day', (t) => dropAtEach(t, archive));
  await t.test('of records, also late ones', (t) => dropAtEach(t, archive, () => storeRows(scene, 'spans', 2)));
});

const restore = async (query: Query): Promise<void> => {
  await lockArchive(plain, 'tables');
  const work = { ...workWith(query), ...partitionsOf(database) };
  const restored = await restoreTable(work, tableOf('spans'), { day: DAY, untilMs: Date.now() });
  await unlockArchive(plain);
  if (restored === null) throw new Error('the day has files');
};

t.test('restore-day restores a day that PostgreSQL has and that is dropped meanwhile', (t) =>
  dropAtEach(t, restore, () => restore(plain.query)),
);

longTest('restore-day restores a day that PostgreSQL has in part and that is dropped meanwhile', (t) =>
  dropAtEach(t, restore, async () => {
    await drop();
    await openDays();
    await storeRows(scene, 'spans', 1);
    await run();
  }),
);

t.test('the maintenance continues without a partition that is dropped meanwhile', async (t) => {
  await t.test('retention drops the day', (t) =>
    dropAtEach(t, (query) => dropUnlessKept(query, SPANS, PARTITION, { archived: true, notRestored: true })),
  );
  await t.test('an index is built over the days', (t) =>
    dropAtEach(t, buildIndexes, async () => {
      await query('DROP INDEX IF EXISTS sluice.spans_by_name');
      await query('CREATE INDEX spans_by_name ON ONLY sluice.spans (name)');
    }),
  );
  await query('DROP INDEX sluice.spans_by_name');
});

t.test('the command shows what is stored without a partition that is dropped meanwhile', async (t) => {
  const config = { exporters: new Map(), service: { pipelines: [] } } as never;
  const read = (query: Query) =>
    readStoredData({
      query: async (text: string, values?: readonly unknown[]) => (await query(text, values)).rows,
      config,
    } as never);
  await dropAtEach(t, read);
});

const ALL = { project: 'gone', environment: null, beforeMs: null };
const remove = (query: Query) => removeRecords({ session: (_, work) => work(query) }, ALL, () => undefined);

t.test('prune removes records though a partition is dropped meanwhile', (t) =>
  dropAtEach(t, remove, () => storeRows(scene, 'spans', 1)),
);

t.test('records that the maintenance moves into a new partition are removed', async (t) => {
  await query(`DROP TABLE sluice.${PARTITION.name}`);
  await storeRow(scene, 'spans', { ...rowOf('spans', 0), project: 'gone' });
  t.equal((await query('SELECT FROM sluice.spans_default')).length, 1);
  let isMoved = false;
  await remove(async (text, values) => {
    // The partitions were listed.
    if (text.includes('pg_relation_size') && !isMoved) {
      isMoved = true;
      await openDays();
    }
    return plain.query(text, values);
  });
  t.same(await query('SELECT FROM sluice.spans_default'), []);
  const left = (await linesOfView(scene, 'spans', ['project'])).filter((line) => line.includes('gone'));
  t.same(left, []);
});
