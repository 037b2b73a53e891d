/**
 * The first contact with a database: can it be reached, does it keep what it acknowledges, is its schema the one of this
 * version. What waiting may mend is told apart from what somebody has to correct.
 */
import pg from 'pg';
import { UserError } from '../../errors.ts';
import { type Address, Database } from './database.ts';
import { checkDurability } from './durability.ts';
import { migrate } from './migrate.ts';
import type { PostgresOptions } from './options.ts';
import { sqlstateOf } from './sqlstate.ts';

export interface FirstContact {
  /** Settings with which the server may forget what it acknowledged; `allow_unsafe` accepts them. */
  readonly unsafe: readonly string[];
  /** What was done to bring the schema up to date. */
  readonly applied: readonly string[];
}

const MIN_SERVER_VERSION = 140000;
const URL_FORM = /^(?:postgres(?:ql)?:\/\/|socket:|\/)/;
const INVALID_URL = 'ERR_INVALID_URL';
/** Invalid authorization, and a database that does not exist. */
const WRONG_ADDRESS = /^(?:28...|3D000)$/;
const BROKEN_CONNECTION =
  /^(?:connection terminated|connection ended|client has encountered a connection error|timeout e|query read timeout)/i;
const INSUFFICIENT_PRIVILEGE = '42501';
/**
 * Connection, resources, operator intervention (starting up, shutting down), not the right state (a lock that came too late),
 * a transaction that cannot go on (read-only, after a failover), a conflict with another one.
 */
const PASSING_CLASSES = new Set(['08', '53', '57', '55', '25', '40']);

/** Rejects with a `UserError` when only somebody can mend it; `isPassing` tells of every other failure whether waiting may. */
export async function makeContact(address: Address, options: PostgresOptions): Promise<FirstContact> {
  const database = new Database().use(address);
  try {
    await reach(database);
    const unsafe = await checkDurability(database, options.allow_unsafe);
    return { unsafe, applied: await migrate(database, options.views_schema) };
  } catch (error) {
    throw explain(error);
  } finally {
    await database.close();
  }
}

/** The first question of all: what fails here without passing is the address, the password, the certificate. */
async function reach(database: Database): Promise<void> {
  let version: number;
  try {
    const { rows } = await database.query("SELECT current_setting('server_version_num')::int4 AS version");
    version = Number(rows[0]?.['version']);
  } catch (error) {
    throw isPassing(error) ? error : unreachable(error);
  }
  if (version < MIN_SERVER_VERSION)
    throw new UserError('the PostgreSQL server is too old', 'Use PostgreSQL 14 or newer.');
}

/** Throws a `UserError` when it cannot be a URL of a database. Never repeats it: it holds a password. */
export function checkUrl(url: string): void {
  try {
    if (!URL_FORM.test(url)) throw new Error('it does not begin with postgres://');
    // Parses the address and connects to nothing.
    new pg.Client({ connectionString: url });
  } catch (error) {
    const reason = codeOf(error) === INVALID_URL ? 'it is not a valid URL' : describeFailure(error);
    throw new UserError(
      `extensions.postgres.url cannot be used: ${reason}`,
      'Write it as postgres://user:password@host:5432/database, special characters of the password as %XX.',
    );
  }
}

export function isPassing(error: unknown): boolean {
  if (error instanceof UserError) return false;
  const state = sqlstateOf(error);
  return state === null ? isOfTheSystem(error) : PASSING_CLASSES.has(state.slice(0, 2));
}

/** What the person who started the program can mend, as a sentence for them; any other failure is returned as it is. */
export function explain(error: unknown): unknown {
  const state = sqlstateOf(error);
  if (state !== null && WRONG_ADDRESS.test(state)) return unreachable(error);
  if (state !== INSUFFICIENT_PRIVILEGE) return error;
  return new UserError(
    `the database user may not bring the schema up to date: ${describeFailure(error)}`,
    'Let a user who owns the database run `sluice migrate`, and grant the rights on the schema sluice to this one.',
  );
}

export function unreachable(error: unknown): UserError {
  return new UserError(
    `the database cannot be reached: ${describeFailure(error)}`,
    'Check extensions.postgres.url, or leave it out to use the embedded server.',
  );
}

/** A host with several addresses fails once for each; the message of the whole is empty then. */
export function describeFailure(error: unknown): string {
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return error.errors[0].message;
  return error instanceof Error ? error.message : String(error);
}

/** Errors of the system have a code; those that pg makes of a broken connection have nothing but words. */
function isOfTheSystem(error: unknown): boolean {
  const code = codeOf(error);
  if (code !== '') return code.startsWith('E') && !code.startsWith('ERR_');
  return error instanceof AggregateError || BROKEN_CONNECTION.test(describeFailure(error));
}

function codeOf(error: unknown): string {
  return String((error as { readonly code?: unknown } | null)?.code ?? '');
}
