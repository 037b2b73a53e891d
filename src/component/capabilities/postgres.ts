/** The open transaction of the Postgres ledger, for exporters that join it. */
import type { Signal } from '../../pdata/context.ts';
import type { SharedContents } from '../../pdata/shared-contents.ts';
import type { Capability } from './capability.ts';
import type { TransactionHandle } from './ledger.ts';

/** The table of a signal, or another one. `plain_traces`: spans with only PLAIN_SPAN_COLUMNS. */
export type CopyTarget = Signal | 'plain_traces' | 'outbox' | 'parts';

/** Columns of `sluice.parts`, in the order of the tuples; the others have defaults. */
export const PART_COLUMNS = [
  'object_id',
  'first_byte',
  'bytes',
  'codec',
  'signal',
  'project',
  'records',
  'first_ns',
  'last_ns',
  'in_tables',
] as const;

export interface PostgresTransaction {
  /**
   * Stores what rows refer to with the rows, unless it is stored already. To be called once before `copy`, for all
   * rows of a group. May reject without a fault: the group is then written again, in a new transaction. `contents`
   * must not change until the request is settled. `rows`: sums of the rows that follow.
   */
  share(contents: readonly SharedContents[], rows: { readonly count: number; readonly bytes: number }): Promise<void>;
  /**
   * Copies rows into a table, within the ledger's transaction; may be called several times for a table. `chunks` are
   * COPY BINARY tuples in the order of `TABLE_COLUMNS`, of PLAIN_SPAN_COLUMNS, of PART_COLUMNS, or of the outbox's own
   * columns, without header and trailer. They must not change until the request is settled. They are sent together with
   * the guards or with other rows, so an error of the server appears in `TransactionHandle.flush` or in the commit.
   * They are durable after the commit. `rowCount` is compared with the count that the server reports.
   */
  copy(target: CopyTarget, chunks: readonly Buffer[], rowCount: number): Promise<void>;
}

export const POSTGRES_TRANSACTION: Capability<PostgresTransaction> = { name: 'postgres-transaction' };

/** The transaction of a group, for exporters that store only there. */
export function joinPostgres(handle: TransactionHandle): PostgresTransaction {
  const transaction = handle.join(POSTGRES_TRANSACTION);
  if (transaction === undefined) throw new Error('the ledger has no Postgres transaction to join');
  return transaction;
}

/** Queries, for exporters that maintain the database (partitions, retention). */
export interface PostgresDatabase {
  /** Whether the database has been reached and its schema migrated. It may have become unavailable since. */
  readonly isOpen: boolean;
  /** Resolves when the database is open; never rejects. A start must not wait for it, because that may take long. */
  readonly opened: Promise<void>;
  /** Rejects at once before the database is open. */
  query: Query;
  /**
   * Runs `work` on a separate connection with its own time limits, and closes it afterwards. Transactions and session
   * locks are possible on it.
   */
  session<T>(limits: SessionLimits, work: (query: Query) => Promise<T>): Promise<T>;
  /**
   * Runs `task` when the database has been reached and its schema migrated, before anything else uses it. A task must
   * not reject. Returns a function that withdraws the task.
   */
  beforeOpening(task: (database: PostgresDatabase) => Promise<void>): () => void;
}

/** A statement with the values of its parameters. */
export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

export type Query = (
  text: string,
  values?: readonly unknown[],
) => Promise<{ readonly rows: readonly Record<string, unknown>[]; readonly rowCount: number | null }>;

export interface SessionLimits {
  readonly statementTimeoutMs: number;
  /** How long a statement may wait for a lock. Other statements queue behind it. */
  readonly lockTimeoutMs: number;
  /** Closes the connection at once, also during a query. */
  readonly signal?: AbortSignal;
}

export const POSTGRES_DATABASE: Capability<PostgresDatabase> = { name: 'postgres-database' };

/** Exporters that store in the tables, by their ids. They maintain the tables and the ledger. */
export const MAINTAINED_TABLES: Capability<Set<string>> = { name: 'maintained-tables' };

/** Exporters whose records are archived from the tables, by their ids. */
export const ARCHIVED_TABLES: Capability<Set<string>> = { name: 'archived-tables' };
