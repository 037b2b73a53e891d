/** The daemon as it ships, as a process under measurement, with all five processors: over a synced file or over a database. */
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
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
  /** Where its files are; goes with it. */
  readonly folder: string;
  /** Milliseconds from its start to its first answer. */
  readonly startMs: number;
  stop(): Promise<void>;
}

/** A file, and `ledger: memory` decides; the server that comes with it; or a database that is there. */
export type Store = 'file' | 'embedded' | { readonly url: string };

/** Of a daemon over a file. */
export const dataFile = (folder: string): string => join(folder, 'telemetry.ndjson');

/**
 * Small files, of which few are kept: the memory and the blocks of old ones come around within a second. A virtual machine may take
 * back what lies free for longer, and ask many times as much for giving it again; that is not the daemon's time.
 */
export const SMALL_FILES = ['exporters.file.rotation.max_size=32MiB', 'exporters.file.rotation.max_files=2'];

export interface ProcessOptions {
  /** Left out: one process, on a core of its own. */
  readonly workers?: number;
  /** Of the runtime. */
  readonly nodeArguments?: readonly string[];
}

export async function startDaemon(
  store: Store = 'file',
  settings: readonly string[] = [],
  { workers, nodeArguments = [] }: ProcessOptions = {},
): Promise<Daemon> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  // The embedded server runs as a user of its own where this runs as root.
  await chmod(folder, 0o755);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const all = [
    `receivers.otlp.protocols.http.endpoint=127.0.0.1:${port}`,
    'extensions.health_check.endpoint=127.0.0.1:0',
    'service.telemetry.metrics.endpoint=127.0.0.1:0',
    ...settings,
  ];
  const configs = await configsOf(store, folder);
  const started = performance.now();
  const server = new ServerProcess({
    command: process.execPath,
    args: [
      ...nodeArguments,
      join(ROOT, 'bin/sluice.js'),
      ...configs.flatMap((config) => ['--config', config]),
      ...all.flatMap((setting) => ['--set', setting]),
      ...(workers === undefined ? [] : ['--workers', String(workers)]),
    ],
    env: {
      SLUICE_KEY: KEY,
      SLUICE_FILE: dataFile(folder),
      DATABASE_URL: typeof store === 'object' ? store.url : '',
    },
    cwd: folder,
    isFree: workers !== undefined,
  });
  await server.untilServing(`${url}/health`, POLL_MS);
  return {
    url,
    server,
    folder,
    startMs: performance.now() - started,
    stop: async () => {
      await server.stop();
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function configsOf(store: Store, folder: string): Promise<readonly string[]> {
  const shipped = (name: string): string => join(ROOT, 'config', name);
  if (store === 'file') return [shipped('sidecar.yaml')];
  // Those keep keys in the database; the bench has one beside it.
  const keys = join(folder, 'keys.yaml');
  await writeFile(keys, `processors: { auth: { keys: [ { key: ${KEY}, project: bench } ] } }\n`);
  return [shipped(store === 'embedded' ? 'sluice.yaml' : 'gateway.yaml'), keys];
}
