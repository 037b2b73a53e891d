/**
 * One NDJSON file with durable appends and rotation. After `append` resolves, its lines are on disk. After it rejects,
 * none of its lines are in the file: the rest of a failed append is cut off, at the latest before the next append.
 *
 * States: closed → (open) → ready ⇄ broken, or ready → distrusted → ready. In `broken` it is unknown whether the file
 * ends with a whole line. In `distrusted` a sync has failed: the kernel may have dropped pages and still report success
 * for the next sync. So the file is cut back to the length that an earlier sync confirmed and set aside, and a new file
 * is begun. Every append first tries to leave these two states and rejects while that fails; so does a timer.
 *
 * Another program can remove, rename or replace the file at any time. Each append compares the path with the open file
 * before it writes, and again after the sync and before it resolves. Lines in a removed file are written again to a new
 * file.
 *
 * While a disk does not answer, the file is stalled: nothing can end the append. It is not given up, so what it has
 * written is known when it ends.
 *
 * A large append is written in parts, so that appends of other requests do not wait for all of it. Large appends run
 * one after the other, and the file is not rotated meanwhile. When a part fails, the earlier ones are removed.
 */
import type { FileHandle } from 'node:fs/promises';
import type { Logger } from '../../component/logger.ts';
import { Stall } from '../../component/stall.ts';
import { DirectWrites } from './direct-writes.ts';
import { endsWithLines, lastLineEnd } from './file-end.ts';
import { type FileIdentity, FileOpening } from './file-opening.ts';
import { bytesOf, LargeAppend, partsOf, type Range } from './large-append.ts';
import { Outage } from './outage.ts';
import { type FileSystem, NODE_FILES, RotatedFiles } from './rotated-files.ts';
import { Withdrawal } from './withdrawal.ts';
import { writeAll } from './write-all.ts';

export interface Rotation {
  /** Bytes. A file that would grow beyond it is rotated first. 0: no limit. */
  readonly max_size: number;
  /** Milliseconds since the file was created. 0: no limit. */
  readonly max_age: number;
  /** The number of rotated files to keep; the oldest ones are removed. 0: all. */
  readonly max_files: number;
}

export interface NdjsonFileParts {
  readonly path: string;
  readonly rotation: Rotation;
  readonly logger: Logger;
  now(): number;
  readonly files?: FileSystem;
  readonly partBytes?: number;
  readonly directBytes?: number;
  readonly stallMs?: number;
  /** Ensures, before the file is touched, that no other process writes to it. Returns the function that releases it. */
  readonly claim?: () => Promise<() => Promise<void>>;
}

/** Larger appends are written in parts of about this size. */
const PART_BYTES = 8388608;
const CHANGED_AGAIN = 'another program changes the file again and again';

export class NdjsonFile {
  readonly #path: string;
  #rotation: Rotation;
  readonly #logger: Logger;
  readonly #now: () => number;
  readonly #files: FileSystem;
  readonly #rotated: RotatedFiles;
  readonly #opening: FileOpening;
  readonly #withdrawal: Withdrawal;
  readonly #partBytes: number;
  readonly #directBytes: number | undefined;
  readonly #stall: Stall;
  readonly #outage: Outage;
  readonly #claim: NonNullable<NdjsonFileParts['claim']>;
  #release: () => Promise<void> = nothing;
  #state: 'closed' | 'ready' | 'broken' | 'distrusted' = 'closed';
  #handle: FileHandle | null = null;
  #directWrites: DirectWrites | null = null;
  /** The length up to which the file is whole lines on disk. */
  #length = 0;
  #identity: FileIdentity | null = null;
  #createdMs = 0;
  /** Appends and repairs run one after the other. */
  #last: Promise<void> = Promise.resolve();
  #lastLarge: Promise<void> = Promise.resolve();
  /** A large append with parts in the file that is not complete. */
  #large: LargeAppend | null = null;
  /** Parts of a failed large append that are still in the file. */
  #failedParts: readonly Range[] = [];
  /** Old files are removed beside the appends: removing a large one takes tens of milliseconds. Never rejects. */
  #removal: Promise<void> = Promise.resolve();

