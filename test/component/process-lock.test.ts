/** The lock of a daemon: when it is kept, and when it is taken over. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { birthOf, placeOfPids } from '../../src/component/process-life.ts';
import { type LockOptions, ProcessLock } from '../../src/component/process-lock.ts';
import { waitFor } from '../../src/extensions/postgres/embedded/wait.ts';
import { folderFor, killed } from '../extensions/postgres/embedded/scene.ts';
import { longTest } from '../support/long.ts';
import { PATIENCE_MS } from '../support/patience.ts';

/** A fifth of the interval in production, so that the waits below take seconds. */
const HEARTBEAT_MS = 400;

async function lockFile(scope: Parameters<typeof folderFor>[0], holder: object | string): Promise<string> {
  const path = join(await folderFor(scope), 'daemon.lock');
  await writeFile(path, typeof holder === 'string' ? holder : JSON.stringify(holder));
  return path;
}

function acquire(path: string, more: Partial<LockOptions> = {}): Promise<ProcessLock> {
  const held = (holder: string): Error => new Error(`held by (${holder})`);
  const unwritable = () => new Error('not writable');
  return ProcessLock.acquire({ path, host: process, held, unwritable, heartbeatMs: HEARTBEAT_MS, ...more });
}

async function isTaken(path: string): Promise<boolean> {
  const lock = await acquire(path);
  const { pid } = JSON.parse(await readFile(path, 'utf8'));
  await lock.release();
  return pid === process.pid;
}

t.test('the lock of a process that is gone is taken over', async (t) => {
  const child = spawn(process.execPath, ['-e', '']);
  await once(child, 'exit');
  t.ok(await isTaken(await lockFile(t, { pid: child.pid, machine: hostname() })));
});

t.test('the lock of a live process is kept, unless its pid now belongs to another process', async (t) => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  t.teardown(() => killed(child.pid));
  await once(child, 'spawn');
  const { pid = 0 } = child;
  const holder = { pid, machine: hostname(), place: await placeOfPids(), birth: await birthOf(process, pid) };
  await t.rejects(acquire(await lockFile(t, holder)), { message: new RegExp(`pid ${pid}\\)`) });
  process.kill(pid, 'SIGSTOP');
  await t.rejects(acquire(await lockFile(t, holder)), { message: new RegExp(`pid ${pid}\\)`) }, 'also a stopped one');
  const reused = await lockFile(t, { ...holder, birth: `${holder.birth?.split('/')[0]}/1` });
  if (process.platform === 'linux') t.ok(await isTaken(reused));
});

t.test('an invisible process keeps its lock while it touches the file', async (t) => {
  const { pid } = process;
  const place = await placeOfPids();
  const unseen: Readonly<Record<string, object>> = {
    'the pid of this process, in another pid namespace': { pid, machine: hostname(), place: `${place}x`, birth: 'b/1' },
    'a free pid, in another pid namespace': { pid: 2 ** 22 + 1, machine: hostname(), place: `${place}x`, birth: 'b/1' },
    'another boot, or another machine of the same name': {
      pid,
      machine: hostname(),
      place: 'boot/pid/time',
      birth: 'b/1',
    },
    'a process that could not tell where it is': { pid: 2 ** 22 + 1, machine: hostname(), place: null },
    'the holder of an earlier release, with the boot in it': { pid, machine: hostname(), birth: 'boot/1' },
    'another machine': { pid, machine: 'elsewhere.invalid', place: 'boot/pid/time' },
  };
  await Promise.all(
    Object.entries(unseen).map(async ([what, holder]) => {
      const [alive, dead] = [await lockFile(t, holder), await lockFile(t, holder)];
      // The clock of the holder runs backwards.
      let time = Date.now();
      const touching = setInterval(() => utimes(alive, 1, (time -= 60_000) / 1000), HEARTBEAT_MS / 10);
      const [refused, taken] = await Promise.allSettled([acquire(alive), isTaken(dead)]);
      clearInterval(touching);
      t.match(refused, { status: 'rejected', reason: { message: /^held by/ } }, what);
      t.strictSame(taken, { status: 'fulfilled', value: true }, what);
    }),
  );
});

longTest('a lock that was taken and given back is created again; a lock that stays taken is reported', async (t) => {
  const path = join(await folderFor(t), 'daemon.lock');
  let lost = '';
  const lock = await acquire(path, { lost: (holder) => (lost = holder) });
  t.teardown(() => lock.release());
  const own = await readFile(path, 'utf8');
  await writeFile(path, JSON.stringify({ pid: 5, machine: 'elsewhere.invalid' }));
  await t.rejects(lock.assertHeld(), { message: /pid 5 on elsewhere\.invalid/ });
  await rm(path);
  await lock.assertHeld();
  const back = async () => (await readFile(path, 'utf8').catch(() => '')) === own || undefined;
  t.ok(await waitFor(back, { timeoutMs: PATIENCE_MS }));
  t.equal(lost, '');
  await writeFile(path, JSON.stringify({ pid: 5, machine: 'elsewhere.invalid' }));
  t.ok(await waitFor(async () => lost || undefined, { timeoutMs: PATIENCE_MS }));
  t.equal(lost, 'pid 5 on elsewhere.invalid');
  await lock.release();
  t.match(await readFile(path, 'utf8'), /elsewhere/, 'the other one keeps it');
});

t.test('a lock file that was written only in part is taken over', async (t) => {
  t.ok(await isTaken(await lockFile(t, '{"pid": 1')));
});

t.test('of many concurrent processes exactly one gets the lock', async (t) => {
  for (let round = 0; round < 20; round++) {
    const path = await lockFile(t, { pid: 2 ** 22 + 1, machine: hostname() });
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => acquire(path)));
    const locks = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    t.equal(locks.length, 1);
    await Promise.all(locks.map((lock) => lock.release()));
  }
});

t.test('an interrupted removal of a dead lock does not block the next one', async (t) => {
  const path = await lockFile(t, { pid: 2 ** 22 + 1, machine: hostname() });
  await writeFile(`${path}.removal`, '');
  // The clock may have been set back since then.
  const later = Date.now() / 1000 + 1e6;
  await utimes(`${path}.removal`, later, later);
  t.ok(await isTaken(path));
});
