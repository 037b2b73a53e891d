/**
 * The folder of the embedded server below the data folder: its cluster, password, socket and logs. PostgreSQL refuses
 * to run as root, so under root it runs as another user, even if that user cannot reach the folder.
 */
import { chmod, lchown, lstat, mkdir, readdir, readFile, realpath, stat } from 'node:fs/promises';
import { platform } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import type { HostProcess } from '../../../component/component.ts';
import { fileFault } from '../../../component/file-fault.ts';
import { EmbeddedServerError, type Identity, type ServerLog } from './host-process.ts';
import { defaultUser } from './server-user.ts';
import { errorCode } from '../../../errors.ts';

/** Below the data directory, if the path is short enough. */
export const SOCKET_FOLDER = 'socket';
/** The place for copies of PostgreSQL's programs that cannot be below a closed data directory. */
const PROGRAMS_FOLDER = '/var/lib/sluice';
/** Left in root's closed data directory by earlier releases, with the new path of the database. */
const POINTER_FILE = 'moved-to';

export interface ServerFolder {
  readonly path: string;
  /** PostgreSQL's data directory. */
  readonly cluster: string;
  /** The user of the server; undefined: the user of this process. */
  readonly identity: Identity | undefined;
  /**
   * The server's user cannot reach the folder by its path. The server is started inside: a working directory needs no
   * reachable path.
   */
  readonly closed: boolean;
  /** The folder for copies of the programs. */
  readonly programs: string;
}

export interface ServerFolderOptions {
  readonly dataDir: string;
  readonly host: HostProcess;
  readonly log: ServerLog;
  readonly programsFolder?: string | undefined;
}

/** Finds or creates the server's folder below `dataDir`, and determines the server's user. */
export async function openServerFolder(options: ServerFolderOptions): Promise<ServerFolder> {
  const wanted = resolve(options.dataDir, 'postgres');
  const uid = options.host.getuid?.();
  const folder = (await followPointer(wanted, uid)) ?? wanted;
  if (uid === 0) return openAsRoot(options, folder);
  const owner = await ownerOf(join(folder, 'cluster'));
  if (owner !== undefined && uid !== undefined && owner.uid !== uid) {
    throw new EmbeddedServerError(
      `the database in ${folder} belongs to user ${owner.uid}, and this process runs as user ${uid}: start it as the same user as before, or hand the folder over with \`chown -R ${uid} ${folder}\``,
    );
  }
  await makeFolders(folder, 0o700);
  const real = await realpath(folder);
  return { path: real, cluster: join(real, 'cluster'), identity: undefined, closed: false, programs: real };
}

async function openAsRoot(options: ServerFolderOptions, wanted: string): Promise<ServerFolder> {
  await makeTraversable(dirname(wanted));
  await makeFolders(wanted);
  const folder = await realpath(wanted);
  const { uid } = await stat(folder);
  // Root remains the owner of the folder, and only the files of the server change their owner. Otherwise an intruder in
  // the server could place links where root writes at the next start.
  if (uid === 0) await chmod(folder, 0o711);
  const cluster = join(folder, 'cluster');
  const owner = await ownerOf(cluster);
  const identity = owner === undefined || owner.uid === 0 ? await defaultUser() : owner;
  if (owner?.uid === 0 && uid === 0) {
    options.log.info(
      `the database in ${cluster} belongs to root, as after a restore: it is handed over to user ${identity.uid}`,
    );
    // The database last, so that an interrupted change of owner is repeated.
    for (const path of [join(folder, 'log'), cluster]) await handOverAll(path, identity);
  }
  const barrier = await firstClosed(dirname(folder), identity);
  if (barrier !== undefined && !(await canStartInside())) {
    throw new EmbeddedServerError(
      `PostgreSQL runs as user ${identity.uid}, which cannot enter ${barrier}: open it with \`chmod o+x ${barrier}\`, or choose another data_dir`,
    );
  }
  const closed = barrier !== undefined;
  const programs = closed ? (options.programsFolder ?? PROGRAMS_FOLDER) : folder;
  return { path: folder, cluster, identity, closed, programs };
}

