/** The files that rotation has set aside: their names, and the removal of the oldest ones. */
import { lstatSync, type Stats } from 'node:fs';
import * as nodeFiles from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import type { Logger } from '../../component/logger.ts';
import { literalPattern } from '../../pdata/literal-pattern.ts';

/** The file operations of the exporter. Tests replace them to inject failures. */
export type FileSystem = Pick<typeof nodeFiles, 'mkdir' | 'open' | 'readdir' | 'rename' | 'stat' | 'unlink'> & {
  lstatSync(path: string): Stats;
};

export const NODE_FILES: FileSystem = { ...nodeFiles, lstatSync };

interface RotatedFile {
  readonly name: string;
  readonly stamp: string;
  readonly number: number;
}

export class RotatedFiles {
  readonly #folder: string;
  readonly #stem: string;
  readonly #extension: string;
  readonly #logger: Logger;
  readonly #files: FileSystem;

  /** `path` is the file that is being written. */
  constructor(path: string, logger: Logger, files: FileSystem) {
    this.#folder = dirname(path);
    this.#extension = extname(path);
    this.#stem = basename(path, this.#extension);
    this.#logger = logger;
    this.#files = files;
  }

  /**
   * `telemetry-2026-11-21T10-15-30.123.ndjson`. It sorts after those of all earlier files: numbered when two
   * rotations fall into one millisecond, and when the clock was set back.
   */
  async freeName(nowMs: number): Promise<string> {
    const last = (await this.#list()).at(-1);
    const stamp = stampOf(nowMs);
    const [latest, number] = last === undefined || last.stamp < stamp ? [stamp, 0] : [last.stamp, last.number + 1];
    return this.#free((place) => `${this.#stem}-${latest}${numbered(number + place)}${this.#extension}`);
  }

  /**
   * A name for a file of another program: `telemetry.ndjson.set-aside-2026-11-21T10-15-30.123`. `keep` never removes
   * it.
   */
  freeForeignName(nowMs: number): Promise<string> {
    return this.#free((number) => `${this.#stem}${this.#extension}.set-aside-${stampOf(nowMs)}${numbered(number)}`);
  }

  async #free(nameOf: (number: number) => string): Promise<string> {
    for (let number = 0; ; number++) {
      const path = join(this.#folder, nameOf(number));
      if (!(await exists(this.#files, path))) return path;
    }
  }

  /**
   * Removes the oldest files beyond `most`; 0 keeps all. Never rejects: one file too many is no reason to refuse a
   * request.
   */
  async keep(most: number): Promise<void> {
    if (most === 0) return;
    try {
      const names = await this.#list();
      for (const { name } of names.slice(0, Math.max(0, names.length - most))) {
        await this.#files.unlink(join(this.#folder, name));
        this.#logger.info({ file: name }, 'removed the oldest rotated file');
      }
    } catch (error) {
      this.#logger.warn({ error }, 'old rotated files could not be removed');
    }
  }

  /** Oldest first. Only names that rotation gives; other files in the folder are not touched. */
  async #list(): Promise<readonly RotatedFile[]> {
    const [stem, extension] = [literalPattern(this.#stem), literalPattern(this.#extension)];
    const form = new RegExp(`^${stem}-(\\d{4}-\\d\\d-\\d\\dT[\\d-]+\\.\\d{3})(?:\\.(\\d+))?${extension}$`);
    return (await this.#files.readdir(this.#folder))
      .flatMap((name) => {
        const [match, stamp = '', number = '0'] = form.exec(name) ?? [];
        return match === undefined ? [] : [{ name, stamp, number: Number(number) }];
      })
      .sort((a, b) => (a.stamp === b.stamp ? a.number - b.number : a.stamp < b.stamp ? -1 : 1));
  }
}

const numbered = (number: number): string => (number === 0 ? '' : `.${number}`);

const stampOf = (nowMs: number): string => new Date(nowMs).toISOString().replaceAll(':', '-').slice(0, -1);

export async function exists(files: FileSystem, path: string): Promise<boolean> {
  return files.stat(path).then(
    () => true,
    () => false,
  );
}
