/** The files of Unix domain sockets. Removes the file of a daemon that was killed, and no other file. */
import { lstat, unlink } from 'node:fs/promises';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import { UserError } from '../errors.ts';

/** The limit of every system; a longer path would be truncated without an error. */
export const MAX_SOCKET_PATH_BYTES = 103;

export interface SocketPlace {
  /** The option of the path, for hints. */
  readonly option: string;
  inUse(): UserError;
}

/** A killed daemon leaves its socket file. A socket that accepts connections belongs to a running program. */
export async function makeRoom(path: string, { option, inUse }: SocketPlace): Promise<void> {
  if (Buffer.byteLength(path) > MAX_SOCKET_PATH_BYTES)
    throw new UserError(`the path of the socket ${path} is too long`, `It may have ${MAX_SOCKET_PATH_BYTES} bytes.`);
  const folder = await lstat(dirname(path)).catch(() => null);
  if (folder === null)
    throw new UserError(`the folder of the socket ${path} does not exist`, 'Make it, or choose another.');
  const found = await lstat(path).catch(() => null);
  if (found === null) return;
  if (!found.isSocket()) {
    throw new UserError(`${path} exists already, and is not a socket`, `Remove it, or set ${option} to another path.`);
  }
  if (await isAnswered(path)) throw inUse();
  await unlink(path);
}

function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(path, () => {
      probe.destroy();
      resolve(true);
    });
    // Without permission to connect, it is unknown whether a program listens.
    probe.on('error', ({ code }: NodeJS.ErrnoException) => resolve(code !== 'ECONNREFUSED' && code !== 'ENOENT'));
  });
}
