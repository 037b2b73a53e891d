/**
 * Users, folders and paths: where the embedded server finds room when the obvious place does not do.
 */
import { access, chmod, chown, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import t from 'tap';
import { urlOf } from '../../../../src/extensions/postgres/embedded/address.ts';
import { firstClosed } from '../../../../src/extensions/postgres/embedded/home.ts';
import { daemonFor, folderFor, isRoot, NOBODY, query, serverFor } from './scene.ts';

const here = dirname(fileURLToPath(import.meta.url));
const nobody = { uid: NOBODY, gid: NOBODY };
/** Somebody else must be able to get to these tests, and to the Node.js that runs them. */
const reachable =
  (await firstClosed(here, nobody)) === undefined &&
  (await firstClosed(dirname(process.execPath), nobody)) === undefined;

t.test(
  'an ordinary user runs the server itself',
  { skip: !(isRoot && reachable) && 'needs root, and a Node.js that others can run, to become somebody else' },
  async (t) => {
    const folder = await folderFor(t);
    await chown(folder, NOBODY, NOBODY);
    const daemon = daemonFor(t, join(folder, 'data'), NOBODY);
    const { address, error } = await daemon.said();
    t.equal(error, undefined);
    t.strictSame(await query(address, 'SELECT 1 AS one'), [{ one: 1 }]);
    const ended = new Promise((resolve) => daemon.child.once('exit', resolve));
    daemon.child.kill('SIGTERM');
    t.equal(await ended, 0);

    const { server } = serverFor(t, join(folder, 'data'));
    await server.start();
    const { uid } = await stat(join(folder, 'data/postgres/cluster'));
    t.equal(uid, NOBODY, 'root runs the same database as the user who made it, and leaves it theirs');
  },
);

t.test(
  'root keeps the database elsewhere when others can not enter the data folder',
  { skip: !isRoot && 'needs root' },
  async (t) => {
    const folder = await folderFor(t);
    const closed = join(folder, 'closed');
    await mkdir(closed);
    await chmod(closed, 0o700);
    const options = { fallbackFolder: join(folder, 'elsewhere') };
    const { server, log } = serverFor(t, join(closed, 'data'), options);
    await query(await server.start(), 'CREATE TABLE kept AS SELECT 42 AS answer');
    const pointer = (await readFile(join(closed, 'data/postgres/moved-to'), 'utf8')).trim();
    t.equal(dirname(pointer), join(folder, 'elsewhere'));
    t.match(log.lines[0], new RegExp(`can not enter ${closed}: the database is kept in ${pointer}`));
    t.equal((await stat(pointer)).uid, 0, 'the folder stays root’s');
    t.equal((await stat(join(pointer, 'cluster'))).uid, NOBODY);
    await server.stop();
    await chmod(closed, 0o755);
    const address = await server.start();
    t.strictSame(await query(address, 'SELECT answer FROM kept'), [{ answer: 42 }], 'it stays there once it is there');
  },
);

t.test('a socket path that would be too long moves to the temporary folder and goes with the server', async (t) => {
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
});

t.test('a folder that can not be made is named, with the way out', async (t) => {
  const folder = await folderFor(t);
  await writeFile(join(folder, 'file'), '');
  const { server } = serverFor(t, join(folder, 'file/data'));
  await t.rejects(server.start(), { name: 'EmbeddedServerError', message: /file\/data.*choose a data_dir/ });
});
