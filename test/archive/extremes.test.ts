/**
 * What is at the limits: values of all columns, days far from today, names of projects and of folders, and settings of
 * the database. Each value must be in the files and come back from them.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import t, { type Test } from 'tap';
import { literal } from '../../src/archive/duckdb.ts';
import { Database } from '../../src/extensions/postgres/database.ts';
import { urlOf } from '../../src/extensions/postgres/embedded/address.ts';
import { migrate } from '../../src/extensions/postgres/migrate.ts';
import { archivedTables } from '../support/archived-tables.ts';
import { rowOf, type Signal, storeRow, storeRows } from '../support/archive-rows.ts';
import { CLOSED_MS, linesOfLake, linesOfView, makeScene, type Scene, TABLES } from '../support/archive-scene.ts';
import { sluice } from '../support/command-line.ts';
import { BIN, startExecutable, watchExecutable } from '../support/executable.ts';
import { longTest } from '../support/long.ts';
import { createDatabase } from '../support/postgres.ts';
import { postgresConfig } from '../support/postgres-daemon.ts';

t.setTimeout(600_000);

const SIGNALS: readonly Signal[] = TABLES.map(([signal]) => signal);
const MOST = '9223372036854775807';
const LEAST = '-9223372036854775808';
const DOUBLES = ['5e-324', '-0', 'NaN', 'Infinity', '-Infinity', '-1.7976931348623157e308', '-9.3e18'];
/** More than a mebibyte, and more than a block of DuckDB. */
const LONG_TEXT = '\uFFFD\uFEFF\u0001'.repeat(20_000) + 'ä🚀\\N\t"\r\n'.repeat(100_000);
/** It cannot be compressed well. */
const NOISE = randomBytes(500_000).toString('hex');
const PROJECTS = ["it's", 'a"b', 'NULL', 'a,b', '{x}', 'a\\b', ' ', 'ü\uFFFD', '%', '*'];
const DAY = new Date(CLOSED_MS).toISOString().slice(0, 10);

async function configured(t: Test, url?: string): Promise<Scene> {
  const scene = await makeScene(t, url);
  writeFileSync(join(scene.folder, 'sluice.yaml'), postgresConfig({ databaseUrl: scene.url }));
  return scene;
}

async function requireDone(t: Test, scene: Pick<Scene, 'folder'>, ...words: readonly string[]): Promise<string> {
  const { code, out, err } = await sluice(words, scene);
  t.equal(code, 0, `${words.join(' ')}: ${err}`);
  return out;
}

const viewsOf = async (scene: Scene) => Promise.all(SIGNALS.map((signal) => linesOfView(scene, signal)));

/** Names of columns whose values differ, which are shorter to read than rows. */
function requireSame(t: Test, found: readonly string[], wanted: readonly string[], what: string): void {
  t.equal(found.length, wanted.length, `${what}: the number of records`);
  const at = found.findIndex((line, index) => line !== wanted[index]);
  if (at < 0) return;
  const [left, right] = [found, wanted].map((lines) => JSON.parse(lines[at] ?? '{}') as Record<string, unknown>);
  const names = Object.keys(right ?? {}).filter((name) => left?.[name] !== right?.[name]);
  t.same(names, [], `${what}: ${names.map((name) => `${name} ${String(left?.[name]).slice(0, 50)}`).join(', ')}`);
}

/** Archives all, drops the days, and restores them. */
async function requireKept(t: Test, scene: Scene, days: readonly string[]): Promise<void> {
  const views = await viewsOf(scene);
  await requireDone(t, scene, 'archive', '--to', 'to');
  for (const [at, signal] of SIGNALS.entries())
    requireSame(t, await linesOfLake(scene, signal), views[at] ?? [], `${signal} in files`);
  const { expire, close } = archivedTables(scene.url);
  await expire();
  await close();
  t.same(await viewsOf(scene), [[], [], []], 'the days are dropped');
  for (const day of days) await requireDone(t, scene, 'restore-day', day, '--from', 'to');
  for (const [at, lines] of (await viewsOf(scene)).entries())
    requireSame(t, lines, views[at] ?? [], `${SIGNALS[at]} restored`);
}

t.test('values at the limits of their types, and days that only the default partition has', async (t) => {
  const scene = await configured(t);
  const limits = { input_tokens: MOST, output_tokens: MOST, total_cost: '9999999999.99999999', duration_ns: '0' };
  for (const [at, double] of DOUBLES.entries()) {
    await storeRow(scene, 'spans', { ...rowOf('spans', 0), ...limits, latency_ms: double, finish_reasons: '[]' });
    await storeRow(scene, 'spans', { ...rowOf('spans', 0), start_time_unix_nano: String(at) });
    const point = { ...rowOf('metric_points', 0), value_int: null, value_double: double, sum: double, max: double };
    await storeRow(scene, 'metric_points', point);
    const log = { ...rowOf('logs', 0), time_unix_nano: MOST, observed_time_unix_nano: LEAST };
    await storeRow(scene, 'logs', log);
  }
  await storeRow(scene, 'spans', { ...rowOf('spans', 0), name: LONG_TEXT, input_content: LONG_TEXT });
  await storeRow(scene, 'logs', { ...rowOf('logs', 0), body: JSON.stringify(LONG_TEXT) });
  await requireKept(t, scene, ['1970-01-01', DAY]);
});

