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
  readonly #opening: Promise<FileHandle>;
  readonly #release: () => void;

  private constructor(path: string, earlyEnd: EarlyEnd) {
    this.#path = path;
    // Before the file exists: a signal may arrive at any moment.
    this.#release = earlyEnd.prepare(() => this.abandon());
    this.#opening = open(partialOf(path), 'wx', MODE);
  }

  /** Rejects with the system's error, or with the reason why the path cannot be a file. So do the other methods. */
  static async open(path: string, earlyEnd: EarlyEnd): Promise<CompleteFile> {
    const entry = await lstat(path).catch(() => null);
    if (entry?.isDirectory() === true) throw new Error('it is a folder');
    if (entry?.isFile() === false) throw new Error('it is not a regular file');
    // The mode applies to new files only, and a rest of an earlier run may have another one, or be a link.
    await rm(partialOf(path), { force: true });
    const file = new CompleteFile(path, earlyEnd);
    await file.#opening.catch((error: unknown) => {
      file.#release();
      throw error;
    });
    return file;
  }

  async write(data: Buffer): Promise<void> {
    await (await this.#opening).writeFile(data);
  }

  async finish(): Promise<void> {
    const handle = await this.#opening;
    await handle.sync();
    await handle.close();
    await rename(partialOf(this.#path), this.#path);
    const folder = await open(dirname(this.#path));
    // Makes the new name durable. Not every file system can do that.
    await folder.sync().catch(() => undefined);
    await folder.close();
    this.#release();
  }

  /** Removes an unfinished file. After `finish` it does nothing. */
  async abandon(): Promise<void> {
    await this.#opening.then((handle) => handle.close()).catch(() => undefined);
    await rm(partialOf(this.#path), { force: true });
    this.#release();
  }
}

const partialOf = (path: string): string => `${path}.partial`;
