/** Whether a process is alive, also when it ends during the question. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import t from 'tap';
import { isAlive } from '../../src/component/process-life.ts';

async function endedProcess(): Promise<number> {
  const child = spawn(process.execPath, ['--eval', '']);
  await once(child, 'exit');
  return child.pid ?? 0;
}

t.test('this process is alive, an ended one is not', async (t) => {
  t.ok(await isAlive(process, process.pid));
  t.notOk(await isAlive(process, await endedProcess()));
});

t.test('a process that ends between the signal and the reading of its state is not alive', async (t) => {
  const ended = await endedProcess();
  let signals = 0;
  const kill = (pid: number, signal?: string | number): true => {
    signals++;
    return signals === 1 ? true : process.kill(pid, signal);
  };
  t.notOk(await isAlive({ pid: process.pid, kill }, ended));
  t.equal(signals, 2);
});
