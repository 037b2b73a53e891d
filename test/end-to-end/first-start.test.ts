/** The first start and later starts with the shipped configuration: the real executable and its embedded PostgreSQL. */
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { longTest } from '../support/long.ts';
import { sluice } from '../support/command-line.ts';
import { waitFor } from '../../src/extensions/postgres/embedded/wait.ts';
import { BIN, type Executable, freePort, openFolder, startExecutable, watchExecutable } from '../support/executable.ts';
import { GrpcClient, protobufWriter } from '../support/grpc-client.ts';
import { send } from '../support/otlp-client.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { aSpan, aTraceRequest } from '../support/payloads.ts';

t.setTimeout(300_000);

const KEY = /\bslc_[0-9A-Za-z]{8}_[0-9A-Za-z_-]{49}/u;
const LINK = /\bhttp:\/\/127\.0\.0\.1:\d+\/login#[0-9A-Za-z_-]{43}\b/u;
const folder = openFolder(t);
const port = await freePort();
const url = `http://127.0.0.1:${port}`;
const SETTINGS = [
  ['extensions.postgres.data_dir', './data'],
  ['extensions.health_check.endpoint', '127.0.0.1:0'],
  ['extensions.console.endpoint', '127.0.0.1:0'],
  ['receivers.otlp.protocols.http.endpoint', `127.0.0.1:${port}`],
  ['receivers.otlp.protocols.grpc.endpoint', '127.0.0.1:0'],
  ['service.telemetry.metrics.endpoint', '127.0.0.1:0'],
].flatMap(([path, value]) => ['--set', `${path}=${value}`]);

let running: Executable | null = null;
t.teardown(async () => {
  running?.child.kill('SIGTERM');
  await running?.ended;
});

async function start(): Promise<Executable> {
  running = startExecutable(['run', ...SETTINGS], folder);
  await running.until('Sluice is ready');
  await running.until('psql -h ');
  return running;
}

async function sendSpan(key: string, name: string): Promise<number> {
  const body = JSON.stringify(aTraceRequest([aSpan({ name, start: BigInt(Date.now()) * 1_000_000n })]));
  return (await send(url, { authorization: `Bearer ${key}`, body })).status;
}

async function namesOfTraces(): Promise<readonly string[]> {
  const { code, out, err } = await sluice(['traces', '--json', ...SETTINGS], { folder });
  if (code !== 0) throw new Error(err);
  return (JSON.parse(out) as { root_name: string }[]).map(({ root_name }) => root_name).sort();
}

/** The command lines of processes that name the folder or work in it. */
async function processesIn(path: string): Promise<readonly string[]> {
  if (process.platform !== 'linux') return [];
  const lines: string[] = [];
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/u.test(name))) {
    const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    const workingDirectory = await readlink(`/proc/${pid}/cwd`).catch(() => '');
    if (`${line} ${workingDirectory}`.includes(path)) lines.push(line.replaceAll('\0', ' '));
  }
  return lines;
}

/** As the page does: it sends the fragment of the link. */
async function logIn(
  link: string,
): Promise<{ readonly status: number; readonly person: unknown; readonly cookie: string; readonly origin: string }> {
  const { origin, hash } = new URL(link);
  const answer = await fetch(`${origin}/api/v1/session`, {
    method: 'POST',
    headers: { origin, 'content-type': 'application/json' },
    body: JSON.stringify({ link: hash.slice(1) }),
  });
  const cookie = answer.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  return { status: answer.status, person: await answer.json(), cookie, origin };
}

let key = '';

