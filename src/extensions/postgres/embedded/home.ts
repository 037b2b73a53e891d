/**
 * Where the embedded server lives on disk, and as which user. PostgreSQL refuses to run as root, so under root it runs
 * as an unprivileged user, and its folder must be one which that user can get to.
 */
import { createHash } from 'node:crypto';
import { chmod, lchown, lstat, mkdir, readFile, realpath, stat, writeFile } from 'node:fs/promises';
import { platform } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { EmbeddedServerError, errorCode, type HostProcess, type Identity, type ServerLog } from './host.ts';

/** The user `nobody`, which every system has; the number differs on macOS. */
const NOBODY: Identity = platform() === 'darwin' ? { uid: -2, gid: -2 } : { uid: 65534, gid: 65534 };
/** Where the database goes when root's data folder is closed to other users, as it is below /root. */
const FALLBACK_FOLDER = '/var/lib/sluice';
/** Below the home folder, where the path is short enough. */
export const SOCKET_FOLDER = 'socket';
/** Left in the data folder to say where its database went. */
const POINTER_FILE = 'moved-to';

export interface Home {
  readonly folder: string;
  readonly cluster: string;
  readonly identity: Identity | undefined;
}

export interface HomeOptions {
  readonly dataDir: string;
  readonly host: HostProcess;
  readonly log: ServerLog;
  readonly fallbackFolder?: string | undefined;
}

/** Finds or makes the server's folder below `dataDir`, and decides who runs the server. */
export async function openHome(options: HomeOptions): Promise<Home> {
  const wanted = resolve(options.dataDir, 'postgres');
  const uid = options.host.getuid?.();
  if (uid === 0) return openAsRoot(options, wanted);
  const folder = (await readPointer(wanted)) ?? wanted;
  const cluster = join(folder, 'cluster');
  const owner = await ownerOf(cluster);
  if (owner !== undefined && uid !== undefined && owner.uid !== uid) {
    throw new EmbeddedServerError(
      `the database in ${folder} belongs to user ${owner.uid}, and this process runs as user ${uid}: start it as the same user as before, or hand the folder over with \`chown -R ${uid} ${folder}\``,
    );
  }
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    throw unwritable(folder, error);
  });
  return { folder: await realpath(folder), cluster: join(await realpath(folder), 'cluster'), identity: undefined };
}

async function openAsRoot(options: HomeOptions, wanted: string): Promise<Home> {
  await makeTraversable(dirname(wanted));
  const pointer = (await ownerOf(join(wanted, POINTER_FILE)))?.uid === 0 ? await readPointer(wanted) : undefined;
  const existing = await ownerOf(join(pointer ?? wanted, 'cluster'));
  const identity = existing === undefined || existing.uid === 0 ? NOBODY : existing;
  const folder = pointer ?? (await placeFor(options, wanted, identity, existing !== undefined));
  await makeTraversable(dirname(folder));
  await mkdir(folder, { recursive: true });
  // The folder stays root's, and only what the server writes is handed over: a server that was taken over by an
  // intruder must not be able to lay links in the way of what root does here at the next start.
  if ((await stat(folder)).uid === 0) await chmod(folder, 0o711);
  return { folder: await realpath(folder), cluster: join(await realpath(folder), 'cluster'), identity };
}

/** Makes a folder in the home folder that belongs to the server's user and is closed to all others. */
export async function makeServerFolder(home: Home, name: string): Promise<string> {
  const path = join(home.folder, name);
  await mkdir(path, { recursive: true, mode: 0o700 });
  await handOver(path, home);
  return path;
}

/** Gives a file or folder that we made to the server's user. */
export async function handOver(path: string, home: Home): Promise<void> {
  if (home.identity !== undefined) await lchown(path, home.identity.uid, home.identity.gid);
}

/** The wanted folder if the server's user can get to it, else one below the fallback folder, noted in a pointer file. */
async function placeFor(options: HomeOptions, wanted: string, identity: Identity, exists: boolean): Promise<string> {
  const closed = await firstClosed(dirname(wanted), identity);
  if (closed === undefined) return wanted;
  if (exists) {
    throw new EmbeddedServerError(
      `PostgreSQL runs as user ${identity.uid}, which can not enter ${closed}: open it with \`chmod o+x ${closed}\``,
    );
  }
  const name = createHash('sha256').update(wanted).digest('hex').slice(0, 12);
  const folder = join(options.fallbackFolder ?? FALLBACK_FOLDER, name);
  await makeTraversable(dirname(folder));
  await mkdir(wanted, { recursive: true });
  await writeFile(join(wanted, POINTER_FILE), `${folder}\n`);
  options.log.info(
    `PostgreSQL does not run as root, and user ${identity.uid} can not enter ${closed}: the database is kept in ${folder}, as ${join(wanted, POINTER_FILE)} says`,
  );
  return folder;
}

/** Makes a folder, and the missing ones above it, so that other users can pass through; existing ones stay as they are. */
async function makeTraversable(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode: 0o755 }).catch((error: unknown) => {
    throw unwritable(folder, error);
  });
  if (first === undefined) return;
  // The process may have a mask that took the permission away again.
  for (let path = folder; !relative(first, path).startsWith('..'); path = dirname(path)) {
    await chmod(path, 0o755);
    if (path === dirname(path)) return;
  }
}

/** The topmost folder on the way to `path` (itself included) that the user may not enter; undefined if all are open. */
export async function firstClosed(path: string, identity: Identity): Promise<string | undefined> {
  const steps: string[] = [];
  for (let step = await realpath(path); ; step = dirname(step)) {
    steps.unshift(step);
    if (step === dirname(step)) break;
  }
  for (const step of steps) if (!(await permits(step, identity, 1))) return step;
  return undefined;
}

/** Whether the mode of a file grants a user these rights (4 read, 2 write, 1 execute or enter). */
export async function permits(path: string, identity: Identity, rights: number): Promise<boolean> {
  const { mode, uid, gid } = await stat(path);
  const shift = uid === identity.uid ? 6 : gid === identity.gid ? 3 : 0;
  return ((mode >> shift) & rights) === rights;
}

function unwritable(folder: string, cause: unknown): EmbeddedServerError {
  const reason = errorCode(cause) ?? String(cause);
  return new EmbeddedServerError(
    `the folder ${folder} can not be made (${reason}): choose a data_dir that this process may write to`,
    {
      cause,
    },
  );
}

async function readPointer(wanted: string): Promise<string | undefined> {
  return (await readFile(join(wanted, POINTER_FILE), 'utf8').catch(() => undefined))?.trim() || undefined;
}

async function ownerOf(path: string): Promise<Identity | undefined> {
  return lstat(path).then(
    ({ uid, gid }) => ({ uid, gid }),
    () => undefined,
  );
}
