/** The ledger's own connections: how long they wait for what, the statements they know, and which may be used again. */
import type pg from 'pg';
import { destroyConnection, endConnection } from '../connection-end.ts';
import type { Database } from '../database.ts';
import { prepare } from '../wire-pipeline.ts';
import { CONTENT_STATEMENTS } from './contents.ts';
import { GUARD_STATEMENTS } from './guard-statements.ts';

/** A statement that takes longer is given up, with its group; large COPYs get more. */
const STATEMENT_TIMEOUT_MS = 10000;
/** Another writer may hold a trace or a counter for a group or two. What lasts longer is tried again, then answered 503. */
const LOCK_TIMEOUT_MS = 2000;
/** File exporters may be syncing while the transaction is open, also for the other lane. A daemon that hangs there must not hold others for long. */
const IDLE_TIMEOUT_MS = 15000;
/** A daemon that is gone with its machine is noticed by the server within half a minute, and its locks are free. */
const KEEPALIVE_IDLE_S = 10;
const KEEPALIVE_INTERVAL_S = 5;
const KEEPALIVE_COUNT = 4;
/**
 * Names of schemas are written out, so functions of other schemas must not be found first. A policy that hides rows would make
 * the guards blind: with row_security off the statement fails instead. Waiting for standbys is not taken back.
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
 * The server keeps the rows of a COPY in memory until it has a thousand of them. glibc hands such memory back to the kernel after each
 * statement, and page faults bring it again for the next: measured, three a row and a fifteenth of all the processor time. It
 * does so beyond twice the largest piece ever given back, so one piece that is larger than what a group takes ends it for the
 * connection's life. Elsewhere it is a statement like any other.
 */
const KEEP_MEMORY = `SELECT octet_length(repeat(repeat('x', 4096), 4096))`;

/** Connects; the owner ends it. */
export function openSession(database: Database): Promise<pg.Client> {
  return database.connect({
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    ready: async (client) => {
      await client.query(SETTINGS);
      await client.query(KEEP_MEMORY);
      await prepare(client, [...GUARD_STATEMENTS, ...CONTENT_STATEMENTS]);
    },
  });
}

/** Sessions that wait for the next group. One that failed is ended, never kept. */
export class Sessions {
  readonly #database: Database;
  readonly #idle: pg.Client[] = [];
  readonly #lost = new WeakSet<pg.Client>();
  #closed = false;

  constructor(database: Database) {
    this.#database = database;
  }

  /** One that nobody else has until it is given back. Rejects when the database cannot be reached. */
  async take(): Promise<pg.Client> {
    const idle = this.#idle.pop();
    if (idle !== undefined) return idle;
    const session = await openSession(this.#database);
    const lose = (): void => {
      this.#lost.add(session);
      const at = this.#idle.indexOf(session);
      if (at >= 0) this.#idle.splice(at, 1);
    };
    session.on('error', lose).on('end', lose);
    return session;
  }

  /** Outside of any transaction. */
  async give(session: pg.Client): Promise<void> {
    if (this.#lost.has(session)) return;
    if (this.#closed) await endConnection(session);
    else this.#idle.push(session);
  }

  /** Its answers may still come, and would be taken for those of the next group. */
  destroy(session: pg.Client): void {
    this.#lost.add(session);
    destroyConnection(session);
  }

  /** Ends those that wait; the others end when they are given back. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#idle.splice(0).map((session) => endConnection(session)));
  }
}
