/**
 * What every session relies on, set when it is connected. A role or a database can have other defaults (ALTER ROLE … SET), made
 * for people or for other programs: a serializable isolation level, a limit of a second. Read-only transactions are not overridden:
 * providers use that default to keep writers out of a server whose disk is nearly full.
 */
import type pg from 'pg';

const SETTINGS: Readonly<Record<string, string>> = {
  default_transaction_isolation: 'read committed',
  default_transaction_deferrable: 'off',
  // Those who hold locks set limits of their own.
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
 * `statementTimeoutMs`: 0 for no limit. It comes first, as the limit of a role may be too short for the others. Nothing of this is
 * a parameter of the start: PgBouncer refuses those it does not know.
 */
export async function makeReady(client: pg.ClientBase, statementTimeoutMs: number): Promise<void> {
  await client.query(`SET statement_timeout = ${statementTimeoutMs}`);
  await client.query(SET_ALL);
}
