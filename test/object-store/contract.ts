/** The contract of an object store, as tests that run over any implementation. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import {
  downloadObject,
  type ListedObject,
  type ObjectStore,
  readObject,
  StoreError,
  type StoreFault,
} from '../../src/object-store/object-store.ts';

/** An empty store. Opening it a second time gives another instance over the same objects. */
export type OpenStore = () => ObjectStore;

export async function faultOf(work: Promise<unknown>): Promise<StoreFault | 'none'> {
  try {
    await work;
    return 'none';
  } catch (error) {
    if (error instanceof StoreError) return error.fault;
    throw error;
  }
}

export async function listed(store: ObjectStore, prefix = ''): Promise<readonly ListedObject[]> {
  const all: ListedObject[] = [];
  for await (const each of store.list(prefix)) all.push(each);
  return all;
}

export const keysOf = async (store: ObjectStore, prefix = ''): Promise<readonly string[]> =>
  (await listed(store, prefix)).map(({ key }) => key);

const INVALID_KEYS = [
  '',
  '/',
  '/a',
  'a/',
  'a//b',
  '..',
  'a/../b',
  './a',
  '.a',
  'a/.b',
  'a b',
  'a\\b',
  'ä',
  'a\0',
  'a%2e',
];
/** Longer than the chunks of streams and sockets. */
const LARGE = 3_000_017;

/** Each of the tests leaves the store empty. */
export const CONTRACT: readonly (readonly [string, (t: Test, open: OpenStore) => Promise<void>])[] = [
  ['an object is read as it was put, whole and in ranges', wholeAndRanges],
  ['an object of a file is read as it was', ofAFile],
  ['an object can be put in pieces', ofPieces],
  ['a put replaces an object, and `ifAbsent` does not', replacing],
  ['of many concurrent puts with `ifAbsent` one succeeds', oneOfMany],
  ['a list has the prefix, the order of bytes, sizes and times', listing],
  ['deleted objects are gone, and absent ones are no failure', deleting],
  ['an absent object is null or `absent`', absence],
  ['malformed keys and ranges are `invalid`', malformed],
  ['a reader that stops early does not disturb the store', stoppedReader],
  ['another instance sees everything', otherInstance],
];

async function wholeAndRanges(t: Test, open: OpenStore): Promise<void> {
  const store = open();
  const bytes = Buffer.from(Array.from({ length: 1000 }, (_, index) => index % 251));
  await store.put('a/b.bin', bytes);
  await store.put('a/empty', Buffer.alloc(0));
  t.same(await readObject(store, 'a/b.bin'), bytes);
  t.same(await readObject(store, 'a/empty'), Buffer.alloc(0));
  t.same(await readObject(store, 'a/b.bin', { offset: 0, length: 1 }), bytes.subarray(0, 1));
  t.same(await readObject(store, 'a/b.bin', { offset: 10, length: 20 }), bytes.subarray(10, 30));
  t.same(await readObject(store, 'a/b.bin', { offset: 990, length: 5000 }), bytes.subarray(990), 'cut at the end');
  t.equal((await store.head('a/b.bin'))?.bytes, 1000);
  t.equal((await store.head('a/empty'))?.bytes, 0);
  await store.delete(['a/b.bin', 'a/empty']);
}

