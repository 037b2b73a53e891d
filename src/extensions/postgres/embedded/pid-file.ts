/**
 * postmaster.pid: a running server writes its address into it, and PostgreSQL uses it to keep a second server off the
 * same files. Reading does not change it: a server creates it empty and fills it a moment later.
 */
import { constants, lstat, open, readFile, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { HostProcess } from '../../../component/component.ts';
import { EmbeddedServerError } from './host-process.ts';
import { errorCode } from '../../../errors.ts';

const NAME = 'postmaster.pid';
/** A file that a server writes has a few hundred bytes. */
const MAX_BYTES = 8_192;
/** The port of our sockets is only part of a file name. */
export const SOCKET_PORT = 5432;

export interface PidFile {
  readonly pid: number;
  readonly port: number;
  /** Empty if it listens on TCP only, and in a truncated file. */
  readonly socketFolder: string;
  /** `starting`, `ready`, `stopping`, …; empty while the file is being written. */
  readonly status: string;
}

/** Undefined if there is none; `damaged` if it names no process. */
export async function readPidFile(cluster: string): Promise<PidFile | 'damaged' | undefined> {
  const path = join(cluster, NAME);
  const found = await lstat(path).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return undefined;
    throw error;
  });
  if (found === undefined) return undefined;
  if (!found.isFile() || found.size > MAX_BYTES) return 'damaged';
  return parse(await readFile(path, 'utf8'), cluster) ?? 'damaged';
}

/** The content: one fact per line, in an order fixed by PostgreSQL. */
function parse(text: string, cluster: string): PidFile | undefined {
  const lines = text.split('\n').map((line) => line.trim());
  const [pid = '', , , port = '', socketFolder = '', , , status = ''] = lines;
  if (!/^[1-9]\d{0,9}$/.test(pid)) return undefined;
  // A server that listens only among its files names that folder as its own.
  const folder = socketFolder === '.' ? cluster : socketFolder;
  return { pid: Number(pid), port: Number(port) || SOCKET_PORT, socketFolder: folder, status };
}

/**
 * Marks a left-over file as stale, after its process was found dead. The file then names the parent of the new server,
 * which PostgreSQL never takes for a server. It would respect the pid of a zombie or of an unrelated process. The file
 * is not removed: PostgreSQL uses its shared memory key to detect orphan backends that still use the files.
 */
export async function disownPidFile(cluster: string, host: HostProcess): Promise<void> {
  const path = join(cluster, NAME);
  const text = await readFile(path, 'utf8');
  // The server's user owns the folder and could have placed a link here, so links are not followed.
  const handle = await open(path, constants.O_WRONLY | constants.O_TRUNC | (constants.O_NOFOLLOW ?? 0));
  try {
    await handle.writeFile(text.replace(/^\s*-?\d+/, String(host.pid)));
  } finally {
    await handle.close();
  }
}

/**
 * Removes a file that names no process, after it is certain that no server runs. PostgreSQL would refuse to start with
 * it.
 */
export async function removeDamagedPidFile(cluster: string): Promise<void> {
  const path = join(cluster, NAME);
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return;
  if (!found.isDirectory()) return rm(path, { force: true });
  await rmdir(path).catch(() => {
    throw new EmbeddedServerError(`${path} is a folder, and PostgreSQL needs a file there: move it away`);
  });
}
