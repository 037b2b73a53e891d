/** Finds PostgreSQL's programs in packages whose install script did not run, and in unreachable packages. */
import { chmod, cp, lstat, readdir, readlink, rm } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import type { ServerFolder } from '../../../../src/extensions/postgres/embedded/server-folder.ts';
import { findPackage, prepareRuntime } from '../../../../src/extensions/postgres/embedded/runtime.ts';
import { isRoot, UNPRIVILEGED } from '../../../support/unprivileged.ts';
import { folderFor, recorder } from './scene.ts';

const LINK = 'native/lib/libpq.so.5';

/** A copy of the installed package as `npm ci --ignore-scripts` leaves it: without links among the libraries. */
async function packageWithoutLinks(folder: string): Promise<string> {
  const copy = join(folder, 'package');
  const needless = /\.a$|tsearch_data|extension$/;
  await cp(findPackage(), copy, { recursive: true, verbatimSymlinks: true, filter: (path) => !needless.test(path) });
  for (const name of await readdir(join(copy, 'native/lib'))) {
    const path = join(copy, 'native/lib', name);
    if ((await lstat(path)).isSymbolicLink()) await rm(path);
  }
  return copy;
}

async function serverFolderIn(folder: string): Promise<ServerFolder> {
  const identity = isRoot ? { uid: UNPRIVILEGED, gid: UNPRIVILEGED } : undefined;
  return { path: folder, cluster: join(folder, 'cluster'), identity, closed: false, programs: folder };
}

t.test('missing library links are created in the package', async (t) => {
  const folder = await folderFor(t);
  const source = await packageWithoutLinks(folder);
  const log = recorder();
  const runtime = await prepareRuntime(source, await serverFolderIn(folder), log);
  t.equal(runtime.major, 18);
  t.equal(runtime.postgres, join(source, 'native/bin/postgres'));
  t.match(await readlink(join(source, LINK)), /^libpq\.so\.5\.\d+$/, 'relative, so that the folder may move');
  t.strictSame(log.lines, []);
});

t.test('a package that the server’s user cannot use is copied once', async (t) => {
  const folder = await folderFor(t);
  const source = await packageWithoutLinks(folder);
  // Root may always write, but the user it changes to may not; an ordinary user is stopped by a read-only package.
  const locked = isRoot ? source : join(source, 'native/lib');
  await chmod(locked, isRoot ? 0o700 : 0o555);
  t.teardown(() => chmod(locked, 0o755));
  const log = recorder();
  const serverFolder = await serverFolderIn(folder);
  const first = await prepareRuntime(source, serverFolder, log);
  t.ok(first.postgres.startsWith(join(folder, 'runtime-18.')));
  t.match(log.lines, [/copying the PostgreSQL programs/]);
  t.strictSame(await prepareRuntime(source, serverFolder, log), first);
  t.equal(log.lines.length, 1, 'the second time it is there');
  t.strictSame(
    (await readdir(folder)).filter((name) => name.includes('incomplete')),
    [],
  );
});
