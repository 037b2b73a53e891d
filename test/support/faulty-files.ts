/**
 * A wrapper of the file system that fails on demand. A sync that fails loses the unsynced data, as a kernel does that
 * could not write its pages: they are read as zeros from then on, and the next sync succeeds.
 */
import { lstatSync } from 'node:fs';
import * as nodeFiles from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import type { FileSystem } from '../../src/exporters/file/rotated-files.ts';

export type Operation = 'open' | 'write' | 'sync' | 'truncate' | 'rename' | 'unlink' | 'sync folder';

/** Writes past the page cache consist of whole blocks. */
const BLOCK_BYTES = 4096;

/** The error code of a call; `short`: a write takes only a part; null: no error. */
export type Fault = (operation: Operation) => string | null;

/** The operations that fail one after the other, with the code of each. Null: one operation without a fault. */
export function faultsInOrder(faults: readonly (readonly [Operation, string] | null)[]): Fault {
  const due = [...faults];
  return (operation) => {
    const next = due[0] ?? null;
    if (next !== null && next[0] !== operation) return null;
    due.shift();
    return next === null ? null : next[1];
  };
}

export class FaultyFiles implements FileSystem {
  readonly lstatSync = lstatSync;
  readonly mkdir = nodeFiles.mkdir;
  readonly readdir = nodeFiles.readdir;
  readonly stat = nodeFiles.stat;
  fault: Fault = () => null;
  /** Awaited before each write and sync: a disk that does not answer. */
  hold: () => Promise<void> = async () => undefined;

  readonly open = (async (path: string, flags: string | number, mode?: number) => {
    if (flags !== 'r') this.#check('open');
    const handle = await nodeFiles.open(path, flags, mode);
    return flags === 'r' ? this.#folder(handle) : this.#file(handle, path, (await handle.stat()).size);
  }) as FileSystem['open'];

  readonly rename = (async (from: string, to: string) => {
    this.#check('rename');
    return nodeFiles.rename(from, to);
  }) as FileSystem['rename'];

  readonly unlink = (async (path: string) => {
    this.#check('unlink');
    return nodeFiles.unlink(path);
  }) as FileSystem['unlink'];

  #check(operation: Operation): string | null {
    const code = this.fault(operation);
    if (code !== null && code !== 'short') throw failure(code, operation);
    return code;
  }

  #folder(handle: FileHandle): FileHandle {
    return replacing(handle, {
      sync: async () => {
        this.#check('sync folder');
        await handle.sync();
      },
    });
  }

  #file(handle: FileHandle, path: string, size: number): FileHandle {
    let synced = size;
    return replacing(handle, {
      writev: async (buffers: Buffer[]) => {
        await this.hold();
        const code = this.fault('write');
        if (code === null) return handle.writev(buffers);
        // A part is already in the file when the system reports that there is no space.
        const bytes = Buffer.concat(buffers);
        const part = bytes.subarray(0, Math.ceil(bytes.length / 2));
        await handle.write(part);
        if (code !== 'short') throw failure(code, 'write');
        return { bytesWritten: part.length, buffers };
      },
      write: async (bytes: Buffer, offset: number, length: number, position: number) => {
        await this.hold();
        const code = this.fault('write');
        if (code === null) return handle.write(bytes, offset, length, position);
        if (code === 'EINVAL') throw failure(code, 'write');
        const part = Math.floor(length / 2 / BLOCK_BYTES) * BLOCK_BYTES;
        if (part > 0) await handle.write(bytes, offset, part, position);
        if (code !== 'short') throw failure(code, 'write');
        return { bytesWritten: part, buffer: bytes };
      },
      datasync: async () => {
        await this.hold();
        const code = this.fault('sync');
        const { size: now } = await handle.stat();
        if (code === null) {
          synced = now;
          return handle.datasync();
        }
        if (now > synced) await zero(path, synced, now);
        throw failure(code, 'fdatasync');
      },
      truncate: async (length: number) => {
        this.#check('truncate');
        await handle.truncate(length);
        synced = Math.min(synced, length);
      },
    });
  }
}

async function zero(path: string, from: number, to: number): Promise<void> {
  const handle = await nodeFiles.open(path, 'r+');
  await handle.write(Buffer.alloc(to - from), 0, to - from, from);
  await handle.close();
}

function failure(code: string, operation: string): Error {
  return Object.assign(new Error(`${code}: injected, ${operation}`), { code });
}

function replacing(handle: FileHandle, methods: Readonly<Record<string, unknown>>): FileHandle {
  return new Proxy(handle, {
    get(target, name) {
      const replaced = methods[String(name)];
      if (replaced !== undefined) return replaced;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
