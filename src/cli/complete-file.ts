/**
 * A file that appears under its name when it is complete and on disk. Until then it is `FILE.partial`. Only a regular
 * file is replaced: a rename by root would also replace a device such as /dev/null.
 */
import { type FileHandle, lstat, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { EarlyEnd } from './early-end.ts';

/** Prompts, answers and hashes of keys are for the owner of the file only. */
const MODE = 0o600;

export class CompleteFile {
  readonly #path: string;
  readonly #handle: FileHandle;
  readonly #release: () => void;

  private constructor(path: string, handle: FileHandle, earlyEnd: EarlyEnd) {
    this.#path = path;
    this.#handle = handle;
    this.#release = earlyEnd.prepare(() => this.abandon());
  }

  /** Rejects with the system's error, or with the reason why the path cannot be a file. So do the other methods. */
  static async open(path: string, earlyEnd: EarlyEnd): Promise<CompleteFile> {
    const entry = await lstat(path).catch(() => null);
    if (entry?.isDirectory() === true) throw new Error('it is a folder');
    if (entry?.isFile() === false) throw new Error('it is not a regular file');
    // The mode applies to new files only, and a rest of an earlier run may have another one, or be a link.
    await rm(partialOf(path), { force: true });
    return new CompleteFile(path, await open(partialOf(path), 'wx', MODE), earlyEnd);
  }

  write(data: Buffer): Promise<void> {
    return this.#handle.writeFile(data);
  }

  async finish(): Promise<void> {
    await this.#handle.sync();
    await this.#handle.close();
    await rename(partialOf(this.#path), this.#path);
    const folder = await open(dirname(this.#path));
    // Makes the new name durable. Not every file system can do that.
    await folder.sync().catch(() => undefined);
    await folder.close();
    this.#release();
  }

  /** Removes an unfinished file. After `finish` it does nothing. */
  async abandon(): Promise<void> {
    await this.#handle.close().catch(() => undefined);
    await rm(partialOf(this.#path), { force: true });
    this.#release();
  }
}

const partialOf = (path: string): string => `${path}.partial`;
