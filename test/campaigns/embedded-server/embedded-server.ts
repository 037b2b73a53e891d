/**
 * Kills the daemon, its server or all of their processes at moments spread over a first start, and again during the
 * next start. The start after that must work and hold everything that was answered 200. It takes minutes, so it is not
 * part of `npm test`.
 *
 *   node dist/test/campaigns/embedded-server/embedded-server.js [rounds]
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { isAlive } from '../../../src/component/process-life.ts';
import { findRunning } from '../../../src/extensions/postgres/embedded/find-running.ts';
import { waitFor } from '../../../src/extensions/postgres/embedded/wait.ts';
import { PATIENCE_MS } from '../../support/patience.ts';
import { signalIfAlive } from '../../support/signals.ts';

type Target = 'daemon' | 'server' | 'all';

const TARGETS: readonly Target[] = ['daemon', 'server', 'all'];
const SLUICE = fileURLToPath(new URL('../../../../bin/sluice.js', import.meta.url));
const KEY = 'starts-killed-static-key';
const QUIET = { info: () => undefined, warn: () => undefined };

interface Daemon {
  readonly child: ChildProcess;
  output: string;
}

async function configIn(folder: string, port: number): Promise<string> {
  const path = join(folder, 'sluice.yaml');
  const stages = '[auth, environment, privacy, normalization, pricing]';
  await writeFile(
    path,
    `extensions: { postgres: { data_dir: ${join(folder, 'data')} } }
receivers: { otlp: { protocols: { http: { endpoint: "127.0.0.1:${port}" } } } }
processors: { auth: { keys: [ { key: ${KEY}, project: alpha } ] }, environment: {}, privacy: {}, normalization: {}, pricing: {} }
exporters: { postgres: {} }
service:
  extensions: [postgres]
  pipelines: { traces: { receivers: [otlp], processors: ${stages}, exporters: [postgres] } }
  telemetry: { metrics: { enabled: false } }
`,
  );
  return path;
}

function run(config: string): Daemon {
  const child = spawn(process.execPath, [SLUICE, 'run', '--config', config], { stdio: ['ignore', 'pipe', 'pipe'] });
  const daemon: Daemon = { child, output: '' };
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text) => {
      daemon.output += text;
    });
  }
  return daemon;
}

/** Whether the answer is 200; false also without a server. */
async function send(port: number, traceId: string): Promise<boolean> {
  const span = { traceId, spanId: traceId.slice(0, 16), name: 'x', startTimeUnixNano: `${Date.now()}000000` };
  const body = JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] });
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
  return fetch(`http://127.0.0.1:${port}/v1/traces`, { method: 'POST', headers, body }).then(
    ({ status }) => status === 200,
    () => false,
  );
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** The processes of PostgreSQL in this folder: the server, its children, or initdb. */
async function processesIn(folder: string): Promise<number[]> {
  const found: number[] = [];
  for (const name of (await readdir('/proc')).filter((text) => /^\d+$/.test(text))) {
    const [words, place] = await Promise.all([
      readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => ''),
      readlink(`/proc/${name}/cwd`).catch(() => ''),
    ]);
    if (/initdb|postgres/.test(words.split('\0')[0] ?? '') && (place.startsWith(folder) || words.includes(folder)))
      found.push(Number(name));
  }
  return found;
}

const kill = (pid: number): void => signalIfAlive(pid, 'SIGKILL');

async function killTarget(target: Target, { child }: Daemon, folder: string): Promise<void> {
  const own = child.pid ?? 0;
  const servers = (await processesIn(folder)).filter((pid) => pid !== own);
  // The first is the server: its children have higher numbers.
  if (target === 'server') return void servers.slice(0, 1).forEach(kill);
  kill(own);
  if (target === 'all') servers.forEach(kill);
}

async function untilServed({ child, output }: Daemon, port: number, ids: string[]): Promise<void> {
  const served = async (): Promise<true | undefined> => {
    if (child.exitCode !== null) throw new Error(`the daemon ended with ${child.exitCode}: ${output}`);
    const id = randomBytes(16).toString('hex');
    if (!(await send(port, id))) return undefined;
    ids.push(id);
    return true;
  };
  if ((await waitFor(served, { timeoutMs: 4 * PATIENCE_MS })) === undefined) throw new Error(`not served: ${output}`);
}

/** Two starts that are killed, then one that must work. */
async function round(index: number, rounds: number, startMs: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-kills-'));
  await chmod(folder, index % 2 === 0 ? 0o755 : 0o700);
  const port = await freePort();
  const config = await configIn(folder, port);
  const ids: string[] = [];
  const target = TARGETS[index % TARGETS.length] ?? 'all';
  const moment = Math.round((startMs * 1.1 * index) / rounds);
  for (const delay of [moment, Math.round(startMs * Math.random() * 0.8)]) {
    const daemon = run(config);
    await pause(delay);
    const id = randomBytes(16).toString('hex');
    if (await send(port, id)) ids.push(id);
    await killTarget(target, daemon, folder);
    if (target === 'server') kill(daemon.child.pid ?? 0);
    await waitFor(async () => ((await isAlive(process, daemon.child.pid ?? 0)) ? undefined : true), {
      timeoutMs: PATIENCE_MS,
    });
  }
  const last = run(config);
  try {
    await untilServed(last, port, ids);
    const address = await findRunning({ dataDir: join(folder, 'data'), host: process, log: QUIET });
    if (address === undefined) throw new Error('the server does not answer');
    const client = new Client({ ...address });
    await client.connect();
    const { rows } = await client.query("SELECT encode(trace_id, 'hex') AS id FROM sluice.spans");
    await client.end();
    const stored = new Set(rows.map(({ id }) => id));
    const lost = ids.filter((id) => !stored.has(id));
    if (lost.length > 0) throw new Error(`${lost.length} of ${ids.length} acknowledged spans are lost`);
    process.stdout.write(
      `${index + 1}/${rounds} ${target} after ${moment} ms: served, ${ids.length} acknowledged, 0 lost\n`,
    );
  } catch (error) {
    throw new Error(`round ${index} (${target} after ${moment} ms) in ${folder}: ${error}\n${last.output}`, {
      cause: error,
    });
  } finally {
    const ended = new Promise((resolve) => last.child.once('exit', resolve));
    if (last.child.kill('SIGTERM')) await ended;
  }
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** The time of a first start without kills on this machine now. */
async function measureStart(): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-kills-'));
  await chmod(folder, 0o755);
  const port = await freePort();
  const began = performance.now();
  const daemon = run(await configIn(folder, port));
  await untilServed(daemon, port, []);
  const took = performance.now() - began;
  const ended = new Promise((resolve) => daemon.child.once('exit', resolve));
  daemon.child.kill('SIGTERM');
  await ended;
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  return took;
}

const rounds = Number(process.argv[2] ?? 30);
const startMs = await measureStart();
process.stdout.write(`an undisturbed first start takes ${Math.round(startMs)} ms\n`);
for (let index = 0; index < rounds; index++) await round(index, rounds, startMs);
