/** Writes buffers to a file completely: one system call may write less than it was given. */
import type { FileHandle } from 'node:fs/promises';

/** writev takes at most this many buffers (IOV_MAX). */
const MAX_BUFFERS = 1024;

export async function writeAll(handle: FileHandle, buffers: readonly Buffer[]): Promise<void> {
  for (let first = 0; first < buffers.length; first += MAX_BUFFERS)
    await writeSome(handle, buffers.slice(first, first + MAX_BUFFERS));
}

async function writeSome(handle: FileHandle, buffers: readonly Buffer[]): Promise<void> {
  let rest = buffers;
  while (rest.length > 0) {
    const { bytesWritten } = await handle.writev(rest as Buffer[]);
    if (bytesWritten === 0 && rest.some(({ length }) => length > 0)) throw new Error('the system wrote nothing');
    rest = skip(rest, bytesWritten);
  }
}

/** The buffers without their first bytes. */
export function skip(buffers: readonly Buffer[], bytes: number): readonly Buffer[] {
  let left = bytes;
  for (const [index, buffer] of buffers.entries()) {
    if (left < buffer.length) return [buffer.subarray(left), ...buffers.slice(index + 1)];
    left -= buffer.length;
  }
  return [];
}
