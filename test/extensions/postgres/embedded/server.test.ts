/** The life cycle of the embedded server: first start, restart, crashes of either side, refusals. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { isAlive } from '../../../../src/component/process-life.ts';
import { waitFor } from '../../../../src/extensions/postgres/embedded/wait.ts';
import { asUnprivileged } from '../../../support/unprivileged.ts';
import { daemonFor, folderFor, folderWithDatabase, killed, query, serverFor } from './scene.ts';
import { longTest } from '../../../support/long.ts';
import { PATIENCE_MS } from '../../../support/patience.ts';

const TABLE = 'CREATE TABLE kept AS SELECT 42 AS answer';
const KEPT = 'SELECT answer FROM kept';

t.test('the first start creates a durable database, and a later start finds the data again', async (t) => {
  const folder = await folderFor(t);
  const { server, log } = serverFor(t, join(folder, 'data'), { settings: {} });
  t.equal(server.state, 'stopped');
  const address = await server.start();
  t.equal(server.state, 'running');
  t.match(log.lines, [/initialising a new database in .*data\/postgres \(first start/]);
  const settings = await query(
    address,
    `SELECT name, setting FROM pg_settings WHERE name IN
      ('fsync', 'full_page_writes', 'synchronous_commit', 'data_checksums', 'server_encoding', 'jit', 'listen_addresses')`,
  );
  t.strictSame(Object.fromEntries(settings.map(({ name, setting }) => [name, setting])), {
    fsync: 'on',
    full_page_writes: 'on',
    synchronous_commit: 'on',
    data_checksums: 'on',
    server_encoding: 'UTF8',
    jit: 'off',
    listen_addresses: '',
  });
  await query(address, TABLE);
  const pid = server.pid ?? 0;
  await server.stop();
  t.equal(server.state, 'stopped');
  t.notOk(await isAlive(process, pid), 'the server ended with stop');
  t.strictSame(await query(await server.start(), KEPT), [{ answer: 42 }]);
  t.equal(log.lines.length, 1, 'a later start logs nothing');
});

longTest('stop may be called before start, twice, and during the first start', async (t) => {
  const folder = await folderFor(t);
  const { server } = serverFor(t, folder);
  await server.stop();
  const started = server.start();
  const refused = t.rejects(started);
  await waitFor(async () => (server.state === 'initialising' ? true : undefined), { timeoutMs: PATIENCE_MS });
  await Promise.all([server.stop(), server.stop(), refused]);
  t.equal(server.state, 'stopped');
  t.notOk((await readdir(join(folder, 'postgres'))).includes('cluster'), 'the unfinished database was not renamed');
  await query(await server.start(), TABLE);
  t.equal(server.state, 'running');
});

t.test('stop just before the program that makes the database starts', async (t) => {
  const stop = (): void => void server.stop();
  const { server } = serverFor(t, await folderFor(t), { log: { info: stop, warn: stop } });
  await t.rejects(server.start(), { name: 'AbortError' });
  await server.stop();
  t.equal(server.state, 'stopped');
});

t.test('a second start on the same folder is refused and names the process that holds it', async (t) => {
  const folder = await folderWithDatabase(t);
  const first = serverFor(t, folder);
  const address = await first.server.start();
  const second = serverFor(t, folder);
  await t.rejects(second.server.start(), { message: new RegExp(`pid ${process.pid}\\) is using this data folder`) });
  t.equal(second.server.state, 'stopped');
  await query(address, 'SELECT 1');
  await t.rejects(first.server.start(), { message: /is running already/ });
  await first.server.stop();
  await second.server.start();
  t.equal(second.server.state, 'running');
});

t.test(
  'a server that is killed under the daemon is restarted at the same address with all committed data',
  async (t) => {
    const { server, log } = serverFor(t, await folderWithDatabase(t));
    const address = await server.start();
    await query(address, TABLE);
    const pid = server.pid ?? 0;
    await killed(pid);
    const again = () => query(address, KEPT).catch(() => undefined);
    t.strictSame(await waitFor(again, { timeoutMs: PATIENCE_MS }), [{ answer: 42 }]);
    await waitFor(async () => (server.state === 'running' ? true : undefined), { timeoutMs: PATIENCE_MS });
    t.not(server.pid, pid);
    t.match(log.lines.at(-1), /PostgreSQL is running again/);
  },
);

longTest('a server that cannot be restarted: the log names the cause and its remedy, until it can', async (t) => {
  const folder = await folderWithDatabase(t);
  const { server, log } = serverFor(t, folder);
  const address = await server.start();
  const wal = join(folder, 'postgres/cluster/pg_wal');
  await chmod(wal, 0);
  await killed(server.pid ?? 0);
  const report = await waitFor(async () => log.lines.find((line) => line.includes('next try in')), {
    timeoutMs: PATIENCE_MS,
  });
  t.match(report, /did not start.*Permission denied \(this process has no permission: start it as the owner/);
  t.notMatch(report, /the database system is/, 'refused connections do not hide the cause');
  await chmod(wal, 0o700);
  t.ok(await waitFor(() => query(address, 'SELECT 1').catch(() => undefined), { timeoutMs: PATIENCE_MS }));
});

t.test('after kill -9 of the daemon the next one adopts the server that is still running', async (t) => {
  const folder = await folderWithDatabase(t);
  const daemon = daemonFor(t, folder);
  const { address, pid } = await daemon.said();
  await query(address, TABLE);
  await killed(daemon.child.pid);
  t.ok(await isAlive(process, pid), 'the server outlives its daemon');
  const { server, log } = serverFor(t, folder);
  t.strictSame(await server.start(), address);
  t.equal(server.pid, pid);
  t.match(log.lines, [new RegExp(`adopted the PostgreSQL server \\(pid ${pid}\\)`)]);
  t.strictSame(await query(address, KEPT), [{ answer: 42 }]);
  await killed(pid);
  const again = () => query(address, KEPT).catch(() => undefined);
  t.strictSame(await waitFor(again, { timeoutMs: PATIENCE_MS }), [{ answer: 42 }], 'an adopted server is watched, too');
  const latest = server.pid ?? 0;
  await server.stop();
  t.ok(latest > 0);
  t.notOk(await isAlive(process, latest), 'and stopped with the daemon');
});

longTest('after kill -9 of the daemon and the server the next start recovers what was committed', async (t) => {
  const folder = await folderWithDatabase(t);
  const daemon = daemonFor(t, folder);
  const { address, pid } = await daemon.said();
  await query(address, TABLE);
  await killed(daemon.child.pid);
  await killed(pid);
  const { server, log } = serverFor(t, folder);
  t.strictSame(await query(await server.start(), KEPT), [{ answer: 42 }]);
  t.not(server.pid, pid);
  t.match(log.lines, [/was not shut down properly/]);
});

longTest('a left-over server that hangs is ended, and its committed data is recovered', async (t) => {
  const folder = await folderWithDatabase(t);
  const daemon = daemonFor(t, folder);
  const { address, pid } = await daemon.said();
  await query(address, TABLE);
  await killed(daemon.child.pid);
  // Without its socket it runs but cannot be reached, as after a cleanup of the temporary folder.
  await rm(join(address.host, `.s.PGSQL.${address.port}`));
  const { server, log } = serverFor(t, folder);
  t.strictSame(await query(await server.start(), KEPT), [{ answer: 42 }]);
  t.notOk(await isAlive(process, pid));
  t.match(log.lines[0], new RegExp(`pid ${pid}\\) that was left running does not answer`));
});

longTest('a left-over pid file that names an unrelated process does not stop the server from starting', async (t) => {
  const folder = await folderWithDatabase(t);
  const { server } = serverFor(t, folder);
  const address = await server.start();
  await query(address, TABLE);
  const path = join(folder, 'postgres/cluster/postmaster.pid');
  const text = await readFile(path, 'utf8');
  await server.stop();
  const stranger = spawn('sleep', ['60'], {
    ...asUnprivileged(),
    cwd: '/',
    stdio: 'ignore',
  });
  t.teardown(() => killed(stranger.pid));
  await once(stranger, 'spawn');
  await writeFile(path, text.replace(/^\d+/, String(stranger.pid)));
  t.strictSame(await query(await server.start(), KEPT), [{ answer: 42 }]);
  t.ok(await isAlive(process, stranger.pid ?? 0), 'the unrelated process still runs');
  await server.stop();
  await writeFile(path, '');
  await server.start();
  t.equal(server.state, 'running', 'an empty pid file does not stop it either');
});

longTest('an interrupted first start is repeated', async (t) => {
  const folder = await folderFor(t);
  const daemon = daemonFor(t, folder);
  const inside = () => readdir(join(folder, 'postgres')).catch((): string[] => []);
  const begun = async () => (await inside()).find((name) => name.startsWith('cluster.incomplete-'));
  t.ok(await waitFor(begun, { timeoutMs: PATIENCE_MS }));
  await killed(daemon.child.pid);
  t.notOk((await inside()).includes('cluster'));
  const { server, log } = serverFor(t, folder);
  await query(await server.start(), TABLE);
  t.match(log.lines, [/initialising/]);
});

longTest('over TCP it listens on the loopback address and requires the password', async (t) => {
  const folder = await folderWithDatabase(t);
  const { server } = serverFor(t, folder, { transport: 'tcp' });
  const address = await server.start();
  t.equal(address.host, '127.0.0.1');
  t.strictSame(await query(address, 'SELECT 1 AS one'), [{ one: 1 }]);
  await t.rejects(query({ ...address, password: 'guess' }, 'SELECT 1'), { code: '28P01' });
});

t.test("the error of a failed start contains PostgreSQL's own message", async (t) => {
  const { server } = serverFor(t, await folderWithDatabase(t), { settings: { fsync: 'off', shared_buffers: '1kB' } });
  await t.rejects(server.start(), { message: /did not start .*shared_buffers/ });
  t.equal(server.state, 'stopped');
});
