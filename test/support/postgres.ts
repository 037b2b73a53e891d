/**
 * Databases for tests. All test files of one run of `scripts/test.js` share an embedded server: the first file that
 * needs it starts it, and the script ends it. A file that is run by hand has its own server, which ends with it. The
 * server runs without fsync, because its data is removed after the run.
 */
import { createHash, randomBytes } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { type ServerAddress, urlOf } from '../../src/extensions/postgres/embedded/address.ts';
import { isAlive } from '../../src/component/process-life.ts';
import { errorCode } from '../../src/errors.ts';
import { EmbeddedServer } from '../../src/extensions/postgres/embedded/server.ts';
import { waitFor } from '../../src/extensions/postgres/embedded/wait.ts';
import { PATIENCE_MS } from './patience.ts';

/** The environment variable with the folder that the files of one run share. */
const RUN_VARIABLE = 'SLUICE_TEST_RUN';
/** The URL of a running server whose databases the tests use instead, as a superuser. See scripts/system-server.js. */
const SERVER_VARIABLE = 'SLUICE_TEST_SERVER';
const RUN_PREFIX = 'sluice-test-';
const ADDRESS_FILE = 'address.json';
/** Without durability, for data that is removed with the server. */
export const FAST_SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_connections: '100',
  shared_buffers: '64MB',
};
const QUIET = { info: () => undefined, warn: () => undefined };

/** The part of a tap test that is used here. */
export interface Teardown {
  teardown(task: () => Promise<void>): unknown;
}

/** Content that many databases start with, made once in a run. `prepare` must close its connections. */
export interface Template {
  readonly name: string;
  prepare(url: string): Promise<void>;
}

export interface TestDatabase {
  readonly name: string;
  readonly url: string;
  readonly address: ServerAddress;
}

