/**
 * Detects a PostgreSQL server on our files that is not visible as a process: in another container, on another machine,
 * or without its pid file. A local socket works across the pid, network and mount namespaces of a kernel.
 */
import { open, readdir, readFile, readlink, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { platform } from 'node:os';
import { join } from 'node:path';
import type { HostProcess } from '../../../component/component.ts';
import { bootId, hasOwnProc } from '../../../component/process-life.ts';
import { type ServerFolder, SOCKET_FOLDER } from './server-folder.ts';
import { isPostmasterOf } from './host-process.ts';
import { errorCode } from '../../../errors.ts';

const CONNECT_TIMEOUT_MS = 2_000;
const SOCKET_NAME = /^\.s\.PGSQL\.\d+$/;
/** The file with the boot id of the machine that started the last server. */
const BOOT_FILE = 'server-boot';
/**
 * `f_type` of file systems that several machines can mount at once (linux/magic.h): NFS, SMB, SMB2, CIFS, 9p, Ceph,
 * AFS, Lustre, GFS2, OCFS2, Coda, FUSE. The file system behind FUSE is unknown.
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
    // Through /proc the path is short enough for a socket address, at any depth of the folder.
    const base = platform() === 'linux' ? `/proc/self/fd/${handle.fd}` : folder;
    const answers = await Promise.all(sockets.map((name) => accepts(join(base, name))));
    return answers.includes(true);
  } finally {
    await handle.close();
  }
}

/** A stopped server (SIGSTOP, a paused container) also accepts, or leaves the connection pending. */
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
      settle(!['ECONNREFUSED', 'ENOENT', 'ENOTSOCK', 'EINVAL'].includes(errorCode(error))),
    );
  });
}

/** Removes the sockets and locks that a dead server left among its files. PostgreSQL respects a lock by its pid. */
export async function removeSockets(folder: string): Promise<void> {
  const names = await readdir(folder).catch((): string[] => []);
  const left = names.filter((name) => SOCKET_NAME.test(name.replace(/\.lock$/, '')));
  await Promise.all(left.map((name) => rm(join(folder, name), { force: true })));
}

/** Folders where a server of ours may listen. */
export function socketFolders(serverFolder: ServerFolder): readonly string[] {
  return [serverFolder.cluster, join(serverFolder.path, SOCKET_FOLDER)];
}

/**
 * The visible server processes on these files: PostgreSQL's processes have the database's folder as their working
 * directory. Compared by inode, as a path may be another folder in another container.
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

/** The postmaster among them. A postmaster of another container is visible from the host. It must not be ended here. */
export async function findPostmaster(cluster: string, host: HostProcess): Promise<number | undefined> {
  const own = await readlink('/proc/self/ns/pid').catch(() => undefined);
  for (const pid of await findWorkers(cluster, host)) {
    const namespace = await readlink(`/proc/${pid}/ns/pid`).catch(() => '');
    if (namespace === own && (await isPostmasterOf(pid, cluster))) return pid;
  }
  return undefined;
}

/** Records the machine of the server, before its start. */
export async function noteBoot(serverFolder: ServerFolder): Promise<void> {
  await writeFile(join(serverFolder.path, BOOT_FILE), `${(await bootId()) ?? ''}\n`, { mode: 0o644 });
}

/**
 * Whether the server that wrote the pid file may run on another machine: the file system can be shared, and the server
 * was not started under the current boot of this kernel.
 */
export async function mayRunElsewhere(serverFolder: ServerFolder): Promise<boolean> {
  const { type } = await statfs(serverFolder.cluster);
  if (platform() !== 'linux' || !SHARED_TYPES.has(type >>> 0)) return false;
  const noted = (await readFile(join(serverFolder.path, BOOT_FILE), 'utf8').catch(() => '')).trim();
  return noted === '' || noted !== (await bootId());
}
