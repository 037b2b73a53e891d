/**
 * Opens the file: only a regular file, with private mode, cut to its last whole line, with a durable name. A file with
 * an unknown end is renamed, not cut.
 */
import { constants, type Stats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Logger } from '../../component/logger.ts';
import { isTornLine, lastLineEnd } from './file-end.ts';
import { exists, type FileSystem, type RotatedFiles } from './rotated-files.ts';

/** Telemetry holds private content: only the daemon's user may read it. */
const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;
const PERMISSIONS = 0o777;
/** Append only. Never follows a symbolic link, and never blocks on a pipe without a reader. */
const FLAGS = constants.O_RDWR | constants.O_CREAT | constants.O_APPEND | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Distinguishes a file from another one at the same path. */
export type FileIdentity = Pick<Stats, 'ino' | 'dev'>;

export interface OpenedFile {
  readonly handle: FileHandle;
  /** Bytes of whole lines. */
  readonly length: number;
  /** Unix milliseconds. */
  readonly createdMs: number;
  readonly identity: FileIdentity;
}

export interface FileOpeningParts {
  readonly path: string;
  readonly files: FileSystem;
  readonly logger: Logger;
  readonly rotated: RotatedFiles;
  now(): number;
}

export class FileOpening {
  readonly #parts: FileOpeningParts;

  constructor(parts: FileOpeningParts) {
    this.#parts = parts;
  }

  async makeFolder(): Promise<void> {
    await makeFolder(this.#parts.files, dirname(this.#parts.path));
  }

  /**
   * `end` is the length that this process has confirmed, before its own unconfirmed bytes; null when it does not know
   * the file. The file can be shorter now. Rejects with the system's error: ELOOP for a symbolic link, ENXIO for other
   * irregular files.
   */
  async open(end: number | null): Promise<OpenedFile> {
    const { path, files, logger, now } = this.#parts;
    const handle = await files.open(path, FLAGS, FILE_MODE);
    try {
      const stats = await handle.stat();
      if (!stats.isFile()) throw Object.assign(new Error(`ENXIO: ${path} is not a regular file`), { code: 'ENXIO' });
      const { size, birthtimeMs } = stats;
      const length = await lastLineEnd(handle, Math.min(size, end ?? size));
      if (length < size && end === null && !(await isTornLine(handle, length, size))) {
        await handle.close();
        await this.#setAside();
        return await this.open(0);
      }
      if (size > 0 && (stats.mode & PERMISSIONS) !== FILE_MODE) await this.#restrict(handle);
      if (length < size) {
        await handle.truncate(length);
        await handle.datasync();
        // The failure of an append of this process is logged already.
        const level = end === null ? 'warn' : 'debug';
        logger[level]({ path, bytes: size - length }, 'cut off lines of requests that were not acknowledged');
      }
      await this.syncFolder();
      return { handle, length, createdMs: size === 0 || birthtimeMs === 0 ? now() : birthtimeMs, identity: stats };
    } catch (error) {
      await handle.close().catch(() => undefined);
      throw error;
    }
  }

  /** A file of another owner keeps its mode. */
  async #restrict(handle: FileHandle): Promise<void> {
    const { path, logger } = this.#parts;
    try {
      await handle.chmod(FILE_MODE);
      logger.warn({ path }, 'other users could read the file: its mode is 0600 now');
    } catch (error) {
      logger.warn({ path, error }, 'other users may read the file: its mode could not be changed to 0600');
    }
  }

  async #setAside(): Promise<void> {
    const { path, files, logger, rotated, now } = this.#parts;
    const aside = await rotated.freeForeignName(now());
    await files.rename(path, aside);
    logger.warn(
      { path, aside },
      'the file does not end with a line of telemetry: it is renamed and a new one is begun',
    );
  }

  /** A new name is durable only after its folder is synced. */
  async syncFolder(): Promise<void> {
    const handle = await this.#parts.files.open(dirname(this.#parts.path), 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  }
}

/**
 * Makes each folder by itself, because the recursive mkdir of Node does not return below some special folders such as
 * /proc.
 */
async function makeFolder(files: FileSystem, path: string): Promise<void> {
  if (await exists(files, path)) return;
  await makeFolder(files, dirname(path));
  await files.mkdir(path, { mode: FOLDER_MODE }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
}
