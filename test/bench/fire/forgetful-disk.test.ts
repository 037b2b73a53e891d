/** The disk that forgets: what a killed process wrote and did not sync is gone, and nothing else is. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';

const PRELOAD = new URL('../../campaigns/crash/stage/forgetful-disk.js', import.meta.url).href;

/** What the file holds after a process has run these statements on `handle` and was killed. */
function afterKill(t: Test, statements: string): string {
  const path = join(t.testdir(), 'file');
  const script = `
    import { open } from 'node:fs/promises';
    const handle = await open(${JSON.stringify(path)}, 'a+');
    ${statements}
    process.kill(process.pid, 'SIGKILL');`;
  const { signal } = spawnSync(process.execPath, ['--import', PRELOAD, '--input-type=module', '-e', script]);
  t.equal(signal, 'SIGKILL');
  return readFileSync(path, 'utf8');
}

t.test('what was not synced is gone', async (t) => {
  t.equal(afterKill(t, "await handle.writev([Buffer.from('one'), Buffer.from('two')]);"), '');
  t.equal(afterKill(t, "await handle.write('one'); await handle.appendFile('two');"), '');
});

t.test('what was synced stays, in the order in which it was written', async (t) => {
  const written = "await handle.writev([Buffer.from('one')]); await handle.write('two');";
  t.equal(afterKill(t, `${written} await handle.datasync(); await handle.write('three');`), 'onetwo');
  t.equal(afterKill(t, `${written} await handle.sync();`), 'onetwo');
});

t.test('a process sees what it has written itself, and its buffers may be used again', async (t) => {
  const statements = `
    const chunk = Buffer.from('one');
    await handle.writev([chunk]);
    chunk.fill('x');
    if ((await handle.stat()).size !== 3) process.exit(1);`;
  t.equal(afterKill(t, statements), 'one');
});
