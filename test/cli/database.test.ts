/** What commands say about failures of the database. */
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { explainOpening } from '../../src/cli/database.ts';
import { waitForArchive } from '../../src/archive/archive.ts';
import { withArchiveSession } from '../../src/cli/lake/archive-work.ts';
import { UserError } from '../../src/errors.ts';
import { folderOf } from '../support/config-files.ts';
import { sluice } from '../support/command-line.ts';
import { BIN } from '../support/executable.ts';
import { eventually } from '../support/eventually.ts';
import { openMigrated } from '../support/migrated.ts';
import { createDatabase } from '../support/postgres.ts';
import { postgresConfig } from '../support/postgres-daemon.ts';
import { asUnprivileged, canRunUnprivileged } from '../support/unprivileged.ts';

t.test('a server without room for more locks is not called unreachable', async (t) => {
  const hint = 'You might need to increase max_locks_per_transaction.';
  const failure = Object.assign(new Error('out of shared memory'), { code: '53200', hint });
  const explained = explainOpening(failure);
  t.ok(explained instanceof UserError);
  t.match(explained, { message: 'the database server cannot run the query: out of shared memory', hint });
});

t.test('a read-only disk of the server is not called a missing right', async (t) => {
  const failure = Object.assign(new Error('could not open file "base/5/1": Read-only file system'), { code: '42501' });
  t.match(explainOpening(failure), {
    message: 'the database cannot use its disk: could not open file "base/5/1": Read-only file system',
    hint: 'Check the disk of the server, and mount its file system writable again.',
  });
  const broken = Object.assign(new Error('could not read block 1: Input/output error'), { code: '58030' });
  t.match(explainOpening(broken), { hint: 'Check the disk of the server.' }, 'and no fault of Sluice');
});

t.test('the command that starts the daemon has the options of the command that needs it', async (t) => {
  const folder = folderOf({});
  mkdirSync(join(folder, 'other', 'postgres', 'cluster'), { recursive: true });
  const given = ['--set', 'extensions.postgres.data_dir=./other'];
  t.match(await sluice(['traces', ...given], { folder }), {
    code: 1,
    err: /does not run\n {2}hint: Start the daemon: sluice run --set extensions\.postgres\.data_dir=\.\/other\n/u,
  });
});

const skip =
  (process.platform === 'win32' || !(await canRunUnprivileged())) && 'needs a Node.js that other users can run';

t.test('a data folder of another user is not called absent', { skip }, async (t) => {
  const folder = folderOf({});
  chmodSync(folder, 0o755);
  const data = join(folder, 'data');
  mkdirSync(join(data, 'postgres', 'cluster'), { recursive: true });
  chmodSync(data, 0);
  t.teardown(() => chmodSync(data, 0o700));
  const env = { ...process.env, DATABASE_URL: '' };
  const options = { cwd: folder, env, ...asUnprivileged() };
  const err = await new Promise((resolve) =>
    execFile(process.execPath, [BIN, 'traces'], options, (_error, _stdout, stderr) => resolve(stderr)),
  );
  const hint = '  hint: Run the command as the user of the daemon.\n';
  t.equal(err, `error: ${data} cannot be read: permission denied\n${hint}`);
});

t.test('a lock of another session is not called an unreachable database', async (t) => {
  const explain = (code: string): unknown => explainOpening(Object.assign(new Error('canceling statement'), { code }));
  t.match(explain('55P03'), { message: /another session of the database holds a lock/ });
  t.match(explain('57014'), { message: /did not answer in time/ });
});

t.test('a command explains a server without TLS, and the client prints no warning of its own', async (t) => {
  const { url } = await createDatabase(t);
  const withTls = `${url}${url.includes('?') ? '&' : '?'}sslmode=require`;
  const folder = folderOf({ 'a.yaml': postgresConfig({ databaseUrl: withTls, processors: 'auth, environment' }) });
  const warnings: Error[] = [];
  const note = (warning: Error): void => void warnings.push(warning);
  process.on('warning', note);
  t.teardown(() => process.off('warning', note));
  for (const words of [['traces'], ['key', 'list'], ['migrate']])
    t.match(await sluice([...words, '--config', 'a.yaml'], { folder }), {
      code: 1,
      err: /^error: the database cannot be reached: The server does not support SSL connections\n {2}hint: Remove sslmode/u,
    });
  t.strictSame(warnings, []);
});

t.test('the archive waits a limited time for a table, and without a limit for another command', async (t) => {
  const { database, connect } = await openMigrated(t);
  const [holder, observer] = [await connect(), await connect()];
  await withArchiveSession(database, async (session) => {
    t.match((await session.query('SHOW lock_timeout')).rows, [{ lock_timeout: '1min' }]);
    await holder.query("SELECT pg_advisory_lock(hashtext('sluice.archive'))");
    await session.query('SET lock_timeout = 1');
    await t.rejects(session.query('SELECT pg_advisory_lock(hashtext($1))', ['sluice.archive']), { code: '55P03' });
    const waiting = waitForArchive(session);
    const isWaiting = `SELECT FROM pg_locks WHERE NOT granted AND now() - waitstart > interval '100 ms'
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
    await eventually('it waits', async () => (await observer.query(isWaiting)).rows.length > 0);
    await holder.query('SELECT pg_advisory_unlock_all()');
    await waiting;
    t.match((await session.query('SHOW lock_timeout')).rows, [{ lock_timeout: '1ms' }]);
  });
});