  constructor(parts: NdjsonFileParts) {
    const { path, rotation, logger, now, files = NODE_FILES } = parts;
    this.#claim = parts.claim ?? (async () => nothing);
    this.#partBytes = parts.partBytes ?? PART_BYTES;
    this.#directBytes = parts.directBytes;
    this.#stall = new Stall(path, logger, parts.stallMs);
    this.#outage = new Outage(path, logger, () => this.#inTurn(() => this.#repair()));
    this.#path = path;
    this.#rotation = rotation;
    this.#logger = logger;
    this.#now = now;
    this.#files = files;
    this.#rotated = new RotatedFiles(path, logger, files);
    this.#opening = new FileOpening({ path, files, logger, now, rotated: this.#rotated });
    this.#withdrawal = new Withdrawal(path, files, () => this.#opening.syncFolder());
  }

  get healthy(): boolean {
    return this.#state === 'ready' && !this.#outage.isUnready && !this.isStalled;
  }

  get isStalled(): boolean {
    return this.#stall.active;
  }

  /** Calls back each time `isStalled` becomes true. Returns the function that unsubscribes. */
  onStalled(callback: () => void): () => void {
    return this.#stall.on(callback);
  }

  get length(): number {
    return this.#length;
  }

  /** Takes effect with the next append. */
  rotateBy(rotation: Rotation): void {
    this.#rotation = rotation;
  }

  /**
   * Opens or creates the file and cuts off a torn last line. A file that does not end with a line of this exporter is
   * renamed and a new one is begun. Rejects with the system's error, also when the path is not a regular file (ELOOP
   * for a symbolic link, ENXIO).
   */
  async open(): Promise<void> {
    await this.#opening.makeFolder();
    this.#release = await this.#claim();
    await this.#openUpTo(null);
    this.#state = 'ready';
  }

  append(chunks: readonly Buffer[]): Promise<void> {
    const parts = partsOf(chunks, this.#partBytes);
    if (parts.length <= 1) return this.#inTurn(() => this.#append(chunks));
    const appended = this.#lastLarge.then(() => this.#appendParts(new LargeAppend(parts)));
    this.#lastLarge = appended.catch(() => undefined);
    return appended;
  }

  async close(): Promise<void> {
    this.#outage.stop();
    await this.#lastLarge;
    await this.#last;
    this.#state = 'closed';
    await this.#closeHandle();
    await this.#removal;
    const release = this.#release;
    // Only once: another process may hold the claim later.
    this.#release = nothing;
    await release();
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const result = this.#last.then(() => this.#stall.watch(work));
    this.#last = result.catch(() => undefined);
    return result;
  }

  async #appendParts(large: LargeAppend): Promise<void> {
    for (const part of large.parts) await this.#inTurn(() => this.#appendPart(part, large));
  }

