/** Users, folders and paths: the place of the embedded server's files when the default place is not usable. */
import {
  access,
  chmod,
  chown,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Client } from 'pg';
import t from 'tap';
import { chooseEndpoint, urlOf } from '../../../../src/extensions/postgres/embedded/address.ts';
import { findUser } from '../../../../src/extensions/postgres/embedded/server-user.ts';
import { waitFor } from '../../../../src/extensions/postgres/embedded/wait.ts';
import { longTest } from '../../../support/long.ts';
import { PATIENCE_MS } from '../../../support/patience.ts';
import { canRunUnprivileged, isRoot, UNPRIVILEGED } from '../../../support/unprivileged.ts';
import { daemonFor, folderFor, killed, query, serverFor } from './scene.ts';

const KEPT = 'SELECT answer FROM kept';
const canChangeUser = isRoot && (await canRunUnprivileged());

t.test(
  'an ordinary user runs the server itself',
  { skip: !canChangeUser && 'needs root, and a Node.js that other users can run, to change the user' },
  async (t) => {
    const folder = await folderFor(t);
    await chown(folder, UNPRIVILEGED, UNPRIVILEGED);
    const daemon = daemonFor(t, join(folder, 'data'), UNPRIVILEGED);
    const { address, error } = await daemon.said();
    t.equal(error, undefined);
    t.strictSame(await query(address, 'SELECT 1 AS one'), [{ one: 1 }]);
    const ended = new Promise((resolve) => daemon.child.once('exit', resolve));
    daemon.child.kill('SIGTERM');
    t.equal(await ended, 0);

    const { server } = serverFor(t, join(folder, 'data'));
    await server.start();
    const { uid } = await stat(join(folder, 'data/postgres/cluster'));
    t.equal(uid, UNPRIVILEGED, 'root runs an existing database as its owner, and the owner stays the same');
  },
);

t.test('a data folder that cannot be made is refused with the cause in words', async (t) => {
  const folder = await folderFor(t);
  await writeFile(join(folder, 'file'), '');
  await symlink('/nowhere/at/all', join(folder, 'broken'));
  await symlink('circle', join(folder, 'circle'));
  for (const [name, cause] of [
    ['file', 'a part of the path is not a folder|a file or a broken link has this name'],
    ['broken', 'a file or a broken link has this name'],
    ['circle', 'its symbolic links form a circle'],
  ] as const) {
    const { server } = serverFor(t, join(folder, name));
    await t.rejects(server.start(), {
      message: new RegExp(`cannot be made, because (?:${cause}): choose a data_dir`, 'u'),
    });
  }
});

/** A data folder below one that only root may enter, for example /root. */
async function closedFolder(t: Parameters<typeof folderFor>[0]) {
  const folder = await folderFor(t);
  const closed = join(folder, 'closed');
  await mkdir(closed, { mode: 0o700 });
  return { folder, closed, dataDir: join(closed, 'data'), programsFolder: join(folder, 'programs') };
}

longTest(
  'root keeps the database in the data folder even if other users cannot enter it, and a copy of the folder is a backup',
  { skip: !isRoot && 'needs root' },
  async (t) => {
    const { folder, closed, dataDir, programsFolder } = await closedFolder(t);
    const { server } = serverFor(t, dataDir, { programsFolder });
    const address = await server.start();
    await query(address, 'CREATE TABLE kept AS SELECT 42 AS answer');
    t.strictSame(await query(address, "SELECT count(*)::int AS n FROM pg_ls_dir('.') AS f WHERE f = 'PG_VERSION'"), [
      { n: 1 },
    ]);
    t.equal((await stat(join(dataDir, 'postgres/cluster'))).uid, UNPRIVILEGED);
    t.equal((await stat(dataDir)).uid, 0, 'the folder stays root’s');
    const first = server.pid ?? 0;
    await killed(first);
    const again = () => query(address, KEPT).catch(() => undefined);
    t.strictSame(await waitFor(again, { timeoutMs: PATIENCE_MS }), [{ answer: 42 }], 'it is started again there');
    await server.stop();
    await chmod(closed, 0o755);
    t.strictSame(await query(await server.start(), KEPT), [{ answer: 42 }], 'also after the folder was opened');
    await server.stop();
    await chmod(closed, 0o700);

    // Restored by root without the owners, into an open folder.
    await cp(dataDir, join(folder, 'restored'), { recursive: true });
    await rm(dataDir, { recursive: true });
    t.equal((await stat(join(folder, 'restored/postgres/cluster'))).uid, 0);
    const restored = serverFor(t, join(folder, 'restored'));
    t.strictSame(await query(await restored.server.start(), KEPT), [{ answer: 42 }]);
    t.match(restored.log.lines[0], /belongs to root, as after a restore: it is handed over to user \d+/);
  },
);

