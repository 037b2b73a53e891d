/** The daemon as it ships, as a process under measurement: a file sink with all five processors, or the same on a database. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../test/support/executable.ts';
import { ServerProcess } from './side-by-side/server-process.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const KEY = 'benchmark-key-0123456789';

const POLL_MS = 10;

export interface Daemon {
  readonly url: string;
  readonly server: ServerProcess;
  /** Milliseconds from its start to its first answer. */
  readonly startMs: number;
  stop(): Promise<void>;
}

export interface DaemonOptions {
  /** A database that is there; left out, rows go to a file and `ledger: memory` decides. */
  readonly databaseUrl?: string;
  readonly settings?: readonly string[];
}

export async function startDaemon({ databaseUrl, settings = [] }: DaemonOptions = {}): Promise<Daemon> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const all = [
    `receivers.otlp.protocols.http.endpoint=127.0.0.1:${port}`,
    'extensions.health_check.endpoint=127.0.0.1:0',
    'service.telemetry.metrics.endpoint=127.0.0.1:0',
    ...settings,
  ];
  const configs = [join(ROOT, databaseUrl === undefined ? 'config/sidecar.yaml' : 'config/gateway.yaml')];
  if (databaseUrl !== undefined) {
    const keys = join(folder, 'keys.yaml');
    await writeFile(keys, `processors: { auth: { keys: [ { key: ${KEY}, project: bench } ] } }\n`);
    configs.push(keys);
  }
  const started = performance.now();
  const server = new ServerProcess({
    command: process.execPath,
    args: [
      join(ROOT, 'bin/sluice.js'),
      ...configs.flatMap((config) => ['--config', config]),
      ...all.flatMap((setting) => ['--set', setting]),
    ],
    env: { SLUICE_KEY: KEY, SLUICE_FILE: join(folder, 'telemetry.ndjson'), DATABASE_URL: databaseUrl ?? '' },
    cwd: folder,
  });
  await server.untilServing(`${url}/health`, POLL_MS);
  return {
    url,
    server,
    startMs: performance.now() - started,
    stop: async () => {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
