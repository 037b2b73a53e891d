// Starts without a person in front: the first key with a JSON log, and a DATABASE_URL of another application.
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import t, { type Test } from 'tap';
import { Database } from '../../src/extensions/postgres/database.ts';
import { migrate } from '../../src/extensions/postgres/migrate.ts';
import { sqlstateOf } from '../../src/extensions/postgres/sqlstate.ts';
import { connectTo } from '../support/connection.ts';
import { longTest } from '../support/long.ts';
import { type Executable, freePort, openFolder, startExecutable } from '../support/executable.ts';
import { send } from '../support/otlp-client.ts';
import { aSpan, aTraceRequest } from '../support/payloads.ts';
import { createDatabase } from '../support/postgres.ts';
import '../support/long-file.ts';

t.setTimeout(300_000);

const DEADLOCK = '40P01';
const KEY = /\bslc_[0-9A-Za-z]{8}_[0-9A-Za-z_-]{49}/u;
const SETTINGS = [
  ['extensions.postgres.allow_unsafe', 'true'],
  ['extensions.health_check.endpoint', '127.0.0.1:0'],
  ['extensions.console.endpoint', '127.0.0.1:0'],
  ['receivers.otlp.protocols.grpc.endpoint', '127.0.0.1:0'],
  ['service.telemetry.metrics.endpoint', '127.0.0.1:0'],
].flatMap(([path, value]) => ['--set', `${path}=${value}`]);

async function start(t: Test, folder: string, args: readonly string[], url: string): Promise<Executable> {
  const daemon = startExecutable([...args, ...SETTINGS], folder, { DATABASE_URL: url });
  t.teardown(async () => {
    daemon.child.kill('SIGTERM');
    await daemon.ended;
  });
  return daemon;
}

t.test('with a JSON log the first key goes to a private file that a line names', async (t) => {
  const folder = openFolder(t);
  const { url } = await createDatabase(t);
  const port = await freePort();
  const shipped = new URL('../../../config/sluice.yaml', import.meta.url).pathname;
  const args = [
    ...['--config', shipped, '--set', 'service.telemetry.logs.format=json'],
    ...['--set', `receivers.otlp.protocols.http.endpoint=127.0.0.1:${port}`],
  ];
  const daemon = await start(t, folder, args, url);
  const file = join(folder, 'data', 'first-key');
  await daemon.until('the first API key is in a file');
  t.equal(statSync(file).mode & 0o777, 0o600);
  const key = readFileSync(file, 'utf8').trim();
  t.match(key, KEY);
  const { out, err } = daemon.output;
  t.equal(out, '', 'no greeting between the lines of the log');
  t.notMatch(err, KEY);
  const lines = err.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Record<string, unknown>]));
  t.equal(lines.find(({ msg }) => /first API key/u.test(String(msg)))?.['file'], file);
  const database = lines.find(({ msg }) => msg === 'using a database by URL')?.['database'];
  t.match(database, new RegExp(`^${new URL(url).pathname.slice(1)} at \\S+$`, 'u'), 'the database is named');
  const body = JSON.stringify(aTraceRequest([aSpan()]));
  t.equal((await send(`http://127.0.0.1:${port}`, { authorization: `Bearer ${key}`, body })).status, 200);
});

longTest('no file for a key remains when the first project cannot be created', async (t) => {
  const folder = openFolder(t);
  const { url } = await createDatabase(t);
  const database = new Database().use({ connectionString: url });
  await migrate(database, 'public');
  await database.query(`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no project today'; END $$;
    CREATE TRIGGER refuse BEFORE INSERT ON sluice.projects EXECUTE FUNCTION refuse()`);
  await database.close();
  const shipped = new URL('../../../config/sluice.yaml', import.meta.url).pathname;
  const args = [
    ...['--config', shipped, '--set', 'service.telemetry.logs.format=json'],
    ...['--set', 'receivers.otlp.protocols.http.endpoint=127.0.0.1:0'],
  ];
  const daemon = await start(t, folder, args, url);
  await daemon.until('the greeting could not be prepared');
  t.match(daemon.output.err, /no project today/u);
  t.notOk(existsSync(join(folder, 'data', 'first-key')));
});

longTest('the database of another application is not changed without a confirmation', async (t) => {
  const folder = openFolder(t);
  const { url } = await createDatabase(t);
  const client = await connectTo(t, url);
  await client.query('CREATE TABLE orders (id int)');
  const schemas = async (): Promise<unknown> =>
    (await client.query("SELECT nspname FROM pg_namespace WHERE nspname = 'sluice'")).rows;
  const args = ['--set', 'receivers.otlp.protocols.http.endpoint=127.0.0.1:0'];
  const daemon = await start(t, folder, args, url);
  t.equal(await daemon.ended, 1);
  t.match(daemon.output.err, /DATABASE_URL names the database \S+ at \S+, which has 1 table of another application/u);
  t.match(daemon.output.err, /hint: Unset DATABASE_URL .* `sluice migrate` once/u);
  t.notMatch(daemon.output.err, url);
  t.strictSame(await schemas(), []);
  t.notOk(existsSync(join(folder, 'data')));

  const migrating = await start(t, folder, ['migrate'], url);
  t.equal(await migrating.ended, 0, migrating.output.err);
  const second = await start(t, folder, args, url);
  await second.until('everything is ready');

  await dropSchema(client);
  writeFileSync(join(folder, 'own.yaml'), readFileSync(new URL('../../../config/sluice.yaml', import.meta.url)));
  const named = await start(t, folder, ['--config', 'own.yaml', ...args], url);
  await named.until('everything is ready');
  t.strictSame(await schemas(), [{ nspname: 'sluice' }], 'a configuration that is named is meant');
});

/** The daemon's maintenance locks the same tables in another order, so PostgreSQL may cancel one of the two. */
async function dropSchema(client: pg.Client): Promise<void> {
  for (;;) {
    try {
      await client.query('DROP SCHEMA sluice CASCADE');
      return;
    } catch (error) {
      if (sqlstateOf(error) !== DEADLOCK) throw error;
    }
  }
}
