/**
 * One NDJSON file that is appended to durably and rotated. After `append` resolves, its lines are on disk; after it rejects,
 * none of them is in the file (what a failed append left is cut off again, at the latest before the next one).
 *
 * States: closed → (open) → ready ⇄ broken, or ready → distrusted → ready. In `broken` the file's end is not known to be a whole
 * line. In `distrusted` a sync has failed: the kernel may have dropped what it could not write and say yes to the next sync, so the
 * file is cut back to what an earlier sync has confirmed, set aside, and a new one begun. Every append first tries to get out
 * of both, and rejects while that fails; so does a timer, because readiness is gone meanwhile and with it perhaps all traffic.
 */
import * as nodeFiles from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Logger } from '../../component/logger.ts';
import { exists, type FileSystem, RotatedFiles } from './rotated-files.ts';

export interface Rotation {
  /** Bytes; a file that would grow past it is rotated first. 0: never. */
  readonly max_size: number;
  /** Milliseconds since the file was made. 0: never. */
  readonly max_age: number;
  /** Rotated files kept; the oldest go. 0: all. */
  readonly max_files: number;
}

export interface NdjsonFileParts {
  readonly path: string;
  readonly rotation: Rotation;
  readonly logger: Logger;
  now(): number;
  readonly files?: FileSystem;
  /** Makes sure, before the file is touched, that nobody else writes to it. Returns how to give it free. */
  readonly claim?: () => Promise<() => Promise<void>>;
}

/** Telemetry is nobody else's business. */
const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o700;
const NEWLINE = 10;
/** How much of a file's end is read at a time when looking for its last whole line. */
const TAIL_BYTES = 65536;
/** writev takes at most this many buffers (IOV_MAX). */
const MAX_BUFFERS = 1024;
/** After a failure readiness is gone for this long, and longer while the file stays broken; that often repair is tried. */
const UNWELL_MS = 2000;

export class NdjsonFile {
  readonly #path: string;
  #rotation: Rotation;
  readonly #logger: Logger;
  readonly #now: () => number;
  readonly #files: FileSystem;
  readonly #rotated: RotatedFiles;
  readonly #claim: NonNullable<NdjsonFileParts['claim']>;
  #giveFree: () => Promise<void> = nothing;
  #state: 'closed' | 'ready' | 'broken' | 'distrusted' = 'closed';
  #handle: FileHandle | null = null;
  /** Bytes known to be whole lines on disk. */
  #length = 0;
  #createdMs = 0;
  /** Runs from a failure until the sink is well again. */
  #unwell: NodeJS.Timeout | null = null;
  /** Appends run one after the other, and so do repairs. */
  #last: Promise<void> = Promise.resolve();
  /** Old files go while appends go on: to remove a large one takes the system tens of milliseconds. Never rejects. */
  #removal: Promise<void> = Promise.resolve();

  constructor({ path, rotation, logger, now, files = nodeFiles, claim = async () => nothing }: NdjsonFileParts) {
    this.#claim = claim;
    this.#path = path;
    this.#rotation = rotation;
    this.#logger = logger;
    this.#now = now;
    this.#files = files;
    this.#rotated = new RotatedFiles(path, logger, files);
  }

