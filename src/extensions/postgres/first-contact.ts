/**
 * The first contact with a database: whether it can be reached, keeps committed data, and has the schema of this
 * version. It separates failures that may pass from those that the operator must correct.
 */
import pg from 'pg';
import { endConnection } from './connection-end.ts';
import { FORM_HINT } from '../../component/database-url.ts';
import { errorCode, UserError } from '../../errors.ts';
import { type Address, clientAddress, Database } from './database.ts';
import { migrate } from './migrate.ts';
import type { PostgresOptions } from './options.ts';
import { sharesSessions } from './pooling.ts';
import { asError, examine, type Findings, type Requirement } from './requirements.ts';
import {
  DEPENDENT_OBJECTS_STILL_EXIST,
  INSUFFICIENT_PRIVILEGE,
  READ_ONLY_SQL_TRANSACTION,
  sqlstateOf,
} from './sqlstate.ts';
import { ViewsHeld } from './views.ts';

export interface FirstContact {
  /** Settings with which the server may lose committed data; `allow_unsafe` accepts them. */
  readonly unsafe: readonly string[];
  /** Faults that do not prevent the start, but should be corrected. */
  readonly warnings: readonly Requirement[];
  /** Set when the views could not be updated; the earlier views remain. */
  readonly held: UserError | null;
  readonly applied: readonly string[];
}

const MIN_SERVER_VERSION = 140000;
/** The limit of each query that examines the database. */
const QUESTION_TIMEOUT_MS = 10000;
const FIRST_QUESTION = `
  SELECT current_setting('server_version_num')::int4 AS version, current_setting('transaction_read_only') = 'off' AS writable`;
/** Invalid authorization, and a database that does not exist. */
const WRONG_ADDRESS = /^(?:28...|3D000)$/;
const BROKEN_CONNECTION =
  /^(?:connection terminated|connection ended|client has encountered a connection error|timeout e|query read timeout)/i;
/** The words of the client for a URL without a password. */
const NO_PASSWORD = /client password must be a/;
/** A full disk, and errors of the disk. PostgreSQL reports a read-only file system as a missing privilege. */
const FAULTS_OF_THE_DISK = /^(?:53100|58...) |Read-only file system/;
/** What the operator can do, by the code and the text of the failure. The first that matches applies. */
const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [/^28P01/, 'Correct the user and the password of the URL. Special characters of the password are written as %XX.'],
  [/^3D000/, 'Create it, for example with `createdb`, or correct the name in the URL.'],
  [/^28.*no encryption/, 'Add sslmode=verify-full to the URL, or allow the connection in pg_hba.conf of the server.'],
  [/^28/, 'Correct the user of the URL, or allow the connection in pg_hba.conf of the server.'],
  [/does not support SSL/, 'Remove sslmode from the URL, or turn on `ssl` in postgresql.conf of the server.'],
  [/ALTNAME/, 'Use a host name of the certificate in the URL.'],
  [
    /certificate/i,
    'Add the certificate authority of the server to the URL: sslmode=verify-full&sslrootcert=/path/ca.pem. With sslmode=no-verify nothing is verified.',
  ],
  [/Read-only file system/, 'Check the disk of the server, and mount its file system writable again.'],
  [/read-only/, 'Give the URL the address of the primary.'],
  [/^53100/, 'Free some space on the disk of the server.'],
  [/^58030/, 'Check the disk of the server.'],
  [
    /^(?:connect )?(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ETIMEDOUT|ENOENT)/,
    'Check host and port of the URL, and that the server runs.',
  ],
  [
    /^(?:Connection terminated unexpectedly|There was an error establishing an SSL connection)$/,
    'Check host and port of the URL: another program than PostgreSQL may have the port. Or see the log of the server.',
  ],
];
/**
 * Connection, resources, operator intervention (starting up, shutting down), object not in the required state (a lock
 * that was not granted in time), an unusable transaction (read-only, after a failover), a conflict with another
 * transaction.
 */
const PASSING_CLASSES = new Set(['08', '53', '57', '55', '25', '40']);

/**
 * Rejects with a `UserError` when the operator must correct the fault; `isPassing` tells for every other failure
 * whether it may pass. `processes`: how many processes of this configuration use the database.
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

/** Only the examination, before a command creates the schema itself. Rejects as `makeContact` does. */
export async function checkRequirements(address: Address, options: PostgresOptions): Promise<void> {
  const database = new Database().use(address);
  try {
    await examineDatabase(database, address, { options, processes: 1 });
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
    await refusePooling(address);
    const findings = await examine(client, options, processes);
    const fault = asError(findings.faults);
    if (fault !== null) throw fault;
    return findings;
  } finally {
    await endConnection(client);
  }
}

