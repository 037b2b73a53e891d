/**
 * Two containers with one host name and one volume: pids say nothing about the other container, and still only one
 * server runs.
 */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { waitFor } from '../../../../src/extensions/postgres/embedded/wait.ts';
import { longTest } from '../../../support/long.ts';
import { PATIENCE_MS } from '../../../support/patience.ts';
import { type Daemon, daemonFor, folderWithDatabase, killed, query, serverFor } from './scene.ts';

/** The separate namespaces of two containers, without a container runtime. */
const CONTAINER = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc', '--ipc'];
const [program = '', ...words] = CONTAINER;
const skip = !canRun() && 'needs the right to create namespaces';

function canRun(): boolean {
  try {
    execFileSync(program, [...words, 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

function container(t: Parameters<typeof daemonFor>[0], folder: string): Daemon {
  return daemonFor(t, folder, undefined, CONTAINER);
}

/** The pid of the inner daemon in this namespace. */
async function inside({ child }: Daemon): Promise<number> {
  return Number((await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')).trim());
}

const one = [{ one: 1 }];

t.test('a second container is refused while the first one runs', { skip }, async (t) => {
  const folder = await folderWithDatabase(t);
  const { address } = await container(t, folder).said();
  const refused = await container(t, folder).said();
  t.match(refused.error, /another daemon \(pid 1 in another container .*is using this data folder/);
  const { server } = serverFor(t, folder);
  await t.rejects(server.start(), { message: /pid 1 in another container/ }, 'the host starts none either');
  t.strictSame(await query(address, 'SELECT 1 AS one'), one);
});

longTest('a second container is refused while the server runs, even if its daemon is stopped', { skip }, async (t) => {
  const folder = await folderWithDatabase(t);
  const first = container(t, folder);
  const { address } = await first.said();
  const lock = join(folder, 'postgres/daemon.lock');
  const claim = await readFile(lock, 'utf8');
  const pid = await inside(first);
  process.kill(pid, 'SIGSTOP');
  const refused = await container(t, folder).said();
  t.match(refused.error, /a PostgreSQL server that this process cannot see runs on .*stop the container/);
  // A lost or damaged pid file does not permit it either.
  const pidFile = join(folder, 'postgres/cluster/postmaster.pid');
  const text = await readFile(pidFile, 'utf8');
  await writeFile(pidFile, 'garbage');
  t.match((await container(t, folder).said()).error, /cannot see/);
  await writeFile(pidFile, text);
  process.kill(pid, 'SIGCONT');
  t.strictSame(await query(address, 'SELECT 1 AS one'), one);
  const back = async () => (await readFile(lock, 'utf8').catch(() => '')) === claim || undefined;
  t.ok(await waitFor(back, { timeoutMs: PATIENCE_MS }), 'the first one holds the lock again');
  const ended = new Promise((resolve) => first.child.once('exit', resolve));
  process.kill(pid, 'SIGTERM');
  t.equal(await ended, 0);
  t.notOk(existsSync(lock));
});

longTest('after a container was killed the next one recovers what was committed', { skip }, async (t) => {
  const folder = await folderWithDatabase(t);
  const first = container(t, folder);
  const { address } = await first.said();
  await query(address, 'CREATE TABLE kept AS SELECT 42 AS answer');
  await killed(first.child.pid);
  const { address: again, error } = await container(t, folder).said();
  t.equal(error, undefined);
  t.strictSame(await query(again, 'SELECT answer FROM kept'), [{ answer: 42 }]);
});

longTest('of two containers that start at the same time one serves', { skip }, async (t) => {
  const folder = await folderWithDatabase(t);
  const said = await Promise.all([container(t, folder), container(t, folder)].map((daemon) => daemon.said()));
  const refused = said.filter(({ error }) => error !== undefined);
  t.equal(refused.length, 1);
  t.match(refused[0]?.error, /another daemon/);
  const serving = said.find(({ error }) => error === undefined);
  if (serving !== undefined) t.strictSame(await query(serving.address, 'SELECT 1 AS one'), one);
});
