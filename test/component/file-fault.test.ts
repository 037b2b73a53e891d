import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { fileFault } from '../../src/component/file-fault.ts';

const faultOf = (work: Promise<unknown>): Promise<string> => work.then(() => 'no failure', fileFault);

t.test('failures of the system are in words', async (t) => {
  const folder = t.testdir({ file: '' });
  t.equal(await faultOf(readFile(join(folder, 'missing'))), 'there is no such file or folder');
  t.equal(await faultOf(readFile(folder)), 'it is a folder');
  t.equal(await faultOf(readFile(join(folder, 'file', 'below'))), 'a part of the path is not a folder');
  t.equal(await faultOf(writeFile(join(folder, 'n'.repeat(300)), '')), 'the name is too long');
});

t.test('a pipe that no program reads', async (t) => {
  const child = spawn('sh', ['-c', 'exec 0<&-; echo closed; exec sleep 60'], { stdio: ['pipe', 'pipe', 'ignore'] });
  t.teardown(() => child.kill());
  await once(child.stdout, 'data');
  const failed = once(child.stdin, 'error');
  child.stdin.write('text');
  const [error] = await failed;
  t.equal(fileFault(error), 'the program that reads it has ended');
});

t.test('another failure has its own words', async (t) => {
  t.equal(fileFault(new Error('it is late')), 'it is late');
  t.equal(fileFault('it is late'), 'it is late');
});
