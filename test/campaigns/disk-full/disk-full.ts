/**
 * The daemon under a limit of the system on the size of files (EFBIG), as if the disk were full. The tests of `npm
 * test` inject the same errors at the calls to the file system.
 */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { platform } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { FILE_CONFIG, parseLines } from '../../support/daemon.ts';
import {
  BIN,
  type Executable,
  freePort,
  openFolder,
  startExecutable,
  watchExecutable,
} from '../../support/executable.ts';
import { send } from '../../support/otlp-client.ts';
import { aSpan, aTraceRequest } from '../../support/payloads.ts';

t.setTimeout(300_000);

/** `ulimit -f` counts in KiB. */
const LIMIT_KIB = 64;
const MAX_REQUESTS = 100;
const SPANS = 20;

const folder = openFolder(t);
const port = await freePort();
const url = `http://127.0.0.1:${port}`;
const text = FILE_CONFIG.replace('127.0.0.1:0', `127.0.0.1:${port}`).replaceAll('{folder}', folder);
writeFileSync(join(folder, 'sluice.yaml'), text);
const ARGS = ['run', '--config', 'sluice.yaml'];

function startLimited(): Executable {
  const command = `ulimit -f ${LIMIT_KIB} && exec "$0" "$@"`;
  return watchExecutable(
    spawn('bash', ['-c', command, process.execPath, BIN, ...ARGS], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] }),
  );
}

const bodyOf = (request: number): string =>
  JSON.stringify(aTraceRequest(Array.from({ length: SPANS }, (_, span) => aSpan({ name: `${request}.${span}` }))));

async function storedNames(): Promise<readonly string[]> {
  const content = await readFile(join(folder, 'out.ndjson'), 'utf8');
  if (!content.endsWith('\n')) throw new Error('the file ends within a line');
  return parseLines(content).map(({ name }) => String(name));
}

const skip = platform() === 'win32' ? 'there is no ulimit' : false;

t.test('at the limit requests are refused as a whole, and accepted again without the limit', { skip }, async (t) => {
  const limited = startLimited();
  await limited.until('listening for OTLP/HTTP');
  const acknowledged: number[] = [];
  let refused: string | null = null;
  for (let request = 0; refused === null && request < MAX_REQUESTS; request++) {
    const body = bodyOf(request);
    const answer = await send(url, { body });
    if (answer.status === 200) {
      acknowledged.push(request);
      continue;
    }
    t.equal(answer.status, 503);
    t.equal(answer.headers['retry-after'], '1');
    refused = body;
  }
  t.ok(acknowledged.length > 0, 'some were accepted');
  if (refused === null) throw new Error('the limit was not reached');
  t.equal((await send(url, { body: refused })).status, 503, 'and again');
  const expected = acknowledged.flatMap((request) => Array.from({ length: SPANS }, (_, span) => `${request}.${span}`));
  t.strictSame(await storedNames(), expected, 'the file holds what was acknowledged, and nothing else');
  limited.child.kill('SIGKILL');
  await limited.ended;

  const free = startExecutable(ARGS, folder);
  await free.until('listening for OTLP/HTTP');
  t.equal((await send(url, { body: refused })).status, 200);
  t.equal((await storedNames()).length, expected.length + SPANS);
  free.child.kill('SIGTERM');
  t.equal(await free.ended, 0);
});
