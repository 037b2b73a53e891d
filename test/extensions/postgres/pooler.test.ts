// PgBouncer in front of the database: a session pool works, a transaction pool is refused with a remedy.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { UserError } from '../../../src/errors.ts';
import { asConsoleError } from '../../../src/extensions/console/server/failures.ts';
import { Database } from '../../../src/extensions/postgres/database.ts';
import { waitFor } from '../../../src/extensions/postgres/embedded/wait.ts';
import { makeContact } from '../../../src/extensions/postgres/first-contact.ts';
import { Readers } from '../../../src/extensions/postgres/reader.ts';
import { sluice } from '../../support/command-line.ts';
import { folderOf } from '../../support/config-files.ts';
import { connectTo } from '../../support/connection.ts';
import { startDaemon } from '../../support/daemon.ts';
import { freePort } from '../../support/executable.ts';
import { send } from '../../support/otlp-client.ts';
import { PATIENCE_MS } from '../../support/patience.ts';
import { aSpan, aTraceRequest } from '../../support/payloads.ts';
import { createDatabase } from '../../support/postgres.ts';
import { postgresConfig } from '../../support/postgres-daemon.ts';
import { asUnprivileged, isRoot, UNPRIVILEGED } from '../../support/unprivileged.ts';
import '../../support/long-file.ts';

t.setTimeout(300_000);

const OPTIONS = { url: '', data_dir: '', views_schema: 'public', allow_unsafe: true };
const found = spawnSync('pgbouncer', ['--version']);

/** The URL of a database behind its own PgBouncer. */
async function poolerOf(t: Test, mode: string, settings = ''): Promise<string> {
  const { address } = await createDatabase(t);
  const folder = mkdtempSync(join(tmpdir(), 'sluice-pooler-'));
  chmodSync(folder, 0o755);
  const port = await freePort();
  const file = join(folder, 'pgbouncer.ini');
  writeFileSync(
    file,
    `[databases]
${address.database} = host=${address.host} port=${address.port} user=${address.user} password=${address.password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
${settings}
`,
  );
  if (isRoot) chownSync(folder, UNPRIVILEGED, UNPRIVILEGED);
  const child: ChildProcess = spawn('pgbouncer', [file], asUnprivileged());
  t.teardown(async () => {
    const ended = new Promise((resolve) => child.once('close', resolve));
    child.kill('SIGKILL');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  t.ok(await waitFor(() => answers(port), { timeoutMs: PATIENCE_MS }), 'PgBouncer listens');
  return `postgres://${address.user}@127.0.0.1:${port}/${address.database}`;
}

function answers(port: number): Promise<true | undefined> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(undefined));
    socket.once('close', () => socket.destroy());
    socket.once('connect', () => socket.end());
  });
}

if (found.status !== 0) {
  t.pass('poolers are NOT tested: there is no PgBouncer', { skip: 'apt-get install pgbouncer' });
} else {
  for (const [mode, settings] of [
    ['transaction', ''],
    ['transaction', 'default_pool_size = 1'],
    ['transaction', 'server_round_robin = 1\nmin_pool_size = 5'],
    ['statement', ''],
  ] as const) {
    t.test(`pool_mode = ${mode} is refused ${settings}`, async (t) => {
      const connectionString = await poolerOf(t, mode, settings);
      const error = await makeContact({ connectionString }, OPTIONS).catch((reason) => reason);
      t.ok(error instanceof UserError);
      t.match(error, { message: /pooler/, hint: /pool_mode = session/ });
    });
  }

  t.test('a command refuses it too, and leaves no settings in a session of the pool', async (t) => {
    const url = await poolerOf(t, 'transaction', 'default_pool_size = 1');
    const folder = folderOf({ 'a.yaml': postgresConfig({ databaseUrl: url }) });
    const { code, err } = await sluice(['usage', '-c', 'a.yaml'], { folder });
    t.equal(code, 1);
    t.match(err, /a pooler gives each transaction another session/);
    const client = await connectTo(t, url);
    const { rows } = await client.query('SHOW default_transaction_read_only');
    t.match(rows, [{ default_transaction_read_only: 'off' }]);
  });

  t.test('a reader with a url of its own refuses it too, and says why', async (t) => {
    const url = await poolerOf(t, 'transaction', 'default_pool_size = 1');
    const settings = { url, connections: 1, timeoutMs: PATIENCE_MS, applicationName: 'reader' };
    const reader = new Readers(new Database(), 'public').open(settings);
    t.teardown(() => reader.close());
    const failure = await reader.query('SELECT 1').catch((reason) => reason);
    t.match(asConsoleError(failure), { code: 'database_unavailable', message: /pooler/ });
    const client = await connectTo(t, url);
    t.match((await client.query('SHOW default_transaction_read_only')).rows, [
      { default_transaction_read_only: 'off' },
    ]);
  });

  t.test('a reader with a url of its own uses pool_mode = session', async (t) => {
    const settings = { connections: 1, timeoutMs: PATIENCE_MS, applicationName: 'reader' };
    const reader = new Readers(new Database(), 'public').open({ ...settings, url: await poolerOf(t, 'session') });
    t.teardown(() => reader.close());
    t.same(await reader.query('SELECT 1 AS one'), [{ one: 1 }]);
  });

  t.test('pool_mode = session works without any setting', async (t) => {
    const databaseUrl = await poolerOf(t, 'session');
    const daemon = await startDaemon(t, { config: postgresConfig({ databaseUrl }) });
    const body = (): string => JSON.stringify(aTraceRequest([aSpan()]));
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(daemon.url, { body: body() })));
    t.same(
      answers.filter(({ status }) => status !== 200).map(({ status, body }) => `${status} ${body}`),
      [],
    );
    t.ok(daemon.service.ready());
  });
}