longTest('settings of the database do not change a value', async (t) => {
  const scene = await configured(t);
  for (const signal of SIGNALS) await storeRows(scene, signal, 12);
  const settings = {
    ...{ TimeZone: 'Asia/Kathmandu', DateStyle: 'German, DMY', IntervalStyle: 'sql_standard', search_path: 'nowhere' },
    ...{ bytea_output: 'escape', extra_float_digits: '-15', client_encoding: 'LATIN1', array_nulls: 'off' },
    ...{
      standard_conforming_strings: 'off',
      transform_null_equals: 'on',
      quote_all_identifiers: 'on',
      work_mem: '64kB',
    },
    ...{ statement_timeout: '300ms', lock_timeout: '1ms', idle_in_transaction_session_timeout: '50ms' },
    ...{ default_transaction_isolation: 'serializable', default_transaction_deferrable: 'on' },
    ...{ enable_hashjoin: 'off', enable_sort: 'off', jit_above_cost: '0', min_parallel_table_scan_size: '0' },
  };
  const [{ name = '' } = {}] = (await scene.query('SELECT current_database() AS name')) as { name?: string }[];
  for (const [setting, value] of Object.entries(settings))
    await scene.query(`ALTER DATABASE "${name}" SET ${setting} = '${value}'`);
  await requireKept(t, scene, [DAY]);
  await requireDone(t, scene, 'usage', '--since', '30d');
  await requireDone(t, scene, 'prune', '--project', 'project-1', '--yes');
});

t.test('a database user with no more than the documented rights', async (t) => {
  const { name, address, url: owner } = await createDatabase(t);
  const role = `role_${name}`;
  const client = new pg.Client(owner);
  await client.connect();
  await client.query(`CREATE ROLE ${role} LOGIN PASSWORD 'x'; REVOKE ALL ON DATABASE ${name} FROM PUBLIC;
    GRANT CONNECT, CREATE, TEMPORARY ON DATABASE ${name} TO ${role}; GRANT USAGE, CREATE ON SCHEMA public TO ${role}`);
  await client.end();
  const url = urlOf({ ...address, user: role, password: 'x' });
  const database = new Database().use({ connectionString: url });
  await migrate(database, 'public');
  await database.close();
  const scene = await configured(t, url);
  for (const signal of SIGNALS) await storeRows(scene, signal, 6);
  await requireKept(t, scene, [DAY]);
  await requireDone(t, scene, 'usage', '--since', '30d');
  await requireDone(t, scene, 'prune', '--project', 'project-1', '--yes');
});

longTest('projects of any name are erased', async (t) => {
  const scene = await configured(t);
  for (const project of PROJECTS)
    for (const signal of SIGNALS) await storeRow(scene, signal, { ...rowOf(signal, 0), project });
  await requireDone(t, scene, 'archive', '--to', 'to');
  for (const [at, project] of PROJECTS.entries()) {
    const out = await requireDone(t, scene, 'prune', '--project', project, '--yes');
    t.match(out, /Erased 3 records in 3 files/u, JSON.stringify(project));
    if (at === PROJECTS.length - 1) break;
    const left = await scene.duck.rows(
      `SELECT DISTINCT project FROM read_parquet('${scene.lake}/lake/*/*/*.parquet', union_by_name = true) WHERE project = ${literal(project)}`,
    );
    t.same(left, []);
  }
  t.same(scene.files(), []);
});

longTest('a folder for temporary files that is absent, no folder, or too small', async (t) => {
  const scene = await configured(t);
  for (let each = 0; each < 2; each++) await storeRow(scene, 'spans', { ...rowOf('spans', 0), name: NOISE });
  const { folder } = scene;
  const archive = async (before: string, temporary: string): Promise<string> => {
    const command = `${before}; exec "$0" "$1" archive --to to`;
    const env = { ...process.env, SLUICE_KEY: '', TMPDIR: temporary };
    const child = spawn('bash', ['-c', command, process.execPath, BIN], {
      cwd: folder,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const { ended, output } = watchExecutable(child);
    t.equal(await ended, 1);
    t.notMatch(output.err, /fault of Sluice|database cannot be reached/u);
    return output.err;
  };
  t.match(await archive('true', join(folder, 'none')), /temporary files.* no such file or folder\n.*TMPDIR/u);
  t.match(await archive('true', join(folder, 'sluice.yaml')), /temporary files.* not a folder\n.*TMPDIR/u);
  t.match(await archive('ulimit -f 100', folder), /temporary files.*\n.*TMPDIR/u);
  t.same(await scene.query("SELECT FROM sluice.lake_jobs WHERE state = 'published'"), []);
  await requireDone(t, scene, 'archive', '--to', 'to');
});

longTest('folders with names of any characters', async (t) => {
  for (const name of ["it's a b", '%20 größe 検', 'a[1]*?{a,b}', '"q" a\\b', '~ $HOME;b#c']) {
    const scene = await makeScene(t);
    const folder = join(scene.folder, name);
    const temporary = join(folder, name);
    mkdirSync(temporary, { recursive: true });
    writeFileSync(join(folder, 'sluice.yaml'), postgresConfig({ databaseUrl: scene.url }));
    const requireCode = async (...words: readonly string[]): Promise<void> => {
      const run = startExecutable(words, folder, { TMPDIR: temporary });
      t.equal(await run.ended, 0, `${name}: ${words[0]}: ${run.output.err}`);
    };
    const place = `./to ${name}`;
    for (let late = 0; late < 2; late++) {
      const times = { end_time_unix_nano: null, duration_ns: null };
      await storeRow(scene, 'spans', { ...rowOf('spans', 0), ...times, project: 'project-1' });
      await requireCode('archive', '--to', place);
    }
    const { expire, close } = archivedTables(scene.url);
    await expire();
    await close();
    await requireCode('usage', '--since', '30d');
    await requireCode('restore-day', DAY, '--from', place);
    await requireCode('prune', '--project', 'project-1', '--yes');
  }
});
