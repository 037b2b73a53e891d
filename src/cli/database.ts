/** Opening the database a configuration names, for commands that look at it or change it beside a running daemon. */
import { resolve } from 'node:path';
import { UserError } from '../errors.ts';
import { Database } from '../extensions/postgres/database.ts';
import { urlOf } from '../extensions/postgres/embedded/address.ts';
import { EmbeddedServerError } from '../extensions/postgres/embedded/host.ts';
import { EmbeddedServer } from '../extensions/postgres/embedded/server.ts';
import { findRunning } from '../extensions/postgres/embedded/visit.ts';
import { checkUrl, explain, isPassing, unreachable } from '../extensions/postgres/first-contact.ts';
import { migrate } from '../extensions/postgres/migrate.ts';
import type { PostgresOptions } from '../extensions/postgres/options.ts';
import type { Config } from '../config/config.ts';
import type { Call, ExitCode } from './command.ts';
import { readConfig } from './config-options.ts';

/** What the database was found by. */
export interface Origin {
  readonly config: Config;
  readonly options: PostgresOptions;
}

/** Gives `work` the database, brought up to date, and closes it afterwards; an embedded server that nobody runs is started meanwhile. */
export async function withDatabase(
  call: Call,
  work: (database: Database, applied: readonly string[], origin: Origin) => Promise<ExitCode>,
): Promise<ExitCode> {
  const config = await readConfig(call);
  const options = optionsOf(config);
  const database = new Database();
  const embedded = await open(database, options, call);
  try {
    return await work(database, await migrate(database, options.views_schema), { config, options });
  } catch (error) {
    throw explainOpening(error);
  } finally {
    await database.close();
    await embedded?.stop();
  }
}

/** Returns the server that was started for this, if one was. */
async function open(database: Database, options: PostgresOptions, call: Call): Promise<EmbeddedServer | null> {
  if (options.url !== '') {
    checkUrl(options.url);
    database.use({ connectionString: options.url });
    return null;
  }
  const log = {
    info: (message: string) => call.terminal.say(message),
    warn: (message: string) => call.terminal.say(message),
  };
  const place = { dataDir: resolve(call.process.cwd(), options.data_dir), host: call.process, log };
  try {
    const running = await findRunning(place);
    if (running !== undefined) {
      database.use(running);
      return null;
    }
    const server = new EmbeddedServer(place);
    database.use(await server.start());
    return server;
  } catch (error) {
    throw explainOpening(error);
  }
}

/** Null where the configuration runs no database. */
export function findPostgresOptions(config: Config): PostgresOptions | null {
  for (const id of config.service.extensions) {
    const extension = config.extensions.get(id);
    if (extension?.definition.type === 'postgres') return extension.options as PostgresOptions;
  }
  return null;
}

/** Where the embedded server of a configuration runs; null where it has none, or a database of its own. */
export async function findEmbeddedUrl(config: Config, process: NodeJS.Process): Promise<string | null> {
  const options = findPostgresOptions(config);
  if (options === null || options.url !== '') return null;
  const quiet = { info: () => undefined, warn: () => undefined };
  const dataDir = resolve(process.cwd(), options.data_dir);
  const address = await findRunning({ dataDir, host: process, log: quiet });
  if (address === undefined) throw new UserError(`the embedded server in ${options.data_dir} does not answer`);
  return urlOf(address);
}

function optionsOf(config: Config): PostgresOptions {
  const options = findPostgresOptions(config);
  if (options !== null) return options;
  throw new UserError(
    'this configuration has no database',
    'Add the postgres extension, or name another configuration with --config.',
  );
}

function explainOpening(error: unknown): unknown {
  if (error instanceof EmbeddedServerError) return new UserError(error.message);
  return isPassing(error) ? unreachable(error) : explain(error);
}
