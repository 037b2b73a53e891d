/**
 * Read-only queries on connections of their own, for extensions that show stored data. A connection is opened by the
 * first query and closed when it is unused. A query whose caller gives up is cancelled on the server.
 */
import { createHash } from 'node:crypto';
import type pg from 'pg';
import {
  type PostgresReaders,
  ReaderFailure,
  type ReaderFailureReason,
  type ReaderPool,
  type ReaderRow,
  type ReaderSettings,
} from '../../component/capabilities/postgres-reader.ts';
import { cancelStatement } from './cancel-statement.ts';
import { Database } from './database.ts';
import { isPassing, refusePooling } from './first-contact.ts';
import { cursorRows, type PartSource, rowParts } from './row-parts.ts';
import { QUERY_CANCELED, READ_ONLY_SQL_TRANSACTION, sqlstateOf } from './sqlstate.ts';

/** A query is refused when no connection becomes free within this time. */
const WAIT_MS = 2000;
/** How much longer than the server this side waits for the end of a statement. */
const GRACE_MS = 5000;
/** The client of a stream reads slowly; after this time the server ends the transaction. */
const IDLE_IN_TRANSACTION_MS = 60_000;
const POOL_IS_FULL = 'timeout exceeded when trying to connect';
/** For each sort of a query, unless the server allows more. The calls of a day fit. */
const WORK_MEM_KB = 32_768;
const CURSOR = 'answer';
const NAME_DIGITS = 24;

export class Readers implements PostgresReaders {
  readonly #database: Database;
  readonly #views: string;

  constructor(database: Database, views: string) {
    this.#database = database;
    this.#views = views;
  }

