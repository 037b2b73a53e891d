/**
 * Loaded into a daemon before its own code: keeps writes to files in memory until they are synced, so that a kill loses
 * them as a loss of power would. A kill alone proves nothing, because the kernel keeps what a dead process wrote.
 */
import fs, { fstatSync, type Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { devNull } from 'node:os';

type Bytes = Buffer | Uint8Array;

/** Writes that are not in the file yet. */
interface Unsynced {
  readonly file: string;
  readonly chunks: Buffer[];
}

const unsynced = new WeakMap<FileHandle, Unsynced>();
/** The number of unsynced bytes of each file. */
const unsyncedBytes = new Map<string, number>();

const identityOf = ({ dev, ino }: Stats): string => `${dev}:${ino}`;

function hold(handle: FileHandle, written: readonly Bytes[]): number {
  const { file, chunks } = unsynced.get(handle) ?? { file: identityOf(fstatSync(handle.fd)), chunks: [] };
  unsynced.set(handle, { file, chunks });
  // The writer may reuse its buffers as soon as the write resolves.
  for (const chunk of written) chunks.push(Buffer.from(chunk));
  const bytes = written.reduce((sum, chunk) => sum + chunk.length, 0);
  unsyncedBytes.set(file, (unsyncedBytes.get(file) ?? 0) + bytes);
  return bytes;
}

const probe = await open(devNull, 'r');
const prototype = Object.getPrototypeOf(probe) as FileHandle;
await probe.close();
const { writev, datasync, sync, stat, read, truncate, close } = prototype;
const { lstatSync } = fs;

async function flush(handle: FileHandle): Promise<void> {
  const held = unsynced.get(handle);
  if (held === undefined) return;
  unsynced.delete(handle);
  for (const chunk of held.chunks) await writev.call(handle, [chunk]);
  unsyncedBytes.delete(held.file);
}

/** The size of a file includes its unsynced writes, and reading it does not sync them. */
function withUnsynced(stats: Stats): Stats {
  stats.size += unsyncedBytes.get(identityOf(stats)) ?? 0;
  return stats;
}

/** These calls write everything first. Only a crash loses writes. */
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
  async stat(this: FileHandle) {
    return withUnsynced(await (stat as (this: FileHandle) => Promise<Stats>).call(this));
  },
  read: flushed(read as (this: FileHandle, ...given: unknown[]) => Promise<unknown>),
  truncate: flushed(truncate),
  close: flushed(close),
});

Object.assign(fs, { lstatSync: (path: string) => withUnsynced(lstatSync(path)) });
syncBuiltinESMExports();
