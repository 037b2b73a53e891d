/**
 * The script that runs all tests: a failure that it overlooks would be a failure of every test. It runs here over files
 * made for it, which write their reports themselves where tap is not needed.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { waitFor } from '../../src/extensions/postgres/embedded/wait.ts';
import { openFolder, watchExecutable } from '../support/executable.ts';
import { PATIENCE_MS } from '../support/patience.ts';

t.setTimeout(300_000);

const SCRIPT = fileURLToPath(new URL('../../../scripts/test.js', import.meta.url));
const TAP = JSON.stringify(import.meta.resolve('tap'));

interface Outcome {
  readonly path: string;
  readonly passed: number;
  readonly failed: number;
  readonly reason: string | undefined;
  readonly output: string;
  readonly failures: readonly { readonly fullname: string }[];
}

const FILES: Readonly<Record<string, string>> = {
  'passing.test.js': `console.log('ok 1 - a\\nok 2 - b\\n1..2')`,
  'failing.test.js': `
    import t from ${TAP};
    console.error('seen on the way');
    t.pass('first');
    t.test('the sum', async (t) => t.equal(1 + 1, 3, 'is three'));
    t.test('the skipped', { skip: 'not here' }, async () => undefined);
    t.fail('the later', { todo: 'not yet' });`,
  'crashing.test.js': `console.log('ok 1 - before'); throw new Error('crashed on purpose');`,
  'killed.test.js': `console.log('ok 1 - before\\n1..1'); process.kill(process.pid, 'SIGKILL');`,
  'ending-badly.test.js': `console.log('ok 1 - before\\n1..1'); process.exitCode = 3;`,
  'breaking-off.test.js': `console.log('ok 1 - before\\n1..2');`,
  'empty.test.js': '',
  'not-a-test.js': `console.log('not ok 1 - must not run')`,
};
/** The test waits for output of neither, because a busy machine may delay it. */
const HANGING: Readonly<Record<string, string>> = {
  'hanging.test.js': 'setInterval(() => undefined, 1000)',
  'deaf.test.js': `process.on('SIGALRM', () => undefined); setInterval(() => undefined, 1000)`,
};

async function folderOf(t: Parameters<typeof openFolder>[0], files: Readonly<Record<string, string>>) {
  const folder = openFolder(t);
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  for (const [name, source] of Object.entries(files)) await writeFile(join(folder, name), source);
  return folder;
}

