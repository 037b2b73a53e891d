/**
 * Retention beside an archive: nothing is removed that is in no file, and one of several daemons runs the archive. The
 * archive, the database and the daemon are real.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Query } from '../../../src/component/capabilities/postgres.ts';
import { STEPS } from '../../../src/archive/archive-day.ts';
import type { OwnCommands } from '../../../src/component/capabilities/own-commands.ts';
import { CommandSchedule } from '../../../src/component/command-schedule.ts';
import { expireDefault } from '../../../src/exporters/postgres/default-rows.ts';
import { scheduleOf } from '../../../src/exporters/postgres/postgres.ts';
import { Retention } from '../../../src/exporters/postgres/retention.ts';
import { Database } from '../../../src/extensions/postgres/database.ts';
import { linesOfLake, linesOfView, makeScene } from '../../support/archive-scene.ts';
import { DAY_MS } from '../../../src/pdata/time-units.ts';
import { rowOf, storeRow, storeRows } from '../../support/archive-rows.ts';
import { sluice } from '../../support/command-line.ts';
import { startExecutable } from '../../support/executable.ts';
import { longTest } from '../../support/long.ts';
import { postgresConfig } from '../../support/postgres-daemon.ts';

t.setTimeout(300_000);

const scene = await makeScene(t);
const { query, run } = scene;
const database = new Database().use({ connectionString: scene.url });
t.teardown(() => database.close());

interface Warning {
  readonly table: string;
  readonly days: readonly string[];
  readonly reason: string;
}
const warnings: Warning[] = [];
const LOGGER = {
  debug: () => undefined,
  info: () => undefined,
  warn: (fields: object) => void warnings.push(fields as Warning),
  error: () => undefined,
};
const PERIOD_MS = 3 * DAY_MS;
const retention = new Retention(
  database,
  { isArchived: true, spans: PERIOD_MS, logs: PERIOD_MS, metrics: PERIOD_MS, traces: PERIOD_MS, usage: 60 * DAY_MS },
  LOGGER,
);

async function expire(): Promise<readonly Warning[]> {
  warnings.length = 0;
  await retention.expire();
  return [...warnings];
}

const countOf = async (table: string): Promise<unknown> =>
  (await query(`SELECT count(*)::int4 AS count FROM sluice.${table}`))[0]?.['count'];
const dayOf = (row: Readonly<Record<string, string | null>>): string =>
  new Date(Number(BigInt(row['start_time_unix_nano'] ?? 0) / 1_000_000n)).toISOString().slice(0, 10);

t.test('a day is dropped only when all of its records are in the archive', async (t) => {
  const first = rowOf('spans', 0);
  await storeRow(scene, 'spans', first);
  await query("INSERT INTO sluice.resources VALUES ('x', 'demo', '{}', '2020-01-01')");
  await storeRows(scene, 'logs', 1);
  const reason = 'it is not archived yet';
  t.match(await expire(), [
    { table: 'spans', days: [dayOf(first)], reason },
    { table: 'logs', days: [dayOf(first)], reason },
  ]);
  t.equal(retention.heldDays, 2);
  t.same([await countOf('spans'), await countOf('logs')], [1, 1]);
  t.equal(await countOf('resources'), 1, 'rows of kept days refer to resources');

  await run();
  await storeRow(scene, 'spans', { ...rowOf('spans', 0), start_time_unix_nano: first['start_time_unix_nano'] ?? null });
  t.match(await expire(), [
    { table: 'spans', days: [dayOf(first)], reason: 'records that arrived late are not archived yet' },
  ]);
  t.same([await countOf('spans'), await countOf('logs')], [2, 0]);

  await run();
  const partition = `spans_${dayOf(first).replaceAll('-', '')}`;
  await query(`ALTER TABLE sluice.${partition} DISABLE TRIGGER sluice_archive`);
  t.match(await expire(), [{ reason: 'it was changed since it was archived' }]);
  await query(`ALTER TABLE sluice.${partition} ENABLE TRIGGER sluice_archive`);
  await query("INSERT INTO sluice.lake_restored VALUES ('spans', $1, now() + interval '1 hour')", [dayOf(first)]);
  t.same(await expire(), []);
  t.same([await countOf('spans'), await countOf('resources')], [2, 1], 'a restored day is kept with its resources');
  await query('DELETE FROM sluice.lake_restored');
  t.same(await expire(), []);
  t.equal(await countOf('resources'), 0);
  t.equal(retention.heldDays, 0);
  t.equal(await countOf('spans'), 0);
  t.same(await query('SELECT FROM pg_class WHERE relname = $1', [partition]), []);
});

t.test('rows of the default partition are removed only when they are in the archive', async (t) => {
  // Otherwise the rows are those of a clock that was wrong, and their retention starts now.
  await query("DELETE FROM sluice.maintenance_state WHERE name LIKE '%_default'");
  const received = new Date(Date.now() - 10 * DAY_MS).toISOString();
  const row = { ...rowOf('spans', 0), start_time_unix_nano: '1', received_at: received };
  await storeRow(scene, 'spans', row);
  const ahead = String(BigInt(Date.now() + 1000 * DAY_MS) * 1_000_000n);
  await storeRow(scene, 'spans', { ...rowOf('spans', 0), start_time_unix_nano: ahead, received_at: received });
  t.match(await expire(), [{ table: 'spans', days: ['1970-01-01'] }]);
  t.equal(await countOf('spans_default'), 1, 'a clock that is ahead keeps nothing');
  await run();
  t.same(await expire(), []);
  t.equal(await countOf('spans_default'), 0, 'rows that were kept are not those of a clock that was wrong');

  // A row that arrives, with a clock that is wrong, after the expiry has looked.
  await query("DELETE FROM sluice.maintenance_state WHERE name LIKE '%_default'");
  await storeRow(scene, 'spans', { ...row, ...rowOf('spans', 0), start_time_unix_nano: '2', received_at: received });
  await run();
  const late = { ...rowOf('spans', 0), start_time_unix_nano: '3', received_at: received };
  let isLooking = false;
  await database.session({ statementTimeoutMs: 60_000, lockTimeoutMs: 1_000 }, async (ask) => {
    const query: Query = async (text, values) => {
      if (text.includes('DELETE') && !isLooking) {
        isLooking = true;
        await storeRow(scene, 'spans', late);
      }
      return ask(text, values);
    };
    const time = { nowMs: Date.now(), cutoff: (periodMs: number) => Date.now() - periodMs };
    const table = { name: 'spans', key: 'nanoseconds', retentionMs: PERIOD_MS } as const;
    await expireDefault(query, table, { time, keptDays: [], isArchived: true, logger: LOGGER });
  });
  t.equal(await countOf('spans_default'), 2, 'no row of a day with a late record is removed');
  await run();
  t.same(await expire(), []);
  t.equal(await countOf('spans_default'), 0);
});

/** As after a backup was restored. */
async function removeSeals(): Promise<void> {
  const seals = await query(
    `SELECT format('DROP TRIGGER %I ON %s', tgname, tgrelid::regclass) AS drop FROM pg_trigger
     WHERE tgname LIKE 'sluice\\_archive%' AND NOT tgisinternal`,
  );
  for (const each of seals) await query(String(each['drop']));
}

