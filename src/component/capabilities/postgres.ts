/** The open transaction of the Postgres ledger, as exporters join it. */
import type { Signal } from '../../pdata/context.ts';
import type { Capability } from './capability.ts';

/** The table of a signal, or what has still to be sent on. */
export type CopyTarget = Signal | 'outbox';

export interface PostgresTransaction {
  /**
   * Copies rows into a table, within the ledger's transaction. `chunks` are COPY BINARY tuples in the order of `pdata/columns.ts`,
   * or of the outbox's own columns, without header and trailer; they must stay as they are until the request is settled. They
   * are sent with the guards or with other rows, so a refusal of the server shows in `Commit.taken` or in the commit; they are
   * durable once the ledger has committed. `rowCount` is compared with the count the server reports.
   */
  copy(target: CopyTarget, chunks: readonly Buffer[], rowCount: number): Promise<void>;
}

export const POSTGRES_TRANSACTION: Capability<PostgresTransaction> = { name: 'postgres-transaction' };

/** Questions to the database, for exporters that keep house in it (partitions, retention). */
export interface PostgresDatabase {
  /** Whether it has been reached, and its schema brought up to date. It may be away again since. */
  readonly isOpen: boolean;
  /** Resolves when that has happened; never rejects. A start must not wait for it: the database may come much later. */
  readonly opened: Promise<void>;
  /** Rejects at once before it is open. */
  query: Query;
  /**
   * Runs `work` on a connection of its own, with time limits of its own, which is closed afterwards. Transactions and session locks
   * are possible there.
   */
  session<T>(limits: SessionLimits, work: (query: Query) => Promise<T>): Promise<T>;
  /**
   * Runs `task` when the database has been reached and its schema brought up to date, and before anything else uses it. A task must
   * not reject. Returns how to withdraw it.
   */
  beforeOpening(task: (database: PostgresDatabase) => Promise<void>): () => void;
}

export type Query = (
  text: string,
  values?: readonly unknown[],
) => Promise<{ readonly rows: readonly Record<string, unknown>[]; readonly rowCount: number | null }>;

export interface SessionLimits {
  readonly statementTimeoutMs: number;
  /** How long a statement may wait for a lock; others queue behind it. */
  readonly lockTimeoutMs: number;
  /** Ends the connection at once, whatever it does. */
  readonly signal?: AbortSignal;
}

export const POSTGRES_DATABASE: Capability<PostgresDatabase> = { name: 'postgres-database' };
