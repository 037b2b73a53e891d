/** Faults of the environment at the start are reported with a remedy, and never as a fault of Sluice. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { asOperatorError } from '../../../../src/extensions/postgres/embedded/faults.ts';
import { canMount, mount } from '../../../support/mounts.ts';
import { isRoot, UNPRIVILEGED } from '../../../support/unprivileged.ts';
import { folderFor, folderWithDatabase, query, serverFor } from './scene.ts';
import { longTest } from '../../../support/long.ts';

const SLUICE = fileURLToPath(new URL('../../../../../bin/sluice.js', import.meta.url));

const skip = !canMount && 'needs the right to mount';

longTest(
  'a disk that is full at any point of the first start is reported, and the start works once there is space',
  { skip },
  async (t) => {
    const folder = await folderFor(t);
    mount(t, folder, 'size=8m,mode=755');
    const { server } = serverFor(t, join(folder, 'data'));
    const refusal = { name: 'EmbeddedServerError', message: /No space left on device.*free some/s };
    for (const size of [8, 20, 27]) {
      execFileSync('mount', ['-o', `remount,size=${size}m`, folder]);
      await t.rejects(server.start(), refusal, `${size} MiB`);
    }
    execFileSync('mount', ['-o', 'remount,size=200m', folder]);
    await query(await server.start(), 'SELECT 1');
    await server.stop();
  },
);

longTest('a read-only file system is reported', { skip }, async (t) => {
  const folder = await folderFor(t);
  mount(t, folder, 'size=200m,mode=755');
  const { server } = serverFor(t, join(folder, 'data'));
  await server.start();
  await server.stop();
  execFileSync('mount', ['-o', 'remount,ro', folder]);
  await t.rejects(server.start(), { name: 'EmbeddedServerError', message: /read-only/ });
  execFileSync('mount', ['-o', 'remount,rw', folder]);
  await server.start();
});

t.test('a data folder that the user may not write to is reported', { skip: !isRoot && 'needs root' }, async (t) => {
  const folder = await folderWithDatabase(t);
  const host = { pid: process.pid, env: {}, kill: () => false, getuid: () => UNPRIVILEGED + 1 };
  const { server } = serverFor(t, folder, { host });
  await t.rejects(server.start(), { message: /belongs to user \d+, and this process runs as user \d+.*chown -R/ });
});

t.test('errors of the system and of PostgreSQL become messages with a hint; other errors stay unchanged', async (t) => {
  const say = (code: string, message: string) =>
    asOperatorError(Object.assign(new Error(message), { code, syscall: 'open' }), '/data');
  t.match(say('EMFILE', 'EMFILE: too many open files'), { name: 'EmbeddedServerError', message: /ulimit -n/ });
  t.match(say('EXOTIC', 'EXOTIC: never heard of'), { name: 'EmbeddedServerError', message: /never heard of$/ });
  const refused = Object.assign(new Error('could not extend file: No space left on device'), { severity: 'ERROR' });
  t.match(asOperatorError(refused, '/data'), {
    name: 'EmbeddedServerError',
    message: /\/data cannot start.*free some/,
  });
  const fault = new TypeError('undefined is not a function');
  t.equal(asOperatorError(fault, '/data'), fault);
});

t.test(
  'too few open files are refused before anything is loaded',
  { skip: process.platform !== 'linux' && 'needs /proc' },
  async (t) => {
    const folder = await folderFor(t);
    await mkdir(join(folder, 'work'));
    await chmod(join(folder, 'work'), 0o755);
    if (isRoot) await chown(join(folder, 'work'), 0, 0);
    for (const limit of [40, 64, 200]) {
      const child = spawn('bash', ['-c', `ulimit -n ${limit}; exec "${process.execPath}" "${SLUICE}" run`], {
        cwd: join(folder, 'work'),
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      let said = '';
      child.stderr.on('data', (text) => {
        said += text;
      });
      const [code] = await once(child, 'exit');
      t.equal(code, 1);
      t.match(said, new RegExp(`only ${limit} files may be open at once[^]*ulimit -n 65536`));
      t.notMatch(said, /fault of Sluice/);
    }
    await t.rejects(stat(join(folder, 'work/data')), { code: 'ENOENT' });
  },
);
