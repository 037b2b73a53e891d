/**
 * postmaster.pid: the file in which a running server says where it listens, and by which PostgreSQL keeps a second server off the
 * same files. Reading never changes it: a server creates it empty and fills it a moment later.
 */
import { constants, lstat, open, readFile, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { EmbeddedServerError, errorCode, type HostProcess } from './host.ts';

const NAME = 'postmaster.pid';
/** A file that a server writes has a few hundred bytes. */
const MAX_BYTES = 8_192;
/** The port of our sockets is part of a file name only. */
export const SOCKET_PORT = 5432;

export interface PidFile {
  readonly pid: number;
  readonly port: number;
  /** Empty where it listens on TCP only, and in a file that was cut off. */
  readonly socketFolder: string;
  /** `starting`, `ready`, `stopping`, …; empty while the file is being written. */
  readonly status: string;
}

/** Undefined where there is none; `damaged` where what lies there names no process. */
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

/** What a server writes: one fact a line, in an order fixed by PostgreSQL. */
function parse(text: string, cluster: string): PidFile | undefined {
  const lines = text.split('\n').map((line) => line.trim());
  const [pid = '', , , port = '', socketFolder = '', , , status = ''] = lines;
  if (!/^[1-9]\d{0,9}$/.test(pid)) return undefined;
  // A server that listens among its files only names that folder as its own.
  const folder = socketFolder === '.' ? cluster : socketFolder;
  return { pid: Number(pid), port: Number(port) || SOCKET_PORT, socketFolder: folder, status };
}

/**
 * Marks a left-over file as stale, after its process was found gone. PostgreSQL would honour the number of a zombie or
 * of an unrelated process, but knows that its own parent is no server. The file is not removed: its shared memory key
 * is how PostgreSQL notices orphaned backends that still work on the files.
 */
export async function disownPidFile(cluster: string, host: HostProcess): Promise<void> {
  const path = join(cluster, NAME);
  const text = await readFile(path, 'utf8');
  // The server's user owns the folder, so a link could have been laid here: it is not followed.
  const handle = await open(path, constants.O_WRONLY | constants.O_TRUNC | (constants.O_NOFOLLOW ?? 0));
  try {
    await handle.writeFile(text.replace(/^\s*-?\d+/, String(host.pid)));
  } finally {
    await handle.close();
  }
}

/** Removes what names no process, after it was made sure that no server runs. PostgreSQL would refuse to start over it. */
export async function removeDamagedPidFile(cluster: string): Promise<void> {
  const path = join(cluster, NAME);
  const found = await lstat(path).catch(() => undefined);
  if (found === undefined) return;
  if (!found.isDirectory()) return rm(path, { force: true });
  await rmdir(path).catch(() => {
    throw new EmbeddedServerError(`${path} is a folder, and PostgreSQL needs a file there: move it away`);
  });
}
