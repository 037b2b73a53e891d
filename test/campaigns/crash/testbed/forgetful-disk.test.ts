/** The disk that forgets: what a killed process wrote and did not sync is lost, and nothing else. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';

const PRELOAD = new URL('./forgetful-disk.js', import.meta.url).href;

/** The content of the file after a process ran these statements on `handle` and was killed. */
function afterKill(t: Test, statements: string): string {
  const path = join(t.testdir(), 'file');
  const script = `
    import { open } from 'node:fs/promises';
    const PATH = ${JSON.stringify(path)};
    const handle = await open(PATH, 'a+');
    ${statements}
    process.kill(process.pid, 'SIGKILL');`;
  const { signal } = spawnSync(process.execPath, ['--import', PRELOAD, '--input-type=module', '-e', script]);
  t.equal(signal, 'SIGKILL');
  return readFileSync(path, 'utf8');
}

t.test('unsynced writes are lost', async (t) => {
  t.equal(afterKill(t, "await handle.writev([Buffer.from('one'), Buffer.from('two')]);"), '');
  t.equal(afterKill(t, "await handle.write('one'); await handle.appendFile('two');"), '');
});

t.test('synced writes are kept in their order', async (t) => {
  const written = "await handle.writev([Buffer.from('one')]); await handle.write('two');";
  t.equal(afterKill(t, `${written} await handle.datasync(); await handle.write('three');`), 'onetwo');
  t.equal(afterKill(t, `${written} await handle.sync();`), 'onetwo');
});

t.test('a sync keeps the writes of all handles of a file, in their order', async (t) => {
  const statements = `
    await handle.write('one');
    await handle.datasync();
    const other = await open(PATH, 'r+');
    await other.write(Buffer.from('xonetwox'), 1, 6, 0);
    await handle.write('three');
    if ((await handle.stat()).size !== 11) process.exit(1);`;
  t.equal(afterKill(t, statements), 'one');
  t.equal(afterKill(t, `${statements} await handle.datasync(); await handle.write('four');`), 'onetwothree');
});

t.test('a process sees its own writes, and may reuse its buffers', async (t) => {
  const statements = `
    const chunk = Buffer.from('one');
    await handle.writev([chunk]);
    chunk.fill('x');
    if ((await handle.stat()).size !== 3) process.exit(1);`;
  t.equal(afterKill(t, `${statements} await handle.datasync();`), 'one');
});

t.test('reading the size of a file by its handle or its path does not sync it', async (t) => {
  const statements = `
    import { lstatSync } from 'node:fs';
    await handle.write('one');
    if ((await handle.stat()).size !== 3) process.exit(1);
    if (lstatSync(PATH).size !== 3) process.exit(2);`;
  t.equal(afterKill(t, statements), '');
});
