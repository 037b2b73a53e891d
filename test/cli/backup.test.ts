// Backup and restore by the command line: every table comes back equal, a backup during ingest is one moment, wrong and
// damaged files change nothing, and a killed restore can be run again.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, lstatSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import pg from 'pg';
import t from 'tap';
import { waitFor } from '../../src/extensions/postgres/embedded/wait.ts';
import { createSchemaAt } from '../../src/extensions/postgres/migrate.ts';
import { BackupReader } from '../../src/extensions/postgres/transfer/backup-file.ts';
import { readMigrations } from '../../src/extensions/postgres/schema-state.ts';
import { longTest } from '../support/long.ts';
import { folderOf } from '../support/config-files.ts';
import { type Outcome, sluice as call } from '../support/command-line.ts';
import { BIN } from '../support/executable.ts';
import { send } from '../support/otlp-client.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { aSpan, aTraceRequest, newTraceId } from '../support/payloads.ts';
import { createDatabase } from '../support/postgres.ts';
import { postgresConfig, startPostgresDaemon } from '../support/postgres-daemon.ts';
import { storeRecords } from '../support/stored-records.ts';
import { tableContents, tableStructure, withClient } from '../support/table-contents.ts';

t.setTimeout(300_000);

const SPANS_PER_REQUEST = 7;
/** Tables that have rows here; the others are compared too. */
const FILLED = [
  'api_keys',
  'environments',
  'logs',
  'metric_points',
  'outbox',
  'prices',
  'projects',
  'replay_markers',
  'resources',
  'scopes',
  'spans',
  'traces',
  'usage_months',
];

const daemon = await startPostgresDaemon(t);
await storeRecords(daemon);
const folder = folderOf({ 'source.yaml': postgresConfig({ databaseUrl: daemon.databaseUrl }) });
const file = join(folder, 'a.backup');
const sluice = (...args: readonly string[]): Promise<Outcome> => call(args, { folder });

/** A new database, named by a configuration of its own. */
async function makeTarget(): Promise<{ readonly url: string; readonly config: string }> {
  const { url, name } = await createDatabase(t);
  const config = `${name}.yaml`;
  writeFileSync(join(folder, config), postgresConfig({ databaseUrl: url }));
  return { url, config };
}

const empty = await makeTarget();

const isEmpty = (url: string): Promise<boolean> =>
  withClient(url, async (client) => {
    const { rows } = await client.query("SELECT to_regnamespace('sluice') IS NULL AS empty");
    return rows[0]?.empty === true;
  });

t.test('a backup is complete, private and verified', async (t) => {
  t.match(await sluice('backup', 'a.backup', '-c', 'source.yaml'), { code: 0, out: '', err: /^Backed up \d+ rows/mu });
  t.equal(statSync(file).mode & 0o777, 0o600);
  t.notOk(existsSync(`${file}.partial`));
  t.match(await sluice('restore', 'a.backup', '--check'), { code: 0, out: /is complete: \d+ rows/u });
  t.match(await sluice('backup', 'no/such/folder', '-c', 'source.yaml'), {
    code: 1,
    err: /cannot be written: there is no such file or folder\n/u,
  });
});

t.test('a pipe, a device or a link is not replaced', async (t) => {
  const [pipe, link] = [join(folder, 'pipe'), join(folder, 'link')];
  t.equal(spawnSync('mkfifo', [pipe]).status, 0);
  symlinkSync(file, link);
  for (const path of [pipe, link]) {
    const err = /cannot be written: it is not a regular file/u;
    t.match(await sluice('backup', path, '-c', 'source.yaml'), { code: 1, err });
  }
  t.ok(lstatSync(pipe).isFIFO());
  t.ok(lstatSync(link).isSymbolicLink());
  t.notOk(existsSync(`${pipe}.partial`));
});

t.test('a target with rows is refused and not changed', async (t) => {
  t.match(await sluice('restore', 'a.backup', '-c', 'source.yaml'), { code: 1, err: /the target is not empty/u });
  t.match(await sluice('migrate', '-c', 'source.yaml'), { out: 'The schema is current.\n' });
});

t.test('a failure of the disk is no fault of the file', async (t) => {
  const failing = new Readable({ read: () => failing.destroy(Object.assign(new Error('EIO'), { code: 'EIO' })) });
  await t.rejects(BackupReader.open(failing), { code: 'EIO' });
});

