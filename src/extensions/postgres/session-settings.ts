/**
 * Settings that every session needs, set after connecting. A role or a database can have other defaults (ALTER ROLE …
 * SET), for people or for other programs: a serializable isolation level, a limit of a second. Read-only transactions
 * are not overridden: providers use that default to keep writers off a server whose disk is nearly full.
 */
import type pg from 'pg';
import { INVALID_PARAMETER_VALUE, QUERY_CANCELED, sqlstateOf } from './sqlstate.ts';

const SETTINGS: Readonly<Record<string, string>> = {
  default_transaction_isolation: 'read committed',
  default_transaction_deferrable: 'off',
  // Compiling a query over many stored days can take minutes, which is longer than running it.
  jit: 'off',
  // Sessions that hold locks set their own limits.
  lock_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  idle_session_timeout: '0',
  transaction_timeout: '0',
  client_encoding: 'UTF8',
  standard_conforming_strings: 'on',
  bytea_output: 'hex',
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  extra_float_digits: '1',
};

const VALUES = Object.entries(SETTINGS).map(([name, value]) => `('${name}', '${value}')`);
/** Older servers do not know every setting. */
const SET_ALL = `
  SELECT pg_catalog.set_config(name, value, false) FROM (VALUES ${VALUES.join(', ')}) AS wanted (name, value)
  WHERE pg_catalog.current_setting(name, true) IS NOT NULL`;

/**
 * A running statement ends within this time after its client is gone: a command that was killed, a closed terminal.
 * Otherwise the server notices only when it writes to the client.
 */
const CLIENT_CHECK_MS = 1000;
const CHECK_CLIENT = `SET client_connection_check_interval = ${CLIENT_CHECK_MS}`;

/** On a busy machine, a default of a millisecond may cancel even the statement that replaces it. */
const ATTEMPTS = 20;

/**
 * `statementTimeoutMs`: 0 for no limit. It is set first, as the role's limit may be too short for the others. None of
 * these is a startup parameter: PgBouncer refuses unknown ones.
 */
export async function makeReady(client: pg.ClientBase, statementTimeoutMs: number): Promise<void> {
  await repeatCanceled(() => client.query(`SET statement_timeout = ${statementTimeoutMs}`));
  await client.query(SET_ALL);
  await client.query(CHECK_CLIENT).catch(unlessUnsupported);
}

/** Servers on some systems, Windows among them, cannot check their clients. */
function unlessUnsupported(error: unknown): void {
  if (sqlstateOf(error) !== INVALID_PARAMETER_VALUE) throw error;
}

/** A short statement, before the limit of the role is replaced. */
export async function repeatCanceled<T>(statement: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await statement();
    } catch (error) {
      if (attempt === ATTEMPTS || sqlstateOf(error) !== QUERY_CANCELED) throw error;
    }
  }
}