  open(settings: ReaderSettings): ReaderPool {
    const other = settings.url === '' ? null : new Database().use({ connectionString: settings.url });
    return new Reader({ database: other ?? this.#database, views: this.#views, settings });
  }
}

interface ReaderParts {
  readonly database: Database;
  readonly views: string;
  readonly settings: ReaderSettings;
}

type PlanMode = 'force_custom_plan' | 'force_generic_plan';
type Work<T> = (client: pg.PoolClient) => Promise<T>;

class Reader implements ReaderPool {
  readonly views: string;
  readonly #database: Database;
  readonly #settings: ReaderSettings;
  /** Set for each use of a connection, because a statement could have changed them. */
  readonly #prepare: string;
  #pool: pg.Pool | null = null;
  /** Whether the address of its own gives permanent sessions; null: not asked. */
  #contact: Promise<void> | null = null;
  #closed = false;

  constructor({ database, views, settings }: ReaderParts) {
    this.#database = database;
    this.views = views;
    this.#settings = settings;
    this.#prepare = `SET default_transaction_read_only = on; SET statement_timeout = ${settings.timeoutMs};
      SET idle_in_transaction_session_timeout = ${IDLE_IN_TRANSACTION_MS};
      SELECT set_config('work_mem', greatest(pg_size_bytes(current_setting('work_mem')) / 1024, ${WORK_MEM_KB}) || 'kB', false)`;
  }

  async query(text: string, values: readonly unknown[] = [], signal?: AbortSignal): Promise<readonly ReaderRow[]> {
    const lease = await this.#lease(signal);
    return lease.use(async (client) => (await client.query(text, [...values])).rows).finally(() => lease.end());
  }

  async prepared(text: string, values: readonly unknown[] = [], signal?: AbortSignal): Promise<readonly ReaderRow[]> {
    const lease = await this.#lease(signal, 'force_generic_plan');
    const name = `reader_${createHash('sha256').update(text).digest('hex').slice(0, NAME_DIGITS)}`;
    return lease
      .use(async (client) => (await client.query({ name, text, values: [...values] })).rows)
      .finally(() => lease.end());
  }

  async *stream(
    text: string,
    values: readonly unknown[] = [],
    signal?: AbortSignal,
  ): AsyncIterable<readonly ReaderRow[]> {
    const lease = await this.#lease(signal);
    const { timeoutMs } = this.#settings;
    const statementMs = timeoutMs + IDLE_IN_TRANSACTION_MS;
    const times = { partMs: timeoutMs, driverMs: statementMs + GRACE_MS };
    try {
      await lease.use(async (client) => {
        // Each part has its own limit: the server's would also count the use of the part before.
        await client.query(`BEGIN READ ONLY; SET LOCAL statement_timeout = ${statementMs}`);
        await client.query(`DECLARE ${CURSOR} NO SCROLL CURSOR FOR ${text}`, [...values]);
      });
      yield* cursorRows(CURSOR, (fetch) => rowParts(lease, fetch, times));
    } finally {
      await lease.endTransaction();
      lease.end();
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    const pool = this.#pool;
    this.#pool = null;
    await pool?.end();
  }

  /** The settings of a reader would stay in sessions that a pooler gives to others: read-only transactions. */
  async #refusePooling(): Promise<void> {
    const { url } = this.#settings;
    if (url === '') return;
    this.#contact ??= refusePooling({ connectionString: url });
    try {
      await this.#contact;
    } catch (error) {
      // The next query asks again.
      this.#contact = null;
      throw new ReaderFailure('unavailable', error);
    }
  }

  /** A plan for the values of a query opens only the partitions that it needs. */
  async #lease(signal: AbortSignal | undefined, plans: PlanMode = 'force_custom_plan'): Promise<Lease> {
    if (signal?.aborted === true) throw new ReaderFailure('canceled', signal.reason);
    if (this.#closed || !this.#database.isOpen)
      throw new ReaderFailure('unavailable', new Error('the database is not open'));
    if (this.#pool === null) await this.#refusePooling();
    this.#pool ??= this.#database.createPool({
      size: this.#settings.connections,
      applicationName: this.#settings.applicationName,
      connectTimeoutMs: WAIT_MS,
      queryTimeoutMs: this.#settings.timeoutMs + GRACE_MS,
      yieldsToIngest: true,
    });
    let client: pg.PoolClient;
    try {
      client = await this.#pool.connect();
    } catch (error) {
      throw new ReaderFailure(error instanceof Error && error.message === POOL_IS_FULL ? 'busy' : 'unavailable', error);
    }
    const lease = new Lease(client, signal);
    try {
      await lease.use(() => client.query(`${this.#prepare}; SET plan_cache_mode = ${plans}`));
      return lease;
    } catch (error) {
      lease.end();
      throw error;
    }
  }
}

/** The use of one connection for one query. */
class Lease implements PartSource {
  readonly #client: pg.PoolClient;
  readonly #signal: AbortSignal | undefined;
  readonly cancel = (): void => {
    this.#canceling ??= cancelStatement(this.#client);
  };
  #canceling: Promise<void> | null = null;
  /** Whether the connection may be used again. */
  #sound = true;

  constructor(client: pg.PoolClient, signal: AbortSignal | undefined) {
    this.#client = client;
    this.#signal = signal;
  }

  get #aborted(): boolean {
    return this.#signal?.aborted === true;
  }

  async use<T>(work: Work<T>): Promise<T> {
    if (this.#aborted) throw this.#fail('canceled', this.#signal?.reason);
    this.#signal?.addEventListener('abort', this.cancel, { once: true });
    try {
      return await work(this.#client);
    } catch (error) {
      const reason = this.#aborted ? 'canceled' : reasonOf(error);
      if (reason === null) throw error;
      throw this.#fail(reason, error);
    } finally {
      this.#signal?.removeEventListener('abort', this.cancel);
    }
  }

  /** The rest of the rows of a statement is not read. */
  abandon(): void {
    this.#sound = false;
  }

  async endTransaction(): Promise<void> {
    if (!this.#sound || this.#canceling !== null) return;
    await this.#client.query('ROLLBACK').catch(() => (this.#sound = false));
  }

  /** A cancel request that is still under way must not reach the next query. */
  end(): void {
    const sound = this.#sound && this.#canceling === null;
    this.#client.release(!sound);
  }

  #fail(reason: ReaderFailureReason, cause: unknown): ReaderFailure {
    if (reason !== 'too_long') this.#sound = false;
    return new ReaderFailure(reason, cause);
  }
}

/** Null: the statement itself is at fault. */
function reasonOf(error: unknown): ReaderFailureReason | null {
  const state = sqlstateOf(error);
  if (state === QUERY_CANCELED) return 'too_long';
  // The reader cannot write. Elsewhere this code means a standby.
  if (state === READ_ONLY_SQL_TRANSACTION) return null;
  return isPassing(error) || state === null ? 'unavailable' : null;
}