t.test('files that are no backup, incomplete, damaged or newer are refused, and the target stays empty', async (t) => {
  const { url, config } = empty;
  const good = readFileSync(file);
  const middle = Math.floor(good.length / 2);
  const flipped = Buffer.from(good);
  flipped[middle] = (flipped[middle] ?? 0) ^ 1;
  const newer = Buffer.from(good.toString('latin1').replace('"format":1', '"format":2'), 'latin1');
  const part = Buffer.concat([good.subarray(0, middle), good.subarray(middle + 100)]);
  // A changed byte may be one of a length, so that the end of the file seems to be missing.
  const broken = /the backup is (?:damaged|incomplete)/u;
  const cases: readonly (readonly [string, Buffer, RegExp])[] = [
    ['text', Buffer.from('CREATE TABLE a (b int);'), /this is not a backup of Sluice/u],
    ['empty', Buffer.alloc(0), /this is not a backup of Sluice/u],
    ['cut', good.subarray(0, middle), /the backup is incomplete/u],
    ['cut before the end', good.subarray(0, -9), /the backup is incomplete/u],
    ['flipped', flipped, broken],
    ['other header', newer, /the backup is damaged/u],
    ['missing part', part, broken],
  ];
  for (const [name, content, err] of cases) {
    writeFileSync(join(folder, 'bad'), content);
    t.match(await sluice('restore', 'bad', '--check'), { code: 1, out: '', err }, name);
    if (name !== 'flipped') continue;
    t.match(await sluice('restore', 'bad', '-c', config), { code: 1, out: '', err }, 'in the middle of a restore');
    t.ok(await isEmpty(url), 'the target is empty');
  }
  t.match(await sluice('restore', 'absent', '-c', config), {
    code: 1,
    err: /absent cannot be read: there is no such file/u,
  });
});

