/** A small pool besides the main one, for the console: its changes and login checks never wait for key lookups. */
import type pg from 'pg';
import { CONSOLE_APPLICATION } from '../../component/capabilities/console.ts';
import type { PostgresDatabase, Query, SessionLimits } from '../../component/capabilities/postgres.ts';
import { ReaderFailure } from '../../component/capabilities/postgres-reader.ts';
import { LOCK_TIMEOUT } from '../../component/short-locks.ts';
import type { Database } from './database.ts';
import { isPassing } from './first-contact.ts';
import { QUERY_CANCELED, sqlstateOf } from './sqlstate.ts';
import { endPool } from './connection-end.ts';

/** A statement that was cancelled by its limit, a lock that was not free in time. */
const TIMEOUTS = new Set([QUERY_CANCELED, LOCK_TIMEOUT]);
const CONNECTIONS = 2;
const TIMEOUT_MS = 5000;

export class SidePool implements Pick<PostgresDatabase, 'query' | 'session'> {
  readonly #database: Database;
  #pool: pg.Pool | null = null;

  constructor(database: Database) {
    this.#database = database;
  }

  async query(text: string, values: readonly unknown[] = []): ReturnType<Query> {
    if (!this.#database.isOpen) throw new ReaderFailure('unavailable', new Error('the database is not open'));
    this.#pool ??= this.#database.createPool({
      size: CONNECTIONS,
      applicationName: CONSOLE_APPLICATION,
      connectTimeoutMs: TIMEOUT_MS,
      queryTimeoutMs: TIMEOUT_MS,
    });
    return this.#pool.query({ text, values: [...values] }).catch(explain);
  }

  session<T>(limits: SessionLimits, work: (query: Query) => Promise<T>): Promise<T> {
    return this.#database.session(limits, work).catch(explain);
  }

  async close(): Promise<void> {
    const pool = this.#pool;
    this.#pool = null;
    if (pool !== null) await endPool(pool);
  }
}

/** The console distinguishes an unavailable database and a time limit from faults. */
function explain(error: unknown): never {
  const state = sqlstateOf(error);
  if (state !== null && TIMEOUTS.has(state)) throw new ReaderFailure('too_long', error);
  throw isPassing(error) ? new ReaderFailure('unavailable', error) : error;
}
