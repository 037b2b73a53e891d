/** A process with the client that ends: by SIGTERM, by itself, in its own way, and during an outage. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { isLong, longTest } from '../support/long.ts';
import { KEY } from '../support/daemon.ts';
import { openFolder, watchExecutable } from '../support/executable.ts';
import { startRemote } from '../support/fake-remote.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { startPostgresDaemon } from '../support/postgres-daemon.ts';
import { waitFor } from '../../src/extensions/postgres/embedded/wait.ts';

t.setTimeout(300_000);

const PROGRAM = fileURLToPath(new URL('program.js', import.meta.url));
/** The part of the spans that must arrive. */
const ARRIVING = 0.999;

function start(t: Test, mode: string, endpoint: string, spans = 1) {
  const countFile = join(openFolder(t), 'count');
  const child = spawn(process.execPath, [PROGRAM], {
    env: {
      ...process.env,
      MODE: mode,
      SPANS: String(spans),
      COUNT_FILE: countFile,
      SLUICE_KEY: KEY,
      SLUICE_ENDPOINT: endpoint,
      OTEL_SERVICE_NAME: mode,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.teardown(() => void child.kill('SIGKILL'));
  const running = watchExecutable(child);
  return { ...running, ended: running.ended, endedSpans: () => readFileSync(countFile).length };
}

async function namesOf(daemon: Awaited<ReturnType<typeof startPostgresDaemon>>): Promise<readonly string[]> {
  return (await daemon.query("SELECT name FROM spans WHERE name LIKE 'span %'")).map(({ name }) => String(name));
}

for (const moment of isLong ? [100, 1500, 4000] : [100]) {
  t.test(`a busy process that SIGTERM ends after ${moment} spans delivers them, and none twice`, async (t) => {
    const daemon = await startPostgresDaemon(t, { exporters: 'postgres, file' });
    const program = start(t, 'busy', daemon.url, moment);
    await program.until('enough');
    program.child.kill('SIGTERM');
    t.equal(await program.ended, null);
    t.equal(program.child.signalCode, 'SIGTERM', 'the signal ends it, as without the client');
    t.equal(program.output.err, '');
    const sent = program.endedSpans();
    t.ok(sent >= moment);
    const stored = await namesOf(daemon);
    t.equal(new Set(stored).size, stored.length, 'none twice');
    t.ok(stored.length >= sent * ARRIVING, `${stored.length} of ${sent}`);
    const rows = (await daemon.rows()).filter(({ signal }) => signal === 'span');
    t.equal(rows.length, stored.length, 'nor in the file');
  });
}

t.test('a process that ends by itself delivers all spans', async (t) => {
  const daemon = await startPostgresDaemon(t);
  const program = start(t, 'short', daemon.url, 500);
  t.equal(await program.ended, 0);
  t.equal((await namesOf(daemon)).length, 500);
});

t.test('a process with its own listener for SIGTERM ends in its own time, and delivers all spans', async (t) => {
  const daemon = await startPostgresDaemon(t);
  const program = start(t, 'graceful', daemon.url, 1);
  await program.until('enough');
  program.child.kill('SIGTERM');
  t.equal(await program.ended, 0);
  t.strictSame([...(await namesOf(daemon))].sort(), ['span 0', 'span 1']);
});

longTest('a process with signal-exit ends at SIGTERM, after its clean-up, and delivers all spans', async (t) => {
  const daemon = await startPostgresDaemon(t);
  const program = start(t, 'cleaning', daemon.url, 1);
  await program.until('enough');
  program.child.kill('SIGTERM');
  await program.ended;
  t.equal(program.child.signalCode, 'SIGTERM');
  t.match(program.output.out, /cleaned/u);
  t.equal((await namesOf(daemon)).length, 1);
});

t.test('during an outage a second signal ends the process at once', async (t) => {
  const remote = await startRemote(t);
  remote.answer = () => undefined;
  const program = start(t, 'waiting', remote.url);
  await program.until('enough');
  program.child.kill('SIGTERM');
  const asked = async () => (remote.requests.length > 0 ? true : undefined);
  t.ok(await waitFor(asked, { timeoutMs: PATIENCE_MS }), 'it tries to send');
  t.equal(program.child.exitCode, null);
  program.child.kill('SIGTERM');
  await program.ended;
  t.equal(program.child.signalCode, 'SIGTERM');
});

t.test('a server that is unavailable does not keep an ended process', async (t) => {
  const remote = await startRemote(t);
  await remote.close();
  const program = start(t, 'short', remote.url, 10);
  t.equal(await program.ended, 0);
  t.match(program.output.err, /spans are dropped: .*ECONNREFUSED/u);
  t.equal(program.output.err.split('\n').filter((line) => line.includes('spans are dropped')).length, 1);
});