async function ofAFile(t: Test, open: OpenStore): Promise<void> {
  const store = open();
  const folder = mkdtempSync(join(tmpdir(), 'sluice-store-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'source');
  const bytes = Buffer.alloc(LARGE, 'abcdefg');
  writeFileSync(path, bytes);
  await store.put('file', { path });
  t.ok((await readObject(store, 'file')).equals(bytes));
  await downloadObject(store, 'file', join(folder, 'copy'));
  t.ok((await readFile(join(folder, 'copy'))).equals(bytes));
  t.equal(await faultOf(store.put('other', { path: join(folder, 'absent') })), 'invalid', 'the file is missing');
  t.equal(await store.head('other'), null);
  await store.delete(['file']);
}

async function ofPieces(t: Test, open: OpenStore): Promise<void> {
  const store = open();
  const bytes = Buffer.alloc(LARGE, 'abcdefg');
  await store.put('pieces', [bytes.subarray(0, 3), Buffer.alloc(0), bytes.subarray(3)], { ifAbsent: true });
  t.ok((await readObject(store, 'pieces')).equals(bytes));
  t.equal(await faultOf(store.put('pieces', [Buffer.from('a')], { ifAbsent: true })), 'exists');
  await store.put('pieces', []);
  t.equal((await store.head('pieces'))?.bytes, 0);
  await store.delete(['pieces']);
}

async function replacing(t: Test, open: OpenStore): Promise<void> {
  const store = open();
  await store.put('k', Buffer.from('first'), { ifAbsent: true });
  t.equal(await faultOf(store.put('k', Buffer.from('second'), { ifAbsent: true })), 'exists');
  t.equal((await readObject(store, 'k')).toString(), 'first');
  await store.put('k', Buffer.from('third'));
  t.equal((await readObject(store, 'k')).toString(), 'third');
  t.same(await keysOf(store), ['k'], 'nothing else is left');
  await store.delete(['k']);
}

async function oneOfMany(t: Test, open: OpenStore): Promise<void> {
  const store = open();
  const bodies = Array.from({ length: 12 }, (_, index) => Buffer.alloc(50_000, String.fromCharCode(97 + index)));
  const outcomes = await Promise.all(bodies.map((body) => faultOf(store.put('d/one', body, { ifAbsent: true }))));
  t.same([...outcomes].sort(), [...Array<string>(11).fill('exists'), 'none']);
  t.ok((await readObject(store, 'd/one')).equals(bodies[outcomes.indexOf('none')] ?? Buffer.alloc(0)));
  t.same(await keysOf(store), ['d/one']);
  await store.delete(['d/one']);
}

async function listing(t: Test, open: OpenStore): Promise<void> {
  const store = open();
  const keys = ['a', 'a-b', 'a.b', 'a/b', 'a/b.c/d', 'a/day=2026-11-22/x', 'a/day=2026-11-23/x', 'a0', 'b/c', 'B'];
  t.same(await keysOf(store), [], 'empty');
  const since = Date.now();
  // A file system has either a file or a folder of a name.
  const possible = keys.filter((key) => key !== 'a');
  for (const key of possible) await store.put(key, Buffer.from(key));
  const sorted = [...possible].sort((x, y) => Buffer.compare(Buffer.from(x), Buffer.from(y)));
  t.same(await keysOf(store), sorted);
  t.same(
    await keysOf(store, 'a'),
    sorted.filter((key) => key.startsWith('a')),
  );
  t.same(await keysOf(store, 'a/day='), ['a/day=2026-11-22/x', 'a/day=2026-11-23/x']);
  t.same(await keysOf(store, 'a/day=2026-11-22/'), ['a/day=2026-11-22/x']);
  t.same(await keysOf(store, 'c/'), []);
  const all = await listed(store);
  t.same(
    all.map(({ bytes }) => bytes),
    sorted.map((key) => key.length),
  );
  // S3 tells whole seconds; the clocks of two machines may differ.
  t.ok(all.every(({ modified }) => Math.abs(modified.getTime() - since) < 3_600_000));
  await store.delete(possible);
}

async function deleting(t: Test, open: OpenStore): Promise<void> {
  const store = open();
  for (const key of ['x/1', 'x/2', 'y/1']) await store.put(key, Buffer.from(key));
  await store.delete(['x/1', 'y/1', 'z/absent']);
  t.same(await keysOf(store), ['x/2']);
  await store.delete([]);
  await store.delete(['x/2', 'x/2']);
  t.same(await keysOf(store), []);
  await store.put('x/1', Buffer.from('again'), { ifAbsent: true });
  t.equal((await readObject(store, 'x/1')).toString(), 'again');
  await store.delete(['x/1']);
  t.equal(await store.sweep('', 0), 0, 'nothing was left behind');
}

async function absence(t: Test, open: OpenStore): Promise<void> {
  const store = open();
  t.equal(await store.head('no/object'), null);
  t.equal(await faultOf(store.get('no/object')), 'absent');
  t.equal(await faultOf(store.get('no/object', { offset: 1, length: 1 })), 'absent');
  await store.put('a/b', Buffer.from('1'));
  t.equal(await store.head('a'), null, 'a folder is no object');
  t.equal(await faultOf(store.get('a')), 'absent');
  t.equal(await store.head('a/b/c'), null);
  await store.delete(['a', 'a/b/c']);
  t.same(await keysOf(store), ['a/b']);
  await store.delete(['a/b']);
}

async function malformed(t: Test, open: OpenStore): Promise<void> {
  const store = open();
  for (const key of [...INVALID_KEYS, 'n'.repeat(201), `${'n/'.repeat(512)}n`]) {
    const name = JSON.stringify(key.slice(0, 20));
    t.equal(await faultOf(store.put(key, Buffer.from('1'))), 'invalid', `put ${name}`);
    t.equal(await faultOf(store.get(key)), 'invalid', `get ${name}`);
    t.equal(await faultOf(store.head(key)), 'invalid', `head ${name}`);
    t.equal(await faultOf(store.delete(['a', key])), 'invalid', `delete ${name}`);
  }
  for (const prefix of ['/', '../', 'a//', 'a b']) t.equal(await faultOf(keysOf(store, prefix)), 'invalid', prefix);
  await store.put('five', Buffer.from('12345'));
  for (const [offset, length] of [
    [5, 1],
    [9, 2],
    [0, 0],
    [-1, 2],
    [0.5, 1],
    [0, -1],
  ] as const) {
    t.equal(await faultOf(store.get('five', { offset, length })), 'invalid', `${length} at ${offset}`);
  }
  await store.delete(['five']);
}

async function stoppedReader(t: Test, open: OpenStore): Promise<void> {
  const store = open();
  await store.put('large', Buffer.alloc(LARGE, 'x'));
  (await store.get('large')).destroy();
  for await (const chunk of await store.get('large')) {
    t.ok((chunk as Buffer).length > 0);
    break;
  }
  t.equal((await readObject(store, 'large')).length, LARGE);
  await store.delete(['large']);
}

async function otherInstance(t: Test, open: OpenStore): Promise<void> {
  const store = open();
  const other = open();
  await store.put('shared/1', Buffer.from('1'));
  t.same(await keysOf(other), ['shared/1']);
  await other.delete(['shared/1']);
  t.equal(await store.head('shared/1'), null);
  await other.close();
}
