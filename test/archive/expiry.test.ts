/** Files of old days are removed when PostgreSQL has nothing of the day, and no interruption leaves a broken record. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { archive, type Selection } from '../../src/archive/archive.ts';
import type { ArchivedFile, Work } from '../../src/archive/archive-day.ts';
import { FolderStore } from '../../src/object-store/folder-store.ts';
import { archivedTables } from '../support/archived-tables.ts';
import { storeRows } from '../support/archive-rows.ts';
import { CLOSED_MS, makeScene, sessionOf, TABLES } from '../support/archive-scene.ts';
import { DAY_MS } from '../../src/pdata/time-units.ts';
import { sluice } from '../support/command-line.ts';
import { postgresConfig } from '../support/postgres-daemon.ts';

t.setTimeout(300_000);

const scene = await makeScene(t);
const { query } = scene;
const { expire, close } = archivedTables(scene.url);
t.teardown(close);
const SIGNALS = TABLES.map(([signal]) => signal);
/** Days that are this old end before the middle one of the scene. */
const KEEP_MS = Date.now() - CLOSED_MS - DAY_MS / 2;
const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
const OLD_DAY = dayOf(CLOSED_MS - DAY_MS);

async function run(keepMs: number | null, store = new FolderStore(scene.lake)): Promise<readonly ArchivedFile[]> {
  const { duck, folder } = scene;
  const session = sessionOf(await scene.connect());
  const work: Work = { session, store, duck, folder, views: 'public', report: () => undefined };
  const selection: Selection = { olderThanMs: 2 * DAY_MS, keepMs };
  const expired: ArchivedFile[] = [];
  for await (const _ of archive(work, selection, async (file) => void expired.push(file)));
  return expired;
}

const recorded = async (): Promise<readonly unknown[]> =>
  (
    await query(`SELECT signal || ' ' || to_char(day, 'YYYY-MM-DD') AS file FROM sluice.lake_jobs
    WHERE state = 'published' ORDER BY 1`)
  ).map(({ file }) => file);

t.test('a day stays while PostgreSQL has it', async (t) => {
  for (const signal of SIGNALS) for (const day of [-1, 0]) await storeRows(scene, signal, 3, day);
  t.same(await run(KEEP_MS), []);
  t.equal(scene.files().length, 6);
  await expire();
  t.same(await run(null), [], 'without a limit files stay');
  await query(
    "INSERT INTO sluice.lake_restored SELECT signal, day, now() + interval '1 day' FROM sluice.lake_jobs WHERE signal = 'logs'",
  );
  await storeRows(scene, 'metric_points', 1, -1);
  t.match(await run(KEEP_MS), [{ signal: 'spans', day: OLD_DAY, records: 3 }], 'not those with records or restored');
  t.equal(scene.files().length, 6);
  await query('DELETE FROM sluice.lake_restored');
});

t.test('a clock that was set ahead makes no day old', async (t) => {
  const state = async (value: object): Promise<unknown> =>
    query("UPDATE sluice.maintenance_state SET state = $1 WHERE name = 'clock'", [JSON.stringify(value)]);
  const [before, now] = [Date.now() - 40 * DAY_MS, Date.now()];
  await state({ seenMs: before });
  t.same(await run(KEEP_MS), [], 'since the last observation');
  await state({ seenMs: now, steps: [[before, now]] });
  t.same(await run(KEEP_MS), [], 'before the last observation');
  await state({ seenMs: now });
});

t.test('an interruption at each step is repeated, and the record is never without its file', async (t) => {
  for (const step of ['before', 'after']) {
    const store = new FolderStore(scene.lake);
    const remove = store.delete.bind(store);
    store.delete = async (keys) => {
      if (step === 'after') await remove(keys);
      throw new Error('interrupted');
    };
    await t.rejects(run(KEEP_MS, store), /interrupted/u);
    t.notOk((await recorded()).includes(`logs ${OLD_DAY}`), 'no reader uses the file');
  }
  await run(KEEP_MS);
  t.same(await query("SELECT FROM sluice.lake_jobs WHERE state <> 'published'"), []);
  t.equal(scene.files().length, (await recorded()).length);
});

t.test('a record that arrives for a removed day is archived, and removed when PostgreSQL has dropped it', async (t) => {
  await storeRows(scene, 'spans', 1, -1);
  t.same(await run(KEEP_MS), []);
  t.ok((await recorded()).includes(`spans ${OLD_DAY}`));
  // The default partition is searched once a day.
  await query("DELETE FROM sluice.maintenance_state WHERE name LIKE '%_default'");
  await query("UPDATE sluice.spans_default SET received_at = now() - interval '30 days'");
  await expire();
  const spans = (await run(KEEP_MS)).filter(({ signal }) => signal === 'spans');
  t.match(spans, [{ day: OLD_DAY, records: 1 }]);
});

t.test('the command removes old files, as configured, and writes it to the audit', async (t) => {
  const days = Math.floor((Date.now() - CLOSED_MS) / DAY_MS) - 1;
  const config = postgresConfig({ databaseUrl: scene.url });
  const options = `archive: { to: to, memory: 256MiB, keep: ${days}d }`;
  writeFileSync(join(scene.folder, 'sluice.yaml'), config.replace('postgres: {}', `postgres: { ${options} }`));
  t.match(await sluice(['archive', '--keep', 'long'], scene), { code: 2, err: /--keep takes a duration/u });
  const { code, err } = await sluice(['archive'], scene);
  t.equal(code, 0, err);
  t.match(err, /lake\/spans\/day=[\d-]+\/job-\d+\.parquet: removed, 3 records/u);
  const audit = await query("SELECT target, details FROM sluice.audit WHERE action = 'archive.expire'");
  t.match(audit[0], { target: /^lake\//u, details: { records: 3 } });
  t.same(
    (await recorded()).filter((file) => String(file).startsWith('spans')),
    [],
  );
});
