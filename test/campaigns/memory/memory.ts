/**
 * Resident memory under bodies that cost much: four projects send each kind at once to the daemon as it ships, in a limit of 768 MiB
 * where the machine allows one. Fails when a process is killed, when the daemon's memory is ever above 512 MiB, or when it is not
 * back within 1.5 times of idle a minute after the last request.
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
import { openMemoryGroup, residentMiB } from './limited-process.ts';

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
/** Of each project at once. */
const atOnce = values.short ? 3 : 10;

function configure(folder: string, port: number): string {
  const exporter = values.store === 'file' ? `file: { path: ${join(folder, 'out.ndjson')} }` : 'postgres: {}';
  const pipeline = `{ receivers: [otlp], processors: [auth, environment, privacy, normalization, pricing], exporters: [${values.store === 'file' ? 'file' : 'postgres'}] }`;
  const path = join(folder, 'sluice.yaml');
  const keys = PROJECTS.map(({ name, key }) => `{ key: ${key}, project: ${name} }`).join(', ');
  writeFileSync(
    path,
    `${values.store === 'file' ? '' : `extensions: { postgres: { data_dir: ${folder} } }`}
receivers: { otlp: { protocols: { http: { endpoint: "127.0.0.1:${port}" } } } }
processors: { auth: { keys: [${keys}] }, environment: {}, privacy: {}, normalization: {}, pricing: {} }
exporters: { ${exporter} }
service:
  ledger: ${values.store === 'file' ? 'memory' : 'postgres'}
  extensions: [${values.store === 'file' ? '' : 'postgres'}]
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

async function main(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-memory-'));
  chmodSync(folder, 0o755);
  const group = openMemoryGroup(LIMIT_BYTES);
  const port = await freePort();
  // This process is in the group while it starts the daemon, so that everything the daemon starts is.
  const daemon = startExecutable(['run', '--config', configure(folder, port)], folder);
  const pid = daemon.child.pid ?? 0;
  group?.add(pid);
  let ended = false;
  void daemon.ended.then(() => {
    ended = true;
  });
  while (
    !ended &&
    !(await fetch(`http://127.0.0.1:${port}/health`).then(
      (answer) => answer.ok,
      () => false,
    ))
  )
    await pause(100);
  for (let status = 0; status !== 200 && !ended; await pause(100)) {
    status = await post(
      port,
      BODY_KINDS.find(({ name }) => name.startsWith('4 MiB')) as BodyKind,
      PROJECTS[0]?.key ?? '',
    );
  }
  await pause(SETTLE_MS);
  const idle = residentMiB(pid).now;
  console.log(
    `${group === null ? 'no limit of memory on this machine' : 'in a limit of 768 MiB'}; idle ${idle.toFixed(0)} MiB`,
  );
  const kinds = BODY_KINDS.filter(({ name }) => name.includes(values.only ?? ''));
  for (let round = 0; round < rounds && !ended; round++) {
    for (const kind of kinds) {
      const bodies = PROJECTS.map(() => Array.from({ length: atOnce }, () => makeBody(kind)));
      const sent = PROJECTS.flatMap(({ key }, at) => bodies[at]?.map((body) => post(port, kind, key, body)) ?? []);
      const answers = new Map<number, number>();
      for (const status of await Promise.all(sent)) answers.set(status, (answers.get(status) ?? 0) + 1);
      if (ended) break;
      const { now, peak } = residentMiB(pid);
      const counts = [...answers].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
      console.log(
        `${kind.name.padEnd(48)} ${counts.join(', ').padEnd(28)} now ${now.toFixed(0)}, peak ${peak.toFixed(0)} MiB`,
      );
    }
  }
  const over = performance.now();
  while (!ended && performance.now() - over < BACK_MS && residentMiB(pid).now > idle * MOST_TIMES_IDLE)
    await pause(LOOK_MS);
  const { now, peak } = ended ? { now: Number.NaN, peak: Number.NaN } : residentMiB(pid);
  const seconds = (performance.now() - over) / 1000;
  console.log(
    `after ${seconds.toFixed(0)} s ${now.toFixed(0)} MiB, ${(now / idle).toFixed(2)} times idle; peak ${peak.toFixed(0)} MiB`,
  );
  const kills = group?.kills ?? 0;
  const endedByItself = ended;
  daemon.child.kill('SIGTERM');
  const code = await daemon.ended;
  const findings = [
    ...(endedByItself ? [`the daemon ended by itself: ${code}`] : []),
    ...(kills > 0 ? [`${kills} processes were killed for memory`] : []),
    ...(peak > MOST_MIB ? [`the peak is above ${MOST_MIB} MiB`] : []),
    ...(now > idle * MOST_TIMES_IDLE ? [`memory is not back within ${MOST_TIMES_IDLE} times of idle`] : []),
  ];
  for (const finding of findings) console.log(`! ${finding}`);
  console.log(findings.length === 0 ? 'memory: bounded, and it came back' : 'memory: failed');
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  try {
    group?.remove();
  } catch {
    // A process of the embedded server is on its way out; an empty group costs nothing.
  }
  return findings.length === 0 ? 0 : 1;
}

process.exit(await main());
