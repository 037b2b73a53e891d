/**
 * Resident memory under bodies that need much memory: four projects send each kind at once to a daemon with default
 * options, under a limit of 768 MiB where the machine allows one. Fails when a process is killed, when the daemon's
 * memory exceeds 512 MiB, or when it is above 1.5 times of idle a minute after the last request.
 *
 *   node dist/test/campaigns/memory/memory.js [--short] [--store embedded|file] [--rounds N] [--only TEXT]
 */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { parseArgs } from 'node:util';
import { freePort, startExecutable } from '../../support/executable.ts';
import { BODY_KINDS, type BodyKind } from './bodies.ts';
import { openMemoryGroup, residentMiB } from '../../support/limited-process.ts';

const MIB = 1_048_576;
const LIMIT_BYTES = 768 * MIB;
const MOST_MIB = 512;
const MOST_TIMES_IDLE = 1.5;
const PROJECTS = ['a', 'b', 'c', 'd'].map((name) => ({ name, key: `memory-campaign-key-of-project-${name}` }));
const SETTLE_MS = 5000;
const BACK_MS = 60_000;
const LOOK_MS = 500;
const REQUEST_MS = 60_000;

const { values } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    store: { type: 'string', default: 'embedded' },
    rounds: { type: 'string' },
    only: { type: 'string' },
  },
});
const rounds = Number(values.rounds ?? (values.short ? 1 : 3));
/** Concurrent requests of each project. */
const atOnce = values.short ? 3 : 10;

function configure(folder: string, port: number): string {
  const isFile = values.store === 'file';
  const exporter = isFile ? `file: { path: ${join(folder, 'out.ndjson')} }` : 'postgres: {}';
  const exporters = isFile ? 'file' : 'postgres';
  const processors = 'auth, environment, privacy, normalization, pricing';
  const pipeline = `{ receivers: [otlp], processors: [${processors}], exporters: [${exporters}] }`;
  const keys = PROJECTS.map(({ name, key }) => `{ key: ${key}, project: ${name} }`).join(', ');
  const path = join(folder, 'sluice.yaml');
  writeFileSync(
    path,
    `${isFile ? '' : `extensions: { postgres: { data_dir: ${folder} } }`}
receivers: { otlp: { protocols: { http: { endpoint: "127.0.0.1:${port}" } } } }
processors: { auth: { keys: [${keys}] }, environment: {}, privacy: {}, normalization: {}, pricing: {} }
exporters: { ${exporter} }
service:
  ledger: ${isFile ? 'memory' : 'postgres'}
  extensions: [${isFile ? '' : 'postgres'}]
  pipelines: { traces: ${pipeline}, logs: ${pipeline} }
  telemetry: { metrics: { enabled: false }, logs: { level: error } }
`,
  );
  return path;
}

function makeBody(kind: BodyKind): Buffer {
  const body = kind.make();
  return kind.plain === true ? body : gzipSync(body, { level: 1 });
}

const agent = new Agent({ keepAlive: false });

/** The status of one request; 0 when the connection broke. */
function post(port: number, kind: BodyKind, key: string, body = makeBody(kind)): Promise<number> {
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/x-protobuf',
    'content-length': body.length,
    ...(kind.plain === true ? {} : { 'content-encoding': 'gzip' }),
  };
  return new Promise((resolve) => {
    const outgoing = request(
      { port, path: `/v1/${kind.signal}`, method: 'POST', headers, agent, timeout: REQUEST_MS },
      (answer) => answer.resume().once('end', () => resolve(answer.statusCode ?? 0)),
    );
    outgoing.once('timeout', () => outgoing.destroy());
    outgoing.once('error', () => resolve(0));
    outgoing.end(body);
  });
}

