/**
 * The database files (PostgreSQL says "cluster"): made once, in a folder with a passing name that gets its real name
 * when it is complete, so that an interrupted first start leaves nothing that looks like a database.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Home, handOver, makeServerFolder } from './home.ts';
import { EmbeddedServerError, errorCode } from './host.ts';
import type { Runtime } from './runtime.ts';

/** The owner of everything in the database. */
export const SUPERUSER = 'sluice';
const PARTIAL = 'cluster.incomplete-';
const PASSWORD_FILE = 'password';
const PASSWORD_BYTES = 24;
/** How much of a failed program's output goes into the error. */
const MAX_OUTPUT = 2_000;

/**
 * Written to postgresql.conf once, where the operator may change them. WAL compression stays off: the packaged server
 * has only pglz, whose CPU costs more than the bytes. Nothing of a failed statement is logged, since it may hold a
 * user's data.
 */
const INITIAL_SETTINGS: Readonly<Record<string, string>> = {
  shared_buffers: '128MB',
  max_connections: '50',
  max_wal_size: '1GB',
  jit: 'off',
  log_error_verbosity: 'terse',
  log_min_error_statement: 'panic',
  log_parameter_max_length: '0',
  log_parameter_max_length_on_error: '0',
};

export interface ClusterOptions {
  readonly home: Home;
  readonly runtime: Runtime;
  readonly environment: Readonly<Record<string, string>>;
  /** Skips writing through to the disk; for tests only. */
  readonly hasty: boolean;
  readonly signal: AbortSignal;
}

export async function clusterExists(home: Home): Promise<boolean> {
  return (await readVersion(home)) !== undefined;
}

/** Makes the database files. What an earlier, interrupted attempt left is removed. */
export async function createCluster(options: ClusterOptions): Promise<void> {
  const { home, runtime } = options;
  await removePartials(home.folder);
  await writePassword(home);
  const partial = await makeServerFolder(home, PARTIAL + randomBytes(4).toString('hex'));
  const args = ['-D', partial, '-U', SUPERUSER, '--pwfile', join(home.folder, PASSWORD_FILE), '--encoding=UTF8'];
  args.push(
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--data-checksums',
    '--no-instructions',
  );
  // The socket lies in a folder that only the server's user may enter, and that user could read the files anyway.
  args.push('--auth-local=trust', '--auth-host=scram-sha-256');
  for (const [name, value] of Object.entries(INITIAL_SETTINGS)) args.push('--set', `${name}=${value}`);
  if (options.hasty) args.push('--no-sync');
  const output = await runAs(runtime.initdb, args, options);
  if (output !== undefined) {
    await rm(partial, { recursive: true, force: true });
    const hint = output.includes('user does not exist')
      ? ' (give this user an entry in /etc/passwd, run as another one, or set extensions.postgres.url)'
      : '';
    throw new EmbeddedServerError(`the database could not be made in ${home.folder}: ${output}${hint}`);
  }
  // Something without a PG_VERSION may be in the way; it is kept, in case it is somebody's.
  await rename(home.cluster, `${home.cluster}.unusable-${Date.now().toString(36)}`).catch((error: unknown) => {
    if (errorCode(error) !== 'ENOENT') throw error;
  });
  await rename(partial, home.cluster);
  await syncFolder(home.folder);
}

/** Refuses files of another major version, which this server could not read. */
export async function checkVersion(home: Home, runtime: Runtime): Promise<void> {
  const version = await readVersion(home);
  if (version === String(runtime.major)) return;
  throw new EmbeddedServerError(
    `the database in ${home.cluster} was made by PostgreSQL ${version}, and this release carries ${runtime.version}: dump it with the release that made it and load it into a new data_dir, or serve it with your own PostgreSQL ${version} and set extensions.postgres.url`,
  );
}

/** The superuser's password, needed where connections come over TCP. */
export async function readPassword(home: Home): Promise<string> {
  return (await readFile(join(home.folder, PASSWORD_FILE), 'utf8')).trim();
}

async function writePassword(home: Home): Promise<void> {
  const path = join(home.folder, PASSWORD_FILE);
  await rm(path, { force: true });
  await writeFile(path, `${randomBytes(PASSWORD_BYTES).toString('base64url')}\n`, { mode: 0o600, flag: 'wx' });
  await handOver(path, home);
}

async function readVersion(home: Home): Promise<string | undefined> {
  const text = await readFile(join(home.cluster, 'PG_VERSION'), 'utf8').catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return undefined;
    throw error;
  });
  return text?.trim();
}

/** An initdb that survived its daemon may still write here; what can not be removed now goes at the next first start. */
async function removePartials(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.startsWith(PARTIAL));
  await Promise.all(
    names.map((name) => rm(join(folder, name), { recursive: true, force: true }).catch(() => undefined)),
  );
}

/** Runs a program as the server's user to its end; its output if it failed, undefined if it went well. */
async function runAs(program: string, args: readonly string[], options: ClusterOptions): Promise<string | undefined> {
  const { home, environment, signal } = options;
  const child = spawn(program, args, {
    ...home.identity,
    cwd: home.folder,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
    killSignal: 'SIGKILL',
  });
  let output = '';
  const collect = (chunk: Buffer): void => {
    output = (output + chunk.toString('utf8')).slice(-MAX_OUTPUT);
  };
  child.stdout.on('data', collect);
  child.stderr.on('data', collect);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  return code === 0 ? undefined : output.trim() || `it ended with code ${code}`;
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder).catch(() => undefined);
  // Windows can not open folders; there the rename is durable by itself.
  await handle?.sync().catch(() => undefined);
  await handle?.close();
}
