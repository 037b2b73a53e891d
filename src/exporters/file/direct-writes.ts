/**
 * Writes the whole blocks of a large append past the system's page cache (`O_DIRECT` of open(2), Linux). A page of the
 * cache costs the kernel more than the copy into it: it is allocated, tracked while it is dirty, written and later
 * reclaimed. The block that holds the end of the file is written again together with the bytes that follow it, because
 * such a write begins and ends at blocks. The bytes after the last whole block are left to a normal append.
 *
 * The file system may not support this: then all bytes are left to the normal append. A failed write leaves a part of
 * the append in the file, like a normal one.
 */
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { viewOf } from '../../pdata/buffer-view.ts';
import { releaseArray, reservePages } from '../../pdata/page-memory.ts';
import { bytesOf } from './large-append.ts';
import type { FileSystem } from './rotated-files.ts';
import { skip } from './write-all.ts';
import { errorCode } from '../../errors.ts';

/** A multiple of the sector size of all usual disks. */
const BLOCK_BYTES = 4096;
/** The size of one write. Its memory begins at a page, which `O_DIRECT` requires. */
const STAGING_BYTES = 4 * 1048576;
/** Smaller appends cost less through the cache. */
const LEAST_BYTES = 262144;

interface Opened {
  readonly handle: FileHandle;
  /** The bytes of one write. */
  readonly staging: Buffer;
}

export class DirectWrites {
  readonly #files: FileSystem;
  readonly #file: FileHandle;
  readonly #leastBytes: number;
  #opened: Opened | null = null;
  #isSupported = constants.O_DIRECT !== undefined;

  /** `file`: the open file, for reading and appending. */
  constructor(files: FileSystem, file: FileHandle, leastBytes = LEAST_BYTES) {
    this.#files = files;
    this.#file = file;
    this.#leastBytes = leastBytes;
  }

  /** Whether `bytes` more in a file of `length` bytes are enough. */
  isFor(bytes: number, length: number): boolean {
    return this.#isSupported && wholeBlocks(length + bytes) - wholeBlocks(length) >= this.#leastBytes;
  }

  /** Appends chunks to a file of `length` bytes. Returns the rest, which belongs behind the bytes that it wrote. */
  async append(chunks: readonly Buffer[], length: number): Promise<readonly Buffer[]> {
    const opened = await this.#open();
    if (opened === null) return chunks;
    const { handle, staging } = opened;
    const end = wholeBlocks(length + bytesOf(chunks));
    let at = wholeBlocks(length);
    let earlier = length - at;
    if (earlier > 0 && (await this.#file.read(staging, 0, earlier, at)).bytesRead < earlier) return chunks;
    let rest = chunks;
    while (at < end) {
      const size = Math.min(STAGING_BYTES, end - at);
      fill(staging, earlier, size, rest);
      const written = await this.#write(handle, staging, size, at);
      rest = skip(rest, Math.max(0, written - earlier));
      if (written < size) break;
      at += size;
      earlier = 0;
    }
    return rest;
  }

  /**
   * The offset at which zeros before an append of `bytes` to a file of `length` bytes end. Another program has then
   * shortened the file during the append, and the kernel filled the gap before a later write. Null: there are none. No
   * line contains a zero.
   */
  async holeEnd(bytes: number, length: number): Promise<number | null> {
    if (this.#opened === null || !this.isFor(bytes, length)) return null;
    const at = wholeBlocks(length);
    const before = Buffer.alloc(1, 1);
    await this.#file.read(before, 0, 1, Math.max(0, at - 1));
    return before[0] === 0 ? at : null;
  }

  /** Must be called after the end of all appends. */
  async close(): Promise<void> {
    const opened = this.#opened;
    if (opened === null) return;
    this.#opened = null;
    // Otherwise the memory of each rotated file would wait for a full collection.
    releaseArray(opened.staging);
    await opened.handle.close();
  }

  /** Null when the file cannot be written this way. */
  async #open(): Promise<Opened | null> {
    if (this.#opened !== null) return this.#opened;
    try {
      const staging = viewOf(reservePages(STAGING_BYTES, STAGING_BYTES), 0, STAGING_BYTES);
      // The same file, also when another program has renamed it.
      const path = `/proc/self/fd/${this.#file.fd}`;
      const handle = await this.#files.open(path, constants.O_WRONLY | constants.O_DIRECT);
      this.#opened = { handle, staging };
    } catch {
      this.#isSupported = false;
    }
    return this.#opened;
  }

  /** Returns the number of bytes that were written: 0 when the file system refuses such writes. */
  async #write(handle: FileHandle, bytes: Buffer, size: number, at: number): Promise<number> {
    try {
      return (await handle.write(bytes, 0, size, at)).bytesWritten;
    } catch (error) {
      if (errorCode(error) !== 'EINVAL') throw error;
      this.#isSupported = false;
      return 0;
    }
  }
}

const wholeBlocks = (bytes: number): number => bytes - (bytes % BLOCK_BYTES);

/** Copies the first bytes of the chunks to the offsets `from` to `to`. */
function fill(target: Buffer, from: number, to: number, chunks: readonly Buffer[]): void {
  let at = from;
  for (const chunk of chunks) {
    if (at >= to) return;
    at += chunk.copy(target, at, 0, to - at);
  }
}