longTest('records of tables without a seal are archived and kept when a run ends at any step', async (t) => {
  const stored: string[] = [];
  const requireAll = async (places: readonly (readonly string[])[], what: string): Promise<void> => {
    const found = new Set(places.flat().map((line) => String(JSON.parse(line).span_id).replace('\\x', '')));
    t.same(
      stored.filter((id) => !found.has(id)),
      [],
      what,
    );
  };
  const inLake = () => linesOfLake(scene, 'spans', ['span_id']);
  const rounds = [null, ...STEPS.slice(0, 3)].flatMap((step) => [
    { step, starts: ['of a day with a partition'] },
    { step, starts: ['1', '200000000000000'] },
  ]);
  // At first the days are archived.
  for (const { step, starts } of rounds) {
    await scene.openDays();
    await removeSeals();
    for (const start of starts) {
      const row = rowOf('spans', 0);
      if (starts.length > 1) row['start_time_unix_nano'] = start;
      stored.push(String(row['span_id']).slice(2));
      await storeRow(scene, 'spans', row);
    }
    const fail = (at: string): void => {
      if (at === step) throw new Error('interrupted');
    };
    if (step !== null) await t.rejects(run({ report: fail }), /interrupted/u);
    await query("DELETE FROM sluice.maintenance_state WHERE name LIKE '%_default'");
    await expire();
    await requireAll(
      [await inLake(), await linesOfView(scene, 'spans', ['span_id'])],
      `nothing is lost before ${step}`,
    );
    await run();
    await requireAll([await inLake()], `all is archived after a run that ended before ${step}`);
  }
});

