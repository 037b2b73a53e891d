/**
 * The claim of a daemon: who keeps it, and when it is taken over.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { ProcessLock } from '../../src/component/process-lock.ts';
import { folderFor, killed } from '../extensions/postgres/embedded/scene.ts';

async function claimFile(scope: Parameters<typeof folderFor>[0], claim: object | string): Promise<string> {
  const path = join(await folderFor(scope), 'daemon.lock');
  await writeFile(path, typeof claim === 'string' ? claim : JSON.stringify(claim));
  return path;
}

function acquire(path: string): Promise<ProcessLock> {
  const held = (holder: string): Error => new Error(`held by (${holder})`);
  return ProcessLock.acquire({ path, host: process, held, unwritable: () => new Error('not writable') });
}

async function isTaken(path: string): Promise<boolean> {
  const lock = await acquire(path);
  const { pid } = JSON.parse(await readFile(path, 'utf8'));
  await lock.release();
  return pid === process.pid;
}

t.test('the claim of a process that is gone is taken over', async (t) => {
  const child = spawn(process.execPath, ['-e', '']);
  await once(child, 'exit');
  t.ok(await isTaken(await claimFile(t, { pid: child.pid, machine: hostname() })));
});

t.test('the claim of a live process is kept, unless its number was given to another process since', async (t) => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  t.teardown(() => killed(child.pid));
  await once(child, 'spawn');
  const claim = { pid: child.pid, machine: hostname() };
  await t.rejects(acquire(await claimFile(t, claim)), {
    message: new RegExp(`pid ${child.pid}\\)`),
  });
  const reused = await claimFile(t, { ...claim, birth: 'an earlier boot/1' });
  if (process.platform === 'linux') t.ok(await isTaken(reused));
});

t.test('a claim that was cut off while it was written is taken over', async (t) => {
  t.ok(await isTaken(await claimFile(t, '{"pid": 1')));
});

t.test('of many who come at once exactly one gets the claim', async (t) => {
  for (let round = 0; round < 20; round++) {
    const path = await claimFile(t, { pid: 2 ** 22 + 1, machine: hostname() });
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, () => acquire(path)));
    const locks = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
    t.equal(locks.length, 1);
    await Promise.all(locks.map((lock) => lock.release()));
  }
});

t.test('a removal of a dead claim that was itself cut off does not block the next one', async (t) => {
  const path = await claimFile(t, { pid: 2 ** 22 + 1, machine: hostname() });
  await writeFile(`${path}.removal`, '');
  await utimes(`${path}.removal`, 1, 1);
  t.ok(await isTaken(path));
});

t.test('a claim from another machine holds as long as its file is touched', async (t) => {
  const claim = { pid: 1, machine: 'elsewhere.invalid' };
  const [alive, dead] = [await claimFile(t, claim), await claimFile(t, claim)];
  const touching = setInterval(() => utimes(alive, new Date(), new Date()), 200);
  t.teardown(async () => clearInterval(touching));
  const [refused, taken] = await Promise.allSettled([acquire(alive), isTaken(dead)]);
  t.match(refused, { status: 'rejected', reason: { message: /pid 1 on elsewhere\.invalid/ } });
  t.strictSame(taken, { status: 'fulfilled', value: true });
});
