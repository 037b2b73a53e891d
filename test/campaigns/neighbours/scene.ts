/** The attacked daemon, a process with an embedded database, and the keys of its projects. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BIN, freePort } from '../../support/executable.ts';
import { openMemoryGroup, residentMiB } from '../../support/limited-process.ts';
import type { DaemonFigures } from './daemon-watch.ts';
import { PATIENCE_MS } from '../../support/patience.ts';

export const HONEST_KEY = 'neighbours-honest-key-01';
export const HOSTILE_KEY = 'neighbours-hostile-key-02';
export const SCOPED_KEY = 'neighbours-scoped-key-03';
export const FREE_KEY = 'neighbours-free-key-04';
/** Another key of the hostile project: its small requests beside the large ones. */
export const SIBLING_KEY = 'neighbours-sibling-key-05';
/** The keys of eight projects. */
export const HOSTILE_KEYS = Array.from({ length: 8 }, (_, index) => `neighbours-hostile-key-1${index}`);
/** A trace of the honest project. */
export const OWNED_TRACE = 'a'.repeat(32);

const POLL_MS = 50;

export interface Ports {
  readonly http: number;
  readonly grpc: number;
}

/** What the daemon took of a limit of memory. */
export interface MemoryFigures {
  /** The highest resident memory of the daemon, in MiB. */
  readonly peakMiB: number;
  /** Processes of the daemon and its database that the kernel killed. */
  readonly kills: number;
}

export interface Scene {
  readonly ports: Ports;
  /** `data_dir` of the daemon. */
  readonly dataFolder: string;
  memory(): MemoryFigures;
  /** Figures of the daemon since the last call. */
  figures(): Promise<DaemonFigures>;
  /** Null while it runs. */
  ended(): number | string | null;
  stop(): Promise<void>;
}

const dataFolderIn = (folder: string): string => join(folder, 'data');

const configOf = (folder: string, { http, grpc }: Ports): string => `
extensions: { postgres: { data_dir: ${dataFolderIn(folder)} } }
receivers:
  otlp: { protocols: { http: { endpoint: "127.0.0.1:${http}" }, grpc: { endpoint: "127.0.0.1:${grpc}" } } }
processors:
  auth:
    keys:
      - { key: ${HONEST_KEY}, project: honest }
      - { key: ${HOSTILE_KEY}, project: hostile }
${HOSTILE_KEYS.map((key, index) => `      - { key: ${key}, project: hostile-${index} }`).join('\n')}
      - { key: ${SIBLING_KEY}, project: hostile }
      - { key: ${SCOPED_KEY}, project: hostile, environment: staging }
      - { key: ${FREE_KEY}, project: free, plan: free, monthly_spans: 0 }
  environment: {}
  privacy: {}
  normalization: {}
  pricing: {}
exporters: { postgres: {} }
service:
  extensions: [postgres]
  telemetry: { metrics: { enabled: false } }
  pipelines:
    traces: &all
      { receivers: [otlp], processors: [auth, environment, privacy, normalization, pricing], exporters: [postgres] }
    logs: *all
    metrics: *all
`;

/** `limitBytes`: of the memory of the daemon and its database; null: none. */
export async function startScene(limitBytes: number | null): Promise<Scene> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-neighbours-'));
  // As root, the embedded server runs as another user, which must be able to read the folder.
  await chmod(folder, 0o755);
  const ports = { http: await freePort(), grpc: await freePort() };
  const config = join(folder, 'sluice.yaml');
  await writeFile(config, configOf(folder, ports));
  const log = await open(join(folder, 'log'), 'w');
  const child = spawn(process.execPath, [BIN, 'run', '--config', config], {
    cwd: folder,
    env: {
      ...process.env,
      NO_COLOR: '1',
      NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import ${new URL('./daemon-watch.js', import.meta.url)}`,
    },
    stdio: ['ignore', log.fd, log.fd, 'ipc'],
  });
  const group = limitBytes === null ? null : openMemoryGroup(limitBytes);
  if (limitBytes !== null && group === null) throw new Error('this user may not limit memory here');
  group?.add(child.pid ?? 0);
  const memory = (): MemoryFigures => ({ peakMiB: residentMiB(child.pid ?? 0).peak, kills: group?.kills ?? 0 });
  const figures = async (): Promise<DaemonFigures> => {
    const answer = once(child, 'message');
    child.send('figures');
    return (await answer)[0] as DaemonFigures;
  };
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await ended;
    await log.close();
    group?.remove();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  const deadline = Date.now() + PATIENCE_MS;
  while (!(await isServing(ports.http))) {
    if (child.exitCode !== null || Date.now() > deadline)
      throw new Error(`the daemon does not serve; see ${folder}/log`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  const dataFolder = dataFolderIn(folder);
  return { ports, dataFolder, memory, figures, ended: () => child.exitCode ?? child.signalCode, stop };
}

const isServing = (port: number): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/health`).then(
    ({ ok }) => ok,
    () => false,
  );
