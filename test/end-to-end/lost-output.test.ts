/** A daemon whose log cannot be written serves on. A command whose result cannot be written says so. */
import { spawn } from 'node:child_process';
import { existsSync, openSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { KEY } from '../support/daemon.ts';
import { waitFor } from '../../src/extensions/postgres/embedded/wait.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { BIN, freePort, openFolder, startExecutable } from '../support/executable.ts';
import { send } from '../support/otlp-client.ts';
import { aSpan, aTraceRequest } from '../support/payloads.ts';
import '../support/long-file.ts';

const FULL = '/dev/full';

const configOf = (port: number, format: string): string => `
receivers: { otlp: { protocols: { http: { endpoint: "127.0.0.1:${port}" } } } }
processors: { auth: { keys: [ { key: ${KEY}, project: demo } ] }, environment: {} }
exporters: { file: { path: ./out.ndjson } }
service:
  ledger: memory
  telemetry: { metrics: { enabled: false }, logs: { format: ${format}, level: debug } }
  pipelines: { traces: { receivers: [otlp], processors: [auth, environment], exporters: [file] } }
`;

t.test('a daemon runs on while its log is on a full disk', { skip: !existsSync(FULL) && `no ${FULL}` }, async (t) => {
  for (const format of ['json', 'pretty']) {
    const folder = openFolder(t);
    const port = await freePort();
    await writeFile(join(folder, 'sluice.yaml'), configOf(port, format));
    const child = spawn(process.execPath, [BIN, 'run', '--config', 'sluice.yaml'], {
      cwd: folder,
      env: { ...process.env, SLUICE_KEY: '', DATABASE_URL: '' },
      stdio: ['ignore', 'ignore', openSync(FULL, 'w')],
    });
    t.teardown(async () => void child.kill('SIGKILL'));
    const ended = new Promise((resolve) => child.once('close', resolve));
    const ask = async (): Promise<number | undefined> => {
      const body = JSON.stringify(aTraceRequest([aSpan()]));
      const url = `http://127.0.0.1:${port}`;
      return (await send(url, { authorization: `Bearer ${KEY}`, body }).catch(() => undefined))?.status;
    };
    const answer = waitFor(ask, { timeoutMs: PATIENCE_MS });
    t.equal(await Promise.race([answer, ended.then((code) => `ended with ${code}`)]), 200, format);
    // Refusals write a line each.
    for (let index = 0; index < 50; index++) await send(`http://127.0.0.1:${port}`, { body: '{}' });
    t.equal(await ask(), 200, `${format}, after refusals`);
    child.kill('SIGTERM');
    t.equal(await ended, 0, `${format}, after SIGTERM`);
  }
});

t.test('a command says that its result cannot be written', { skip: !existsSync(FULL) && `no ${FULL}` }, async (t) => {
  const child = spawn(process.execPath, [BIN, 'components'], { stdio: ['ignore', openSync(FULL, 'w'), 'pipe'] });
  let said = '';
  child.stderr?.on('data', (chunk: Buffer) => (said += chunk));
  const code = await new Promise((resolve) => child.once('close', resolve));
  t.equal(code, 1);
  t.match(said, /^error: the output cannot be written: the disk is full\n {2}hint: Free some disk space/u);
});

t.test('a command whose output is closed early ends without an error', async (t) => {
  const { child, ended, output } = startExecutable(['components'], openFolder(t));
  child.stdout?.destroy();
  t.equal(await ended, 0);
  t.equal(output.err, '');
});
