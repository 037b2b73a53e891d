/** The first start of a daemon on a database creates a project and its key. Every start greets the operator. */
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Capabilities } from '../component/capabilities/capability.ts';
import { CONSOLE } from '../component/capabilities/console.ts';
import { PEOPLE } from '../component/capabilities/people.ts';
import { POSTGRES_DATABASE, type PostgresDatabase } from '../component/capabilities/postgres.ts';
import type { Logger } from '../component/logger.ts';
import type { Config } from '../config/config.ts';
import { makeLink } from '../extensions/console/auth/make-link.ts';
import { Administration } from '../extensions/postgres/administration.ts';
import { findEmbedded, findPostgresOptions } from './configured-database.ts';
import { type BoundAddress, findEndpoint, findGrpcEndpoint, listensEverywhere } from './endpoint.ts';
import { type DaemonHost, FIRST_PERSON, FIRST_PROJECT, type GreetedConsole, type Greeting } from './daemon-host.ts';
import { shellWord } from './shell-word.ts';

const FIRST_LABEL = 'first start';
/** In the data folder. */
const KEY_FILE = 'first-key';
const KEY_FILE_MODE = 0o600;

export interface Greeter {
  readonly host: DaemonHost;
  readonly logger: Logger;
  readonly bound: BoundAddress;
  isStopping(): boolean;
}

/**
 * Waits until the database is open, which may be long after the start. Never fails: a daemon that serves continues
 * without its greeting.
 */
export async function greet(config: Config, capabilities: Capabilities, daemon: Greeter): Promise<void> {
  const { host, logger, bound, isStopping } = daemon;
  const endpoint = findEndpoint(config, bound);
  const database = capabilities.find(POSTGRES_DATABASE);
  if (database === undefined || endpoint === null) return;
  await database.opened;
  try {
    const grpc = findGrpcEndpoint(config, bound);
    if (config.service.telemetry.logs.format === 'json') return await greetInLog({ host, config, database, logger });
    const psql = await psqlLine(host, config);
    const console = await openConsole(capabilities);
    // The key is created last, because it is shown only once.
    const first = await openFirstProject(database, config);
    host.greet({ endpoint, grpc, listensEverywhere: listensEverywhere(config), psql, ...first, console });
  } catch (error) {
    if (!isStopping()) logger.warn({ error }, 'the greeting could not be prepared');
  }
}

interface LogGreeting {
  readonly host: DaemonHost;
  readonly config: Config;
  readonly database: PostgresDatabase;
  readonly logger: Logger;
}

/**
 * With a JSON log there is no greeting, because a program reads the output, and a key must not get into the journal.
 * The first key goes to a file that only this user can read.
 */
async function greetInLog({ host, config, database, logger }: LogGreeting): Promise<void> {
  if (hasStaticKeys(config)) return;
  const projects = await new Administration(database).listProjects();
  if (projects.some(({ createdAt }) => createdAt !== null)) return;
  const file = resolve(host.process.cwd(), findPostgresOptions(config)?.data_dir ?? '.', KEY_FILE);
  const handle = await openKeyFile(file);
  if (typeof handle === 'string') {
    const hint = 'Create a key: sluice project create default, sluice key create';
    return logger.warn({ file, error: handle, hint }, 'no first key was created, because its file cannot be written');
  }
  let isWritten = false;
  try {
    const { key } = await openFirstProject(database, config);
    if (key === null) return;
    await handle.writeFile(`${key}\n`);
    isWritten = true;
    await handle.sync();
    logger.info({ project: FIRST_PROJECT, file }, 'the first API key is in a file; remove the file after reading it');
  } finally {
    await handle.close();
    if (!isWritten) await rm(file, { force: true });
  }
}

/** The file, or the reason why it cannot be written. */
async function openKeyFile(file: string): Promise<FileHandle | string> {
  try {
    await mkdir(dirname(file), { recursive: true });
    await rm(file, { force: true });
    return await open(file, 'wx', KEY_FILE_MODE);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** While there are no people, a link for an admin is made. */
async function openConsole(capabilities: Capabilities): Promise<GreetedConsole | null> {
  const address = capabilities.find(CONSOLE)?.address() ?? null;
  const people = capabilities.find(PEOPLE);
  if (address === null || address.url === null || people === undefined) return null;
  const { url, login } = address;
  if (!login || (await people.list()).length > 0) return { url, link: null, login };
  return { url, link: await makeLink(people, { name: FIRST_PERSON, role: 'admin' }, url), login };
}

async function openFirstProject(
  database: PostgresDatabase,
  config: Config,
): Promise<Pick<Greeting, 'key' | 'keysExist'>> {
  // With keys in the configuration, a further key in the log is not wanted.
  if (hasStaticKeys(config)) return { key: null, keysExist: true };
  const administration = new Administration(database);
  const created = await administration.createFirstProject(FIRST_PROJECT, FIRST_LABEL);
  if (created !== null) return { key: created.text, keysExist: true };
  const keys = await administration.listKeys(null);
  return { key: null, keysExist: keys.some(({ revokedAt }) => revokedAt === null) };
}

function hasStaticKeys(config: Config): boolean {
  return [...config.processors.values()].some(({ definition, options }) => {
    const { keys } = options as { readonly keys?: readonly unknown[] };
    return definition.type === 'auth' && Array.isArray(keys) && keys.length > 0;
  });
}

async function psqlLine({ process }: DaemonHost, config: Config): Promise<string | null> {
  const options = findPostgresOptions(config);
  if (options === null) return null;
  if (options.url !== '') return process.env['DATABASE_URL'] === options.url ? 'psql "$DATABASE_URL"' : null;
  const address = await findEmbedded(options, process);
  if (address === undefined) return null;
  const port = address.host.startsWith('/') ? '' : ` -p ${address.port}`;
  return `psql -h ${shellWord(address.host)}${port} -U ${address.user} ${address.database}`;
}