function start(args: readonly string[]) {
  const child: ChildProcessByStdio<null, Readable, Readable> = spawn(process.execPath, [SCRIPT, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return watchExecutable(child);
}

async function run(...args: readonly string[]) {
  const { ended, output } = start(args);
  const code = await ended;
  return { code, out: output.out, err: output.err, last: output.out.trimEnd().split('\n').at(-1) };
}

t.test('only passed assertions are counted as passed', async (t) => {
  const folder = await folderOf(t, FILES);
  const { code, out, last } = await run(join(folder, 'passing.test.js'));
  t.equal(code, 0);
  t.equal(last, 'tests: 2 passed, 0 failed');
  t.notMatch(out, /FAILED|failing/);
});

t.test('every fault of a file is a failure, reported with the file and the reason', async (t) => {
  const { code, out, last } = await run(await folderOf(t, FILES));
  t.equal(code, 1);
  t.equal(last, 'tests: 7 passed, 6 failed', 'skipped and to do are neither');
  const told = (name: string) => out.split('\nFAILED: ').find((part) => part.includes(name)) ?? '';
  t.match(told('failing.test.js'), 'the sum > is three');
  t.match(told('failing.test.js'), /failing\.test\.js:5:/, 'with its place');
  t.match(told('failing.test.js'), /-\s*3\s*\+\s*2/, 'with what differs');
  t.match(told('failing.test.js'), 'seen on the way');
  t.match(told('crashing.test.js'), 'ended with 1');
  t.match(told('crashing.test.js'), 'crashed on purpose');
  t.match(told('killed.test.js'), 'was ended by SIGKILL');
  t.match(told('ending-badly.test.js'), 'ended with 3');
  t.match(told('breaking-off.test.js'), 'broke off its report');
  t.match(told('empty.test.js'), 'holds no test');
  t.notMatch(out, 'must not run');
  t.match(out, /skipped, neither passed nor failed: .*failing\.test\.js: the skipped \(not here\)/);
  t.match(out, /to do, neither passed nor failed: .*failing\.test\.js: the later \(not yet\)/);
});

t.test('files share a process, and one that ends it leaves the others to the next process', async (t) => {
  const test = (title: string, is: number) =>
    `import t from 'tap'; t.test('${title}', async (t) => t.equal(${is}, 1));`;
  const folder = await folderOf(t, {
    'a.test.js': test('same title', 1),
    'b.test.js': `${test('same title', 2)} t.teardown(() => console.error('teardown of b'));`,
    'c.test.js': `import t from 'tap'; console.error(typeof t.test);`,
    'd.test.js': `throw new Error('cannot be loaded');`,
    'e.test.js': `import t from 'tap'; t.pass('before'); await t.test('the end', () => process.kill(process.pid, 'SIGKILL'));`,
    'f.test.js': test('not reached', 1),
  });
  await symlink(fileURLToPath(new URL('../../node_modules', import.meta.url)), join(folder, 'node_modules'));
  const outcomes: Outcome[] = [];
  const started: string[] = [];
  const { runTestProcess } = await import(new URL('../../../scripts/test-process.js', import.meta.url).href);
  const paths = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => join(folder, `${name}.test.js`));
  const { done } = runTestProcess(paths, {
    root: fileURLToPath(new URL('../../..', import.meta.url)),
    env: process.env,
    timeoutMs: PATIENCE_MS,
    onStart: (path: string) => started.push(path),
    onEnd: (outcome: Outcome) => outcomes.push(outcome),
  });
  t.strictSame(await done, paths.slice(5));
  t.strictSame(started, paths.slice(0, 5));
  const counts = outcomes.map(({ path, passed, failed, reason }) => [
    basename(path, '.test.js'),
    passed,
    failed,
    reason,
  ]);
  t.strictSame(counts, [
    ['a', 1, 0, undefined],
    ['b', 0, 1, undefined],
    ['c', 0, 1, undefined],
    ['d', 0, 1, undefined],
    ['e', 1, 1, 'was ended by SIGKILL'],
  ]);
  // The report and the other output are two pipes, of which the second may be read later.
  t.match(`${outcomes[1]?.output}${outcomes[2]?.output}`, 'teardown of b');
  t.match(outcomes[2]?.failures[0]?.fullname, /the file holds no test/);
  t.match(outcomes[3]?.failures[0]?.fullname, /cannot be loaded/);
});

/** The number of the line that begins with the text. */
async function lineOf(path: string, text: string): Promise<number> {
  return (await readFile(path, 'utf8')).split('\n').findIndex((line) => line.startsWith(text)) + 1;
}

t.test('a place in a compiled file is reported as the place in its source', async (t) => {
  const compiled = fileURLToPath(import.meta.url).replace(/\.ts$/, '.js');
  const source = join(fileURLToPath(new URL('../../..', import.meta.url)), 'test/scripts/test.test.ts');
  const mark = 't.setTimeout(';
  const place = `${compiled}:${await lineOf(compiled, mark)}:1`;
  const folder = await folderOf(t, { 'crashing.test.js': `throw new Error(${JSON.stringify(`at ${place}`)})` });
  const { out } = await run(folder);
  t.match(out, `test/scripts/test.test.ts:${await lineOf(source, mark)}:1`);
  t.notMatch(out, place);
});

t.test('a file that does not end is killed, even if it ignores signals', async (t) => {
  const { code, out, last } = await run('--timeout=1', await folderOf(t, HANGING));
  t.equal(code, 1);
  t.equal(last, 'tests: 0 passed, 2 failed');
  t.equal(out.match(/was stopped after 1 s/g)?.length, 2);
});

t.test('an interrupted run is reported as failed', async (t) => {
  const folder = await folderOf(t, {});
  const begun = join(folder, 'begun');
  const file = join(folder, 'waiting.test.js');
  const source = `await (await import('node:fs/promises')).writeFile(${JSON.stringify(begun)}, ''); setInterval(() => 0, 1000)`;
  await writeFile(file, source);
  const { child, ended, output } = start([file]);
  const seen = await waitFor(async () => (existsSync(begun) ? true : undefined), { timeoutMs: PATIENCE_MS });
  t.ok(seen, 'it has begun');
  child.kill('SIGTERM');
  t.equal(await ended, 1);
  t.match(output.out, /interrupted; still running: .*waiting\.test\.js/);
  t.match(output.out, /tests: 0 passed, 1 failed\n$/);
});

t.test('--long runs the files that have long tests, and these tests', async (t) => {
  const folder = await folderOf(t, {
    'long.test.js': `
      import '${new URL('../support/long.js', import.meta.url).href}';
      console.log((process.env.SLUICE_LONG_TESTS === 'yes' ? 'ok' : 'not ok') + ' 1 - a\\n1..1');`,
    'details.test.js': `
      import '${new URL('../support/long-file.js', import.meta.url).href}';
      console.log('ok 1 - b\\n1..1');`,
    'ordinary.test.js': `console.log('not ok 1 - must not run\\n1..1')`,
  });
  t.equal((await run('--long', folder)).last, 'tests: 2 passed, 0 failed');
});

t.test('a missing file and an unknown flag are reported at once', async (t) => {
  const absent = await run('dist/test/absent.test.js');
  t.equal(absent.code, 1);
  t.match(absent.err, 'there is no dist/test/absent.test.js');
  t.match((await run('test/absent')).err, 'there is no test/absent\n', 'it is named as it was typed');
  t.match((await run('docs')).err, 'there is no test in docs');
  const flag = await run('--reporter=dot');
  t.equal(flag.code, 1);
  t.match(flag.err, '--reporter');
});
