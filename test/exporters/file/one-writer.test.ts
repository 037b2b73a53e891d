/** Two writers on one file would tear each other's lines. The second one is refused, and the file does not change. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { COMPONENTS } from '../../../src/components.ts';
import type { Config } from '../../../src/config/config.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { FILE_CONFIG, startDaemon } from '../../support/daemon.ts';
import { canMount, mount } from '../../support/mounts.ts';
import { send } from '../../support/otlp-client.ts';
import { aSpan, aTraceRequest } from '../../support/payloads.ts';
import { PATIENCE_MS } from '../../support/patience.ts';

const folder = await mkdtemp(join(tmpdir(), 'sluice-writers-'));
t.teardown(() => rm(folder, { recursive: true, force: true }));

const body = JSON.stringify(aTraceRequest([aSpan()]));
const onFile = (path: string): string => FILE_CONFIG.replace('{folder}/out.ndjson', path);

/** `torn`: the file of a writer that is in the middle of a line. */
async function heldBy(name: string, pid: number | undefined): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, '{"torn":');
  await writeFile(`${path}.lock`, JSON.stringify({ pid, machine: hostname() }));
  return path;
}

t.test("a second daemon on a file is refused by name, and the first one's line stays", async (t) => {
  const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  t.teardown(() => void other.kill('SIGKILL'));
  await once(other, 'spawn');
  const path = await heldBy('busy.ndjson', other.pid);
  await t.rejects(startDaemon(t, { config: onFile(path) }), {
    message: `another daemon (pid ${other.pid}) writes to ${path}`,
    hint: 'Stop it first, or choose another path.',
  });
  t.equal(readFileSync(path, 'utf8'), '{"torn":');
  t.ok(existsSync(`${path}.lock`), 'its lock stays');
});

t.test('the lock of a dead daemon is taken over, and removed at the stop', async (t) => {
  const gone = spawn(process.execPath, ['-e', '']);
  await once(gone, 'exit');
  const path = await heldBy('left.ndjson', gone.pid);
  const daemon = await startDaemon(t, { config: onFile(path) });
  t.match(JSON.parse(readFileSync(`${path}.lock`, 'utf8')), { pid: process.pid });
  t.equal((await send(daemon.url, { body })).status, 200);
  await daemon.stop();
  t.notOk(existsSync(`${path}.lock`));
  t.match(readFileSync(path, 'utf8'), /^\{"signal":"span".*\}\n$/u);
});

const twice = (path: string, again: string): string =>
  onFile(path)
    .replace('exporters: { file: ', `exporters: { file/again: { path: "${again}" }, file: `)
    .replace('traces: { receivers: [otlp], processors: [auth, environment], exporters: [file] }', (pipeline) =>
      pipeline.replace('[file]', '[file, file/again]'),
    );

t.test('two exporters of one configuration do not share a file', async (t) => {
  const path = join(folder, 'shared.ndjson');
  // The check of the configuration compares names, not files.
  await symlink(folder, join(folder, 'link'));
  await t.rejects(startDaemon(t, { config: twice(path, join(folder, 'link/shared.ndjson')) }), {
    message: /^another exporter of this daemon writes to .*shared\.ndjson$/u,
  });
  t.notOk(existsSync(`${path}.lock`), 'the started exporter released the lock');
});

async function configOf(text: string): Promise<Config> {
  const file = join(folder, 'next.yaml');
  await writeFile(file, text);
  return loadConfig({ files: [file], definitions: COMPONENTS, workingDirectory: folder, environment: {} });
}

t.test(
  'a reload that gives the file to an exporter of another name is refused, and the old exporter continues',
  async (t) => {
    const path = join(folder, 'renamed.ndjson');
    const daemon = await startDaemon(t, { config: onFile(path) });
    const renamed = onFile(path)
      .replace('exporters: { file:', 'exporters: { file/renamed:')
      .replaceAll('[file]', '[file/renamed]');
    await t.rejects(daemon.service.reload(await configOf(renamed), AbortSignal.timeout(PATIENCE_MS)), {
      message: `another exporter of this daemon writes to ${path}`,
    });
    t.equal((await send(daemon.url, { body })).status, 200);
    t.ok(existsSync(`${path}.lock`), 'still held');
    await daemon.service.reload(await configOf(renamed.replaceAll(path, `${path}2`)), AbortSignal.timeout(PATIENCE_MS));
    t.equal((await send(daemon.url, { body: body.replace('work', 'play') })).status, 200);
    t.notOk(existsSync(`${path}.lock`), 'released by the stopped exporter');
    t.equal(readFileSync(path, 'utf8').split('\n').length, 2);
  },
);

t.test(
  'a directory is named as such, also where no lock can be written beside it',
  { skip: process.platform !== 'linux' && 'needs a folder that root cannot write' },
  async (t) => {
    await t.rejects(startDaemon(t, { config: onFile('/sys/kernel') }), { message: '/sys/kernel is a directory' });
  },
);

const unmountable = !canMount && 'needs the right to mount';

t.test('a read-only file system is named, and not called a missing permission', { skip: unmountable }, async (t) => {
  const readOnly = join(folder, 'read-only');
  await mkdir(readOnly);
  mount(t, readOnly, 'ro');
  const path = join(readOnly, 'out.ndjson');
  await t.rejects(startDaemon(t, { config: onFile(path) }), {
    message: `${path} is on a read-only file system`,
    hint: 'Choose a path that can be written.',
  });
});
