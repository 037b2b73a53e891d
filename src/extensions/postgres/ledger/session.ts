/** The ledger's own connections: their timeouts, prepared statements and reuse. */
import type pg from 'pg';
import { destroyConnection, endConnection } from '../connection-end.ts';
import type { Database } from '../database.ts';
import { prepare } from '../wire-pipeline.ts';
import { CONTENT_STATEMENTS } from './contents.ts';
import { GUARD_STATEMENTS } from './guard-statements.ts';

/** A statement that takes longer fails with its group. Large COPYs get more time. */
const STATEMENT_TIMEOUT_MS = 10000;
/** Another writer may hold a trace or a counter for a group or two. A longer wait is retried, then answered 503. */
const LOCK_TIMEOUT_MS = 2000;
/**
 * File exporters may sync while the transaction is open, also for the other concurrent group. A daemon that hangs must
 * not block others for long.
 */
const IDLE_TIMEOUT_MS = 15000;
/** The server detects a daemon on a dead machine within half a minute and releases its locks. */
const KEEPALIVE_IDLE_S = 10;
const KEEPALIVE_INTERVAL_S = 5;
const KEEPALIVE_COUNT = 4;
/**
 * The search path has only `pg_catalog`: statements name their schemas, and functions of other schemas must not be
 * found. A policy that hides rows would blind the guards: with row_security off the statement fails instead.
 * `synchronous_commit` is never below `on`; a configured `remote_apply` stays.
 */
const SETTINGS = `
  SET search_path = pg_catalog;
  SET row_security = off;
  SET lock_timeout = ${LOCK_TIMEOUT_MS};
  SET idle_in_transaction_session_timeout = ${IDLE_TIMEOUT_MS};
  SET tcp_keepalives_idle = ${KEEPALIVE_IDLE_S};
  SET tcp_keepalives_interval = ${KEEPALIVE_INTERVAL_S};
  SET tcp_keepalives_count = ${KEEPALIVE_COUNT};
  SELECT set_config('synchronous_commit',
    CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END, false)`;
/**
 * The server keeps the rows of a COPY in memory until it has a thousand of them. glibc returns this memory to the
 * kernel after each statement, and page faults fetch it again for the next: measured, three per row and a fifteenth of
 * all processor time. glibc returns memory only beyond twice the largest block ever freed, so freeing one block larger
 * than a group needs prevents it for the life of the connection. With other allocators the statement has no effect.
 */
const KEEP_MEMORY = `SELECT octet_length(repeat(repeat('x', 4096), 4096))`;

/** A trigger of the operator before each inserted row can leave the row out, without an error. */
const FIND_TRIGGER = `
  SELECT FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid
  WHERE c.relnamespace = 'sluice'::regnamespace AND NOT t.tgisinternal AND t.tgenabled <> 'D' AND t.tgtype & 7 = 7
  LIMIT 1`;

/** Connects; the caller ends the session. It joins `counting` when the number of stored rows must be compared. */
export function openSession(database: Database, counting = new WeakSet<pg.Client>()): Promise<pg.Client> {
  return database.connect({
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    ready: async (client) => {
      await client.query(SETTINGS);
      await client.query(KEEP_MEMORY);
      await prepare(client, [...GUARD_STATEMENTS, ...CONTENT_STATEMENTS]);
      if ((await client.query(FIND_TRIGGER)).rowCount !== 0) counting.add(client);
    },
  });
}

/** Idle sessions. A failed one is ended, never kept. */
export class Sessions {
  readonly #database: Database;
  readonly #idle: pg.Client[] = [];
  readonly #lost = new WeakSet<pg.Client>();
  readonly #counting = new WeakSet<pg.Client>();
  #closed = false;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Returns a session for exclusive use. Rejects when the database cannot be reached. */
  async take(): Promise<pg.Client> {
    const idle = this.#idle.pop();
    if (idle !== undefined) return idle;
    const session = await openSession(this.#database, this.#counting);
    const lose = (): void => {
      this.#lost.add(session);
      const at = this.#idle.indexOf(session);
      if (at >= 0) this.#idle.splice(at, 1);
    };
    session.on('error', lose).on('end', lose);
    return session;
  }

  /** Whether the tables had triggers at the start of the session that can leave out rows. */
  mustCountRows(session: pg.Client): boolean {
    return this.#counting.has(session);
  }

  /** The session must be outside of any transaction. */
  async give(session: pg.Client): Promise<void> {
    if (this.#lost.has(session)) return;
    if (this.#closed) await endConnection(session);
    else this.#idle.push(session);
  }

  /** Pending answers must not be taken for those of the next group. */
  destroy(session: pg.Client): void {
    this.#lost.add(session);
    destroyConnection(session);
  }

  /** Ends the idle sessions; the others end when they are returned. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#idle.splice(0).map((session) => endConnection(session)));
  }
}
