/** DuckDB, which sorts the rows and writes and reads Parquet: loaded when it is needed, with limits of its own. */
import type { DuckDBAppender, DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { UserError } from '../errors.ts';

const PACKAGE = '@duckdb/node-api';
/** A whole version: all versions of the package are pre-releases to npm, which no range such as 1.5 finds. */
const INSTALL = `npm install ${PACKAGE}@1.5.6-r.1`;

/** DuckDB's values as JSON has them: 64-bit integers and decimals as strings. */
export type DuckRow = Readonly<Record<string, unknown>>;
type Bindings = Pick<typeof import('@duckdb/node-api'), 'DuckDBInstance' | 'DuckDBTimestampTZValue'>;

export interface DuckOptions {
  /** The limit of DuckDB. The process needs more. */
  readonly memoryBytes: number;
  /** A folder for what does not fit into the memory. */
  readonly folder: string;
  /** The environment of this process, which sets the allocator. Left out: the allocator keeps freed pages. */
  readonly environment?: NodeJS.ProcessEnv;
}

/**
 * DuckDB's allocator (Linux) otherwise keeps freed pages for a while, which no limit counts: half as much again. It
 * reads this variable when the library is loaded.
 */
const ALLOCATOR = { name: 'DUCKDB_JE_MALLOC_CONF', value: 'dirty_decay_ms:0' } as const;

export class Duck {
  readonly memoryBytes: number;
  readonly #bindings: Bindings;
  readonly #instance: DuckDBInstance;
  readonly #connection: DuckDBConnection;

  private constructor(bindings: Bindings, instance: DuckDBInstance, connection: DuckDBConnection, memoryBytes: number) {
    this.memoryBytes = memoryBytes;
    this.#bindings = bindings;
    this.#instance = instance;
    this.#connection = connection;
  }

  /** One thread: the work runs beside ingest, and the same rows then make the same file. */
  static async open({ memoryBytes, folder, environment = {} }: DuckOptions): Promise<Duck> {
    environment[ALLOCATOR.name] ??= ALLOCATOR.value;
    const bindings = await load();
    const instance = await bindings.DuckDBInstance.create(':memory:', {
      threads: '1',
      memory_limit: `${Math.floor(memoryBytes / 2 ** 20)}MiB`,
      temp_directory: folder,
      autoinstall_known_extensions: 'false',
      // The cache takes a file that was replaced within a second for the former one.
      enable_external_file_cache: 'false',
    });
    try {
      const connection = await instance.connect();
      await connection.run("SET TimeZone = 'UTC'");
      return new Duck(bindings, instance, connection, memoryBytes);
    } catch (error) {
      instance.closeSync();
      throw error;
    }
  }

  async run(text: string): Promise<void> {
    await this.#connection.run(text).catch(explain);
  }

  async rows(text: string): Promise<readonly DuckRow[]> {
    const result = await this.#connection.runAndReadAll(text).catch(explain);
    return result.getRowObjectsJson() as DuckRow[];
  }

  appender(table: string): Promise<DuckDBAppender> {
    return this.#connection.createAppender(table);
  }

  appendTimestamp(appender: DuckDBAppender, microseconds: bigint): void {
    appender.appendTimestampTZ(new this.#bindings.DuckDBTimestampTZValue(microseconds));
  }

  close(): void {
    this.#connection.closeSync();
    this.#instance.closeSync();
  }
}

/** In messages of DuckDB and of the system. */
const FULL = /max_temp_directory_size|No space left on device|File too large|Disk quota exceeded/u;

/** Throws the error again, or a `UserError` if the memory or the folder for temporary files did not suffice. */
export function explain(error: unknown): never {
  const message = error instanceof Error ? error.message : String(error);
  if (FULL.test(message))
    throw new OutOfMemory(
      `the folder for temporary files is full: ${message.split('\n')[0]}`,
      'Set TMPDIR to a folder with more room. What was archived before is recorded.',
    );
  if (!message.startsWith('Out of Memory')) throw error;
  throw new OutOfMemory(
    `DuckDB needs more memory: ${message.split('\n')[0]}`,
    'Raise the limit with --memory, for example --memory 2GiB. What was archived before is recorded.',
  );
}

/** The memory or the folder for temporary files did not suffice. */
export class OutOfMemory extends UserError {}

/** The optional package is not installed, or is installed for another platform. */
export class MissingPackage extends UserError {}

async function load(): Promise<Bindings> {
  try {
    return await import('@duckdb/node-api');
  } catch (error) {
    throw new MissingPackage(
      `Parquet files need the package ${PACKAGE}, which cannot be loaded: ${error instanceof Error ? error.message : String(error)}`,
      `Install it beside Sluice: ${INSTALL}`,
    );
  }
}

/** A string in SQL, for DuckDB and for PostgreSQL. */
export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** A name in SQL. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;
