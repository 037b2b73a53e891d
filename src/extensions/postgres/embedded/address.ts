/** The address of the embedded server, and the queries that check whether it is ready and serves our files. */
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { platform, tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { Client } from 'pg';
import { endConnection } from '../connection-end.ts';
import { firstClosed, type ServerFolder, handOver, makeOwnedFolder, SOCKET_FOLDER } from './server-folder.ts';
import { CLUSTER_SETTING, EmbeddedServerError } from './host-process.ts';
import { SUPERUSER } from './cluster.ts';
import { SOCKET_PORT } from './pid-file.ts';
import { errorCode } from '../../../errors.ts';

/** Connection options of `pg`; `host` is a folder where the server listens on a local socket. */
export interface ServerAddress {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  readonly ssl: false;
}

/** Where the server listens. */
export interface Endpoint {
  readonly socketFolder: string | undefined;
  readonly port: number;
}

/**
 * `ready`: it answered. `starting`: it runs but does not accept queries yet, for example after a crash. `silent`: no
 * answer.
 */
export type Answer =
  | { readonly kind: 'ready'; readonly dataDirectory: string; readonly version: string }
  | { readonly kind: 'starting' }
  | { readonly kind: 'silent'; readonly reason: string };

const LOOPBACK = '127.0.0.1';
/** Bytes that fit into a socket address: 108 on Linux and 104 elsewhere, including a closing zero. */
const MAX_SOCKET_PATH = platform() === 'linux' ? 107 : 103;
/** The database that holds everything. */
const DATABASE = 'sluice';
const CONNECT_TIMEOUT_MS = 2_000;
/** SQLSTATE cannot_connect_now: starting up, recovering or shutting down. */
const CANNOT_CONNECT_NOW = '57P03';
const SHORT_FOLDER = 'sluice-pg-';

/** A socket in the data directory if the path is short enough, else in a new temporary folder; TCP on Windows. */
export async function chooseEndpoint(serverFolder: ServerFolder, transport: 'socket' | 'tcp'): Promise<Endpoint> {
  if (transport === 'tcp') return { socketFolder: undefined, port: await freePort() };
  const inside = serverFolder.closed ? serverFolder.cluster : join(serverFolder.path, SOCKET_FOLDER);
  if (Buffer.byteLength(join(inside, `.s.PGSQL.${SOCKET_PORT}`)) <= MAX_SOCKET_PATH) {
    if (!serverFolder.closed) await makeOwnedFolder(serverFolder, SOCKET_FOLDER);
    return { socketFolder: inside, port: SOCKET_PORT };
  }
  const temporary = await temporaryFolder(serverFolder);
  const short = await mkdtemp(join(temporary, SHORT_FOLDER)).catch((error: Error) => {
    throw new EmbeddedServerError(
      `the path ${serverFolder.path} is too long for a socket, and the folder for temporary files cannot hold it: ${error.message} (choose a shorter data_dir, or set TMPDIR to a short path of a folder where this process may write)`,
      { cause: error },
    );
  });
  await handOver(short, serverFolder);
  return { socketFolder: short, port: SOCKET_PORT };
}

/**
 * Removes the socket and the lock of a dead server. PostgreSQL would respect a lock whose process has not ended
 * completely.
 */
export async function clearEndpoint({ socketFolder, port }: Endpoint): Promise<void> {
  if (socketFolder === undefined) return;
  const socket = join(socketFolder, `.s.PGSQL.${port}`);
  await Promise.all([rm(socket, { force: true }), rm(`${socket}.lock`, { force: true })]);
}

/** Removes a temporary socket folder; any other folder stays. */
export async function removeEndpoint(socketFolder: string): Promise<void> {
  const parent = dirname(socketFolder);
  const temporary = parent === '/tmp' || parent === (await realpath(tmpdir()).catch(() => undefined));
  if (temporary && basename(socketFolder).startsWith(SHORT_FOLDER))
    await rm(socketFolder, { recursive: true, force: true }).catch(() => undefined);
}

/**
 * Settings that make the server listen there, and at a socket among its files: a process that finds the files can check
 * from any container of the same machine whether a server uses them.
 */
export function listenSettings(endpoint: Endpoint, { cluster }: ServerFolder): Record<string, string> {
  const { socketFolder = cluster } = endpoint;
  const folders = socketFolder === cluster ? ['.'] : [socketFolder, '.'];
  return {
    port: String(endpoint.port),
    listen_addresses: endpoint.socketFolder === undefined ? LOOPBACK : '',
    unix_socket_directories:
      platform() === 'win32' ? '' : folders.map((folder) => `"${folder.replaceAll('"', '""')}"`).join(', '),
    unix_socket_permissions: '0700',
  };
}

export function addressOf(endpoint: Endpoint, password: string, database = DATABASE): ServerAddress {
  const host = endpoint.socketFolder ?? LOOPBACK;
  return { host, port: endpoint.port, user: SUPERUSER, password, database, ssl: false };
}

/** The address as one line, in the form that PostgreSQL's tools and `pg` accept. */
export function urlOf(address: ServerAddress): string {
  const user = `${encodeURIComponent(address.user)}:${encodeURIComponent(address.password)}`;
  if (!address.host.startsWith('/')) return `postgres://${user}@${address.host}:${address.port}/${address.database}`;
  return `postgres://${user}@localhost:${address.port}/${address.database}?host=${encodeURIComponent(address.host)}`;
}

/** Connects and queries which files the server serves. */
export async function ask(address: ServerAddress): Promise<Answer> {
  try {
    const rows = await query(
      address,
      `SELECT coalesce(current_setting('${CLUSTER_SETTING}', true), current_setting('data_directory')) AS folder,
         split_part(current_setting('server_version'), ' ', 1) AS version`,
    );
    return { kind: 'ready', dataDirectory: String(rows[0]?.['folder']), version: String(rows[0]?.['version']) };
  } catch (error) {
    if (errorCode(error) === CANNOT_CONNECT_NOW) return { kind: 'starting' };
    return { kind: 'silent', reason: error instanceof Error ? error.message : String(error) };
  }
}

/** Creates the database of this address if it is missing. */
export async function ensureDatabase(address: ServerAddress): Promise<void> {
  const maintenance = { ...address, database: 'postgres' };
  const found = await query(maintenance, 'SELECT 1 FROM pg_database WHERE datname = $1', [address.database]);
  if (found.length === 0) await query(maintenance, `CREATE DATABASE ${address.database}`);
}

async function query(address: ServerAddress, text: string, values: string[] = []): Promise<Record<string, unknown>[]> {
  const client = new Client({ ...address, connectionTimeoutMillis: CONNECT_TIMEOUT_MS, query_timeout: 30_000 });
  // A broken connection fails the query; the event gives no further information.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query(text, values)).rows;
  } finally {
    await endConnection(client);
  }
}

async function temporaryFolder(serverFolder: ServerFolder): Promise<string> {
  const folder = await realpath(tmpdir()).catch(() => '/tmp');
  const closed = serverFolder.identity === undefined ? undefined : await firstClosed(folder, serverFolder.identity);
  const long = Buffer.byteLength(join(folder, `${SHORT_FOLDER}XXXXXX/.s.PGSQL.${SOCKET_PORT}`)) > MAX_SOCKET_PATH;
  return closed !== undefined || long ? '/tmp' : folder;
}

async function freePort(): Promise<number> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, LOOPBACK, () => {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}
