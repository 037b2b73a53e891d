/** The `file` exporter: each record is one line of JSON, on disk before the request is acknowledged. */
import { statSync } from 'node:fs';
import type { Host } from '../../component/component.ts';
import { defineExporter, type Exporter, type Rows } from '../../component/exporter.ts';
import { ProcessLock } from '../../component/process-lock.ts';
import { integerOption, optionGroup } from '../../component/option-schema.ts';
import { UserError } from '../../errors.ts';
import type { Batch } from '../../pdata/batch.ts';
import type { Steps } from '../../pdata/steps.ts';
import { ChunkPool } from '../../pdata/chunk-pool.ts';
import { encodeInSteps } from '../../pdata/encode-rows.ts';
import { NdjsonFile, type Rotation } from './ndjson-file.ts';

export interface FileOptions {
  readonly path: string;
  readonly rotation: Rotation;
}

class FileExporter implements Exporter {
  readonly dividesWrites = true;
  readonly #host: Host;
  readonly #options: FileOptions;
  readonly #pool = new ChunkPool();
  readonly #file: NdjsonFile;

  constructor(options: FileOptions, host: Host) {
    this.#host = host;
    this.#options = options;
    this.#file = new NdjsonFile({
      path: host.resolvePath(options.path),
      rotation: options.rotation,
      logger: host.logger,
      now: () => host.now(),
      claim: () => claimFile(options.path, host),
    });
    host.meter.gauge('sluice_file_size_bytes', 'Size of the file being written.', () => this.#file.length);
  }

  async start(): Promise<void> {
    try {
      await this.#file.open();
    } catch (error) {
      throw openError(error as NodeJS.ErrnoException, this.#options.path);
    }
    this.#host.logger.info({ path: this.#host.resolvePath(this.#options.path) }, 'writing telemetry to a file');
  }

  async stop(): Promise<void> {
    await this.#file.close();
  }

  /** A file has one writer, so the running writer adopts a new rotation. */
  reconfigure({ path, rotation }: FileOptions): (() => void) | null {
    if (this.#host.resolvePath(path) !== this.#host.resolvePath(this.#options.path)) return null;
    return () => this.#file.rotateBy(rotation);
  }

  healthy(): boolean {
    return this.#file.healthy;
  }

  isStalled(): boolean {
    return this.#file.isStalled;
  }

  onStalled(callback: () => void): () => void {
    return this.#file.onStalled(callback);
  }

  encode(batch: Batch): Steps<Rows> {
    return encodeInSteps(batch, 'ndjson', this.#pool);
  }

  write(group: readonly Rows[]): Promise<void> {
    return this.#file.append(group.flatMap(({ chunks }) => chunks));
  }
}

/**
 * Two writers would cut off each other's lines as torn lines, and each would rotate the file that the other one writes.
 */
async function claimFile(path: string, host: Host): Promise<() => Promise<void>> {
  const held = (holder: string): UserError =>
    holder === `pid ${host.process.pid}`
      ? new UserError(`another exporter of this daemon writes to ${path}`, 'Give each a file of its own.')
      : new UserError(`another daemon (${holder}) writes to ${path}`, 'Stop it first, or choose another path.');
  const unwritable = (): UserError =>
    statSync(host.resolvePath(path), { throwIfNoEntry: false })?.isDirectory() === true
      ? isDirectory(path)
      : new UserError(`no permission to write ${path}.lock`, 'Choose a path in a folder that can be written.');
  const lock = await ProcessLock.acquire({
    path: `${host.resolvePath(path)}.lock`,
    host: host.process,
    held,
    unwritable,
    lost: (holder) => host.fatal(held(holder)),
  });
  return () => lock.release();
}

const isDirectory = (path: string): UserError =>
  new UserError(`${path} is a directory`, 'exporters.file.path names the file itself.');

function openError(error: NodeJS.ErrnoException, path: string): Error {
  if (error.code === 'EACCES' || error.code === 'EPERM')
    return new UserError(`no permission to write ${path}`, 'Choose another path, or change its owner.');
  if (error.code === 'ENOTDIR' || error.code === 'EEXIST') {
    return new UserError(`${path} cannot be made: a part of the path is a file`, 'Choose another path.');
  }
  if (error.code === 'ENOENT') return new UserError(`the folder of ${path} cannot be made`, 'Choose another path.');
  if (error.code === 'EISDIR') return isDirectory(path);
  if (error.code === 'ELOOP')
    return new UserError(
      `${path} is a symbolic link`,
      'Name the file that it points to: rotation would rename the link.',
    );
  if (error.code === 'ENXIO')
    return new UserError(
      `${path} is not a regular file`,
      'Choose the path of a regular file, or one that does not exist.',
    );
  if (error.code === 'ENOSPC')
    return new UserError(`no space left to write ${path}`, 'Free some disk space or choose another path.');
  if (error.code === 'EROFS')
    return new UserError(`${path} is on a read-only file system`, 'Choose a path that can be written.');
  return error;
}

export const fileExporter = defineExporter<FileOptions>({
  type: 'file',
  summary: 'Appends every record as a line of JSON to a file and syncs it before the answer.',
  stability: 'beta',
  placement: 'single',
  schema: {
    type: 'object',
    additionalProperties: false,
    properties: {
      path: {
        type: 'string',
        format: 'own_path',
        minLength: 1,
        default: './data/telemetry.ndjson',
        description: 'The file that is appended to. Made with mode 0600.',
      },
      rotation: optionGroup('When the file is renamed with a date and a new one is begun.', {
        max_size: {
          type: 'integer',
          format: 'byte_size',
          minimum: 0,
          default: '512MiB',
          description: 'Largest size; 0 means no limit.',
        },
        max_age: {
          type: 'integer',
          format: 'duration',
          minimum: 0,
          default: '24h',
          description: 'Longest age; 0 means no limit.',
        },
        max_files: integerOption([0, 100000], 20, 'Rotated files kept, the oldest are removed; 0 keeps all.'),
      }),
    },
  },
  example: 'path: ./data/telemetry.ndjson',
  requires: ['project', 'environment'],
  signals: ['traces', 'logs', 'metrics'],
  create: (options, host) => new FileExporter(options, host),
});
