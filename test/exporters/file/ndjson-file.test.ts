// The durable file: its content after an append, a crash, a failure and a rotation.
import { EventEmitter, once } from 'node:events';
import * as nodeFiles from 'node:fs/promises';
import { appendFile, chmod, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { QUIET } from '../../support/quiet-logger.ts';
import t from 'tap';
import { NdjsonFile, type Rotation } from '../../../src/exporters/file/ndjson-file.ts';
import { NODE_FILES } from '../../../src/exporters/file/rotated-files.ts';
import { DAY_MS } from '../../../src/pdata/time-units.ts';

const NEVER: Rotation = { max_size: 0, max_age: 0, max_files: 0 };

async function inFolder(t: Tap): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-file-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
type Tap = { teardown(task: () => Promise<void>): unknown };

async function opened(
  t: Tap,
  path: string,
  rotation: Rotation = NEVER,
  now: () => number = Date.now,
): Promise<NdjsonFile> {
  const file = new NdjsonFile({ path, rotation, logger: QUIET, now });
  await file.open();
  t.teardown(() => file.close());
  return file;
}

/** A group whose second write fails, after its first part is in the file. */
const breaking = (): Buffer[] => [...lines(...Array(1024).fill('half a group')), { length: 1 } as Buffer];

const lines = (...texts: string[]): Buffer[] => texts.map((text) => Buffer.from(`${text}\n`));

t.test('appends are in order and on disk when they resolve, in a file that only its owner may read', async (t) => {
  const path = join(await inFolder(t), 'deep', 'folder', 'out.ndjson');
  const file = await opened(t, path);
  await Promise.all([file.append(lines('1', '2')), file.append(lines('3')), file.append([])]);
  t.equal(await readFile(path, 'utf8'), '1\n2\n3\n');
  t.equal((await stat(path)).mode & 0o777, 0o600);
});

t.test('a torn last line of any length is cut off at the start, and whole lines stay', async (t) => {
  const folder = await inFolder(t);
  for (const [name, content, kept] of [
    ['torn', '{"a":1}\n{"signal":"sp', '{"a":1}\n'],
    ['torn in its first key', '{"a":1}\n{"sig', '{"a":1}\n'],
    ['long', `{"a":1}\n{"signal":"${'x'.repeat(200000)}`, '{"a":1}\n'],
    ['only torn', `{"signal":"${'x'.repeat(70000)}`, ''],
    ['torn and zeros', '{"a":1}\n{"signal":"span"\0\0\0', '{"a":1}\n'],
    ['zeros of a power cut', `{"a":1}\n${'\0'.repeat(4096)}`, '{"a":1}\n'],
    ['whole', '{"a":1}\n', '{"a":1}\n'],
    ['empty', '', ''],
  ] as const) {
    const path = join(folder, name);
    await writeFile(path, content);
    const file = await opened(t, path);
    await file.append(lines('new'));
    t.equal(await readFile(path, 'utf8'), `${kept}new\n`, name);
  }
});

t.test('a failed append leaves nothing of itself, and the next one works', async (t) => {
  const path = join(await inFolder(t), 'out.ndjson');
  const file = await opened(t, path);
  await file.append(lines('before'));
  await t.rejects(file.append(breaking()));
  t.equal(await readFile(path, 'utf8'), 'before\n');
  await file.append(lines('after'));
  t.equal(await readFile(path, 'utf8'), 'before\nafter\n');
});

t.test('a file that another program shortened meanwhile gets no zeros', async (t) => {
  const path = join(await inFolder(t), 'out.ndjson');
  const file = await opened(t, path);
  await file.append(lines('one', 'two', 'three'));
  await truncate(path, 6);
  await t.rejects(file.append([{ length: 1 } as Buffer]));
  await file.append(lines('four'));
  const text = await readFile(path, 'utf8');
  t.notMatch(text, /\0/);
  t.match(text, /^one\n(.*\n)*four\n$/);
});

t.test('rotation by size keeps every line and the newest files', async (t) => {
  const folder = await inFolder(t);
  let now = Date.UTC(2026, 0, 1);
  const file = await opened(t, join(folder, 'out.ndjson'), { max_size: 20, max_age: 0, max_files: 2 }, () => now);
  for (let line = 0; line < 12; line++) {
    now += 1;
    await file.append(lines(`line ${line}`.padEnd(9)));
  }
  await file.close();
  const names = (await readdir(folder)).sort();
  t.equal(names.length, 3);
  t.match(names[0], /^out-2026-01-01T00-00-00\.\d+\.ndjson$/);
  const kept = (await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))).join('');
  t.same(
    kept
      .split('\n')
      .filter(Boolean)
      .map((line) => Number(line.slice(5))),
    [6, 7, 8, 9, 10, 11],
    'the last six lines, in order',
  );
  t.ok((await Promise.all(names.map((name) => stat(join(folder, name))))).every(({ size }) => size <= 20));
});

