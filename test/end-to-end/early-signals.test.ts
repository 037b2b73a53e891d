/** Signals of a daemon that has not read its configuration yet, or has not started all of it. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { FILE_CONFIG } from '../support/daemon.ts';
import { BIN, openFolder, startExecutable } from '../support/executable.ts';
import { longTest } from '../support/long.ts';
import { createDatabase } from '../support/postgres.ts';
import { postgresConfig, SERVED } from '../support/postgres-daemon.ts';

t.setTimeout(120_000);

const skip = process.platform === 'win32' && 'no signals';
/** A process sends itself the signals before it loads one of these modules: nothing after them has run. */
const MODULES = String.raw`/dist/src/(?:cli/run|daemon/config-files|daemon/daemon|daemon/workers/worker)\.js$`;

/** The environment of a process that sends itself signals while it loads its modules. */
function signalling(folder: string, signalsOf: string): Readonly<Record<string, string>> {
  const hooks = `export async function load(url, context, next) {
    if (new RegExp(${JSON.stringify(MODULES)}).test(url)) for (const signal of ${signalsOf}) process.kill(process.pid, signal);
    return next(url, context);
  }`;
  writeFileSync(join(folder, 'hooks.mjs'), hooks);
  writeFileSync(
    join(folder, 'register.mjs'),
    `import { register } from 'node:module'; register('./hooks.mjs', import.meta.url);`,
  );
  return { NODE_OPTIONS: `--import ${join(folder, 'register.mjs')}` };
}

t.test('SIGHUP before the daemon runs does not end it, and is served once it runs', { skip }, async (t) => {
  const folder = openFolder(t);
  writeFileSync(join(folder, 'a.yaml'), FILE_CONFIG.replaceAll('{folder}', folder));
  const daemon = startExecutable(['run', '-c', 'a.yaml'], folder, signalling(folder, `['SIGHUP', 'SIGUSR1']`));
  t.teardown(() => void daemon.child.kill('SIGKILL'));
  await daemon.until('the configuration was loaded again');
  daemon.child.kill('SIGTERM');
  t.equal(await daemon.ended, 0, daemon.output.err);
  t.notMatch(daemon.output.err, /debugger|inspector/iu);
});

t.test('a worker whose primary ends while it loads its code is no daemon of its own', async (t) => {
  const folder = openFolder(t);
  writeFileSync(join(folder, 'a.yaml'), FILE_CONFIG.replaceAll('{folder}', folder));
  const env = { ...process.env, SLUICE_WORKER: '1' };
  const child = fork(BIN, ['run', '-c', 'a.yaml'], { cwd: folder, env, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  t.teardown(() => void child.kill('SIGKILL'));
  let output = '';
  child.stderr?.on('data', (data: Buffer) => {
    output += data.toString();
    if (output.includes('everything is ready')) child.kill('SIGKILL');
  });
  const ended = once(child, 'exit');
  child.disconnect();
  t.same(await ended, [0, null], output);
});

longTest('no signal ends a worker before it listens for messages of the primary', { skip }, async (t) => {
  const folder = openFolder(t);
  const { url: databaseUrl } = await createDatabase(t, SERVED);
  writeFileSync(join(folder, 'a.yaml'), postgresConfig({ databaseUrl }));
  const signals = `(process.env.SLUICE_WORKER === undefined ? ['SIGHUP'] : ['SIGHUP', 'SIGINT', 'SIGTERM', 'SIGUSR1'])`;
  const daemon = startExecutable(['run', '--workers', '2', '-c', 'a.yaml'], folder, signalling(folder, signals));
  t.teardown(() => void daemon.child.kill('SIGKILL'));
  await daemon.until('the configuration was loaded again');
  daemon.child.kill('SIGTERM');
  t.equal(await daemon.ended, 0, daemon.output.err);
  t.notMatch(daemon.output.err, /debugger|inspector|a worker/iu);
});