t.test('the first start prints a key once, and environment variables with which an SDK works', async (t) => {
  const { output, child, ended } = await start();
  key = KEY.exec(output.out)?.[0] ?? '';
  t.match(key, KEY);
  t.match(output.out, `OTEL_EXPORTER_OTLP_ENDPOINT=${url}\n`);
  t.match(output.out, 'OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf\n', 'also for SDKs whose default is gRPC');
  t.match(output.out, `OTEL_EXPORTER_OTLP_HEADERS="Authorization=Bearer%20${key}"\n`);
  t.notMatch(output.out, '\u001b', 'no colours where no terminal is');
  t.notMatch(output.err, key, 'the key is in no log line');
  t.equal(await sendSpan(key.replace('slc_', 'slc-'), 'stranger'), 401);
  const link = LINK.exec(output.out)?.[0] ?? '';
  t.match(link, LINK);
  t.notMatch(output.err, link.split('#')[1], 'the link is in no log line');
  t.match(await logIn(link), { status: 201, person: { name: 'admin', role: 'admin' } });
  t.match(await logIn(link), { status: 401 }, 'a link works once');
  const printed = (await sluice(['console', ...SETTINGS], { folder })).out.trim();
  t.equal(printed.split('#')[0], link.split('#')[0]);
  const again = await logIn(printed);
  t.match(again, { status: 201, person: { name: 'admin' } }, 'a new link for the same person');
  const people = await sluice(['person', 'list', '--json', ...SETTINGS], { folder });
  t.match(JSON.parse(people.out), [{ name: 'admin', role: 'admin', sessions: { length: 2 } }]);
  t.match((await sluice(['person', 'remove', 'eve', ...SETTINGS], { folder })).err, 'there is no person "eve"');
  const status = await fetch(`${again.origin}/api/v1/status`, { headers: { cookie: again.cookie } });
  t.match(await status.json(), {
    ready: true,
    workers: 0,
    daemon: { console: again.origin },
    refusals: [{ code: 'invalid_api_key', signal: 'traces', project: null, address: /^127\.0\.0\.1:\d+$/u }],
  });
  t.equal(await sendSpan(key, 'first'), 200);
  const grpc = /OTLP\/gRPC is at http:\/\/(\S+)\.\n/u.exec(output.out)?.[1] ?? '';
  const client = new GrpcClient(grpc);
  const span = aTraceRequest([aSpan({ name: 'over gRPC', start: BigInt(Date.now()) * 1_000_000n })]);
  const called = await client.call({ authorization: `Bearer ${key}`, body: protobufWriter()('traces', span) });
  client.close();
  t.equal(called.code, 0, 'gRPC is served by default');
  child.kill('SIGTERM');
  t.equal(await ended, 0);
});