/** Resolves when the daemon has stored a request. Its memory is stable some time later. */
async function ready(port: number, hasEnded: () => boolean): Promise<void> {
  const health = (): Promise<boolean> =>
    fetch(`http://127.0.0.1:${port}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!hasEnded() && !(await health())) await pause(LOOK_MS);
  const kind = BODY_KINDS.find(({ plain }) => plain === true) as BodyKind;
  while (!hasEnded() && (await post(port, kind, PROJECTS[0]?.key ?? '')) !== 200) await pause(LOOK_MS);
  await pause(SETTLE_MS);
}

/** Every project sends at once. Returns the number of answers by status. */
async function sendAll(port: number, kind: BodyKind): Promise<string> {
  const bodies = PROJECTS.map(() => Array.from({ length: atOnce }, () => makeBody(kind)));
  const sent = PROJECTS.flatMap(({ key }, at) => bodies[at]?.map((body) => post(port, kind, key, body)) ?? []);
  const answers = new Map<number, number>();
  for (const status of await Promise.all(sent)) answers.set(status, (answers.get(status) ?? 0) + 1);
  return [...answers]
    .sort(([a], [b]) => a - b)
    .map(([status, count]) => `${status}: ${count}`)
    .join(', ');
}

interface Outcome {
  readonly idle: number;
  readonly now: number;
  readonly peak: number;
  /** The daemon ended before it was told to stop. */
  readonly ended: boolean;
}

async function attack(pid: number, port: number, hasEnded: () => boolean): Promise<Outcome> {
  await ready(port, hasEnded);
  const idle = hasEnded() ? 0 : residentMiB(pid).now;
  console.log(`idle ${idle.toFixed(0)} MiB`);
  let last = { now: idle, peak: idle };
  for (let round = 0; round < rounds; round++) {
    for (const kind of BODY_KINDS.filter(({ name }) => name.includes(values.only ?? ''))) {
      const answers = await sendAll(port, kind);
      if (hasEnded()) return { ...last, idle, ended: true };
      last = residentMiB(pid);
      const memory = `now ${last.now.toFixed(0)}, peak ${last.peak.toFixed(0)} MiB`;
      console.log(`${kind.name.padEnd(48)} ${answers.padEnd(28)} ${memory}`);
    }
  }
  const over = performance.now();
  while (!hasEnded() && performance.now() - over < BACK_MS && last.now > idle * MOST_TIMES_IDLE) {
    await pause(LOOK_MS);
    last = residentMiB(pid);
  }
  const seconds = ((performance.now() - over) / 1000).toFixed(0);
  console.log(`after ${seconds} s ${last.now.toFixed(0)} MiB, ${(last.now / idle).toFixed(2)} times idle`);
  return { ...last, idle, ended: hasEnded() };
}

async function main(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-memory-'));
  chmodSync(folder, 0o755);
  const group = openMemoryGroup(LIMIT_BYTES);
  console.log(group === null ? 'no limit of memory: this user may not set one here' : 'in a limit of 768 MiB');
  const port = await freePort();
  const daemon = startExecutable(['run', '--config', configure(folder, port)], folder);
  const pid = daemon.child.pid ?? 0;
  group?.add(pid);
  let hasEnded = false;
  void daemon.ended.then(() => {
    hasEnded = true;
  });
  const { idle, now, peak, ended } = await attack(pid, port, () => hasEnded);
  const kills = group?.kills ?? 0;
  daemon.child.kill('SIGTERM');
  const code = await daemon.ended;
  const findings = [
    ...(ended ? [`the daemon ended by itself: ${code}`] : []),
    ...(kills > 0 ? [`${kills} processes were killed for memory`] : []),
    ...(peak > MOST_MIB ? [`the peak of ${peak.toFixed(0)} MiB is above ${MOST_MIB} MiB`] : []),
    ...(now > idle * MOST_TIMES_IDLE ? [`memory is not back within ${MOST_TIMES_IDLE} times of idle`] : []),
  ];
  for (const finding of findings) console.log(`! ${finding}`);
  console.log(findings.length === 0 ? 'memory: bounded, and it came back' : 'memory: failed');
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  group?.remove();
  return findings.length === 0 ? 0 : 1;
}

process.exit(await main());
