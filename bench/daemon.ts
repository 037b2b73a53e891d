/** The daemon as a measured process with all five processors, with a synced file or a database. */
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../test/support/executable.ts';
import { ServerProcess } from './side-by-side/server-process.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const KEY = 'benchmark-key-0123456789';
/** The project of the key in a database. */
export const PROJECT = 'bench';

const POLL_MS = 10;

/** Settings of a console at this port, which everyone on this machine may read. */
export const openConsole = (port: number): readonly string[] => [
  `extensions.console.endpoint=127.0.0.1:${port}`,
  'extensions.console.auth.mode=none',
  'extensions.console.auth.anonymous_role=viewer',
];

export interface Daemon {
  readonly url: string;
  readonly server: ServerProcess;
  /** Its folder, removed at its end. */
  readonly folder: string;
  /** Milliseconds from the start to the first answer. */
  readonly startMs: number;
  stop(): Promise<void>;
}

/** A file with the memory ledger, the embedded server, or an existing database. */
export type Store = 'file' | 'embedded' | { readonly url: string };

/** The file of a daemon that writes one. */
export const dataFile = (folder: string): string => join(folder, 'telemetry.ndjson');

/**
 * Small files with few rotations kept, so that memory and blocks are reused within a second. A virtual machine may
 * reclaim memory that is free for longer, and providing it again takes much time that is not the daemon's.
 */
export const SMALL_FILES = ['exporters.file.rotation.max_size=32MiB', 'exporters.file.rotation.max_files=2'];

export interface ProcessOptions {
  /** Left out: one process on its own core. */
  readonly workers?: number;
  /** Arguments of the runtime. */
  readonly nodeArguments?: readonly string[];
  /** A built checkout; left out: this one. */
  readonly root?: string;
  /** Further variables of its environment. */
  readonly env?: Readonly<Record<string, string>>;
}

export async function startDaemon(
  store: Store = 'file',
  settings: readonly string[] = [],
  { workers, nodeArguments = [], root = ROOT, env = {} }: ProcessOptions = {},
): Promise<Daemon> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  // As root, the embedded server runs as another user, which must be able to read the folder.
  await chmod(folder, 0o755);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const configs = await configsOf(store, { folder, root });
  const shipped = await readFile(configs[0], 'utf8');
  const all = [
    `receivers.otlp.protocols.http.endpoint=127.0.0.1:${port}`,
    // An older checkout has neither in its configuration.
    ...(/^ +grpc:/mu.test(shipped) ? ['receivers.otlp.protocols.grpc.endpoint=127.0.0.1:0'] : []),
    ...(/^ +console:/mu.test(shipped) ? ['extensions.console.endpoint=127.0.0.1:0'] : []),
    'extensions.health_check.endpoint=127.0.0.1:0',
    'service.telemetry.metrics.endpoint=127.0.0.1:0',
    ...settings,
  ];
  const started = performance.now();
  const server = new ServerProcess({
    command: process.execPath,
    args: [
      ...nodeArguments,
      join(root, 'bin/sluice.js'),
      ...configs.flatMap((config) => ['--config', config]),
      ...all.flatMap((setting) => ['--set', setting]),
      ...(workers === undefined ? [] : ['--workers', String(workers)]),
    ],
    env: {
      SLUICE_KEY: KEY,
      SLUICE_FILE: dataFile(folder),
      DATABASE_URL: typeof store === 'object' ? store.url : '',
      ...env,
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

async function configsOf(
  store: Store,
  { folder, root }: { readonly folder: string; readonly root: string },
): Promise<readonly [string, ...string[]]> {
  const shipped = (name: string): string => join(root, 'config', name);
  if (store === 'file') return [shipped('sidecar.yaml')];
  // That configuration keeps keys in the database; the benchmark adds a static one.
  const keys = join(folder, 'keys.yaml');
  await writeFile(keys, `processors: { auth: { keys: [ { key: ${KEY}, project: ${PROJECT} } ] } }\n`);
  return [shipped(store === 'embedded' ? 'sluice.yaml' : 'gateway.yaml'), keys];
}
