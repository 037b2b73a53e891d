/**
 * The database files ("cluster" in PostgreSQL). They are created in a folder with a temporary name, which is renamed
 * when it is complete, so that an interrupted first start leaves no folder that could be taken for a database.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { platform } from 'node:os';
import { join } from 'node:path';
import type { HostProcess } from '../../../component/component.ts';
import { type ServerFolder, handOver, makeOwnedFolder } from './server-folder.ts';
import { EmbeddedServerError } from './host-process.ts';
import { INSIDE } from './postmaster.ts';
import { DEFAULT_SETTINGS } from './launch-settings.ts';
import { COMPLETE_MARK } from './cluster-state.ts';
import type { Runtime } from './runtime.ts';
import { errorCode } from '../../../errors.ts';

/** The owner of all objects in the database. */
export const SUPERUSER = 'sluice';
/** The name of the rest of an interrupted initdb; nothing else is removed. */
const PARTIAL = 'cluster.incomplete-';
const PARTIAL_NAME = /^cluster\.incomplete-[0-9a-f]{8}$/;
const PASSWORD_FILE = 'password';
const PASSWORD_BYTES = 24;
/** How much of a failed program's output is put into the error. */
const MAX_OUTPUT = 2_000;

/**
 * Written to postgresql.conf once; the operator may change them there. WAL compression stays off: the packaged server
 * has only pglz, whose CPU costs more than the saved bytes. Failed statements are not logged, since they may contain
 * users' data.
 */
const INITIAL_SETTINGS: Readonly<Record<string, string>> = {
  ...DEFAULT_SETTINGS,
  maintenance_work_mem: '32MB',
  autovacuum_max_workers: '2',
  max_parallel_maintenance_workers: '0',
  min_wal_size: '80MB',
  max_wal_size: '1GB',
  jit: 'off',
  log_error_verbosity: 'terse',
  log_min_error_statement: 'panic',
  log_parameter_max_length: '0',
  log_parameter_max_length_on_error: '0',
};

/**
 * MiB. Every commit waits while a new segment is made. PostgreSQL's default of 16 takes four times as long, and beside
 * large requests the p99 of small commits was twice as high.
 */
const WAL_SEGMENT_SIZE = '4';

export interface ClusterOptions {
  readonly serverFolder: ServerFolder;
  readonly runtime: Runtime;
  readonly host: HostProcess;
  readonly environment: Readonly<Record<string, string>>;
  /** Does not sync to disk; for tests only. */
  readonly hasty: boolean;
  readonly signal: AbortSignal;
  /** Throws when another daemon has taken over the folder meanwhile. */
  assertOwned(): Promise<void>;
}

/** Creates the database files, unless `signal` aborts. Removes the rest of an interrupted attempt. */
export async function createCluster(options: ClusterOptions): Promise<void> {
  const { serverFolder, runtime } = options;
  await removePartials(serverFolder.path);
  await writePassword(serverFolder);
  const partial = await makeOwnedFolder(serverFolder, PARTIAL + randomBytes(4).toString('hex'));
  const place = serverFolder.closed ? INSIDE : partial;
  const args = ['-D', place, '-U', SUPERUSER, '--pwfile', join('..', PASSWORD_FILE), '--encoding=UTF8'];
  args.push(
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--data-checksums',
    '--no-instructions',
    `--wal-segsize=${WAL_SEGMENT_SIZE}`,
  );
  // Only the server's user may enter the folder of the socket, and that user can read the files anyway.
  args.push('--auth-local=trust', '--auth-host=scram-sha-256');
  for (const [name, value] of Object.entries(INITIAL_SETTINGS)) args.push('--set', `${name}=${value}`);
  if (options.hasty) args.push('--no-sync');
  const output = await runAs(runtime.initdb, args, partial, options);
  if (output !== undefined) {
    await rm(partial, { recursive: true, force: true });
    options.signal.throwIfAborted();
    const hint = output.includes('user does not exist')
      ? ' (give this user an entry in /etc/passwd, run as another one, or set extensions.postgres.url)'
      : '';
    throw new EmbeddedServerError(`the database could not be made in ${serverFolder.path}: ${output}${hint}`);
  }
  await options.assertOwned();
  // Replaces an empty folder and fails otherwise: other content is kept.
  await rename(partial, serverFolder.cluster).catch((error: unknown) => {
    throw new EmbeddedServerError(
      `the new database cannot take its place at ${serverFolder.cluster} (${errorCode(error)}): something else is there; move it away, or set another data_dir`,
      { cause: error },
    );
  });
  await syncFolder(serverFolder.path);
}

/** Records that the database was created, so that its absence is not taken for a first start. */
export async function markComplete(serverFolder: ServerFolder): Promise<void> {
  const path = join(serverFolder.path, COMPLETE_MARK);
  await writeFile(path, 'A database was created here. Without this file a missing database is created again.\n', {
    flag: 'wx',
  }).catch((error: unknown) => {
    if (errorCode(error) !== 'EEXIST') throw error;
  });
}

/**
 * The superuser's password, required for connections over TCP. A local socket works without it, if the file was lost.
 */
export async function readPassword(serverFolder: ServerFolder): Promise<string> {
  const text = await readFile(join(serverFolder.path, PASSWORD_FILE), 'utf8').catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return '';
    throw error;
  });
  return text.trim();
}

async function writePassword(serverFolder: ServerFolder): Promise<void> {
  const path = join(serverFolder.path, PASSWORD_FILE);
  await rm(path, { force: true });
  await writeFile(path, `${randomBytes(PASSWORD_BYTES).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' });
  await handOver(path, serverFolder);
}

/**
 * An initdb that outlived its daemon may still write here. Files that cannot be removed now are removed at the next
 * first start.
 */
async function removePartials(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => PARTIAL_NAME.test(name));
  await Promise.all(
    names.map((name) => rm(join(folder, name), { recursive: true, force: true }).catch(() => undefined)),
  );
}

/**
 * Runs a program as the server's user to its end, in a session of its own: the terminal's Ctrl-C goes to the daemon,
 * which stops in order, and ends the program with the processes that it started. Returns the output if the program
 * failed, undefined on success.
 */
async function runAs(
  program: string,
  args: readonly string[],
  cwd: string,
  options: ClusterOptions,
): Promise<string | undefined> {
  const { serverFolder, environment, host, signal } = options;
  const child = spawn(program, args, {
    ...serverFolder.identity,
    cwd,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    windowsHide: true,
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.once('close', resolve);
  });
  ended.catch(() => undefined);
  // When no file descriptor is free, spawn() returns a child without streams, which then emits `error`.
  await once(child, 'spawn');
  let output = '';
  const collect = (chunk: Buffer): void => {
    output = (output + chunk.toString('utf8')).slice(-MAX_OUTPUT);
  };
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  const end = (): void => killFamily(child, host);
  if (signal.aborted) end();
  else signal.addEventListener('abort', end);
  const code = await ended.finally(() => signal.removeEventListener('abort', end));
  if (code === 0) return undefined;
  const complaints = output.split('\n').filter((line) => /FATAL|PANIC|error|HINT/i.test(line));
  return (complaints.length === 0 ? output : complaints.join(' · ')).trim() || `it ended with code ${code}`;
}

function killFamily({ pid }: ChildProcess, host: HostProcess): void {
  if (pid === undefined) return;
  try {
    host.kill(platform() === 'win32' ? pid : -pid, 'SIGKILL');
  } catch {
    // It has just ended.
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder).catch(() => undefined);
  // Windows cannot open folders; there the rename is durable by itself.
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}
