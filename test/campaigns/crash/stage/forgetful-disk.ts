/**
 * Loaded into a daemon before its own code: a disk that forgets, when the process is killed, whatever was written to a file
 * and not synced. A kill alone would prove nothing, because the kernel keeps what a dead process wrote.
 */
import { type FileHandle, open } from 'node:fs/promises';
import { devNull } from 'node:os';

type Bytes = Buffer | Uint8Array;

/** What stands in no file yet, by descriptor. */
const unsynced = new WeakMap<FileHandle, Buffer[]>();

function hold(handle: FileHandle, chunks: readonly Bytes[]): number {
  const held = unsynced.get(handle) ?? [];
  unsynced.set(handle, held);
  // The writer may use its buffers again as soon as it has been told that they were written.
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

/** Whoever asks for the file's state must see what was written; only a crash may not. */
const settled = <Arguments extends unknown[], Result>(
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
  datasync: settled(datasync),
  sync: settled(sync),
  stat: settled(stat as (this: FileHandle) => Promise<unknown>),
  read: settled(read as (this: FileHandle, ...given: unknown[]) => Promise<unknown>),
  truncate: settled(truncate),
  close: settled(close),
});
