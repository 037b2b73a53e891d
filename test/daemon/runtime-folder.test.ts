/** Where a daemon makes the socket by which commands find it. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { runtimeSocket } from '../../src/daemon/runtime-folder.ts';

const host = (env: NodeJS.ProcessEnv) => ({
  env,
  platform: 'linux' as const,
  pid: 12,
  getuid: () => process.getuid?.() ?? 0,
});
/** A short path: that of a socket has a limit. */
function makeFolder(t: { teardown(task: () => void): unknown }): string {
  const folder = mkdtempSync(join(tmpdir(), 'runtime-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  return folder;
}

const temporary = join(tmpdir(), `sluice-${process.getuid?.() ?? 0}`, '12.sock');

t.test('the folder of the session is used where it can be', async (t) => {
  const session = makeFolder(t);
  t.equal(runtimeSocket(host({ XDG_RUNTIME_DIR: session })), join(session, 'sluice', '12.sock'));
  t.equal(runtimeSocket(host({})), temporary);
});

t.test('where that is not possible, another folder is used', async (t) => {
  const folder = makeFolder(t);
  writeFileSync(join(folder, 'file'), '');
  mkdirSync(join(folder, 'open', 'sluice'), { recursive: true });
  chmodSync(join(folder, 'open', 'sluice'), 0o777);
  for (const name of ['file', 'open', 'x'.repeat(100)])
    t.equal(runtimeSocket(host({ XDG_RUNTIME_DIR: join(folder, name) })), temporary, name);
});
