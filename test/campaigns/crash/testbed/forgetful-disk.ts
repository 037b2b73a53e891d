/**
 * Loaded into a daemon before its own code: keeps writes to files in memory until they are synced, so that a kill loses
 * them as a loss of power would. A kill alone proves nothing, because the kernel keeps what a dead process wrote.
 */
import fs, { fstatSync, type Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { devNull } from 'node:os';

type Bytes = Buffer | Uint8Array;

interface Write {
  readonly handle: FileHandle;
  readonly bytes: Buffer;
  /** Null: the position of the handle, or the end of the file for one that appends. */
  readonly position: number | null;
}

/** The writes that are not in a file yet, by all of its handles. */
interface Unsynced {
  readonly writes: Write[];
  /** The size of the file with them. */
  size: number;
}

const unsynced = new Map<string, Unsynced>();

const identityOf = ({ dev, ino }: Stats): string => `${dev}:${ino}`;

function hold(handle: FileHandle, written: readonly Bytes[], position: number | null = null): number {
  const stats = fstatSync(handle.fd);
  const held = unsynced.get(identityOf(stats)) ?? { writes: [], size: stats.size };
  unsynced.set(identityOf(stats), held);
  // The writer may reuse its buffers as soon as the write resolves.
  const bytes = Buffer.concat(written);
  held.writes.push({ handle, bytes, position });
  held.size = position === null ? held.size + bytes.length : Math.max(held.size, position + bytes.length);
  return bytes.length;
}

const probe = await open(devNull, 'r');
const prototype = Object.getPrototypeOf(probe) as FileHandle;
await probe.close();
const { write, writev, datasync, sync, stat, read, truncate } = prototype;
const { lstatSync } = fs;

/** A sync writes what all handles of the file have written. */
async function flush(handle: FileHandle): Promise<void> {
  const file = identityOf(fstatSync(handle.fd));
  const held = unsynced.get(file);
  if (held === undefined) return;
  unsynced.delete(file);
  for (const each of held.writes) {
    if (each.position === null) await writev.call(each.handle, [each.bytes]);
    else await writeAt(handle, each.bytes, each.position);
  }
}

/** A handle that appends writes to the end of the file only, and one with O_DIRECT requires memory of whole pages. */
async function writeAt({ fd }: FileHandle, bytes: Buffer, position: number): Promise<void> {
  const plain = await open(`/proc/self/fd/${fd}`, 'r+');
  await (write as Write4).call(plain, bytes, 0, bytes.length, position);
  await plain.close();
}

type Write4 = (this: FileHandle, bytes: Buffer, offset: number, length: number, position: number) => Promise<unknown>;

/** The size of a file includes its unsynced writes, and reading it does not sync them. */
function withUnsynced(stats: Stats): Stats {
  stats.size = unsynced.get(identityOf(stats))?.size ?? stats.size;
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
  async write(this: FileHandle, data: Bytes | string, offset = 0, length?: number, position?: number | null) {
    const chunk = typeof data === 'string' ? Buffer.from(data) : data.subarray(offset, length && offset + length);
    return { bytesWritten: hold(this, [chunk], position), buffer: data };
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
});

Object.assign(fs, { lstatSync: (path: string) => withUnsynced(lstatSync(path)) });
syncBuiltinESMExports();
