/** A small pool beside the main one, for the console: its changes and login checks never wait for key lookups. */
import type pg from 'pg';
import type { PostgresDatabase, Query, SessionLimits } from '../../component/capabilities/postgres.ts';
import type { Database } from './database.ts';
import { endPool } from './connection-end.ts';

const CONNECTIONS = 2;
const TIMEOUT_MS = 5000;
export const CONSOLE_NAME = 'sluice-console';

export class SidePool implements Pick<PostgresDatabase, 'query' | 'session'> {
  readonly #database: Database;
  #pool: pg.Pool | null = null;

  constructor(database: Database) {
    this.#database = database;
  }

  async query(text: string, values: readonly unknown[] = []): ReturnType<Query> {
    this.#pool ??= this.#database.createPool({
      size: CONNECTIONS,
      applicationName: CONSOLE_NAME,
      connectTimeoutMs: TIMEOUT_MS,
      queryTimeoutMs: TIMEOUT_MS,
    });
    return this.#pool.query({ text, values: [...values] });
  }

  session<T>(limits: SessionLimits, work: (query: Query) => Promise<T>): Promise<T> {
    return this.#database.session(limits, work);
  }

  async close(): Promise<void> {
    const pool = this.#pool;
    this.#pool = null;
    if (pool !== null) await endPool(pool);
  }
}
