/**
 * Loaded into a daemon before its own code: keeps writes to files in memory until they are synced, so that a kill loses them as a
 * loss of power would. A kill alone proves nothing, because the kernel keeps what a dead process wrote.
 */
import { type FileHandle, open } from 'node:fs/promises';
import { devNull } from 'node:os';

type Bytes = Buffer | Uint8Array;

/** Writes that are not in the file yet. */
const unsynced = new WeakMap<FileHandle, Buffer[]>();

function hold(handle: FileHandle, chunks: readonly Bytes[]): number {
  const held = unsynced.get(handle) ?? [];
  unsynced.set(handle, held);
  // The writer may reuse its buffers as soon as the write resolves.
  for (const chunk of chunks) held.push(Buffer.from(chunk));
  return chunks.reduce((sum, chunk) => sum + chunk.length, 0);
}

const probe = await open(devNull, 'r');
const prototype = Object.getPrototypeOf(probe) as FileHandle;
await probe.close();
const { writev, datasync, sync, stat, read, truncate, close } = prototype;

async function flush(handle: FileHandle): Promise<void> {
  const held = unsynced.get(handle) ?? [];
  unsynced.delete(handle);
  for (const chunk of held) await writev.call(handle, [chunk]);
}

/** Calls that read the file or its state see all writes. Only a crash loses them. */
const flushed = <Arguments extends unknown[], Result>(
  method: (this: FileHandle, ...given: Arguments) => Promise<Result>,
) =>
  async function (this: FileHandle, ...given: Arguments): Promise<Result> {
    await flush(this);
    return method.apply(this, given);
  };

Object.assign(prototype, {
  async writev(this: FileHandle, buffers: readonly Bytes[]) {
    return { bytesWritten: hold(this, buffers), buffers };
  },
  async write(this: FileHandle, data: Bytes | string, offset = 0, length?: number) {
    const chunk = typeof data === 'string' ? Buffer.from(data) : data.subarray(offset, length && offset + length);
    return { bytesWritten: hold(this, [chunk]), buffer: data };
  },
  async appendFile(this: FileHandle, data: Bytes | string) {
    hold(this, [typeof data === 'string' ? Buffer.from(data) : data]);
  },
  datasync: flushed(datasync),
  sync: flushed(sync),
  stat: flushed(stat as (this: FileHandle) => Promise<unknown>),
  read: flushed(read as (this: FileHandle, ...given: unknown[]) => Promise<unknown>),
  truncate: flushed(truncate),
  close: flushed(close),
});
