/** Runs the tests that can use any S3 server over versitygw, which stores objects as files. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { waitFor } from '../../../src/extensions/postgres/embedded/wait.ts';
import { freePort, openFolder } from '../../support/executable.ts';

const TESTS = ['../../object-store/object-store.test.js', '../../end-to-end/objects-console.test.js'];
const BUCKET = 'sluice-test';
const [KEY_ID, SECRET] = ['campaign', 'campaign-secret'];
const START_MS = 30_000;

const executable = process.env['SLUICE_S3_SERVER'] ?? '';
if (executable === '') t.bailout('SLUICE_S3_SERVER is not set to the path of versitygw');
t.setTimeout(600_000);

const folder = openFolder(t);
mkdirSync(join(folder, BUCKET));
const url = `http://127.0.0.1:${await freePort()}`;
const server = spawn(executable, ['--port', new URL(url).host, 'posix', folder], {
  env: { ...process.env, ROOT_ACCESS_KEY: KEY_ID, ROOT_SECRET_KEY: SECRET },
  stdio: 'ignore',
});
const ended = once(server, 'exit');
t.teardown(async () => {
  server.kill('SIGKILL');
  await ended;
});
const listens = await waitFor(async () => fetch(url).catch(() => undefined), { timeoutMs: START_MS });
t.ok(listens, 'the server listens');

for (const path of TESTS)
  await t.test(path, async (t) => {
    const test = spawn(process.execPath, [new URL(path, import.meta.url).pathname], {
      env: {
        ...process.env,
        SLUICE_TEST_S3_URL: `s3://${BUCKET}/tests`,
        AWS_ENDPOINT_URL: url,
        AWS_REGION: 'us-east-1',
        AWS_ACCESS_KEY_ID: KEY_ID,
        AWS_SECRET_ACCESS_KEY: SECRET,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    test.stdout.on('data', (chunk) => (output += chunk));
    const [code] = await once(test, 'exit');
    if (code !== 0) process.stderr.write(output);
    t.equal(code, 0, 'it passes');
    t.notMatch(output, /# SKIP/u, 'nothing is skipped');
  });