/** The very first query: a permanent failure here is the address, the password or the certificate. */
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
    // A standby may be promoted, and a read-only server may become writable again.
    if (rows[0]?.writable !== true)
      throw Object.assign(new Error('the server is read-only'), { code: READ_ONLY_SQL_TRANSACTION });
    return client;
  } catch (error) {
    await endConnection(client);
    throw error;
  }
}

/** Changes no setting: a pooler would give the session to other programs afterwards. */
export async function refusePooling(address: Address): Promise<void> {
  const limits = { connectionTimeoutMillis: QUESTION_TIMEOUT_MS, query_timeout: QUESTION_TIMEOUT_MS };
  const clients = [1, 2].map(() => new pg.Client({ ...clientAddress(address), ...limits })) as [pg.Client, pg.Client];
  try {
    for (const client of clients) {
      client.on('error', () => undefined);
      await connect(client, address);
    }
    if (!(await sharesSessions(...clients))) return;
  } finally {
    await Promise.all(clients.map(endConnection));
  }
  throw new UserError(
    'a pooler gives each transaction another session of the server. Sluice needs one permanent session: it prepares statements, listens and holds locks',
    'Give extensions.postgres.url the address of the server itself, or set pool_mode = session for this database in PgBouncer.',
  );
}

async function connect(client: pg.Client, address: Address): Promise<void> {
  try {
    await client.connect();
  } catch (error) {
    throw isPassing(error) ? error : unreachableAt(address, error);
  }
}

export function isPassing(error: unknown): boolean {
  if (error instanceof UserError) return false;
  const state = sqlstateOf(error);
  return state === null ? isOfTheSystem(error) : PASSING_CLASSES.has(state.slice(0, 2));
}

/**
 * Failures that the operator can correct become a sentence for the operator; any other failure is returned unchanged.
 */
export function explain(error: unknown): unknown {
  const state = sqlstateOf(error);
  if (state !== null && WRONG_ADDRESS.test(state)) return unreachable(error);
  if (state === DEPENDENT_OBJECTS_STILL_EXIST)
    return new UserError(
      `objects of yours depend on objects that this version changes: ${(error as { readonly detail?: string }).detail ?? describeFailure(error)}`,
      'Drop those, run `sluice migrate`, and make them again.',
    );
  if (state !== INSUFFICIENT_PRIVILEGE) return error;
  if (isOfItsDisk(error)) return unreachable(error);
  return new UserError(
    `the database user may not bring the schema up to date: ${describeFailure(error)}`,
    'Let a user who owns the database run `sluice migrate`, and grant the rights on the schema sluice to this one.',
  );
}

/** A user without the right to connect gets the statement that grants it. */
function unreachableAt(address: Address, error: unknown): UserError {
  if (sqlstateOf(error) !== INSUFFICIENT_PRIVILEGE) return unreachable(error);
  const { user = '', database = '' } = new pg.Client(clientAddress(address));
  const line = `GRANT CONNECT ON DATABASE ${pg.escapeIdentifier(database)} TO ${pg.escapeIdentifier(user)};`;
  return new UserError(
    `the database cannot be reached: ${describeFailure(error)}`,
    `Run as the owner of the database: ${line}`,
  );
}

/** The server was reached, and cannot use its disk. */
export const isOfItsDisk = (error: unknown): boolean =>
  FAULTS_OF_THE_DISK.test(`${sqlstateOf(error) ?? ''} ${describeFailure(error)}`);

/** What the operator can do about a failure; undefined when only its text tells. */
export function remedyFor(error: unknown): string | undefined {
  const cause = `${sqlstateOf(error) ?? errorCode(error)} ${describeFailure(error)}`.trim();
  return REMEDIES.find(([pattern]) => pattern.test(cause))?.[1];
}

export function unreachable(error: unknown): UserError {
  const failure = describeFailure(error);
  if (NO_PASSWORD.test(failure))
    return new UserError(
      'the database cannot be reached: the server asks for a password, and the URL has none',
      FORM_HINT,
    );
  const what = isOfItsDisk(error) ? 'cannot use its disk' : 'cannot be reached';
  return new UserError(
    `the database ${what}: ${failure}`,
    remedyFor(error) ?? 'Check extensions.postgres.url, or leave it out to use the embedded server.',
  );
}

/** A host with several addresses has one failure for each, and the common message is empty. */
export function describeFailure(error: unknown): string {
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return error.errors[0].message;
  return error instanceof Error ? error.message : String(error);
}

/** System errors have a code; errors that pg creates for a broken connection have only a message. */
function isOfTheSystem(error: unknown): boolean {
  const code = errorCode(error);
  if (code !== '') return code.startsWith('E') && !code.startsWith('ERR_');
  return error instanceof AggregateError || BROKEN_CONNECTION.test(describeFailure(error));
}