longTest(
  'after kill -9 of a daemon whose data folder is closed the next one adopts its server',
  { skip: !isRoot && 'needs root' },
  async (t) => {
    const { dataDir } = await closedFolder(t);
    const daemon = daemonFor(t, dataDir);
    const { address, pid } = await daemon.said();
    await killed(daemon.child.pid);
    const { server, log } = serverFor(t, dataDir);
    t.strictSame(await server.start(), address);
    t.equal(server.pid, pid);
    t.match(log.lines, [/adopted/]);
  },
);

longTest(
  'a database that an earlier release kept elsewhere is served there, and its absence is reported',
  { skip: !isRoot && 'needs root' },
  async (t) => {
    const { folder, dataDir, programsFolder } = await closedFolder(t);
    const { server } = serverFor(t, dataDir, { programsFolder });
    await query(await server.start(), 'CREATE TABLE kept AS SELECT 42 AS answer');
    await server.stop();
    const moved = join(folder, 'elsewhere');
    await rename(join(dataDir, 'postgres'), moved);
    await mkdir(join(dataDir, 'postgres'));
    const pointer = join(dataDir, 'postgres/moved-to');
    await writeFile(pointer, `${moved}\n`);
    t.strictSame(await query(await server.start(), KEPT), [{ answer: 42 }]);
    await server.stop();
    const refused = (message: RegExp, what: string) => t.rejects(server.start(), { message }, what);
    await rename(moved, `${moved}-away`);
    await refused(/moved-to says that the database is in .*elsewhere, and it is not there: restore it/, 'gone');
    await writeFile(pointer, moved.slice(0, -3));
    await refused(/it is not there/, 'half written');
    await writeFile(pointer, '');
    await refused(/is in \(nothing\), and it is not there/, 'empty');
    t.strictSame(await readdir(join(dataDir, 'postgres')), ['moved-to'], 'no database was created in its place');
    await rename(`${moved}-away`, moved);
    await writeFile(pointer, `${moved}\n`);
    await mkdir(join(dataDir, 'postgres/cluster'));
    await refused(/there are two databases/, 'both');
  },
);

t.test('the user `sluice` is used if it exists and is not root', (t) => {
  const users = 'root:x:0:0::/root:/bin/sh\nsluiced:x:5:5::/:\nsluice:x:991:990:Sluice:/:/usr/sbin/nologin\n';
  t.strictSame(findUser(users), { uid: 991, gid: 990 });
  t.equal(findUser('sluice:x:0:0::/:\nnobody:x:65534:65534::/:\n'), undefined);
  t.equal(findUser(''), undefined);
  t.end();
});

longTest('a missing temporary folder is not needed', async (t) => {
  const { TMPDIR } = process.env;
  process.env['TMPDIR'] = '/nowhere/at/all';
  t.teardown(() => {
    if (TMPDIR === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = TMPDIR;
  });
  const deep = join(await mkdtemp('/tmp/sluice-embedded-'), 'd'.repeat(60), 'e'.repeat(60));
  await chmod(dirname(dirname(deep)), 0o755);
  t.teardown(() => rm(dirname(dirname(deep)), { recursive: true, force: true }));
  const { server } = serverFor(t, deep);
  await query(await server.start(), 'SELECT 1');
  await server.stop();
});

longTest(
  'a socket whose path would be too long is in the temporary folder and is removed with the server',
  async (t) => {
    const deep = join(await folderFor(t), 'd'.repeat(60), 'e'.repeat(60));
    const { server } = serverFor(t, deep);
    const address = await server.start();
    t.notOk(address.host.startsWith(deep));
    t.equal((await stat(address.host)).mode & 0o777, 0o700);
    const client = new Client({ connectionString: urlOf(address), ssl: false });
    await client.connect();
    t.strictSame((await client.query('SELECT current_database() AS name')).rows, [{ name: 'sluice' }], 'the url works');
    await client.end();
    await server.stop();
    await t.rejects(access(address.host), { code: 'ENOENT' });
  },
);

t.test('a temporary folder that cannot hold the socket is reported, with a remedy', async (t) => {
  const { TMPDIR } = process.env;
  t.teardown(() => {
    if (TMPDIR === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = TMPDIR;
  });
  process.env['TMPDIR'] = join(await folderFor(t), 'file');
  await writeFile(process.env['TMPDIR'], '');
  const path = `/${'d'.repeat(120)}`;
  const folder = { path, cluster: `${path}/cluster`, identity: undefined, closed: false, programs: path };
  await t.rejects(chooseEndpoint(folder, 'socket'), {
    name: 'EmbeddedServerError',
    message: /d is too long for a socket.*\/file\/sluice-pg-.*choose a shorter data_dir, or set TMPDIR/,
  });
});

t.test('a folder that cannot be created is reported, with a remedy', async (t) => {
  const folder = await folderFor(t);
  await writeFile(join(folder, 'file'), '');
  const { server } = serverFor(t, join(folder, 'file/data'));
  await t.rejects(server.start(), { name: 'EmbeddedServerError', message: /file\/data.*choose a data_dir/ });
});
