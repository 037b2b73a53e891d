/** The store in a folder: crashes, leftovers, and what file systems refuse. */
import { type ChildProcess, spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { FolderStore } from '../../src/object-store/folder-store.ts';
import { LEFTOVER_MS, readObject } from '../../src/object-store/object-store.ts';
import { openStore } from '../../src/object-store/open-store.ts';
import { faultOf, keysOf, listed } from './contract.ts';

t.setTimeout(300_000);

const PROGRAM = fileURLToPath(new URL('put-loop.js', import.meta.url));
const KILLS = 5;
const temporary = (name: string): string => `.${name}.0123456789abcdef.tmp`;
const filesIn = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);

t.test('a kill at any time leaves whole objects, and all that were acknowledged', async (t) => {
  const root = join(t.testdir(), 'lake');
  const store = new FolderStore(root);
  const acknowledged: number[] = [];
  for (let kill = 0; kill < KILLS; kill++) {
    const child: ChildProcess = spawn(process.execPath, [PROGRAM, root, String((acknowledged.at(-1) ?? -1) + 2)]);
    const ended = new Promise((resolve) => child.once('close', resolve));
    let left = 2 + kill;
    for await (const line of createInterface({ input: child.stdout ?? process.stdin })) {
      acknowledged.push(Number(line));
      if (--left === 0) child.kill('SIGKILL');
    }
    await ended;
  }
  const sizes = new Map((await listed(store)).map(({ key, bytes }) => [key, bytes]));
  t.ok(acknowledged.length >= KILLS * 2);
  t.ok(acknowledged.every((index) => sizes.has(`d/${index % 3}/${index}`)));
  t.ok([...sizes.values()].every((size) => size === 400_000));
  const last = acknowledged.at(-1) ?? 0;
  t.ok((await readObject(store, `d/${last % 3}/${last}`)).equals(Buffer.alloc(400_000, `${last};`)));
});

t.test('old leftovers are swept, and nothing else', async (t) => {
  const root = t.testdir();
  const store = new FolderStore(root);
  await store.put('a/object', Buffer.from('1'));
  const old = new Date(Date.now() - 25 * 60 * 60 * 1000);
  const names = [temporary('dead'), temporary('young'), '.foreign.tmp', 'object'];
  for (const name of names) {
    if (name !== 'object') writeFileSync(join(root, 'a', name), 'part');
    if (name !== temporary('young')) utimesSync(join(root, 'a', name), old, old);
  }
  t.same(await keysOf(store), ['a/object'], 'no leftover is listed');
  t.equal(await store.sweep('b/', LEFTOVER_MS), 0, 'below another prefix');
  t.equal(await store.sweep('', LEFTOVER_MS), 1);
  t.same([...filesIn(root)].sort(), ['.foreign.tmp', temporary('young'), 'object'].sort());
  t.equal(await new FolderStore(join(root, 'absent')).sweep('lake/', 0), 0);
});

t.test('a put that fails leaves nothing', async (t) => {
  const root = t.testdir();
  const store = new FolderStore(root);
  await store.put('a/b', Buffer.from('1'));
  t.equal(await faultOf(store.put('a', Buffer.from('1'))), 'invalid', 'a folder has this name');
  t.equal(await faultOf(store.put('a', Buffer.from('1'), { ifAbsent: true })), 'exists');
  t.equal(await faultOf(store.put('a/b/c', Buffer.from('1'))), 'invalid', 'a file is in the way');
  t.same(filesIn(root), ['b']);
});

t.test(
  'what the file system refuses is `denied`',
  { skip: process.getuid?.() === 0 && 'root is refused nothing' },
  async (t) => {
    const root = t.testdir();
    const store = new FolderStore(root);
    await store.put('a/b', Buffer.from('1'));
    chmodSync(join(root, 'a'), 0o500);
    t.equal(await faultOf(store.put('a/c', Buffer.from('1'))), 'denied');
    t.equal(await faultOf(store.delete(['a/b'])), 'denied');
    chmodSync(join(root, 'a'), 0o700);
  },
);

t.test('a put below a link to nothing fails', async (t) => {
  const root = t.testdir({ lake: t.fixture('symlink', 'unmounted') });
  t.equal(await faultOf(new FolderStore(join(root, 'lake')).put('a/b', Buffer.from('1'))), 'invalid');
});

t.test('empty folders are removed with their last object, and links to folders are followed', async (t) => {
  const base = t.testdir();
  const root = join(base, 'lake');
  const store = new FolderStore(root);
  await store.put('x/day=1/a', Buffer.from('1'));
  await store.put('y/a', Buffer.from('1'));
  await store.delete(['x/day=1/a']);
  t.notOk(existsSync(join(root, 'x')));
  await store.delete(['y/a']);
  t.ok(existsSync(root), 'the folder of the operator stays');
  mkdirSync(join(base, 'disk'));
  symlinkSync(join(base, 'disk'), join(root, 'linked'));
  await store.put('linked/a', Buffer.from('1'));
  t.same(await keysOf(store), ['linked/a']);
});

t.test('other users cannot read an object', async (t) => {
  const root = join(t.testdir(), 'lake');
  await new FolderStore(root).put('a/b', Buffer.from('1'));
  for (const path of ['', 'a', 'a/b']) t.equal(statSync(join(root, path)).mode & 0o007, 0, path);
});

t.test('a folder, a file URL or a bucket opens its store', async (t) => {
  const urlOf = (url: string): string => openStore(url, { environment: {} }).url;
  t.equal(urlOf('/srv/lake/'), '/srv/lake');
  t.equal(urlOf('file:///srv/a%20lake'), '/srv/a lake');
  t.equal(urlOf('lake'), join(process.cwd(), 'lake'));
  t.equal(urlOf('s3://my-bucket'), 's3://my-bucket/');
  t.equal(urlOf('s3://my.bucket/a/b/'), 's3://my.bucket/a/b/');
  for (const url of [
    '',
    'gs://bucket/x',
    'http://host/x',
    's3://',
    's3://B',
    's3://bucket//x',
    's3://bucket/../x',
    's3://b',
    'file://host/x',
  ]) {
    t.throws(() => urlOf(url), { message: /names no|is not the URL of/u }, JSON.stringify(url));
  }
  const environment = { AWS_ENDPOINT_URL: 'https://id:secret@host' };
  t.throws(() => openStore('s3://bucket', { environment }), {
    message: 'AWS_ENDPOINT_URL is not the URL of an endpoint',
  });
});