/** Creates a folder in the data directory that belongs to the server's user and is closed to others. */
export async function makeOwnedFolder(serverFolder: ServerFolder, name: string): Promise<string> {
  const path = join(serverFolder.path, name);
  await mkdir(path, { recursive: true, mode: 0o700 });
  await handOver(path, serverFolder);
  return path;
}

/** Makes the server's user the owner of a file or folder that we created. */
export async function handOver(path: string, serverFolder: ServerFolder): Promise<void> {
  if (serverFolder.identity !== undefined) await lchown(path, serverFolder.identity.uid, serverFolder.identity.gid);
}

/** Creates a folder and the missing folders above it, traversable for other users; existing folders are not changed. */
export async function makeTraversable(folder: string): Promise<void> {
  const first = await makeFolders(folder, 0o755);
  if (first === undefined) return;
  // The umask of the process may have removed the permission.
  for (let path = folder; !relative(first, path).startsWith('..'); path = dirname(path)) {
    await chmod(path, 0o755);
    if (path === dirname(path)) return;
  }
}

/** The topmost folder on the path to `path` (inclusive) that the user may not enter; undefined if there is none. */
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

/** Returns the first folder that was made. */
async function makeFolders(folder: string, mode?: number): Promise<string | undefined> {
  try {
    return await mkdir(folder, { recursive: true, mode });
  } catch (error) {
    const cause = errorCode(error) === 'ENOENT' ? await firstFault(folder, error) : error;
    throw new EmbeddedServerError(
      `the folder ${folder} cannot be made, because ${fileFault(cause)}: choose a data_dir that this process may write to`,
    );
  }
}

/** Node reports ENOENT for a read-only file system, and for a broken link on the path. */
async function firstFault(folder: string, error: unknown): Promise<unknown> {
  const fault: unknown = await mkdir(folder).then(
    () => error,
    (reason: unknown) => reason,
  );
  return errorCode(fault) === 'ENOENT' && dirname(folder) !== folder ? firstFault(dirname(folder), error) : fault;
}

/**
 * The place where an earlier release put root's database. If it is missing, that is no reason to create an empty one.
 */
async function followPointer(wanted: string, uid: number | undefined): Promise<string | undefined> {
  const path = join(wanted, POINTER_FILE);
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text === undefined || (uid === 0 && (await ownerOf(path))?.uid !== 0)) return undefined;
  const target = text.trim();
  const [here, there] = await Promise.all([ownerOf(join(wanted, 'cluster')), ownerOf(join(target, 'cluster'))]);
  if (here !== undefined && (target === '' || there === undefined)) return undefined;
  if (there === undefined) {
    throw new EmbeddedServerError(
      `${path} says that the database is in ${target || '(nothing)'}, and it is not there: restore it (a copy of the data_dir alone does not hold it) or mount its disk; to begin with an empty database, remove ${path}`,
    );
  }
  if (here === undefined) return target;
  throw new EmbeddedServerError(
    `there are two databases: ${join(wanted, 'cluster')} and ${join(target, 'cluster')}, which ${path} names: remove ${path} to use the first, or move the first away to use the second`,
  );
}

/** Root owns the files after a copy or a restore as root, and the server never runs as root. Links are not followed. */
async function handOverAll(folder: string, { uid, gid }: Identity): Promise<void> {
  const found = await lstat(folder).catch(() => undefined);
  if (found?.isDirectory() !== true || found.uid !== 0) return;
  for (const entry of await readdir(folder, { recursive: true })) await lchown(join(folder, entry), uid, gid);
  await chmod(folder, 0o700);
  await lchown(folder, uid, gid);
}

/** Whether a process can resolve its working directory when the path is not reachable. */
async function canStartInside(): Promise<boolean> {
  if (platform() !== 'linux') return false;
  return lstat('/proc/self/cwd').then(
    () => true,
    () => false,
  );
}

async function ownerOf(path: string): Promise<Identity | undefined> {
  return lstat(path).then(
    ({ uid, gid }) => ({ uid, gid }),
    () => undefined,
  );
}
