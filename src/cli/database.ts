/** Opens the configured database, for commands that read or change it while a daemon may run. */
import { statSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { isLockTimeout } from '../component/short-locks.ts';
import { UserError } from '../errors.ts';
import { type Address, Database } from '../extensions/postgres/database.ts';
import { EmbeddedServerError } from '../extensions/postgres/embedded/host-process.ts';
import { EmbeddedServer, type ServerOptions } from '../extensions/postgres/embedded/server.ts';
import { findRunning } from '../extensions/postgres/embedded/find-running.ts';
import { checkUrl } from '../extensions/postgres/database-url.ts';
import {
  describeFailure,
  explain,
  isOfItsDisk,
  isPassing,
  makeContact,
  refusePooling,
  unreachable,
} from '../extensions/postgres/first-contact.ts';
import type { PostgresOptions } from '../extensions/postgres/options.ts';
import { readSchemaState, tooNew, UNFINISHED_MOVE } from '../extensions/postgres/schema-state.ts';
import { INSUFFICIENT_PRIVILEGE, OUT_OF_MEMORY, QUERY_CANCELED, sqlstateOf } from '../extensions/postgres/sqlstate.ts';
import type { Config } from '../config/config.ts';
import { findPostgresOptions } from '../daemon/configured-database.ts';
import { findDaemons, type RunningDaemon } from '../daemon/runtime-folder.ts';
import type { Call } from './command.ts';
import { commandLine } from './command-line.ts';
import { readConfig } from './config-options.ts';
import { fileFault } from '../component/file-fault.ts';
import { requireProject } from './known-project.ts';
import { describeOthers } from './running-daemon.ts';

/** A table or view, a column, a function, or a schema that does not exist. */
const UNDEFINED = new Set(['42P01', '42703', '42883', '3F000']);

/** The configuration of a database. */
export interface Origin {
  readonly config: Config;
  readonly options: PostgresOptions;
}

/**
 * The use of the database by a command. `read` works with every newer schema and starts no server; `write` needs a
 * schema that this version may write to; `copy` works with every schema; `own` excludes a daemon on the same embedded
 * server, and leaves the schema to the command. `migrate` and `create` create a database; `migrate` brings its schema
 * up to date, `create` leaves that to the command.
 */
export type Access = 'read' | 'write' | 'copy' | 'own' | 'migrate' | 'create';

/** The second argument of a command's work. */
export interface Opened extends Origin {
  readonly address: Address;
  /** The migrations that were applied, for `migrate`. */
  readonly applied: readonly string[];
}

/** Opens the database for `work`, and closes it afterwards. */
export async function withDatabase<Result>(
  call: Call,
  access: Access,
  work: (database: Database, opened: Opened) => Promise<Result>,
): Promise<Result> {
  const config = await readConfig(call);
  const options = optionsOf(config);
  const database = new Database();
  const opening = { options, access, call };
  const { address, stop } = await open(opening);
  try {
    // The settings of a command would stay in sessions that a pooler gives to others: read-only transactions.
    if (options.url !== '') await refusePooling(address);
    const applied = access === 'migrate' ? await migrate(call, address, options) : [];
    database.use(address);
    if (access === 'read' || access === 'write' || access === 'copy') await requireSchema(database, opening);
    if (access === 'read') for (const name of call.values.list('project')) await requireProject(database, config, name);
    return await work(database, { config, options, address, applied });
  } catch (error) {
    throw explainOpening(error);
  } finally {
    await database.close();
    await stop();
  }
}

interface Opening {
  readonly options: PostgresOptions;
  readonly access: Access;
  readonly call: Call;
}

/** Brings the schema up to date. Returns what was applied. */
export async function migrate(call: Call, address: Address, options: PostgresOptions): Promise<readonly string[]> {
  const { applied, warnings, held } = await makeContact(address, options);
  for (const { message, fix } of warnings) call.terminal.say(`warning: ${message}\n  hint: ${fix}`);
  if (held !== null) throw held;
  return applied;
}

async function requireSchema(database: Database, { access, call }: Opening): Promise<void> {
  const state = await readSchemaState((text) => database.query(text));
  if (!state.exists)
    throw new UserError(
      'this database has no tables of Sluice yet',
      'Create them with `sluice migrate`, or start the daemon.',
    );
  if (access === 'copy') {
    if (state.unknown.includes(UNFINISHED_MOVE)) throw tooNew(state);
    return;
  }
  if (state.missing.length > 0)
    throw new UserError(
      `the schema of the database is older than this version: ${state.missing.map(({ name }) => name).join(', ')} not applied`,
      'Use the version of the running daemon, or migrate the schema with `sluice migrate`.',
    );
  if (access === 'write' && !state.mayWrite) throw tooNew(state);
  if (state.unknown.length > 0)
    call.terminal.say(
      `A newer version has migrated this database (${state.unknown.join(', ')}): this version shows only the columns that it knows.`,
    );
}

interface Reached {
  readonly address: Address;
  /** Stops the embedded server if it was started for this command. */
  stop(): Promise<void>;
}

async function open(opening: Opening): Promise<Reached> {
  const { options, call } = opening;
  if (options.url !== '') {
    checkUrl(options.url);
    return { address: { connectionString: options.url }, stop: async () => undefined };
  }
  try {
    const place = placeOf(call, await findCluster(opening));
    const running = opening.access === 'own' ? undefined : await findRunning(place);
    if (running !== undefined) return { address: running, stop: async () => undefined };
    if (opening.access === 'read') throw await notRunning(place.dataDir, call);
    return await startServer(call, place);
  } catch (error) {
    throw explainOpening(error);
  }
}

/** Starts an embedded server for a command. Its session is its own: a signal to the command does not reach it. */
export async function startServer({ earlyEnd }: Call, place: ServerOptions): Promise<Reached> {
  const embedded = new EmbeddedServer(place);
  const release = earlyEnd.prepare(() => embedded.stop());
  const stop = (): Promise<void> => embedded.stop().finally(release);
  try {
    return { address: await embedded.start(), stop };
  } catch (error) {
    release();
    throw error;
  }
}

/** A daemon starts a server that died again, which fails for as long as the cause lasts, such as a full disk. */
async function notRunning(dataDir: string, call: Call): Promise<UserError> {
  const daemon = (await findDaemons(call.process)).find((each) => databaseOf(each) === dataDir);
  return daemon === undefined
    ? new UserError(`the embedded server in ${dataDir} does not run`, `Start the daemon: ${commandLine(call, 'run')}`)
    : new UserError(
        `the embedded server in ${dataDir} does not answer`,
        `The daemon (pid ${daemon.status.pid}) starts it. Its log and \`sluice status\` say what prevents that.`,
      );
}

/** Where an embedded server runs for a command. */
export function placeOf({ terminal, process }: Call, dataDir: string): ServerOptions {
  const say = (message: string): void => terminal.say(message);
  return { dataDir, host: process, log: { info: say, warn: say } };
}

/** The folder of the embedded database. It must exist, except for commands that create it. */
async function findCluster({ access, options, call }: Opening): Promise<string> {
  const dataDir = resolve(call.process.cwd(), options.data_dir);
  if (access === 'migrate' || access === 'create' || hasCluster(dataDir)) return dataDir;
  const daemons = await findDaemons(call.process);
  // The daemon of this folder may have another configuration than this command.
  const here = daemons.filter(({ status }) => status.folder === call.process.cwd());
  const [database] = here.length === 1 && call.values.list('config').length === 0 ? here.map(databaseOf) : [];
  if (database !== undefined && isAbsolute(database) && hasCluster(database)) return database;
  throw new UserError(
    `there is no database in ${options.data_dir} yet`,
    describeOthers(daemons) ??
      `Start the daemon, which creates it: ${commandLine(call, 'run')}. Or run the command in the folder of the daemon, with its --config.`,
  );
}

const databaseOf = ({ status }: RunningDaemon): string => status.database ?? '';

/** A folder that this user cannot enter may have one. */
export function hasCluster(dataDir: string): boolean {
  try {
    return ['cluster', 'moved-to'].some(
      (name) => statSync(join(dataDir, 'postgres', name), { throwIfNoEntry: false }) !== undefined,
    );
  } catch (error) {
    throw new UserError(`${dataDir} cannot be read: ${fileFault(error)}`, 'Run the command as the user of the daemon.');
  }
}

function optionsOf(config: Config): PostgresOptions {
  const options = findPostgresOptions(config);
  if (options !== null) return options;
  throw new UserError(
    'this configuration has no database',
    'Add the postgres extension, or name another configuration with --config.',
  );
}

export function explainOpening(error: unknown): unknown {
  if (error instanceof EmbeddedServerError) return new UserError(error.message);
  if (isOfItsDisk(error)) return unreachable(error);
  if (sqlstateOf(error) === INSUFFICIENT_PRIVILEGE)
    return new UserError(
      `the database user lacks a right: ${describeFailure(error)}`,
      'Use the user of the daemon, or let that user grant the right.',
    );
  if (sqlstateOf(error) === OUT_OF_MEMORY)
    return new UserError(
      `the database server cannot run the query: ${describeFailure(error)}`,
      (error as { readonly hint?: string }).hint ?? 'Give the server more memory.',
    );
  if (isLockTimeout(error))
    return new UserError(
      `another session of the database holds a lock that this command needs: ${describeFailure(error)}`,
      'End that session, or run the command again later.',
    );
  if (sqlstateOf(error) === QUERY_CANCELED)
    return new UserError(
      `the database did not answer in time: ${describeFailure(error)}`,
      'Another session may hold a lock, or the server is busy. Run the command again later.',
    );
  if (UNDEFINED.has(sqlstateOf(error) ?? ''))
    return new UserError(
      `the schema of the database is not as this version and extensions.postgres.views_schema expect it: ${describeFailure(error)}`,
      'Use the version and the configuration of the daemon, or migrate the schema with `sluice migrate`.',
    );
  return isPassing(error) ? unreachable(error) : explain(error);
}