t.test(
  'Ctrl-C while the database is made stops at once, and leaves nothing of it',
  { skip: process.platform === 'win32' },
  async (t) => {
    const other = openFolder(t);
    const settings = SETTINGS.map((word) => word.replace(/=127\.0\.0\.1:\d+$/u, '=127.0.0.1:0'));
    const env = { ...process.env, DATABASE_URL: '' };
    // A process group of its own: a terminal sends the signal to the whole group.
    const child = spawn(process.execPath, [BIN, ...settings], {
      cwd: other,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const { ended, output } = watchExecutable(child);
    const made = async () => {
      const names = await readdir(join(other, 'data', 'postgres'), { recursive: true }).catch(() => []);
      return names.some((name) => /^cluster\.incomplete-\w+\/base\/1\/PG_VERSION$/u.test(name)) ? true : undefined;
    };
    await waitFor(made, { timeoutMs: PATIENCE_MS });
    process.kill(-(child.pid ?? 0), 'SIGINT');
    t.equal(await ended, 0);
    t.notMatch(output.err, /error/u);
    t.match(output.err, '"stopped"');
    t.notMatch(output.err, 'the embedded PostgreSQL runs', 'the rest is not waited for');
    t.same((await readdir(join(other, 'data', 'postgres'))).sort(), ['password'], 'the next start is a first one');
    t.same(await processesIn(other), []);
  },
);

t.test('the next start shows no key, and the data and the key still exist', async (t) => {
  const { output } = await start();
  t.notMatch(output.out, 'slc_');
  t.notMatch(output.out, LINK);
  t.match(output.out, /console at http:\/\/127\.0\.0\.1:\d+, log in with/u);
  t.match(output.out, `OTLP/HTTP at ${url}\n`);
  t.match(output.out, /^ {19}OTLP\/gRPC at http:\/\/127\.0\.0\.1:[1-9]\d*\n/mu);
  t.match(output.out, / {4}create another API key\n {6}\S.* key create --set /u);
  t.equal(await sendSpan(key, 'second'), 200);
  t.strictSame(await namesOfTraces(), ['first', 'over gRPC', 'second']);
});

longTest('the demonstration needs no key on the same machine, and prints the command that shows it', async (t) => {
  const { code, out, err } = await sluice(['demo', ...SETTINGS], { folder });
  t.equal(code, 0, err);
  const [, id = ''] = / trace ([0-9a-f]{32}) --set /u.exec(out) ?? [];
  const shown = await sluice(['trace', id, ...SETTINGS], { folder });
  t.equal(shown.code, 0, shown.err);
  t.match(
    shown.out,
    /2 model calls · .* tokens in .* · \$0\.\d+ · 1 error\n$/u,
    'priced by the configuration that ships',
  );
  t.notMatch(shown.out, 'without a price');
});

longTest('after kill -9 it starts again with all acknowledged data', async (t) => {
  t.equal(await sendSpan(key, 'just before the crash'), 200);
  running?.child.kill('SIGKILL');
  await running?.ended;
  const { child, output, ended } = await start();
  t.notMatch(output.out, 'slc_');
  t.equal(await sendSpan(key, 'after it'), 200);
  t.strictSame(await namesOfTraces(), [
    'after it',
    'first',
    'invoke_agent travel-assistant',
    'just before the crash',
    'over gRPC',
    'second',
  ]);
  t.match(await sluice(['key', 'revoke', key, ...SETTINGS], { folder }), { code: 0 });
  child.kill('SIGTERM');
  t.equal(await ended, 0);
});

longTest('after the last key was revoked, the start prints how to create another', async (t) => {
  const { child, output, ended } = await start();
  t.match(output.out, /There is no active key yet: .* key create --set /u);
  child.kill('SIGTERM');
  t.equal(await ended, 0);
});

longTest('with keys in the configuration no project and no key is created', async (t) => {
  const keys = 'processors: { auth: { keys: [{ key: a-static-key-of-32-characters-00, project: shop }] } }';
  writeFileSync(join(folder, 'keys.yaml'), keys);
  const shipped = new URL('../../../config/sluice.yaml', import.meta.url).pathname;
  const args = [
    '--config',
    shipped,
    '--config',
    'keys.yaml',
    ...SETTINGS,
    '--set',
    'extensions.postgres.data_dir=./new',
  ];
  running = startExecutable(['run', ...args], folder);
  await running.until('psql -h ');
  t.notMatch(running.output.out, 'slc_');
  t.equal(await sendSpan('a-static-key-of-32-characters-00', 'static'), 200);
  running.child.kill('SIGTERM');
  t.equal(await running.ended, 0);
});

longTest('a server that is lost while its database is opened is no fault of Sluice', async (t) => {
  const other = openFolder(t);
  const begin = (): Executable => startExecutable(['run', ...SETTINGS], other);
  const lost = begin();
  await lost.until('the embedded PostgreSQL runs');
  const [pid] = readFileSync(join(other, 'data/postgres/cluster/postmaster.pid'), 'utf8').split('\n');
  process.kill(Number(pid), 'SIGKILL');
  t.equal(await lost.ended, 1);
  t.match(
    lost.output.err,
    /error: the embedded PostgreSQL was lost while its database was opened: .*\n {2}hint: Start/u,
  );
  const next = begin();
  await next.until('"msg":"everything is ready"');
  next.child.kill('SIGTERM');
  t.equal(await next.ended, 0);
});
