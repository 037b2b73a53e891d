/** Days that come back from the archive: each value and each record once, kept by retention, and not archived again. */
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { archivedFiles } from '../../src/archive/reading/archived-files.ts';
import {
  attachment,
  boundOf,
  creation,
  dayOf,
  openingLock,
  partitionName,
} from '../../src/exporters/postgres/partitions.ts';
import { archivedTables } from '../support/archived-tables.ts';
import { rowOf, storeRow, storeRows } from '../support/archive-rows.ts';
import { CLOSED_MS, linesOfLake, linesOfView, makeScene, TABLES } from '../support/archive-scene.ts';
import { DAY_MS } from '../../src/pdata/time-units.ts';
import { sluice } from '../support/command-line.ts';
import { longTest } from '../support/long.ts';
import { postgresConfig } from '../support/postgres-daemon.ts';

t.setTimeout(300_000);

const scene = await makeScene(t);
const { query, run, openDays, untilWaiting } = scene;
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

t.test('every value is restored', async (t) => {
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

/** The error of a row that waited for the default partition while its day was attached. The ledger tries again too. */
const CHECK_VIOLATION = '23514';

/** Records of the day arrive, one after the other, until the work has ended. Returns their number. */
async function whileArriving(work: () => Promise<void>): Promise<number> {
  const client = await scene.connect();
  const sender = {
    query: async (text: string, values: readonly unknown[] = []) => (await client.query(text, [...values])).rows,
  };
  const send = async (row: ReturnType<typeof rowOf>): Promise<void> => {
    await storeRow(sender, 'spans', row).catch((error: { readonly code?: unknown }) => {
      if (error.code !== CHECK_VIOLATION) throw error;
      return send(row);
    });
  };
  let [arrived, isOver] = [0, false];
  const arriving = (async () => {
    for (; !isOver; arrived++) await send(rowOf('spans', 0));
  })();
  try {
    await Promise.race([work(), arriving]);
  } finally {
    isOver = true;
    await arriving;
  }
  return arrived;
}

/** Whether readers look for spans of the day in the lake. */
async function isInLake(wanted: string): Promise<boolean> {
  const files = await archivedFiles((text, values = []) => scene.client.query(text, [...values]));
  return files.some(({ signal, day }) => signal === 'spans' && day === wanted);
}

/** All days are archived, and dropped by retention. */
async function dropDays(): Promise<void> {
  await query("UPDATE sluice.lake_restored SET until = now() - interval '1 second'");
  await run();
  await expire();
}

longTest('a day is restored while its records arrive all the time', async (t) => {
  await dropDays();
  let wanted = (await linesOfLake(scene, 'spans', ['span_id'])).length;
  const restores = (out: RegExp) => async (): Promise<void> => {
    t.match(await restoreDay(DAY), { code: 0, out });
  };
  wanted += await whileArriving(restores(/^spans: \d+ records restored/u));
  wanted += await whileArriving(restores(/^spans: PostgreSQL has all \d+ records/u));
  await dropDays();
  await openDays();
  await storeRows(scene, 'spans', 3);
  await run();
  t.ok(await isInLake(DAY), 'a partition that has a part of the day does not hide the files');
  wanted += 3 + (await whileArriving(restores(/^spans: \d+ records restored/u)));
  t.notOk(await isInLake(DAY), 'the restored day is read in PostgreSQL');
  await restoreDay(NEXT_DAY);
  t.equal(await countOf('spans'), wanted, 'each record is there once');
  t.equal(await countOf('spans_default'), 0);
  await run();
  const [inLake, inView] = [await linesOfLake(scene, 'spans'), await linesOfView(scene, 'spans')];
  t.equal(inLake.length, wanted, 'the records that arrived meanwhile are archived');
  t.equal(
    inLake.findIndex((line, index) => line !== inView[index]),
    -1,
    'with equal values',
  );
});

longTest('a partition that the daemon creates at the same moment is filled', async (t) => {
  await dropDays();
  for (const [signal, key] of TABLES) {
    const [table, day] = [{ name: signal, key, retentionMs: 0 }, dayOf(CLOSED_MS)];
    const name = partitionName(table, day);
    const bounds = [boundOf(table, day), boundOf(table, day + 1)] as const;
    const [wanted, other] = [(await linesOfLake(scene, signal, ['received_at'])).length, await scene.connect()];
    await other.query(`BEGIN; SELECT ${openingLock(name)}; ${creation(table, name, ...bounds)}`);
    const restoring = restoreDay(DAY);
    await untilWaiting(restoring);
    await other.query(`${attachment(table, name, ...bounds)}; COMMIT`);
    t.match(await restoring, { code: 0, out: new RegExp(`${signal}: \\d+ records restored`, 'u') });
    await restoreDay(NEXT_DAY);
    t.equal(await countOf(signal), wanted, `${signal}: each record is there once`);
    await dropDays();
  }
});

longTest('a day that is kept at the moment of its drop stays', async (t) => {
  const keep = (day: string): string =>
    `INSERT INTO sluice.lake_restored SELECT DISTINCT signal, date '${day}', now() + interval '1 hour' FROM sluice.lake_jobs`;
  await dropDays();
  for (const day of [DAY, NEXT_DAY]) await restoreDay(day);
  const wanted = await Promise.all(SIGNALS.map(countOf));
  await query('DELETE FROM sluice.lake_restored');
  const other = await scene.connect();
  await other.query('BEGIN; LOCK TABLE sluice.spans, sluice.logs, sluice.metric_points IN ACCESS SHARE MODE');
  const dropping = expire();
  await untilWaiting(dropping, 'LOCK TABLE ONLY');
  await other.query(`${keep(DAY)}; ${keep(NEXT_DAY)}; COMMIT`);
  await dropping;
  t.same(await Promise.all(SIGNALS.map(countOf)), wanted, 'kept after retention had looked');

  await query('DELETE FROM sluice.lake_restored WHERE day = $1', [DAY]);
  await other.query(`BEGIN; ${keep(DAY)}`);
  const keeping = restoreDay(DAY);
  await untilWaiting(keeping, 'lake_restored');
  const late = expire();
  await untilWaiting(late, 'LOCK TABLE ONLY');
  await other.query('ROLLBACK');
  await late;
  t.match(await keeping, { code: 0, out: /^spans: PostgreSQL has all \d+ records/u });
  t.same(await Promise.all(SIGNALS.map(countOf)), wanted, 'kept by a command that had counted before');
});

t.test('records whose erasure is requested do not come back', async (t) => {
  await dropDays();
  const ids = [...new Set((await linesOfLake(scene, 'spans', ['trace_id'])).map((line) => JSON.parse(line).trace_id))];
  await query('INSERT INTO sluice.lake_erasures (requested_at, trace_id) VALUES (now(), $1)', [ids[0]]);
  t.match(await restoreDay(DAY), { code: 0, out: /^spans: \d+ records restored/u });
  t.same(await query("SELECT FROM sluice.spans WHERE encode(trace_id, 'hex') = $1", [ids[0]]), []);
  t.not(await countOf('spans'), 0);
  t.same(await query('SELECT FROM sluice.lake_erasures'), []);
});

t.test('what cannot be restored is said', async (t) => {
  t.match(await restoreDay(), { code: 2, err: /name a day/u });
  t.match(await restoreDay('2026-02-30'), { code: 2, err: /"2026-02-30" is not a day/u });
  t.match(await restoreDay(new Date().toISOString().slice(0, 10)), { code: 2, err: /has not ended/u });
  t.match(await restoreDay('1999-01-01'), { code: 1, err: /no record of 1999-01-01 is archived/u });
  t.match(await restoreDay(DAY, '--for', 'long'), { code: 2, err: /takes a duration/u });
  const temporary = readdirSync(scene.folder).filter((name) => name.startsWith('restored-'));
  t.same(temporary, []);
});
