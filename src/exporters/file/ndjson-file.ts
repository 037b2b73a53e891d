/**
 * One NDJSON file that is appended to durably and rotated. After `append` resolves, its lines are on disk; after it rejects,
 * none of them is in the file (a failed write is cut off again, and what cannot be cut off is repaired before the next one).
 *
 * States: closed → (open) → ready ⇄ broken. In `broken` the file's end is not known to be a whole line; every append first
 * tries to repair it and rejects while that fails.
 */
import { type FileHandle, mkdir, open, readdir, rename, stat, unlink } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import type { Logger } from '../../component/logger.ts';

export interface Rotation {
  /** Bytes; a file that would grow past it is rotated first. 0: never. */
  readonly max_size: number;
  /** Milliseconds since the file was made. 0: never. */
  readonly max_age: number;
  /** Rotated files kept; the oldest go. 0: all. */
  readonly max_files: number;
}

/** Telemetry is nobody else's business. */
const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o700;
const NEWLINE = 10;
/** How much of a file's end is read at a time when looking for its last whole line. */
const TAIL_BYTES = 65536;
/** writev takes at most this many buffers (IOV_MAX). */
const MAX_BUFFERS = 1024;

export class NdjsonFile {
  readonly #path: string;
  #rotation: Rotation;
  readonly #logger: Logger;
  readonly #now: () => number;
  #handle: FileHandle | null = null;
  /** Bytes known to be whole lines on disk. */
  #length = 0;
  #createdMs = 0;
  #broken = false;
  /** Appends run one after the other. */
  #last: Promise<void> = Promise.resolve();

  constructor(path: string, rotation: Rotation, logger: Logger, now: () => number) {
    this.#path = path;
    this.#rotation = rotation;
    this.#logger = logger;
    this.#now = now;
  }

  get healthy(): boolean {
    return this.#handle !== null && !this.#broken;
  }

  get length(): number {
    return this.#length;
  }

  /** From the next append on. */
  rotateBy(rotation: Rotation): void {
    this.#rotation = rotation;
  }

