// Other programs remove, rename, shorten or replace the file, and the exporter keeps every acknowledged line.
import {
  appendFile,
  chmod,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { QUIET } from '../../support/quiet-logger.ts';
import t from 'tap';
import { NdjsonFile } from '../../../src/exporters/file/ndjson-file.ts';

const NEVER = { max_size: 0, max_age: 0, max_files: 1 };

interface Tap {
  teardown(task: () => Promise<void>): unknown;
}

async function folderOf(t: Tap): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-file-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function opened(t: Tap, path: string): Promise<NdjsonFile> {
  const file = new NdjsonFile({ path, rotation: NEVER, logger: QUIET, now: Date.now });
  t.teardown(() => file.close());
  await file.open();
  return file;
}

const lineOf = (name: string): string => `{"signal":"span","name":"${name}"}\n`;
const lines = (...names: string[]): Buffer[] => names.map((name) => Buffer.from(lineOf(name)));
const textOf = (...names: string[]): string => names.map(lineOf).join('');

t.test('an append after the file was removed is in a new file when it resolves', async (t) => {
  const path = join(await folderOf(t), 'out.ndjson');
  const file = await opened(t, path);
  await file.append(lines('1'));
  await rm(path);
  await file.append(lines('2', '3'));
  t.equal(await readFile(path, 'utf8'), textOf('2', '3'));
  await file.append(lines('4'));
  t.equal(await readFile(path, 'utf8'), textOf('2', '3', '4'));
  t.ok(file.healthy);
});

// logrotate may compress a renamed file at once and remove it, without lines that it did not read.
t.test('a renamed file keeps its lines and gets no more, and the next append begins a new one', async (t) => {
  const folder = await folderOf(t);
  const path = join(folder, 'out.ndjson');
  const file = await opened(t, path);
  await file.append(lines('1'));
  await rename(path, join(folder, 'moved'));
  await file.append(lines('2'));
  t.equal(await readFile(join(folder, 'moved'), 'utf8'), textOf('1'));
  t.equal(await readFile(path, 'utf8'), textOf('2'));
  t.ok(file.healthy);
  await file.append(lines('3'));
  const all = (await readFile(join(folder, 'moved'), 'utf8')) + (await readFile(path, 'utf8'));
  t.equal(all, textOf('1', '2', '3'), 'every line once, in order');
});

t.test('a file that another program put at the path is kept', async (t) => {
  const folder = await folderOf(t);
  const path = join(folder, 'out.ndjson');
  const file = await opened(t, path);
  await file.append(lines('1'));
  await rename(path, join(folder, 'moved'));
  await writeFile(path, 'notes without a line break');
  await file.append(lines('2'));
  await file.append(lines('3'));
  const found = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8')));
  t.ok(found.includes('notes without a line break'), 'whole, under another name');
  t.equal(found.filter((text) => text.startsWith('{')).join('').length, textOf('1', '2', '3').length);
});

t.test('a shortened file: no append is torn or repeated', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 80 }), fc.integer({ min: 1, max: 3 }), async (size, count) => {
      const folder = await mkdtemp(join(tmpdir(), 'sluice-file-'));
      const path = join(folder, 'out.ndjson');
      const file = new NdjsonFile({ path, rotation: NEVER, logger: QUIET, now: Date.now });
      try {
        await file.open();
        await file.append(lines('a', 'b'));
        await truncate(path, Math.min(size, textOf('a', 'b').length));
        const names = Array.from({ length: count }, (_, index) => `after ${index}`);
        await file.append(lines(...names));
        await file.append(lines('last'));
        const text = await readFile(path, 'utf8');
        const expected = textOf(...names, 'last');
        const before = text.slice(0, text.length - expected.length);
        if (!text.endsWith(expected) || !textOf('a', 'b').startsWith(before) || !/^$|\n$/.test(before)) {
          throw new Error(`cut to ${size}: ${text}`);
        }
      } finally {
        await file.close();
        await rm(folder, { recursive: true, force: true });
      }
    }),
    { numRuns: 60 },
  );
  t.pass('60 lengths');
});