t.test('one of several daemons runs the archive, once in an interval', async (t) => {
  const command = scheduleOf({ to: 'unused', interval: DAY_MS });
  const outcomes: (() => Promise<string>)[] = [];
  let calls = 0;
  const commands: OwnCommands = {
    run: (words) => {
      t.same(words, ['archive', '--json']);
      calls++;
      return outcomes.shift()?.() ?? Promise.resolve('[]');
    },
    open: () => t.fail('no session') as never,
  };
  const runsOf = async (count: number): Promise<readonly CommandSchedule[]> => {
    const runs = Array.from({ length: count }, () => new CommandSchedule(database, commands, command, LOGGER));
    for (const each of runs) each.start();
    for (const each of runs) await each.stop();
    return runs;
  };
  const shift = (seconds: number) =>
    query(
      `UPDATE sluice.maintenance_state SET state = state || jsonb_build_object('started', (state ->> 'started')::float8 - $1::float8)
       WHERE name = 'archive'`,
      [seconds],
    );
  // While the command runs elsewhere, also by hand.
  await query("SELECT pg_advisory_lock(hashtext('sluice.archive'))");
  await runsOf(1);
  t.equal(calls, 0);
  await query("SELECT pg_advisory_unlock(hashtext('sluice.archive'))");
  const [first] = await runsOf(2);
  t.equal(calls, 1);
  t.ok((first?.ageSeconds ?? -1) >= 0);
  await runsOf(2);
  t.equal(calls, 1, 'not again within the interval');
  await shift(DAY_MS / 1000);
  warnings.length = 0;
  outcomes.push(() => Promise.reject(new Error('exit code 1')));
  await runsOf(2);
  t.equal(calls, 2);
  await runsOf(1);
  t.equal(calls, 2, 'a failed run is repeated after a pause');
  await shift(1_800);
  await runsOf(2);
  t.equal(calls, 3);
  await shift(-1_000_000);
  await runsOf(1);
  t.equal(calls, 4, 'a clock that was set back delays nothing');
  // A claim can begin before another one that is served first.
  for (let round = 0; round < 50; round++) {
    await shift(DAY_MS / 1000);
    await runsOf(6);
  }
  t.equal(calls, 54);
});

longTest('the daemon runs the archive of its configuration and shows it', async (t) => {
  await query("DELETE FROM sluice.maintenance_state WHERE name = 'archive'");
  await storeRows(scene, 'metric_points', 2);
  const before = scene.files().length;
  const config = postgresConfig({ databaseUrl: scene.url })
    .replace('postgres: {}', 'postgres: { archive: { to: to, older_than: 2d, memory: 256MiB } }')
    .replace('service:', 'service:\n  shutdown_timeout: 10s');
  writeFileSync(join(scene.folder, 'sluice.yaml'), config);
  const daemon = startExecutable(['run'], scene.folder);
  await daemon.until('the archive is complete');
  t.equal(scene.files().length, before + 1);
  t.match(daemon.output.err, /lake\/metric_points/u, 'its progress is in the log');
  const ask = () => sluice(['status', '--config', 'sluice.yaml'], scene);
  let status = await ask();
  // The line of the log comes before the end of the run.
  while (/archive +running/u.test(status.out)) status = await ask();
  t.match(status.out, /archive +(?:running, )?last complete \d+[sm]/u, status.err);
  daemon.child.kill('SIGTERM');
  t.equal(await daemon.ended, 0);
  t.match(await sluice(['archive'], scene), { code: 0, out: 'All days are archived.\n' });
});
