/**
 * One NDJSON file that is appended to durably and rotated. After `append` resolves, its lines are on disk; after it rejects,
 * none of them is in the file (what a failed append left is cut off again, at the latest before the next one).
 *
 * States: closed → (open) → ready ⇄ broken, or ready → distrusted → ready. In `broken` the file's end is not known to be a whole
 * line. In `distrusted` a sync has failed: the kernel may have dropped what it could not write and say yes to the next sync, so the
 * file is cut back to what an earlier sync has confirmed, set aside, and a new one begun. Every append first tries to get out
 * of both, and rejects while that fails; so does a timer, because readiness is gone meanwhile and with it perhaps all traffic.
 *
 * The path can be removed, renamed or replaced by another program at any time. Each append compares the path with the open file
 * after the sync and before it resolves. Lines in a removed file are written again to a new one.
 */
import type { FileHandle } from 'node:fs/promises';
import type { Logger } from '../../component/logger.ts';
import { endsWithLines } from './file-end.ts';
import { type FileIdentity, FileOpening } from './file-opening.ts';
import { type FileSystem, NODE_FILES, RotatedFiles } from './rotated-files.ts';

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
  readonly #opening: FileOpening;
  readonly #claim: NonNullable<NdjsonFileParts['claim']>;
  #giveFree: () => Promise<void> = nothing;
  #state: 'closed' | 'ready' | 'broken' | 'distrusted' = 'closed';
  #handle: FileHandle | null = null;
  /** Bytes known to be whole lines on disk. */
  #length = 0;
  #identity: FileIdentity | null = null;
  #createdMs = 0;
  /** Runs from a failure until the sink is well again. */
  #unwell: NodeJS.Timeout | null = null;
  /** Appends run one after the other, and so do repairs. */
  #last: Promise<void> = Promise.resolve();
  /** Old files go while appends go on: to remove a large one takes the system tens of milliseconds. Never rejects. */
  #removal: Promise<void> = Promise.resolve();

  constructor({ path, rotation, logger, now, files = NODE_FILES, claim = async () => nothing }: NdjsonFileParts) {
    this.#claim = claim;
    this.#path = path;
    this.#rotation = rotation;
    this.#logger = logger;
    this.#now = now;
    this.#files = files;
    this.#rotated = new RotatedFiles(path, logger, files);
    this.#opening = new FileOpening({ path, files, logger, now, rotated: this.#rotated });
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

  /**
   * Opens or makes the file and cuts off a torn last line. A file whose end is not a line of this exporter is renamed and a new one
   * begun. Rejects with the system's error, also when the path is not a regular file (ELOOP for a symbolic link, ENXIO).
   */
  async open(): Promise<void> {
    await this.#opening.makeFolder();
    this.#giveFree = await this.#claim();
    await this.#openUpTo(null);
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
      await this.#write(chunks);
      this.#length += bytes;
      if (!this.#isUnchanged) await this.#moveOn(chunks, bytes);
    } catch (error) {
      if (this.#state !== 'closed') await this.#afterFailure(error);
      throw error;
    }
  }

  async #write(chunks: readonly Buffer[]): Promise<void> {
    const handle = this.#handle;
    if (handle === null) throw new Error('the file is closed');
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

  /**
   * Length of the file at the path; null when it is not the one that was opened. Synchronous: the entry of a file that was just
   * written is in the system's cache, and the thread pool would take thirty times as long.
   */
  #lengthAtPath(): number | null {
    try {
      const { ino, dev, size } = this.#files.lstatSync(this.#path);
      return ino === this.#identity?.ino && dev === this.#identity.dev ? size : null;
    } catch {
      return null;
    }
  }

  get #isUnchanged(): boolean {
    return this.#lengthAtPath() === this.#length;
  }

  /**
   * Another program has removed, renamed or shortened the file. When the lines of the append are still in a file that has a name,
   * a new file is begun, or the same one goes on; otherwise the lines are written again. Rejects when that fails.
   */
  async #moveOn(chunks: readonly Buffer[], bytes: number): Promise<void> {
    const handle = this.#handle;
    if (handle === null) throw new Error('the file is closed');
    const { nlink, size } = await handle.stat();
    const isKept = nlink > 0 && (size > this.#length || (await endsWithLines(handle, size, bytes)));
    this.#state = 'broken';
    // Lines that were joined to the torn end of a shortened file are cut off before they are written again.
    if (!isKept) await handle.truncate(Math.max(0, size - bytes));
    await this.#closeHandle();
    await this.#openUpTo(null);
    this.#state = 'ready';
    this.#logger.warn(
      { path: this.#path },
      'another program removed, renamed or shortened the file: going on without it',
    );
    if (isKept) return;
    await this.#write(chunks);
    this.#length += bytes;
    if (!this.#isUnchanged) throw new Error('another program changes the file again and again');
  }

  /** What a failed append left is taken back at once if that is possible. */
  async #afterFailure(error: unknown): Promise<void> {
    if (this.#unwell === null) this.#logger.error({ error, path: this.#path }, 'the file took no data');
    await this.#recover().catch(() => undefined);
    this.#watch();
  }

  #watch(): void {
    if (this.#unwell !== null) clearTimeout(this.#unwell);
    this.#unwell = setTimeout(() => void this.#inTurn(() => this.#repair()), UNWELL_MS);
    this.#unwell.unref();
  }

  async #repair(): Promise<void> {
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
    const isOurs = this.#lengthAtPath() !== null;
    await this.#openUpTo(isOurs ? this.#length : null);
    if (setAside && isOurs && this.#length > 0) {
      this.#logger.warn({ path: this.#path }, 'a sync failed: the file is set aside and a new one begun');
      await this.#setAside();
    }
    this.#state = 'ready';
  }

  async #openUpTo(end: number | null): Promise<void> {
    const { handle, length, createdMs, identity } = await this.#opening.open(end);
    if (length === 0 || this.#createdMs === 0) this.#createdMs = createdMs;
    this.#length = length;
    this.#identity = identity;
    this.#handle = handle;
  }

  #isDue(bytes: number): boolean {
    if (this.#length === 0) return false;
    const { max_size: maxSize, max_age: maxAge } = this.#rotation;
    return (maxSize > 0 && this.#length + bytes > maxSize) || (maxAge > 0 && this.#now() - this.#createdMs >= maxAge);
  }

  async #rotate(): Promise<void> {
    // Files that fill faster than the system removes old ones wait here, so that the disk does not run full.
    await this.#removal;
    // Another program's file at the path is not this exporter's to rename.
    if (!this.#isUnchanged) return;
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
}

const nothing = async (): Promise<void> => undefined;

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
