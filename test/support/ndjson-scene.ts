/** An NDJSON file in a folder of its own, on a file system that fails on demand. */
import type { Logger } from '../../src/component/logger.ts';
import { QUIET } from './quiet-logger.ts';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NdjsonFile, type Rotation } from '../../src/exporters/file/ndjson-file.ts';
import { FaultyFiles } from './faulty-files.ts';

const NAME = 'out.ndjson';

export interface NdjsonScene {
  readonly folder: string;
  readonly path: string;
  readonly files: FaultyFiles;
  open(): Promise<NdjsonFile>;
  /** Every line of every file, oldest file first. Throws when a file ends within a line. */
  lines(): Promise<string[]>;
  close(): Promise<void>;
}

export async function makeNdjsonScene(
  options: {
    readonly rotation?: Partial<Rotation>;
    readonly partBytes?: number;
    readonly directBytes?: number;
    readonly stallMs?: number;
    readonly logger?: Logger;
  } = {},
): Promise<NdjsonScene> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-ndjson-'));
  const path = join(folder, NAME);
  const files = new FaultyFiles();
  const opened: NdjsonFile[] = [];
  let now = Date.UTC(2026, 0, 1);
  const rotation = { max_size: 0, max_age: 0, max_files: 0, ...options.rotation };
  const { rotation: _, logger = QUIET, ...sizes } = options;
  return {
    ...{ folder, path, files },
    open: async () => {
      const file = new NdjsonFile({ ...sizes, path, rotation, logger, now: () => (now += 1), files });
      await file.open();
      opened.push(file);
      return file;
    },
    lines: async () => {
      const rotated = (await readdir(folder)).filter((name) => name !== NAME).sort();
      const texts = await Promise.all([...rotated, NAME].map((name) => readFile(join(folder, name), 'utf8')));
      for (const text of texts) if (text !== '' && !text.endsWith('\n')) throw new Error(`a torn file: ${text}`);
      return texts.flatMap((text) => text.split('\n').slice(0, -1));
    },
    close: async () => {
      files.fault = () => null;
      for (const file of opened) await file.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