/** A new database, empty or a copy of the template, dropped at the end of the test. */
export async function createDatabase(t: Teardown, template?: Template): Promise<TestDatabase> {
  const server = await sharedServer();
  const name = `test_${randomBytes(6).toString('hex')}`;
  const source = template === undefined ? 'template0' : await prepareTemplate(server, template);
  // Copying files takes a quarter of the processor time of the default strategy, which writes the pages to the log.
  await administer(server, (client) => client.query(`CREATE DATABASE ${name} TEMPLATE ${source} STRATEGY file_copy`));
  t.teardown(async () => {
    await administer(server, (client) => client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
  });
  const address = { ...server, database: name };
  return { name, url: urlOf(address), address };
}

/**
 * Prepares the folder of a run and ends processes of a killed run. The result goes into the environment of the test
 * files.
 */
export async function openRun(): Promise<{ readonly variables: Record<string, string>; close(): Promise<void> }> {
  for (const name of (await readdir(tmpdir())).filter((name) => /^sluice-test-\d+$/.test(name))) {
    if (!(await isAlive(process, Number(name.slice(RUN_PREFIX.length))))) await endServer(join(tmpdir(), name));
  }
  const folder = join(tmpdir(), RUN_PREFIX + process.pid);
  await mkdir(folder);
  await chmod(folder, 0o755);
  return { variables: { [RUN_VARIABLE]: folder }, close: () => endServer(folder) };
}

/** A server of one test, started and stopped by the test. It does not run yet, and is durable by default. */
export async function makeServer(
  t: Teardown,
  settings: Readonly<Record<string, string>> = {},
  /** The data directory; left out: in the folder of temporary files. */
  parent: string = tmpdir(),
): Promise<{
  readonly url: string;
  /** The address of the running server. */
  readonly pid: () => number | undefined;
  readonly address: ServerAddress;
  start(): Promise<void>;
  stop(): Promise<void>;
}> {
  const folder = await mkdtemp(join(parent, `${RUN_PREFIX}away-`));
  await chmod(folder, 0o755);
  const server = new EmbeddedServer({ dataDir: folder, host: process, log: QUIET, settings });
  t.teardown(async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  // The first start creates the database and chooses the address, which later starts keep.
  const address = await server.start();
  await server.stop();
  return {
    url: urlOf(address),
    pid: () => server.pid,
    address,
    start: async () => {
      const { host } = await server.start();
      if (host !== address.host) throw new Error('the server has moved');
    },
    stop: () => server.stop(),
  };
}

let ownServer: Promise<ServerAddress> | undefined;

function sharedServer(): Promise<ServerAddress> {
  const other = process.env[SERVER_VARIABLE];
  if (other !== undefined) return Promise.resolve(addressIn(new URL(other)));
  const folder = process.env[RUN_VARIABLE];
  if (folder !== undefined) return joinServer(folder);
  ownServer ??= startOwnServer();
  return ownServer;
}

const addressIn = ({ searchParams, port, username, password, pathname }: URL): ServerAddress => ({
  ...{ host: searchParams.get('host') ?? '', port: Number(port) },
  ...{ user: username, password, database: pathname.slice(1), ssl: false },
});

/** The server of the run. The first test file starts it as a separate process and leaves it running. */
async function joinServer(folder: string): Promise<ServerAddress> {
  const path = join(folder, ADDRESS_FILE);
  const first = await writeFile(`${path}.claimed`, '', { flag: 'wx' }).then(
    () => true,
    (error: unknown) => {
      if (errorCode(error) !== 'EEXIST') throw error;
      return false;
    },
  );
  if (first) {
    const address = await serverIn(folder).start();
    await writeFile(`${path}.new`, JSON.stringify(address));
    await rename(`${path}.new`, path);
  }
  const read = () => readFile(path, 'utf8').catch(() => undefined);
  const text = await waitFor(read, { timeoutMs: PATIENCE_MS });
  if (text === undefined) throw new Error(`the database server of this test run did not start (${folder})`);
  return JSON.parse(text);
}

async function startOwnServer(): Promise<ServerAddress> {
  const folder = await mkdtemp(join(tmpdir(), `${RUN_PREFIX}own-`));
  await chmod(folder, 0o755);
  const server = serverIn(folder);
  // Loaded only here, because tap changes the output of a process that loads it, and scripts/test.js loads this file.
  const { default: tap } = await import('tap');
  tap.teardown(async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });
  return server.start();
}

/** Ends the server, whose starter has ended already. */
async function endServer(folder: string): Promise<void> {
  const used = await readFile(join(folder, ADDRESS_FILE)).catch(() => undefined);
  if (used !== undefined) {
    const server = serverIn(folder);
    await server.start();
    await server.stop();
  }
  await rm(folder, { recursive: true, force: true });
}

function serverIn(folder: string): EmbeddedServer {
  return new EmbeddedServer({ dataDir: folder, host: process, log: QUIET, settings: FAST_SETTINGS });
}

/** The name of the database with the template's content, created at the first call. */
async function prepareTemplate(server: ServerAddress, template: Template): Promise<string> {
  const name = `template_${createHash('sha256').update(template.name).digest('hex').slice(0, 12)}`;
  await administer(server, async (client) => {
    await client.query('SELECT pg_advisory_lock(hashtext($1))', [name]);
    const found = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
    if (found.rows.length > 0) return;
    const draft = `draft_${name}`;
    await client.query(`DROP DATABASE IF EXISTS ${draft} WITH (FORCE)`);
    await client.query(`CREATE DATABASE ${draft} TEMPLATE template0 STRATEGY file_copy`);
    await template.prepare(urlOf({ ...server, database: draft }));
    await client.query(`ALTER DATABASE ${draft} RENAME TO ${name}`);
  });
  return name;
}

async function administer(server: ServerAddress, task: (client: Client) => Promise<unknown>): Promise<void> {
  const client = new Client({ ...server, database: 'postgres' });
  await client.connect();
  try {
    await task(client);
  } finally {
    await client.end();
  }
}