  /** Opens or makes the file and cuts off a torn last line. Rejects with the system's error. */
  async open(): Promise<void> {
    await makeDirectory(dirname(this.#path));
    const handle = await open(this.#path, 'a+', FILE_MODE);
    try {
      const { size, birthtimeMs } = await handle.stat();
      this.#length = await repair(handle, size);
      if (this.#length < size) {
        this.#logger.warn({ path: this.#path, bytes: size - this.#length }, 'cut off a torn last line left by a crash');
      }
      this.#createdMs = size === 0 || birthtimeMs === 0 ? this.#now() : birthtimeMs;
      await syncDirectory(dirname(this.#path));
    } catch (error) {
      await handle.close();
      throw error;
    }
    this.#handle = handle;
    this.#broken = false;
  }

  append(chunks: readonly Buffer[]): Promise<void> {
    const result = this.#last.then(() => this.#append(chunks));
    this.#last = result.catch(() => undefined);
    return result;
  }

  async close(): Promise<void> {
    await this.#last;
    const handle = this.#handle;
    this.#handle = null;
    await handle?.close();
  }

  async #append(chunks: readonly Buffer[]): Promise<void> {
    const bytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
    if (this.#broken) await this.#reopen();
    if (this.#isDue(bytes)) await this.#rotate();
    const handle = this.#handle;
    if (handle === null) throw new Error('the file is closed');
    try {
      for (let first = 0; first < chunks.length; first += MAX_BUFFERS)
        await writeAll(handle, chunks.slice(first, first + MAX_BUFFERS));
      await handle.datasync();
      this.#length += bytes;
    } catch (error) {
      this.#broken = true;
      await this.#cutOff(handle).catch(() => undefined);
      throw error;
    }
  }

  /** Takes back what a failed append left. When even that fails, the next append repairs the file first. */
  async #cutOff(handle: FileHandle): Promise<void> {
    await this.#cutTo(handle);
    this.#broken = false;
  }

  /** Somebody else may have shortened the file meanwhile: it must not be filled up with zeros. */
  async #cutTo(handle: FileHandle): Promise<void> {
    const { size } = await handle.stat();
    this.#length = await repair(handle, Math.min(size, this.#length));
    if (size > this.#length) await handle.truncate(this.#length);
    await handle.datasync();
  }

  /** A descriptor whose sync failed is not trusted again: the kernel may have dropped the pages it could not write. */
  async #reopen(): Promise<void> {
    await this.#handle?.close().catch(() => undefined);
    this.#handle = null;
    const handle = await open(this.#path, 'a+', FILE_MODE);
    try {
      await this.#cutTo(handle);
    } catch (error) {
      await handle.close();
      throw error;
    }
    this.#handle = handle;
    this.#broken = false;
  }

  #isDue(bytes: number): boolean {
    if (this.#length === 0) return false;
    const { max_size: maxSize, max_age: maxAge } = this.#rotation;
    return (maxSize > 0 && this.#length + bytes > maxSize) || (maxAge > 0 && this.#now() - this.#createdMs >= maxAge);
  }

  async #rotate(): Promise<void> {
    const handle = this.#handle;
    this.#handle = null;
    this.#broken = true;
    await handle?.close();
    await rename(this.#path, await this.#freeName());
    this.#length = 0;
    await this.open();
    await this.#removeOldest();
  }

  /** `telemetry-2026-11-21T10-15-30.123.ndjson`, numbered when two rotations fall into one millisecond. */
  async #freeName(): Promise<string> {
    const stamp = new Date(this.#now()).toISOString().replaceAll(':', '-').slice(0, -1);
    for (let number = 0; ; number++) {
      const path = join(
        dirname(this.#path),
        `${this.#stem()}-${stamp}${number === 0 ? '' : `.${number}`}${extname(this.#path)}`,
      );
      if (!(await exists(path))) return path;
    }
  }

  async #removeOldest(): Promise<void> {
    if (this.#rotation.max_files === 0) return;
    const pattern = new RegExp(
      `^${escapeRegExp(this.#stem())}-\\d{4}-\\d\\d-\\d\\dT[\\d.-]+${escapeRegExp(extname(this.#path))}$`,
    );
    const rotated = (await readdir(dirname(this.#path))).filter((name) => pattern.test(name)).sort();
    for (const name of rotated.slice(0, Math.max(0, rotated.length - this.#rotation.max_files))) {
      await unlink(join(dirname(this.#path), name));
      this.#logger.info({ file: name }, 'removed the oldest rotated file');
    }
  }

  #stem(): string {
    return basename(this.#path, extname(this.#path));
  }
}

/** Cuts a file back to its last whole line; returns its length then. */
async function repair(handle: FileHandle, size: number): Promise<number> {
  const length = await lastLineEnd(handle, size);
  if (length < size) {
    await handle.truncate(length);
    await handle.datasync();
  }
  return length;
}

async function lastLineEnd(handle: FileHandle, size: number): Promise<number> {
  const buffer = Buffer.alloc(TAIL_BYTES);
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - TAIL_BYTES);
    const { bytesRead } = await handle.read(buffer, 0, end - start, start);
    const newline = buffer.subarray(0, bytesRead).lastIndexOf(NEWLINE);
    if (newline >= 0) return start + newline + 1;
    end = start;
  }
  return 0;
}

/** writev may write less than it was given. */
async function writeAll(handle: FileHandle, chunks: readonly Buffer[]): Promise<void> {
  let rest = chunks;
  while (rest.length > 0) {
    const { bytesWritten } = await handle.writev(rest as Buffer[]);
    rest = skip(rest, bytesWritten);
  }
}

function skip(chunks: readonly Buffer[], bytes: number): readonly Buffer[] {
  let left = bytes;
  for (const [index, chunk] of chunks.entries()) {
    if (left < chunk.length) return [chunk.subarray(left), ...chunks.slice(index + 1)];
    left -= chunk.length;
  }
  return [];
}

/** Folder by folder: Node's recursive mkdir never ends below some special folders, such as /proc. */
async function makeDirectory(path: string): Promise<void> {
  if (await exists(path)) return;
  await makeDirectory(dirname(path));
  await mkdir(path, { mode: DIRECTORY_MODE }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
}

/** A new name is durable only once its directory is. */
async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
