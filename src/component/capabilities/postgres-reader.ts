/**
 * Read-only queries for extensions that show stored data. They have connections of their own, so that a slow query
 * never delays ingest. The `postgres` extension offers it.
 */
import type { Capability } from './capability.ts';

export type ReaderRow = Readonly<Record<string, unknown>>;

/** Without a url the database of the extension. */
export interface ReaderSettings {
  readonly url: string;
  readonly connections: number;
  /** The time limit of each statement. */
  readonly timeoutMs: number;
  /** Shown in `pg_stat_activity`. */
  readonly applicationName: string;
}

/** A query was not answered. `canceled`: the caller's signal aborted. */
export type ReaderFailureReason = 'unavailable' | 'busy' | 'too_long' | 'canceled';

export class ReaderFailure extends Error {
  readonly reason: ReaderFailureReason;

  constructor(reason: ReaderFailureReason, cause: unknown) {
    super(`the query was not answered: ${reason}`, { cause });
    this.reason = reason;
  }
}

export interface PostgresReader {
  /** The schema of the readable views. */
  readonly views: string;
  /**
   * All rows of a statement. Rejects with a `ReaderFailure`, or with the server's error for a faulty statement. An
   * abort of the signal cancels the statement on the server.
   */
  query(text: string, values?: readonly unknown[], signal?: AbortSignal): Promise<readonly ReaderRow[]>;
  /**
   * As `query`, for a statement with a fixed text: each connection plans it once. The plan of a statement on many
   * partitions takes longer than its work.
   */
  prepared(text: string, values?: readonly unknown[], signal?: AbortSignal): Promise<readonly ReaderRow[]>;
  /**
   * The rows of a statement in batches of at most 500, through a cursor. The next batch is fetched when the caller asks
   * for it. The connection is free again when the iteration ends, also by `break`.
   */
  stream(text: string, values?: readonly unknown[], signal?: AbortSignal): AsyncIterable<readonly ReaderRow[]>;
}

export interface ReaderPool extends PostgresReader {
  close(): Promise<void>;
}

export interface PostgresReaders {
  /** Connects at the first query. */
  open(settings: ReaderSettings): ReaderPool;
}

export const POSTGRES_READER: Capability<PostgresReaders> = { name: 'postgres-reader' };