  async #appendPart(part: readonly Buffer[], large: LargeAppend): Promise<void> {
    if (large.failure !== null) throw large.failure;
    await this.#append(part, large);
    if (part === large.parts.at(-1)) this.#large = null;
  }

  /** `large`: the append that the chunks are a part of. */
  async #append(chunks: readonly Buffer[], large: LargeAppend | null = null): Promise<void> {
    const bytes = bytesOf(chunks);
    try {
      if (this.#state === 'broken' || this.#state === 'distrusted') await this.#recover();
      // Another program that renamed the file may compress it already, and would not read these lines.
      if (this.#lengthAtPath() === null) await this.#leave();
      if (large !== null && large.failure !== null) throw large.failure;
      if (this.#isDue(large?.bytes ?? bytes)) await this.#rotate();
      this.#large ??= large;
      const holeEnd = await this.#write(chunks);
      this.#length += bytes;
      if (!this.#isUnchanged || holeEnd !== null) await this.#moveOn(chunks, large, holeEnd);
      else if (large !== null) large.ranges = [...large.ranges, { from: this.#length - bytes, to: this.#length }];
      this.#outage.written();
    } catch (error) {
      if (large !== null) this.#failLarge(error);
      if (this.#state !== 'closed') await this.#afterFailure(error);
      throw error;
    }
  }

  /** The recovery removes its parts. */
  #failLarge(error: unknown): void {
    if (this.#large === null) return;
    this.#large.failure = error instanceof Error ? error : new Error(String(error));
    this.#failedParts = this.#large.ranges;
    this.#large = null;
    if (this.#state === 'ready' && this.#failedParts.length > 0) this.#state = 'broken';
  }

  /** Returns the offset at which zeros before the chunks end; null: there are none. */
  async #write(chunks: readonly Buffer[]): Promise<number | null> {
    const handle = this.#opened();
    let atWorst: 'broken' | 'distrusted' = 'broken';
    try {
      await writeAll(handle, await this.#writeDirectly(chunks));
      atWorst = 'distrusted';
      // Together, because under load each wait takes an iteration of the event loop.
      const hole = this.#directWrites?.holeEnd(bytesOf(chunks), this.#length) ?? null;
      const [holeEnd] = await Promise.all([hole, handle.datasync()]);
      return holeEnd;
    } catch (error) {
      this.#state = atWorst;
      throw error;
    }
  }

  #opened(): FileHandle {
    if (this.#handle === null) throw new Error('the file is closed');
    return this.#handle;
  }

  /** Returns the chunks that are left to a normal append. */
  async #writeDirectly(chunks: readonly Buffer[]): Promise<readonly Buffer[]> {
    const writes = this.#directWrites;
    if (writes === null || !writes.isFor(bytesOf(chunks), this.#length)) return chunks;
    // After another program has shortened the file, only a normal append writes to its end.
    return this.#isUnchanged ? writes.append(chunks, this.#length) : chunks;
  }

  /**
   * The length of the file at the path; null when it is another file than the open one. Synchronous: the entry of a
   * file that was just written is in the system's cache, and a call through the thread pool takes thirty times as long.
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

  /** Another program has removed, renamed or replaced the file since the last append. */
  async #leave(): Promise<void> {
    await this.#leaveParts(false);
    this.#state = 'broken';
    await this.#reopen();
  }

  /** Earlier parts of a large append stay in a renamed file; when they are lost, the append fails. */
  async #leaveParts(isShortened: boolean): Promise<void> {
    const large = this.#large;
    if (large === null || large.ranges.length === 0) return;
    large.ranges = [];
    const { nlink, size } = await this.#opened().stat();
    if (isShortened || nlink === 0 || size < this.#length)
      this.#failLarge(new Error('another program removed a part of the lines'));
  }

  /**
   * Runs after an append, when another program has removed, renamed or shortened the file meanwhile. If the lines of
   * the append are still in a file that has a name, the exporter begins a new file or continues the same one. Otherwise
   * it writes the lines again. Rejects when that fails. If the lines are kept and only the new file cannot be opened,
   * the next append rejects. `holeEnd`: the offset up to which the file has zeros, because it was shortened; null: it
   * has none.
   */
  async #moveOn(chunks: readonly Buffer[], large: LargeAppend | null, holeEnd: number | null): Promise<void> {
    const handle = this.#opened();
    const bytes = bytesOf(chunks);
    const { nlink, size } = await handle.stat();
    const isKept = nlink > 0 && holeEnd === null && (size > this.#length || (await endsWithLines(handle, size, bytes)));
    await this.#leaveParts(holeEnd !== null);
    this.#state = 'broken';
    const failure = large?.failure ?? null;
    if (holeEnd !== null) await handle.truncate(await lastLineEnd(handle, holeEnd));
    // Lines behind the torn end of a shortened file are cut off before they are written again.
    else if (!isKept || failure !== null) await handle.truncate(Math.max(0, size - bytes));
    try {
      await this.#reopen();
    } catch (error) {
      if (!isKept || failure !== null) throw error;
      // These lines are on disk in a file with a name. Written again, they would be stored twice.
      return this.#afterFailure(error);
    }
    if (failure !== null) throw failure;
    if (isKept) return;
    const holeAgain = await this.#write(chunks);
    if (holeAgain !== null) {
      // A part of these lines may be missing. The recovery cuts the file back to the lines before the zeros.
      this.#state = 'broken';
      this.#length = await lastLineEnd(this.#opened(), holeAgain);
      throw new Error(CHANGED_AGAIN);
    }
    this.#length += bytes;
    if (large !== null) large.ranges = [{ from: this.#length - bytes, to: this.#length }];
    if (!this.#isUnchanged) throw new Error(CHANGED_AGAIN);
  }

  async #reopen(): Promise<void> {
    await this.#closeHandle();
    await this.#openUpTo(null);
    this.#state = 'ready';
    this.#logger.warn(
      { path: this.#path },
      'another program removed, renamed or shortened the file: continuing with a new file',
    );
  }

  /** Cuts off the rest of a failed append at once if possible. */
  async #afterFailure(error: unknown): Promise<void> {
    this.#outage.begin(error);
    await this.#recover().catch(() => undefined);
    this.#outage.repairLater();
  }

  async #repair(): Promise<void> {
    if (this.#state !== 'closed') await this.#recover();
  }

  /** Cuts the file back to the synced length. Reopens it: a descriptor with a failed sync is not used again. */
  async #recover(): Promise<void> {
    if (this.#state === 'ready') return;
    const setAside = this.#state === 'distrusted';
    await this.#closeHandle();
    const isOurs = this.#lengthAtPath() !== null;
    if (setAside || !isOurs) this.#failLarge(new Error('the file is not used any more'));
    if (!isOurs) this.#failedParts = [];
    await this.#openUpTo(isOurs ? this.#length : null);
    await this.#removeFailedParts();
    if (setAside && isOurs && this.#length > 0) {
      await this.#setAside();
      this.#logger.warn({ path: this.#path }, 'a sync failed: the file was renamed and a new one is begun');
    }
    this.#state = 'ready';
  }

  async #openUpTo(end: number | null): Promise<void> {
    const { handle, length, createdMs, identity } = await this.#opening.open(end);
    this.#handle = handle;
    this.#directWrites = new DirectWrites(this.#files, handle, this.#directBytes);
    const lengthAfterRemoval = await this.#withdrawal.finish(handle);
    if (lengthAfterRemoval !== null) this.#failedParts = [];
    if (length === 0 || this.#createdMs === 0) this.#createdMs = createdMs;
    this.#length = lengthAfterRemoval ?? length;
    this.#identity = identity;
  }

  async #removeFailedParts(): Promise<void> {
    const handle = this.#handle;
    // A removal that failed may have cut off some of them.
    const parts = this.#failedParts.filter(({ to }) => to <= this.#length);
    const [first] = parts;
    if (handle === null || first === undefined) return;
    const bytes = parts.reduce((sum, { from, to }) => sum + to - from, 0);
    if (first.from + bytes === this.#length) {
      // No other lines follow these parts.
      await handle.truncate(first.from);
      await handle.datasync();
      this.#length = first.from;
    } else {
      await this.#withdrawal.begin(handle, this.#length, parts);
      this.#failedParts = [];
      this.#length = (await this.#withdrawal.finish(handle)) ?? this.#length;
    }
    this.#failedParts = [];
    this.#logger.warn({ path: this.#path, bytes }, 'removed lines of a large request that could not be written');
  }

  #isDue(bytes: number): boolean {
    if (this.#length === 0 || this.#large !== null) return false;
    const { max_size: maxSize, max_age: maxAge } = this.#rotation;
    const nowMs = this.#now();
    // The age of a file that was created while the clock was ahead begins now.
    this.#createdMs = Math.min(this.#createdMs, nowMs);
    return (maxSize > 0 && this.#length + bytes > maxSize) || (maxAge > 0 && nowMs - this.#createdMs >= maxAge);
  }

  async #rotate(): Promise<void> {
    // When files fill faster than the system removes old ones, appends wait here, so that the disk does not fill up.
    await this.#removal;
    // A file of another program at the path must not be renamed.
    if (!this.#isUnchanged) return;
    try {
      await this.#setAside();
    } catch (error) {
      this.#state = 'broken';
      throw error;
    }
    this.#removal = this.#rotated.keep(this.#rotation.max_files);
  }

  /** Precondition: the file ends with a whole line. */
  async #setAside(): Promise<void> {
    await this.#closeHandle();
    await this.#files.rename(this.#path, await this.#rotated.freeName(this.#now()));
    this.#length = 0;
    await this.#openUpTo(0);
  }

  async #closeHandle(): Promise<void> {
    const handle = this.#handle;
    this.#handle = null;
    const directWrites = this.#directWrites;
    this.#directWrites = null;
    // All acknowledged bytes were synced before.
    await directWrites?.close().catch(() => undefined);
    await handle?.close().catch(() => undefined);
  }
}

const nothing = async (): Promise<void> => undefined;
