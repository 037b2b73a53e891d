/**
 * The first contact with a database: can it be reached, does it keep what it acknowledges, is its schema the one of this
 * version. What waiting may mend is told apart from what somebody has to correct.
 */
import pg from 'pg';
import { endConnection } from './connection-end.ts';
import { UserError } from '../../errors.ts';
import { type Address, Database } from './database.ts';
import { migrate } from './migrate.ts';
import type { PostgresOptions } from './options.ts';
import { sharesSessions } from './pooling.ts';
import { asError, examine, type Findings, type Requirement } from './requirements.ts';
import { sqlstateOf } from './sqlstate.ts';
import { ViewsHeld } from './views.ts';

export interface FirstContact {
  /** Settings with which the server may forget what it acknowledged; `allow_unsafe` accepts them. */
  readonly unsafe: readonly string[];
  /** What works all the same, and should be mended. */
  readonly warnings: readonly Requirement[];
  /** The views could not be brought up to date; the former ones are there. */
  readonly held: UserError | null;
  /** What was done to bring the schema up to date. */
  readonly applied: readonly string[];
}

const MIN_SERVER_VERSION = 140000;
/** Looking at the database takes some questions; each gets this long. */
const QUESTION_TIMEOUT_MS = 10000;
const FIRST_QUESTION = `
  SELECT current_setting('server_version_num')::int4 AS version, current_setting('transaction_read_only') = 'off' AS writable`;
const READ_ONLY = '25006';
const DEPENDED_ON = '2BP01';
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

/**
 * Rejects with a `UserError` when only somebody can mend it; `isPassing` tells of every other failure whether waiting may. `processes`:
 * how many of this configuration use the database.
 */
export async function makeContact(address: Address, options: PostgresOptions, processes = 1): Promise<FirstContact> {
  const database = new Database().use(address);
  try {
    const { unsafe, warnings } = await examineDatabase(database, address, { options, processes });
    try {
      return { unsafe, warnings, held: null, applied: await migrate(database, options.views_schema) };
    } catch (error) {
      if (!(error instanceof ViewsHeld)) throw error;
      return { unsafe, warnings, held: error, applied: [] };
    }
  } catch (error) {
    throw explain(error);
  } finally {
    await database.close();
  }
}

async function examineDatabase(
  database: Database,
  address: Address,
  { options, processes }: { readonly options: PostgresOptions; readonly processes: number },
): Promise<Findings> {
  const client = await reach(database, address);
  try {
    await refusePooling(client, database);
    const findings = await examine(client, options, processes);
    const fault = asError(findings.faults);
    if (fault !== null) throw fault;
    return findings;
  } finally {
    await endConnection(client);
  }
}

/** The first question of all: what fails here without passing is the address, the password, the certificate. */
async function reach(database: Database, address: Address): Promise<pg.Client> {
  let client: pg.Client;
  try {
    client = await database.connect({ queryTimeoutMs: QUESTION_TIMEOUT_MS });
  } catch (error) {
    throw isPassing(error) ? error : unreachableAt(address, error);
  }
  try {
    const { rows } = await client.query(FIRST_QUESTION);
    if (Number(rows[0]?.version) < MIN_SERVER_VERSION)
      throw new UserError('the PostgreSQL server is too old', 'Use PostgreSQL 14 or newer.');
    // A standby may be promoted, and a server that was made read-only for a time be writable again.
    if (rows[0]?.writable !== true) throw Object.assign(new Error('the server is read-only'), { code: READ_ONLY });
    return client;
  } catch (error) {
    await endConnection(client);
    throw error;
  }
}

async function refusePooling(client: pg.Client, database: Database): Promise<void> {
  const other = await database.connect({ queryTimeoutMs: QUESTION_TIMEOUT_MS });
  try {
    if (!(await sharesSessions(client, other))) return;
  } finally {
    await endConnection(other);
  }
  throw new UserError(
    'a pooler gives each transaction another session of the server, and Sluice needs one that lasts: it prepares statements, listens and holds locks',
    'Give extensions.postgres.url the address of the server itself, or set pool_mode = session for this database in PgBouncer.',
  );
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
  if (state === DEPENDED_ON)
    return new UserError(
      `objects of yours stand on what this version changes: ${(error as { readonly detail?: string }).detail ?? describeFailure(error)}`,
      'Drop those, run `sluice migrate`, and make them again.',
    );
  if (state !== INSUFFICIENT_PRIVILEGE) return error;
  return new UserError(
    `the database user may not bring the schema up to date: ${describeFailure(error)}`,
    'Let a user who owns the database run `sluice migrate`, and grant the rights on the schema sluice to this one.',
  );
}

/** A user without the right to connect is told how to get it. */
function unreachableAt(address: Address, error: unknown): UserError {
  if (sqlstateOf(error) !== INSUFFICIENT_PRIVILEGE) return unreachable(error);
  const { user = '', database = '' } = new pg.Client(address);
  const line = `GRANT CONNECT ON DATABASE ${pg.escapeIdentifier(database)} TO ${pg.escapeIdentifier(user)};`;
  return new UserError(
    `the database cannot be reached: ${describeFailure(error)}`,
    `Run as the owner of the database: ${line}`,
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