  get healthy(): boolean {
    return this.#state === 'ready' && this.#unwell === null;
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
    await makeDirectory(this.#files, dirname(this.#path));
    this.#giveFree = await this.#claim();
    await this.#openUpTo(Number.MAX_SAFE_INTEGER);
    this.#state = 'ready';
  }

  append(chunks: readonly Buffer[]): Promise<void> {
    return this.#inTurn(() => this.#append(chunks));
  }

  async close(): Promise<void> {
    if (this.#unwell !== null) clearTimeout(this.#unwell);
    await this.#last;
    this.#state = 'closed';
    await this.#closeHandle();
    await this.#removal;
    const giveFree = this.#giveFree;
    // Once only: by the next time it may be somebody else's.
    this.#giveFree = nothing;
    await giveFree();
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }

  async #append(chunks: readonly Buffer[]): Promise<void> {
    const bytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
    try {
      if (this.#state === 'broken' || this.#state === 'distrusted') await this.#recover();
      if (this.#isDue(bytes)) await this.#rotate();
      const handle = this.#handle;
      if (handle === null) throw new Error('the file is closed');
      await this.#write(handle, chunks);
      this.#length += bytes;
    } catch (error) {
      if (this.#state !== 'closed') await this.#afterFailure(error);
      throw error;
    }
  }

  async #write(handle: FileHandle, chunks: readonly Buffer[]): Promise<void> {
    let atWorst: 'broken' | 'distrusted' = 'broken';
    try {
      for (let first = 0; first < chunks.length; first += MAX_BUFFERS)
        await writeAll(handle, chunks.slice(first, first + MAX_BUFFERS));
      atWorst = 'distrusted';
      await handle.datasync();
    } catch (error) {
      this.#state = atWorst;
      throw error;
    }
  }

  /** What a failed append left is taken back at once if that is possible. */
  async #afterFailure(error: unknown): Promise<void> {
    if (this.#unwell === null) this.#logger.error({ error, path: this.#path }, 'the file took no data');
    await this.#recover().catch(() => undefined);
    this.#watch();
  }

  #watch(): void {
    if (this.#unwell !== null) clearTimeout(this.#unwell);
    this.#unwell = setTimeout(() => void this.#inTurn(() => this.#look()), UNWELL_MS);
    this.#unwell.unref();
  }

  async #look(): Promise<void> {
    if (this.#state === 'closed') return;
    try {
      await this.#recover();
      this.#unwell = null;
    } catch {
      this.#watch();
    }
  }

  /** Cuts back what no sync has confirmed. Reopens, as a descriptor that failed once is not asked again. */
  async #recover(): Promise<void> {
    if (this.#state === 'ready') return;
    const setAside = this.#state === 'distrusted';
    await this.#closeHandle();
    await this.#openUpTo(this.#length);
    if (setAside && this.#length > 0) {
      this.#logger.warn({ path: this.#path }, 'a sync failed: the file is set aside and a new one begun');
      await this.#setAside();
    }
    this.#state = 'ready';
  }

  /** Opens the file and cuts it to its last whole line before `end`. Somebody else may have shortened it: it is not filled up. */
  async #openUpTo(end: number): Promise<void> {
    const handle = await this.#files.open(this.#path, 'a+', FILE_MODE);
    try {
      const { size, birthtimeMs } = await handle.stat();
      const length = await lastLineEnd(handle, Math.min(size, end));
      if (length < size) {
        await handle.truncate(length);
        await handle.datasync();
        this.#logger.warn({ path: this.#path, bytes: size - length }, 'cut off what belonged to no answered request');
      }
      if (size === 0 || this.#createdMs === 0)
        this.#createdMs = size === 0 || birthtimeMs === 0 ? this.#now() : birthtimeMs;
      await this.#syncDirectory();
      this.#length = length;
    } catch (error) {
      await handle.close().catch(() => undefined);
      throw error;
    }
    this.#handle = handle;
  }

  #isDue(bytes: number): boolean {
    if (this.#length === 0) return false;
    const { max_size: maxSize, max_age: maxAge } = this.#rotation;
    return (maxSize > 0 && this.#length + bytes > maxSize) || (maxAge > 0 && this.#now() - this.#createdMs >= maxAge);
  }

  async #rotate(): Promise<void> {
    // Whoever fills files faster than the system removes them waits here, not the disk.
    await this.#removal;
    try {
      await this.#setAside();
    } catch (error) {
      this.#state = 'broken';
      throw error;
    }
    this.#removal = this.#rotated.keep(this.#rotation.max_files);
  }

  /** Only a file that ends with a whole line gets here. */
  async #setAside(): Promise<void> {
    await this.#closeHandle();
    await this.#files.rename(this.#path, await this.#rotated.freeName(this.#now()));
    this.#length = 0;
    await this.#openUpTo(0);
  }

  async #closeHandle(): Promise<void> {
    const handle = this.#handle;
    this.#handle = null;
    // Everything that counts was synced before.
    await handle?.close().catch(() => undefined);
  }

  /** A new name is durable only once its directory is. */
  async #syncDirectory(): Promise<void> {
    const handle = await this.#files.open(dirname(this.#path), 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  }
}

const nothing = async (): Promise<void> => undefined;

/** Folder by folder: Node's recursive mkdir never ends below some special folders, such as /proc. */
async function makeDirectory(files: FileSystem, path: string): Promise<void> {
  if (await exists(files, path)) return;
  await makeDirectory(files, dirname(path));
  await files.mkdir(path, { mode: DIRECTORY_MODE }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
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
    if (bytesWritten === 0 && rest.some(({ length }) => length > 0)) throw new Error('the system wrote nothing');
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
