/**
 * An object store in a folder: a key is the path of a file. A put writes a temporary file, syncs it, gives it its name
 * and syncs the folder, so a crash leaves no partial object.
 */
import { randomBytes } from 'node:crypto';
import { type FileHandle, link, mkdir, open, readdir, rename, rmdir, stat, unlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import {
  type ByteRange,
  checkKey,
  checkPrefix,
  checkRange,
  isKey,
  type ListedObject,
  type ObjectBody,
  type ObjectInfo,
  type ObjectStore,
  objectStream,
  openBody,
  type PutOptions,
  StoreError,
  type StoreFault,
} from './object-store.ts';
import { errorCode } from '../errors.ts';

/** The owner, and the group of the folder for readers of the lake. The umask applies. */
const FILE_MODE = 0o640;
const FOLDER_MODE = 0o750;
/** A key never begins a name with a dot, so no object has this name. */
const TEMPORARY = /^\.[^/]+\.[0-9a-f]{16}\.tmp$/u;
/** Another process may remove an empty folder between its creation and its first file. */
const MAX_FOLDER_TRIES = 5;

const FAULTS: Readonly<Record<string, StoreFault>> = {
  ENOENT: 'absent',
  ENOTDIR: 'absent',
  EISDIR: 'absent',
  EEXIST: 'exists',
  EACCES: 'denied',
  EPERM: 'denied',
  EROFS: 'denied',
  ENAMETOOLONG: 'invalid',
};

export class FolderStore implements ObjectStore {
  readonly url: string;
  readonly #root: string;

  /** An absolute path. The folder is made by the first put. */
  constructor(root: string) {
    this.url = root;
    this.#root = root;
  }

  async put(key: string, body: ObjectBody, options: PutOptions = {}): Promise<void> {
    checkKey(key);
    const path = join(this.#root, key);
    const temporary = join(dirname(path), `.${baseOf(key)}.${randomBytes(8).toString('hex')}.tmp`);
    try {
      await this.#write(temporary, body);
      await this.#name(temporary, path, options.ifAbsent ?? false);
    } catch (error) {
      await unlink(temporary).catch(() => undefined);
      throw failureOf(path, error, putFaultOf(error));
    }
    // The file has its name already, so the object exists even when this fails.
    try {
      // Another process may have made a folder and not synced its entry yet.
      for (const folder of this.#foldersOf(path)) await syncFolder(folder);
    } catch (error) {
      throw failureOf(path, error, 'unavailable');
    }
  }

  async get(key: string, range?: ByteRange): Promise<Readable> {
    checkKey(key);
    checkRange(key, range);
    const path = join(this.#root, key);
    const handle = await this.#try(path, () => open(path, 'r'));
    try {
      const info = await handle.stat();
      if (!info.isFile()) throw new StoreError('absent', `${path} is not a file`);
      if (range !== undefined && range.offset >= info.size) {
        throw new StoreError('invalid', `${path} has ${info.size} bytes, none at ${range.offset}`);
      }
      const { offset, length } = range ?? { offset: 0, length: info.size };
      // The last byte may be beyond the end; an empty object has no bytes to read.
      const source = handle.createReadStream({ start: offset, end: Math.max(offset, offset + length - 1) });
      return objectStream(source, (error) => failureOf(path, error, 'unavailable'));
    } catch (error) {
      await handle.close();
      throw error instanceof StoreError ? error : failureOf(path, error);
    }
  }

  async head(key: string): Promise<ObjectInfo | null> {
    checkKey(key);
    const path = join(this.#root, key);
    const info = await this.#try(path, () => ifPresent(stat(path)));
    return info?.isFile() === true ? { bytes: info.size, modified: info.mtime } : null;
  }

  async *list(prefix: string): AsyncGenerator<ListedObject> {
    checkPrefix(prefix);
    const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1);
    for await (const each of this.#files(folder, prefix)) {
      if (!TEMPORARY.test(baseOf(each.key)) && isKey(each.key)) yield each;
    }
  }

  async delete(keys: readonly string[]): Promise<void> {
    for (const key of keys) checkKey(key);
    const folders = new Set<string>();
    for (const key of keys) {
      const path = join(this.#root, key);
      const removed = await this.#try(path, () => ifPresent(unlink(path).then(() => true)));
      if (removed === true) folders.add(dirname(path));
    }
    for (const folder of folders) await this.#try(folder, () => ifPresent(syncFolder(folder)));
    for (const folder of folders) await this.#removeEmpty(folder);
  }

  async sweep(prefix: string, unwrittenMs: number): Promise<number> {
    const youngest = Date.now() - unwrittenMs;
    let count = 0;
    for await (const { key, modified } of this.#files(prefix, prefix)) {
      if (!TEMPORARY.test(baseOf(key)) || modified.getTime() > youngest) continue;
      const path = join(this.#root, key);
      if ((await this.#try(path, () => ifPresent(unlink(path).then(() => true)))) === true) count++;
    }
    return count;
  }

  async close(): Promise<void> {}

  async #write(temporary: string, body: ObjectBody): Promise<void> {
    const handle = await this.#create(temporary);
    try {
      await writeFile(handle, openBody(body));
      await handle.sync();
    } finally {
      await handle.close();
    }
  }

  async #create(temporary: string): Promise<FileHandle> {
    for (let attempt = 1; ; attempt++) {
      try {
        await makeFolder(dirname(temporary));
        return await open(temporary, 'wx', FILE_MODE);
      } catch (error) {
        if (errorCode(error) !== 'ENOENT' || attempt === MAX_FOLDER_TRIES) throw error;
      }
    }
  }

  /** A link fails when the name is taken, a rename replaces the file. Both are atomic. */
  async #name(temporary: string, path: string, ifAbsent: boolean): Promise<void> {
    if (!ifAbsent) return rename(temporary, path);
    await link(temporary, path);
    // A leftover of the temporary name is harmless, and the object exists.
    await unlink(temporary).catch(() => undefined);
  }

  /** All files below a folder, with temporary ones. A folder sorts with its slash, which is the order of the keys. */
  async *#files(folder: string, prefix: string): AsyncGenerator<ListedObject> {
    const path = join(this.#root, folder);
    const names = (await this.#try(path, () => ifPresent(namesIn(path)))) ?? [];
    for (const name of names) {
      const key = folder + name;
      if (!key.startsWith(prefix)) continue;
      if (name.endsWith('/')) yield* this.#files(key, prefix);
      else {
        const file = join(this.#root, key);
        const info = await this.#try(file, () => ifPresent(stat(file)));
        if (info?.isFile() === true) yield { key, bytes: info.size, modified: info.mtime };
      }
    }
  }

  /** Removes the folders that became empty. `rmdir` refuses folders with files. */
  async #removeEmpty(folder: string): Promise<void> {
    for (const path of this.#foldersOf(join(folder, 'file')).slice(0, -1)) {
      try {
        await rmdir(path);
      } catch {
        return;
      }
    }
  }

  /** From the folder of a file up to the root. */
  #foldersOf(path: string): readonly string[] {
    const folders = [dirname(path)];
    for (let last = dirname(path); last !== this.#root; folders.push(last)) last = dirname(last);
    return folders;
  }

  async #try<T>(path: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw failureOf(path, error);
    }
  }
}

/** Sorted; folders, also behind symbolic links, end with a slash. */
async function namesIn(path: string): Promise<readonly string[]> {
  const names: string[] = [];
  for (const entry of await readdir(path, { withFileTypes: true })) {
    const target = entry.isSymbolicLink() ? await ifPresent(stat(join(path, entry.name))) : entry;
    names.push(target?.isDirectory() === true ? `${entry.name}/` : entry.name);
  }
  return names.sort(byBytes);
}

/** Makes a folder and its parents, each durable in its own parent. */
async function makeFolder(path: string): Promise<void> {
  try {
    await makeOneFolder(path);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT' || dirname(path) === path) throw error;
    await makeFolder(dirname(path));
    // Tried only once more: a parent that is a link to nothing exists, but no folder can be made in it.
    await makeOneFolder(path);
  }
}

/** The parent of the folder must exist. */
async function makeOneFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: FOLDER_MODE });
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return;
    throw error;
  }
  await syncFolder(dirname(path));
}

