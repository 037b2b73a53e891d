/** Days that come back from the archive: each value and each record once, kept by retention, and not archived again. */
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { archivedTables } from '../support/archived-tables.ts';
import { rowOf, storeRow, storeRows } from '../support/archive-rows.ts';
import { CLOSED_MS, DAY_MS, linesOfView, makeScene, TABLES } from '../support/archive-scene.ts';
import { sluice } from '../support/command-line.ts';
import { longTest } from '../support/long.ts';
import { postgresConfig } from '../support/postgres-daemon.ts';

t.setTimeout(300_000);

const scene = await makeScene(t);
const { query, run } = scene;
const { expire, close } = archivedTables(scene.url);
t.teardown(close);
const SIGNALS = TABLES.map(([signal]) => signal);
const DAY = new Date(CLOSED_MS).toISOString().slice(0, 10);
const NEXT_DAY = new Date(CLOSED_MS + DAY_MS).toISOString().slice(0, 10);

writeFileSync(
  join(scene.folder, 'sluice.yaml'),
  postgresConfig({ databaseUrl: scene.url }).replace(
    'postgres: {}',
    'postgres: { archive: { to: to, memory: 256MiB } }',
  ),
);
const restoreDay = (...args: readonly string[]) => sluice(['restore-day', ...args], scene);
const countOf = async (table: string): Promise<unknown> =>
  (await query(`SELECT count(*)::int4 AS count FROM sluice.${table}`))[0]?.['count'];

async function viewsOf(): Promise<readonly (readonly string[])[]> {
  const views: (readonly string[])[] = [];
  for (const signal of SIGNALS) views.push(await linesOfView(scene, signal));
  return views;
}

async function requireSame(t: Test, wanted: readonly (readonly string[])[]): Promise<void> {
  for (const [index, found] of (await viewsOf()).entries()) {
    const lines = wanted[index] ?? [];
    const at = found.findIndex((line, each) => line !== lines[each]);
    t.equal(found.length, lines.length, `${SIGNALS[index]}: the number of records`);
    if (at >= 0) t.equal(found[at], lines[at], `${SIGNALS[index]}: the values`);
  }
}

let before: readonly (readonly string[])[] = [];

t.test('every value comes back', async (t) => {
  for (const signal of SIGNALS) {
    await storeRows(scene, signal, 16);
    await storeRows(scene, signal, 4, 1);
  }
  const log = rowOf('logs', 0);
  for (let copy = 0; copy < 3; copy++) await storeRow(scene, 'logs', log);
  const wanted = await viewsOf();
  await run();
  await expire();
  t.same(await Promise.all(SIGNALS.map(countOf)), [0, 0, 0], 'retention has dropped the days');
  t.match(await restoreDay(DAY), { code: 0, out: /spans: 16 .*\nlogs: 19 .*\nmetric_points: 16 records restored/u });
  t.match(await restoreDay(NEXT_DAY, '--for', '2h', '--json'), { code: 0, out: /"records": ?4/u });
  await requireSame(t, wanted);
  const missing = await query(
    `SELECT FROM sluice.spans s WHERE NOT EXISTS (SELECT FROM sluice.traces t WHERE t.trace_id = s.trace_id
       AND (t.project <> s.project OR s.start_time_unix_nano BETWEEN t.first_ns AND t.last_ns))`,
  );
  t.same(missing, [], 'traces are found again');
});

t.test('records that arrived after the day was dropped come back once', async (t) => {
  await query("UPDATE sluice.lake_restored SET until = now() - interval '1 second'");
  await expire();
  await storeRows(scene, 'spans', 2);
  await storeRows(scene, 'logs', 1);
  await run();
  await storeRows(scene, 'spans', 1);
  t.equal(await countOf('spans_default'), 3);
  t.match(await restoreDay(DAY), { code: 0, out: /spans: 19 .*\nlogs: 20 .*\nmetric_points: 16/u });
  t.same(await Promise.all(SIGNALS.map(countOf)), [19, 20, 16]);
  t.same(await Promise.all(['spans_default', 'logs_default'].map(countOf)), [0, 0]);
  before = await viewsOf();
});

t.test('a restored day is neither archived again nor dropped before its time', async (t) => {
  const files = scene.files();
  t.same(await run(), []);
  await expire();
  await requireSame(t, before);
  t.match(await restoreDay(DAY), { code: 0, out: /spans: PostgreSQL has all 19 records/u });
  await storeRows(scene, 'spans', 1);
  t.match(await run(), [{ signal: 'spans', records: 1 }], 'a record that arrives now is late');
  t.equal(scene.files().length, files.length + 1);
  await query("UPDATE sluice.lake_restored SET until = now() - interval '1 second'");
  await expire();
  t.same(await Promise.all(SIGNALS.map(countOf)), [0, 0, 0]);
  t.same(await query('SELECT FROM sluice.lake_restored'), []);
});

longTest('a restoration that fails leaves nothing', async (t) => {
  await query(`UPDATE sluice.lake_jobs SET records = records + 1 WHERE signal = 'logs' AND day = $1`, [DAY]);
  t.match(await restoreDay(DAY), { code: 1, err: /differ from the database/u });
  t.same(await query('SELECT FROM pg_class WHERE relname = $1', [`logs_${DAY.replaceAll('-', '')}`]), []);
  await query(`UPDATE sluice.lake_jobs SET records = records - 1 WHERE signal = 'logs' AND day = $1`, [DAY]);
  t.match(await restoreDay(DAY), { code: 0, out: /spans: PostgreSQL has all 20 records\nlogs: 20 records restored/u });
});

t.test('what cannot be restored is said', async (t) => {
  t.match(await restoreDay(), { code: 2, err: /name a day/u });
  t.match(await restoreDay('2026-02-30'), { code: 2, err: /name a day/u });
  t.match(await restoreDay(new Date().toISOString().slice(0, 10)), { code: 2, err: /has not ended/u });
  t.match(await restoreDay('1999-01-01'), { code: 1, err: /no record of 1999-01-01 is archived/u });
  t.match(await restoreDay(DAY, '--for', 'long'), { code: 2, err: /takes a duration/u });
  const temporary = readdirSync(scene.folder).filter((name) => name.startsWith('restored-'));
  t.same(temporary, []);
});