t.test('two rotations within a millisecond make two files', async (t) => {
  const folder = await inFolder(t);
  const file = await opened(t, join(folder, 'out.ndjson'), { max_size: 1, max_age: 0, max_files: 0 }, () => 0);
  for (const text of ['a', 'b', 'c']) await file.append(lines(text));
  t.equal((await readdir(folder)).length, 3);
});

t.test('the newest files are kept, whatever the clock says', async (t) => {
  const folder = await inFolder(t);
  let now = Date.now();
  const file = await opened(t, join(folder, 'out.ndjson'), { max_size: 1, max_age: 0, max_files: 2 }, () => now);
  for (const [index, days] of [0, 3653, 3653, 3653, 0, -2, -2, 0].entries()) {
    now = Date.now() + days * DAY_MS;
    await file.append(lines(String(index)));
  }
  await file.close();
  const names = (await readdir(folder)).sort();
  const kept = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  t.same(kept.sort(), ['5\n', '6\n', '7\n']);
});

t.test('a clock that was set back delays a rotation by max_age at most', async (t) => {
  const folder = await inFolder(t);
  let now = Date.now() + 3653 * DAY_MS;
  const file = await opened(t, join(folder, 'out.ndjson'), { max_size: 0, max_age: 1000, max_files: 0 }, () => now);
  await file.append(lines('ahead'));
  now = Date.now();
  await file.append(lines('back'));
  t.equal((await readdir(folder)).length, 1);
  now += 1000;
  await file.append(lines('new'));
  t.equal((await readdir(folder)).length, 2);
});

t.test('a file that is older than max_age is rotated', async (t) => {
  const folder = await inFolder(t);
  let now = Date.now();
  const file = await opened(t, join(folder, 'out.ndjson'), { max_size: 0, max_age: 1000, max_files: 0 }, () => now);
  await file.append(lines('old'));
  now += 1001;
  await file.append(lines('new'));
  t.equal((await readdir(folder)).length, 2);
  t.equal(await readFile(join(folder, 'out.ndjson'), 'utf8'), 'new\n');
});

t.test('appends do not wait for the removal of an old file; the next rotation and the close do', async (t) => {
  const folder = await inFolder(t);
  const events = new EventEmitter();
  const unlink: typeof nodeFiles.unlink = async (path) => {
    if (String(path).endsWith('.unfinished')) return;
    const allowed = once(events, 'allowed');
    events.emit('asked');
    await allowed;
    await nodeFiles.unlink(path);
  };
  const parts = { rotation: { max_size: 4, max_age: 0, max_files: 1 }, logger: QUIET, now: () => 0 };
  const file = new NdjsonFile({ ...parts, path: join(folder, 'out.ndjson'), files: { ...NODE_FILES, unlink } });
  await file.open();
  const asked = once(events, 'asked');
  for (const text of ['a', 'b', 'c', 'd', 'e', 'f']) await file.append(lines(text));
  await asked;
  t.equal((await readdir(folder)).length, 3, 'the removal of the oldest has begun');

  const askedAgain = once(events, 'asked');
  const next = file.append(lines('g'));
  // Twenty stat calls are done by then; so would a second removal be.
  for (let count = 0; count < 20; count++) await stat(folder);
  t.equal((await readdir(folder)).length, 3, 'one removal at a time');
  events.emit('allowed');
  await next;
  await askedAgain;

  let isClosed = false;
  const closed = file.close().then(() => (isClosed = true));
  for (let count = 0; count < 20; count++) await stat(folder);
  t.notOk(isClosed);
  events.emit('allowed');
  await closed;
  t.equal((await readdir(folder)).length, 2);
});

t.test('only files that rotation made are removed', async (t) => {
  const folder = await inFolder(t);
  await writeFile(join(folder, 'out-notes.ndjson'), 'mine');
  await writeFile(join(folder, 'out-2020.ndjson'), 'mine');
  const file = await opened(t, join(folder, 'out.ndjson'), { max_size: 1, max_age: 0, max_files: 1 }, () => 0);
  for (const text of ['a', 'b', 'c', 'd']) await file.append(lines(text));
  await file.close();
  t.same((await readdir(folder)).filter((name) => ['out-notes.ndjson', 'out-2020.ndjson'].includes(name)).length, 2);
});

t.test("opening an unusable path rejects with the system's error", async (t) => {
  const folder = await inFolder(t);
  await appendFile(join(folder, 'file'), '');
  await t.rejects(
    new NdjsonFile({ path: join(folder, 'file', 'out'), rotation: NEVER, logger: QUIET, now: Date.now }).open(),
    {
      code: /ENOTDIR|EEXIST/,
    },
  );
  await t.rejects(new NdjsonFile({ path: folder, rotation: NEVER, logger: QUIET, now: Date.now }).open(), {
    code: 'EISDIR',
  });
  await chmod(folder, 0o700);
});
