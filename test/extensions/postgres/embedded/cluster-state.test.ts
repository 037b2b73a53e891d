/**
 * Files at the place of the database are never replaced: with any fault the start fails with a description and a
 * remedy, and every file stays unchanged.
 */
import { chmod, mkdir, readdir, rename, rm, rmdir, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { isAlive } from '../../../../src/component/process-life.ts';
import { daemonFor, folderFor, folderWithDatabase, killed, query, serverFor } from './scene.ts';
import { isLong, longTest } from '../../../support/long.ts';

const KEPT = 'SELECT answer FROM kept';

interface Damage {
  do(cluster: string): Promise<unknown>;
  undo?(cluster: string): Promise<unknown>;
  readonly says: RegExp;
}

const DAMAGES: Readonly<Record<string, Damage>> = {
  'PG_VERSION is missing': {
    do: (cluster) => rm(join(cluster, 'PG_VERSION')),
    undo: (cluster) => writeFile(join(cluster, 'PG_VERSION'), '18\n'),
    says: /its PG_VERSION is missing.*made by PostgreSQL 18: .*`echo 18 > .*PG_VERSION`/,
  },
  'PG_VERSION is empty': {
    do: (cluster) => truncate(join(cluster, 'PG_VERSION')),
    undo: (cluster) => writeFile(join(cluster, 'PG_VERSION'), '18\n'),
    says: /its PG_VERSION holds "".*echo 18/,
  },
  'PG_VERSION is garbage': {
    do: (cluster) => writeFile(join(cluster, 'PG_VERSION'), Buffer.from([0, 1, 2, 255, 254])),
    undo: (cluster) => writeFile(join(cluster, 'PG_VERSION'), '18\n'),
    says: /its PG_VERSION holds .*echo 18/,
  },
  'PG_VERSION is a folder': {
    do: async (cluster) => {
      await rm(join(cluster, 'PG_VERSION'));
      await mkdir(join(cluster, 'PG_VERSION'));
    },
    undo: async (cluster) => {
      await rmdir(join(cluster, 'PG_VERSION'));
      await writeFile(join(cluster, 'PG_VERSION'), '18\n');
    },
    says: /its PG_VERSION is missing/,
  },
  'it is of another major version': {
    do: (cluster) => writeFile(join(cluster, 'PG_VERSION'), '15\n'),
    undo: (cluster) => writeFile(join(cluster, 'PG_VERSION'), '18\n'),
    says: /made by PostgreSQL 15, .* contains 18\.\d+.*dump it with PostgreSQL 15.*extensions\.postgres\.url/,
  },
  'pg_control is missing': {
    do: (cluster) => rename(join(cluster, 'global/pg_control'), `${cluster}-control`),
    undo: (cluster) => rename(`${cluster}-control`, join(cluster, 'global/pg_control')),
    says: /global\/pg_control is missing.*restore the folder from a backup/,
  },
  ...Object.fromEntries(
    ['base', 'pg_wal', 'postgresql.conf', 'pg_hba.conf'].map((name): [string, Damage] => [
      `${name} is missing`,
      {
        do: (cluster) => rename(join(cluster, name), `${cluster}-part`),
        undo: (cluster) => rename(`${cluster}-part`, join(cluster, name)),
        says: new RegExp(`damaged: ${name} is missing. Nothing was changed: restore the folder from a backup`, 'u'),
      },
    ]),
  ),
  'it is gone': {
    do: (cluster) => rename(cluster, `${cluster}-away`),
    undo: (cluster) => rename(`${cluster}-away`, cluster),
    says: /cluster is not there, although a database was made here: mount the disk/,
  },
  'an empty folder is in its place, as of a disk that is not mounted': {
    do: async (cluster) => {
      await rename(cluster, `${cluster}-away`);
      await mkdir(cluster);
    },
    undo: async (cluster) => {
      await rmdir(cluster);
      await rename(`${cluster}-away`, cluster);
    },
    says: /cluster is empty, although a database was made here/,
  },
  'it is a link to a disk that is not mounted': {
    do: async (cluster) => {
      await rename(cluster, `${cluster}-away`);
      await symlink('/nowhere/cluster', cluster);
    },
    undo: async (cluster) => {
      await rm(cluster);
      await rename(`${cluster}-away`, cluster);
    },
    says: /a link to a folder that does not exist/,
  },
  'a file is in its place': {
    do: async (cluster) => {
      await rename(cluster, `${cluster}-away`);
      await writeFile(cluster, 'notes');
    },
    undo: async (cluster) => {
      await rm(cluster);
      await rename(`${cluster}-away`, cluster);
    },
    says: /is not a folder.*Nothing was changed/,
  },
  'an earlier release put it aside': {
    do: (cluster) => rename(cluster, `${cluster}.unusable-abc`),
    undo: (cluster) => rename(`${cluster}.unusable-abc`, cluster),
    says: /put a database aside as .*cluster\.unusable-abc/,
  },
};

/** The damages that `npm test` tries. */
const ORDINARY = ['PG_VERSION is missing', 'an empty folder is in its place, as of a disk that is not mounted'];

t.test('a database that is damaged, foreign or gone is never replaced', async (t) => {
  const folder = await folderWithDatabase(t);
  const { server } = serverFor(t, folder);
  await query(await server.start(), 'CREATE TABLE kept AS SELECT 42 AS answer');
  await server.stop();
  const cluster = join(folder, 'postgres/cluster');
  for (const [what, damage] of Object.entries(DAMAGES).filter(([what]) => isLong || ORDINARY.includes(what))) {
    await damage.do(cluster);
    const before = (await readdir(join(folder, 'postgres'), { recursive: true })).sort();
    const refusal = { name: 'EmbeddedServerError', message: damage.says };
    await t.rejects(server.start(), refusal, what);
    await t.rejects(server.start(), refusal, `${what}, and the folder is free again`);
    t.strictSame((await readdir(join(folder, 'postgres'), { recursive: true })).sort(), before, `${what}: all is kept`);
    await damage.undo?.(cluster);
    t.strictSame(await query(await server.start(), KEPT), [{ answer: 42 }], `${what}: usable once repaired`);
    await server.stop();
  }
});

t.test('files that are no database are left where they are', async (t) => {
  const folder = await folderFor(t);
  const cluster = join(folder, 'postgres/cluster');
  await mkdir(cluster, { recursive: true });
  await chmod(folder, 0o755);
  await writeFile(join(cluster, 'diary.txt'), 'dear');
  const { server } = serverFor(t, folder);
  await t.rejects(server.start(), { message: /holds no PostgreSQL database/ });
  t.strictSame(await readdir(cluster), ['diary.txt']);
});

longTest('only the rest of our own interrupted initdb is removed', async (t) => {
  const folder = await folderFor(t);
  const names = ['cluster.incomplete-0123abcd', 'cluster.incomplete-backup', 'cluster.old'];
  for (const name of names) await mkdir(join(folder, 'postgres', name), { recursive: true });
  await mkdir(join(folder, 'postgres/cluster'));
  const { server } = serverFor(t, folder);
  await server.start();
  const left = await readdir(join(folder, 'postgres'));
  t.strictSame(
    names.filter((name) => left.includes(name)),
    names.slice(1),
  );
});

longTest('a postmaster.pid that a crash damaged is repaired', async (t) => {
  const folder = await folderWithDatabase(t);
  const path = join(folder, 'postgres/cluster/postmaster.pid');
  const { server, log } = serverFor(t, folder);
  const garbage: Readonly<Record<string, () => Promise<unknown>>> = {
    empty: () => writeFile(path, ''),
    binary: () => writeFile(path, Buffer.from([0xff, 0, 1, 2, 3, 0x0a, 0x80])),
    text: () => writeFile(path, 'not a number\n/elsewhere\n'),
    'a negative number': () => writeFile(path, '-5\n'),
    'a number that is too large': () => writeFile(path, `${'9'.repeat(40)}\n`),
    'cut off after the pid': () => writeFile(path, `${2 ** 22 - 1}`),
    'the pid of this process': () => writeFile(path, `${process.pid}\n`),
    'very long': () => writeFile(path, 'x'.repeat(1 << 20)),
    'a dangling link': () => symlink('/nowhere/else', path),
    'an empty folder': () => mkdir(path),
  };
  for (const [what, lay] of Object.entries(garbage)) {
    await lay();
    await server.start();
    t.equal(server.state, 'running', what);
    await server.stop();
  }
  t.match(log.lines.join('\n'), /postmaster\.pid is damaged, and no server runs: it is removed/);
  await mkdir(path);
  await writeFile(join(path, 'file'), '');
  await t.rejects(server.start(), { message: /postmaster\.pid is a folder.*move it away/ });
});

longTest('no second server is started beside one whose pid file was damaged or removed', async (t) => {
  const folder = await folderWithDatabase(t);
  for (const spoil of [(path: string) => rm(path), (path: string) => writeFile(path, 'garbage')]) {
    const daemon = daemonFor(t, folder);
    const { pid } = await daemon.said();
    await killed(daemon.child.pid);
    await spoil(join(folder, 'postgres/cluster/postmaster.pid'));
    const { server, log } = serverFor(t, folder);
    await query(await server.start(), 'SELECT 1');
    t.match(log.lines[0], new RegExp(`pid ${pid}\\).*is stopped first`));
    t.notOk(await isAlive(process, pid));
    await server.stop();
  }
});