t.test('lines of another program in the file are kept', async (t) => {
  const path = join(await folderOf(t), 'out.ndjson');
  const file = await opened(t, path);
  await file.append(lines('1'));
  await appendFile(path, 'a foreign line\n');
  await file.append(lines('2'));
  await file.append(lines('3'));
  t.equal(await readFile(path, 'utf8'), `${textOf('1')}a foreign line\n${textOf('2', '3')}`);
});

t.test(
  'a file that does not end with a line of telemetry is renamed at the start, and rotation never removes it',
  async (t) => {
    for (const content of [
      'a note',
      'two\nlines',
      '{"a":1}\n{"b":',
      '\u0000\u0000text',
      '{"signals":',
      ' {"signal":"span"',
    ]) {
      const folder = await folderOf(t);
      const path = join(folder, 'out.ndjson');
      await writeFile(path, content);
      const file = new NdjsonFile({
        path,
        rotation: { max_size: 1, max_age: 0, max_files: 1 },
        logger: QUIET,
        now: Date.now,
      });
      await file.open();
      for (const name of ['1', '2', '3', '4']) await file.append(lines(name));
      await file.close();
      const names = await readdir(folder);
      const found = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
      t.ok(found.includes(content), JSON.stringify(content));
      t.equal(await readFile(path, 'utf8'), textOf('4'));
    }
  },
);

t.test('a symbolic link, a pipe, a folder and a device are refused', async (t) => {
  const folder = await folderOf(t);
  await writeFile(join(folder, 'target'), 'precious');
  await symlink(join(folder, 'target'), join(folder, 'link'));
  await symlink(join(folder, 'nothing'), join(folder, 'dangling'));
  execFileSync('mkfifo', [join(folder, 'pipe')]);
  for (const [name, code] of [
    ['link', 'ELOOP'],
    ['dangling', 'ELOOP'],
    ['pipe', 'ENXIO'],
  ] as const) {
    await t.rejects(opened(t, join(folder, name)), { code }, name);
  }
  await t.rejects(opened(t, folder), { code: 'EISDIR' });
  await t.rejects(opened(t, '/dev/null'), { code: 'ENXIO' });
  t.equal(await readFile(join(folder, 'target'), 'utf8'), 'precious');
});

t.test('a link that replaces the file is not followed: appends fail until it is removed', async (t) => {
  const folder = await folderOf(t);
  const path = join(folder, 'out.ndjson');
  const file = await opened(t, path);
  await file.append(lines('1'));
  await writeFile(join(folder, 'target'), 'precious');
  await rm(path);
  await symlink(join(folder, 'target'), path);
  await t.rejects(file.append(lines('2')));
  t.notOk(file.healthy);
  t.equal(await readFile(join(folder, 'target'), 'utf8'), 'precious');
  await rm(path);
  await file.append(lines('3'));
  t.equal(await readFile(path, 'utf8'), textOf('3'));
});

t.test('an existing file that other users may read is made private', async (t) => {
  const path = join(await folderOf(t), 'out.ndjson');
  await writeFile(path, textOf('1'));
  await chmod(path, 0o644);
  const file = await opened(t, path);
  await file.append(lines('2'));
  t.equal((await stat(path)).mode & 0o777, 0o600);
  t.equal(await readFile(path, 'utf8'), textOf('1', '2'));
});

t.test('a new file at the path is not cut after a failed append to the removed one', async (t) => {
  const path = join(await folderOf(t), 'out.ndjson');
  const file = await opened(t, path);
  await file.append(lines('1', '2', '3'));
  await rm(path);
  await writeFile(path, 'x'.repeat(10));
  await t.rejects(file.append([{ length: 1 } as Buffer]));
  await file.append(lines('4'));
  const folder = join(path, '..');
  const found = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8')));
  t.ok(found.includes('x'.repeat(10)), 'the other file is kept whole');
  t.equal(await readFile(path, 'utf8'), textOf('4'));
});