t.test('a restore that is killed leaves an empty database; run again, every table is equal', async (t) => {
  const { url, config } = empty;
  const good = readFileSync(file);
  const child = spawn(process.execPath, [BIN, 'restore', '-', '-c', config], {
    cwd: folder,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.stdin.on('error', () => undefined);
  child.stdin.write(good.subarray(0, -1000));
  const copying =
    'SELECT FROM pg_stat_activity WHERE datname = current_database() AND xact_start < now() AND pid <> pg_backend_pid()';
  await withClient(url, async (client) => {
    const reached = await waitFor(async () => ((await client.query(copying)).rowCount === 0 ? undefined : true), {
      timeoutMs: PATIENCE_MS,
    });
    t.ok(reached, 'it writes');
    child.kill('SIGKILL');
    await once(child, 'close');
    const gone = await waitFor(async () => ((await client.query(copying)).rowCount === 0 ? true : undefined), {
      timeoutMs: PATIENCE_MS,
    });
    t.ok(gone, 'the server has rolled it back');
  });
  t.ok(await isEmpty(url));
  const before = await tableContents(daemon.databaseUrl);
  const filled = Object.keys(before).filter((name) => !before[name]?.startsWith('0 rows'));
  t.same(
    FILLED.filter((name) => !filled.includes(name)),
    [],
  );
  t.match(await sluice('restore', 'a.backup', '-c', config), { code: 0, out: /^Restored \d+ rows/u });
  t.same(await tableContents(url), before);
  t.same(await tableStructure(url), await tableStructure(daemon.databaseUrl));
  t.match(await sluice('migrate', '-c', config), { out: 'The schema is current.\n' });
  t.match(await sluice('traces', '-c', config, '--json'), { code: 0, out: /trace_id/u });
});

longTest('a schema without rows is filled, unless a daemon uses it', async (t) => {
  const { url, config } = await makeTarget();
  t.match(await sluice('migrate', '-c', config), { code: 0 });
  const session = new pg.Client({ connectionString: url, application_name: 'sluice' });
  await session.connect();
  const err = /a daemon or a command uses the target \(connections: 1\)/u;
  t.match(await sluice('restore', 'a.backup', '-c', config), { code: 1, err });
  await session.end();
  t.match(await sluice('restore', 'a.backup', '-c', config), { code: 0 });
  t.equal((await tableContents(url))['spans'], (await tableContents(daemon.databaseUrl))['spans']);
});

t.test('a backup of a newer version is refused before a server is made for it', async (t) => {
  const newer = await makeTarget();
  t.match(await sluice('migrate', '-c', newer.config), { code: 0 });
  await withClient(newer.url, (client) => client.query("INSERT INTO sluice.migrations VALUES ('9999-newer.sql')"));
  t.match(await sluice('backup', 'newer.backup', '-c', newer.config), { code: 0 });
  const embedded = ['--set', 'extensions.postgres.url=', '--set', 'extensions.postgres.data_dir=new'];
  t.match(await sluice('restore', 'newer.backup', '-c', newer.config, ...embedded), {
    code: 1,
    err: /the data is of a newer version of sluice \(9999-newer\.sql\)/u,
  });
  t.notOk(existsSync(join(folder, 'new')));
});

longTest('an older schema is restored at its level and then migrated; tables of others are left out', async (t) => {
  const [older, target] = [await makeTarget(), await makeTarget()];
  const migrations = await readMigrations();
  await withClient(older.url, async (client) => {
    await createSchemaAt(client, migrations.slice(0, 5));
    await client.query("INSERT INTO sluice.projects (name) VALUES ('old')");
    await client.query('CREATE TABLE sluice.own AS SELECT 1 AS a');
    // A copy of the maintenance that is under way.
    await client.query('CREATE TABLE sluice.spans_next (LIKE sluice.spans) PARTITION BY RANGE (start_time_unix_nano)');
    await client.query('CREATE TABLE sluice.spans_default_next PARTITION OF sluice.spans_next DEFAULT');
    await client.query('CREATE TABLE sluice.spans_old (LIKE sluice.spans)');
  });
  t.match(await sluice('backup', 'old.backup', '-c', older.config), { code: 0 });
  const { code, err } = await sluice('restore', 'old.backup', '-c', target.config);
  t.equal(code, 0);
  t.same(err.match(/warning: .*/gu), ['warning: sluice.own is no table of Sluice: it was left out']);
  t.match(await sluice('migrate', '-c', target.config), { out: 'The schema is current.\n' });
  t.match(await sluice('project', 'list', '-c', target.config), { code: 0, out: /^old /mu });
});

longTest('a backup during ingest is one moment: no row without its trace, no counter without its rows', async (t) => {
  let sending = true;
  const request = (): string => {
    const traceId = newTraceId();
    return JSON.stringify(aTraceRequest(Array.from({ length: SPANS_PER_REQUEST }, () => aSpan({ traceId }))));
  };
  let sent = 0;
  const sender = async (): Promise<void> => {
    for (; sending; sent++)
      if ((await send(daemon.url, { body: request() })).status !== 200) throw new Error('refused');
  };
  const senders = [sender(), sender(), sender()];
  await waitFor(async () => (sent > 30 ? true : undefined), { timeoutMs: PATIENCE_MS });
  const [before] = await daemon.query('SELECT count(*)::int4 AS spans FROM sluice.spans');
  t.match(await sluice('backup', 'b.backup', '-c', 'source.yaml'), { code: 0 });
  const at = sent;
  await waitFor(async () => (sent > at + 10 ? true : undefined), { timeoutMs: PATIENCE_MS });
  sending = false;
  await Promise.all(senders);
  const { url, config } = await makeTarget();
  t.match(await sluice('restore', 'b.backup', '-c', config), { code: 0 });
  await withClient(url, async (client) => {
    const { rows } = await client.query(`
      SELECT count(*)::int4 AS spans, (SELECT sum(spans)::int4 FROM sluice.usage_months) AS counted,
        (SELECT count(*)::int4 FROM sluice.replay_markers) AS requests,
        (SELECT count(*)::int4 FROM sluice.spans s WHERE NOT EXISTS (SELECT FROM sluice.traces t WHERE t.trace_id = s.trace_id)) AS unowned,
        (SELECT count(*)::int4 FROM sluice.traces t WHERE first_ns IS NOT NULL AND NOT EXISTS (SELECT FROM sluice.spans s WHERE s.trace_id = t.trace_id)) AS unused
      FROM sluice.spans`);
    const [{ spans, counted, requests, unowned, unused }] = rows;
    t.ok(spans > Number(before?.['spans']), `${spans} spans`);
    t.same({ counted, unowned, unused }, { counted: spans, unowned: 0, unused: 0 });
    // Three requests of other signals and six spans precede.
    t.equal(spans, 6 + (requests - 3) * SPANS_PER_REQUEST, 'the rows of each marker are there');
  });
});

longTest('a role that may only read makes a backup, and one that may create a schema restores it', async (t) => {
  const { url, config } = await makeTarget();
  const database = new URL(url).pathname.slice(1);
  const [reader, writer] = [`reader_${database}`, `writer_${database}`];
  await withClient(url, async (client) => {
    await client.query(`CREATE ROLE ${reader} LOGIN PASSWORD 'x' IN ROLE pg_read_all_data`);
    await client.query(`CREATE ROLE ${writer} LOGIN PASSWORD 'x'`);
    await client.query(
      `GRANT CREATE, TEMPORARY ON DATABASE ${database} TO ${writer}; GRANT CREATE ON SCHEMA public TO ${writer}`,
    );
  });
  t.teardown(() =>
    withClient(url, (client) => client.query(`DROP OWNED BY ${writer} CASCADE; DROP ROLE ${writer}, ${reader}`)),
  );
  const as = (role: string, target: string): string => target.replace(/\/\/[^@]*@/u, `//${role}:x@`);
  const read = `extensions.postgres.url=${as(reader, daemon.databaseUrl)}`;
  t.match(await sluice('backup', 'c.backup', '-c', 'source.yaml', '--set', read), { code: 0 });
  const none = `extensions.postgres.url=${as(writer, daemon.databaseUrl)}`;
  t.match(await sluice('backup', 'd.backup', '-c', 'source.yaml', '--set', none), {
    code: 1,
    err: /lacks a right|may not read/u,
  });
  t.notOk(existsSync(join(folder, 'd.backup')));
  const write = `extensions.postgres.url=${as(writer, url)}`;
  t.match(await sluice('restore', 'c.backup', '-c', config, '--set', write), { code: 0 });
  t.equal((await tableContents(url))['spans'], (await tableContents(daemon.databaseUrl))['spans']);
});

t.test('a database of another application that only DATABASE_URL names is refused', async (t) => {
  const { url } = await createDatabase(t);
  await withClient(url, (client) => client.query('CREATE TABLE public.orders (id int)'));
  const here = folderOf({ 'sluice.yaml': postgresConfig({ databaseUrl: url }) });
  const outcome = await call(['restore', file], { folder: here, env: { DATABASE_URL: url } });
  t.match(outcome, { code: 1, err: /1 table of another application/u });
  t.ok(await isEmpty(url));
});
