/**
 * Whether a PostgreSQL server works on our files that cannot be seen as a process: one in another container, on another machine, or
 * one whose pid file was lost. A local socket answers for its whole kernel, whatever pid, network or mount namespace asks.
 */
import { open, readdir, readFile, readlink, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { platform } from 'node:os';
import { join } from 'node:path';
import { bootId, hasOwnProc } from '../../../component/process-life.ts';
import { type Home, SOCKET_FOLDER } from './home.ts';
import { errorCode, type HostProcess, isPostmasterOf } from './host.ts';

const CONNECT_TIMEOUT_MS = 2_000;
const SOCKET_NAME = /^\.s\.PGSQL\.\d+$/;
/** Names the boot of the machine that the last server was started on. */
const BOOT_FILE = 'server-boot';
/**
 * `f_type` of file systems that several machines can have mounted at once (linux/magic.h): NFS, SMB, SMB2, CIFS, 9p, Ceph, AFS,
 * Lustre, GFS2, OCFS2, Coda, FUSE. What FUSE stands for cannot be told.
 */
const SHARED_TYPES: ReadonlySet<number> = new Set([
  0x6969, 0x517b, 0xfe534d42, 0xff534d42, 0x01021997, 0x00c36400, 0x5346414f, 0x0bd00bd0, 0x01161970, 0x7461636f,
  0x73757245, 0x65735546,
]);

/** True if a server of this machine accepts connections at a socket in these folders. */
export async function isListening(folders: readonly string[]): Promise<boolean> {
  const answers = await Promise.all(folders.map(isListeningIn));
  return answers.includes(true);
}

async function isListeningIn(folder: string): Promise<boolean> {
  const names = await readdir(folder).catch((): string[] => []);
  const sockets = names.filter((name) => SOCKET_NAME.test(name));
  if (sockets.length === 0) return false;
  const handle = await open(folder);
  try {
    // Through /proc the path is short enough for a socket address, however deep the folder lies.
    const base = platform() === 'linux' ? `/proc/self/fd/${handle.fd}` : folder;
    const answers = await Promise.all(sockets.map((name) => accepts(join(base, name))));
    return answers.includes(true);
  } finally {
    await handle.close();
  }
}

/** A server that is stopped (SIGSTOP, a paused container) accepts too, or leaves the connection waiting. */
function accepts(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ path });
    const settle = (answer: boolean): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(answer);
    };
    const timer = setTimeout(() => settle(true), CONNECT_TIMEOUT_MS);
    socket.once('connect', () => settle(true));
    socket.once('error', (error) =>
      settle(!['ECONNREFUSED', 'ENOENT', 'ENOTSOCK', 'EINVAL'].includes(errorCode(error) ?? '')),
    );
  });
}

/** Removes the sockets and their locks that a dead server left among its files. PostgreSQL honours a lock by its pid. */
export async function removeSockets(folder: string): Promise<void> {
  const names = await readdir(folder).catch((): string[] => []);
  const left = names.filter((name) => SOCKET_NAME.test(name.replace(/\.lock$/, '')));
  await Promise.all(left.map((name) => rm(join(folder, name), { force: true })));
}

/** Folders where a server of ours may listen. */
export function socketFolders(home: Home): readonly string[] {
  return [home.cluster, join(home.folder, SOCKET_FOLDER)];
}

/**
 * The server processes that work on these files, as far as this process may see: PostgreSQL's have the database's folder as their
 * working directory. Compared by inode, as the same path may mean another folder in another container.
 */
export async function findWorkers(cluster: string, host: HostProcess): Promise<readonly number[]> {
  if (platform() !== 'linux' || !(await hasOwnProc(host))) return [];
  const { dev, ino } = await stat(cluster);
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const works = await Promise.all(
    pids.map(async (pid) => {
      const folder = await stat(`/proc/${pid}/cwd`).catch(() => undefined);
      if (folder?.dev !== dev || folder.ino !== ino) return false;
      return /^postgres:|\/postgres\0/.test(await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''));
    }),
  );
  return pids.filter((_, index) => works[index]).map(Number);
}

/** The postmaster among them; one of another container, which is seen from the machine that runs it, is not ours to end. */
export async function findPostmaster(cluster: string, host: HostProcess): Promise<number | undefined> {
  const own = await readlink('/proc/self/ns/pid').catch(() => undefined);
  for (const pid of await findWorkers(cluster, host)) {
    const namespace = await readlink(`/proc/${pid}/ns/pid`).catch(() => '');
    if (namespace === own && (await isPostmasterOf(pid, cluster))) return pid;
  }
  return undefined;
}

/** Notes on which machine the server is started, ahead of its start. */
export async function noteBoot(home: Home): Promise<void> {
  await writeFile(join(home.folder, BOOT_FILE), `${(await bootId()) ?? ''}\n`, { mode: 0o644 });
}

/**
 * Whether the server that wrote the pid file may run on another machine: the file system can be shared, and the server was not
 * started under this boot of this kernel.
 */
export async function mayRunElsewhere(home: Home): Promise<boolean> {
  const { type } = await statfs(home.cluster);
  if (platform() !== 'linux' || !SHARED_TYPES.has(type >>> 0)) return false;
  const noted = (await readFile(join(home.folder, BOOT_FILE), 'utf8').catch(() => '')).trim();
  return noted === '' || noted !== (await bootId());
}
