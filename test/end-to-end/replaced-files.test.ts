/** The files of the package are replaced or removed while the daemon runs, as an upgrade does. */
import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { spawn } from 'node:child_process';
import t from 'tap';
import { FILE_CONFIG } from '../support/daemon.ts';
import { freePort, openFolder, watchExecutable } from '../support/executable.ts';
import { send } from '../support/otlp-client.ts';
import { aSpan, aTraceRequest } from '../support/payloads.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** One body of each size class. */
const CONTENT_BYTES = [100, 200_000, 3_000_000];

t.test('bodies of every size are stored after the files of the package are gone', async (t) => {
  const folder = openFolder(t);
  const copy = join(folder, 'package');
  mkdirSync(join(copy, 'dist'), { recursive: true });
  for (const part of ['bin', 'config', 'package.json', 'dist/src'])
    cpSync(join(ROOT, part), join(copy, part), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  const port = await freePort();
  const config = FILE_CONFIG.replace('127.0.0.1:0', `127.0.0.1:${port}`).replaceAll('{folder}', folder);
  writeFileSync(join(folder, 'sluice.yaml'), config);
  const daemon = watchExecutable(
    spawn(process.execPath, [join(copy, 'bin/sluice.js'), 'run'], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] }),
  );
  t.teardown(() => void daemon.child.kill('SIGKILL'));
  await daemon.until('everything is ready');
  rmSync(copy, { recursive: true });
  for (const bytes of CONTENT_BYTES) {
    const body = JSON.stringify(aTraceRequest([aSpan({ attributes: { text: 'x'.repeat(bytes) } })]));
    const { status } = await send(`http://127.0.0.1:${port}`, { body });
    t.equal(status, 200, `${bytes} bytes`);
  }
  daemon.child.kill('SIGTERM');
  t.equal(await daemon.ended, 0);
});
