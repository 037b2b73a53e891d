/**
 * Removes the parts of a large append that failed. Lines of acknowledged requests may follow these parts, so they are
 * first copied to a second file, which makes the removal safe against a crash: while the second file exists, the file
 * ends at the offset in its first line, and the rest of the second file belongs behind it. Applying it twice has the
 * same result.
 */
import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { lastLineEnd } from './file-end.ts';
import type { Range } from './large-append.ts';
import type { FileSystem } from './rotated-files.ts';
import { writeAll } from './write-all.ts';
import { errorCode } from '../../errors.ts';

const FILE_MODE = 0o600;
const WRITE = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW;
const READ = constants.O_RDONLY | constants.O_NOFOLLOW;
/** The size of one read and write of a copy. */
const BLOCK_BYTES = 1048576;
/** The first line of the second file: the offset, and the number of the file's inode. */
const HEAD_BYTES = 48;
const HEAD = /^(\d+) (\d+) *\n$/;

export class Withdrawal {
  readonly #kept: string;
  readonly #unfinished: string;
  readonly #files: FileSystem;
  readonly #syncFolder: () => Promise<void>;

  /** `path` is the file that is being written. */
  constructor(path: string, files: FileSystem, syncFolder: () => Promise<void>) {
    this.#kept = `${path}.kept`;
    this.#unfinished = `${this.#kept}.unfinished`;
    this.#files = files;
    this.#syncFolder = syncFolder;
  }

  /**
   * `length` is the length of the file; `ranges` are removed from it, in order. `finish` must follow before any append.
   */
  async begin(handle: FileHandle, length: number, ranges: readonly Range[]): Promise<void> {
    try {
      await this.#copyKept(handle, length, ranges);
    } catch (error) {
      // The disk may be full.
      await this.#removeUnfinished();
      throw error;
    }
    await this.#files.rename(this.#unfinished, this.#kept);
    await this.#syncFolder();
  }

  async #copyKept(handle: FileHandle, length: number, ranges: readonly Range[]): Promise<void> {
    const { ino } = await handle.stat();
    const end = ranges[0]?.from ?? length;
    const copy = await this.#files.open(this.#unfinished, WRITE, FILE_MODE);
    try {
      await writeAll(copy, [Buffer.from(`${`${end} ${ino}`.padEnd(HEAD_BYTES - 1)}\n`)]);
      for (const [index, { to }] of ranges.entries())
        await copyBytes(handle, copy, { from: to, to: ranges[index + 1]?.from ?? length });
      await copy.datasync();
    } finally {
      await copy.close();
    }
  }

  /**
   * Completes a removal that has begun, also one of an earlier process. Returns the new length of the file; null when
   * there is none to complete. The unfinished copy of a process that crashed is removed.
   */
  async finish(handle: FileHandle): Promise<number | null> {
    await this.#removeUnfinished();
    const kept = await this.#openKept();
    if (kept === null) return null;
    const length = await apply(kept, handle).finally(() => kept.close());
    await this.#files.unlink(this.#kept);
    // Later appends would be lost if the second file were applied once more.
    await this.#syncFolder();
    return length;
  }

  /** Nothing reads the copy. If it cannot be removed, the next one overwrites it. */
  async #removeUnfinished(): Promise<void> {
    await this.#files.unlink(this.#unfinished).catch(() => undefined);
  }

  async #openKept(): Promise<FileHandle | null> {
    try {
      return await this.#files.open(this.#kept, READ);
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return null;
      throw error;
    }
  }
}

async function apply(kept: FileHandle, handle: FileHandle): Promise<number> {
  const { size, ino } = await handle.stat();
  const head = Buffer.alloc(HEAD_BYTES);
  await kept.read(head, 0, HEAD_BYTES, 0);
  const [, end, of] = HEAD.exec(head.toString('latin1')) ?? [];
  // Another program has replaced the file: the offset says nothing about this one.
  if (of !== String(ino)) return size;
  await handle.truncate(await lastLineEnd(handle, Math.min(size, Number(end))));
  await copyBytes(kept, handle, { from: HEAD_BYTES, to: (await kept.stat()).size });
  await handle.datasync();
  return (await handle.stat()).size;
}

/** Writes the bytes of the range to the end of `target`. */
async function copyBytes(source: FileHandle, target: FileHandle, { from, to }: Range): Promise<void> {
  const block = Buffer.alloc(Math.min(BLOCK_BYTES, to - from));
  for (let at = from; at < to; ) {
    const { bytesRead } = await source.read(block, 0, Math.min(block.length, to - at), at);
    if (bytesRead === 0) throw new Error('the file is shorter than its lines');
    await writeAll(target, [block.subarray(0, bytesRead)]);
    at += bytesRead;
  }
}
