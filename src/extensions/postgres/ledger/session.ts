/** The ledger's own connection: how long it waits for what, and the statements it knows. */
import type pg from 'pg';
import type { Database } from '../database.ts';
import { prepare } from '../pipeline.ts';
import { GUARD_STATEMENTS } from './guards.ts';

/** A statement that takes longer is given up, with its group; large COPYs get more. */
const STATEMENT_TIMEOUT_MS = 10000;
/** Another writer may hold a trace or a counter for a group or two. What lasts longer is tried again, then answered 503. */
const LOCK_TIMEOUT_MS = 2000;
/** The file exporter may be syncing while the transaction is open. A daemon that hangs there must not hold the others for long. */
const IDLE_TIMEOUT_MS = 10000;
/** A daemon that is gone with its machine is noticed by the server within half a minute, and its locks are free. */
const KEEPALIVE_IDLE_S = 10;
const KEEPALIVE_INTERVAL_S = 5;
const KEEPALIVE_COUNT = 4;
const SETTINGS = `
  SET lock_timeout = ${LOCK_TIMEOUT_MS};
  SET idle_in_transaction_session_timeout = ${IDLE_TIMEOUT_MS};
  SET tcp_keepalives_idle = ${KEEPALIVE_IDLE_S};
  SET tcp_keepalives_interval = ${KEEPALIVE_INTERVAL_S};
  SET tcp_keepalives_count = ${KEEPALIVE_COUNT};
  SET synchronous_commit = on;
  SET timezone = 'UTC'`;

/** Connects; the owner ends it. A connection that could not be made ready is not left behind. */
export async function openSession(database: Database): Promise<pg.Client> {
  const client = await database.connect({ statementTimeoutMs: STATEMENT_TIMEOUT_MS });
  try {
    await client.query(SETTINGS);
    await prepare(client, GUARD_STATEMENTS);
    return client;
  } catch (error) {
    await client.end().catch(() => undefined);
    throw error;
  }
}
