/** Settings on the command line replace only unchanged defaults. */
import { mkdir, writeFile } from 'node:fs/promises';
import { platform } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { launchSettings } from '../../../../src/extensions/postgres/embedded/launch-settings.ts';
import { folderFor, query, serverFor } from './scene.ts';
import { longTest } from '../../../support/long.ts';

const SMALL = 768 * 2 ** 20;

async function settingsFor(scope: Parameters<typeof folderFor>[0], conf: string, auto: string, memory: number) {
  const folder = await folderFor(scope);
  const cluster = join(folder, 'cluster');
  await mkdir(cluster);
  await writeFile(join(cluster, 'postgresql.conf'), conf);
  await writeFile(join(cluster, 'postgresql.auto.conf'), auto);
  const host = { pid: 1, env: {}, kill: () => true, constrainedMemory: () => memory };
  return launchSettings({ path: folder, cluster, identity: undefined, closed: false, programs: folder }, host);
}

/** The rest of an earlier database's file, so that a test sees its own settings. */
const SET = 'backend_flush_after = 0\nmax_locks_per_transaction = 64\n';

t.test('a database of an earlier release writes its pages steadily, unless the operator set it', async (t) => {
  const steady = platform() === 'linux' ? { backend_flush_after: '512kB' } : {};
  const locks = 'max_locks_per_transaction = 64\n';
  t.strictSame(await settingsFor(t, `#backend_flush_after = 0\n${locks}`, '', 0), steady);
  t.strictSame(await settingsFor(t, locks, "backend_flush_after = '0'\n", 0), {});
});

t.test('a database of an earlier release has locks for many days, unless the operator set them', async (t) => {
  const flush = 'backend_flush_after = 0\n';
  const more = { max_locks_per_transaction: '256' };
  t.strictSame(await settingsFor(t, `${flush}#max_locks_per_transaction = 64\n`, '', 0), more);
  t.strictSame(await settingsFor(t, flush, "max_locks_per_transaction = '64'\n", 0), {});
});

t.test('a database of an earlier release gets the connections of this one, unless the operator set them', async (t) => {
  const more = { max_connections: '150' };
  t.strictSame(await settingsFor(t, `${SET}max_connections = 50\t\t# (change requires restart)\n`, '', 0), more);
  t.strictSame(
    await settingsFor(t, `${SET}#max_connections = 100\nmax_connections = 50\n`, "max_connections = '80'\n", 0),
    {},
  );
  t.strictSame(await settingsFor(t, `${SET}max_connections = 40\n`, '', 0), {});
});

t.test(
  'with little memory the buffers are smaller and queries get no workers, unless the operator set them',
  async (t) => {
    const small = { shared_buffers: '64MB', max_parallel_workers_per_gather: '0' };
    t.strictSame(await settingsFor(t, `${SET}shared_buffers = 128MB\n`, '', SMALL), small);
    t.strictSame(await settingsFor(t, `${SET}shared_buffers = 128MB\n`, '', 2 ** 63), {}, 'no limit');
    t.strictSame(
      await settingsFor(t, `${SET}shared_buffers = 300MB\nmax_parallel_workers_per_gather = 1\n`, '', SMALL),
      {},
    );
  },
);

longTest('the server runs with them', async (t) => {
  const host = {
    pid: process.pid,
    env: {},
    kill: process.kill,
    getuid: process.getuid,
    constrainedMemory: () => SMALL,
  };
  const { server } = serverFor(t, await folderFor(t), { host: { ...host, getuid: () => process.getuid?.() ?? 0 } });
  const found = await query(
    await server.start(),
    "SELECT current_setting('shared_buffers') AS buffers, current_setting('max_connections') AS connections, current_setting('backend_flush_after') AS flush",
  );
  t.strictSame(found, [{ buffers: '64MB', connections: '150', flush: platform() === 'linux' ? '512kB' : '0' }]);
});