async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Undefined when the file is gone. */
async function ifPresent<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (FAULTS[errorCode(error)] === 'absent') return undefined;
    throw error;
  }
}

/**
 * A put never fails with `absent`: an obstacle or a missing source is `invalid`. `EEXIST` means an object only when it
 * comes from the link. A rename onto a folder fails with `EISDIR`, `ENOTEMPTY` or `EEXIST`.
 */
function putFaultOf(error: unknown): StoreFault | undefined {
  const { syscall } = error as NodeJS.ErrnoException;
  const fault = FAULTS[errorCode(error)];
  if (fault === 'absent') return 'invalid';
  return fault === 'exists' && syscall !== 'link' ? 'invalid' : fault;
}

function failureOf(path: string, error: unknown, fault?: StoreFault): StoreError {
  const code = errorCode(error);
  return new StoreError(fault ?? FAULTS[code] ?? 'unavailable', `${path}: ${reasonOf(error as Error)}`, error);
}

/** The words of the system, without its code, the call and the path, which can be that of a temporary file. */
const reasonOf = ({ message }: Error): string => /^E[A-Z0-9]+: (.+?), \w+(?: '.*)?$/su.exec(message)?.[1] ?? message;

const baseOf = (key: string): string => key.slice(key.lastIndexOf('/') + 1);

const byBytes = (left: string, right: string): number => Buffer.compare(Buffer.from(left), Buffer.from(right));
