/**
 * Connections to one Postgres database: a small pool for queries, and dedicated connections for the ledger's writers,
 * the listener and others. A connection that failed or timed out is destroyed and never reused.
 */
import pg from 'pg';
import type { PostgresDatabase, Query, SessionLimits } from '../../component/capabilities/postgres.ts';
import { forClient } from '../../component/database-url.ts';
import { lowerPriority } from './backend-priority.ts';
import { DatabaseClock } from './clock.ts';
import { destroyConnection, endConnection, endPool } from './connection-end.ts';
import { makeReady } from './session-settings.ts';

/** Concurrent queries: key lookups, maintenance, the command line. */
const POOL_SIZE = 4;
const CONNECT_TIMEOUT_MS = 5000;
const READY_TIMEOUT_MS = 10000;
/** A query that takes longer fails, and its connection is destroyed. */
const QUERY_TIMEOUT_MS = 5000;
const APPLICATION_NAME = 'sluice';

/** The address of the database: a URL, or the options of the embedded server. */
export type Address =
  | { readonly connectionString: string }
  | {
      readonly host: string;
      readonly port: number;
      readonly user: string;
      readonly password: string;
      readonly database: string;
    };

/** The address for a client of `pg`. */
export const clientAddress = (address: Address): Address =>
  'connectionString' in address ? { connectionString: forClient(address.connectionString) } : address;

/** A pid of another server may belong to another machine. */
const isEmbedded = (address: Address): boolean => !('connectionString' in address);

export interface ConnectionSettings {
  /** The limit for connecting; default: five seconds. */
  readonly connectTimeoutMs?: number;
  readonly statementTimeoutMs?: number;
  /** How long this side waits for an answer; default: no limit. */
  readonly queryTimeoutMs?: number;
  /** Runs first on the connection: settings, prepared statements. */
  readonly ready?: (client: pg.Client) => Promise<unknown>;
  /** The limit for `ready`; default: ten seconds. */
  readonly readyTimeoutMs?: number;
  /** The process of the embedded server for it has a lower priority than those that write. */
  readonly yieldsToIngest?: boolean;
}

export interface PoolSettings {
  readonly size: number;
  readonly applicationName: string;
  /** The limit for a free connection or a new one. */
  readonly connectTimeoutMs: number;
  readonly queryTimeoutMs: number;
  /** The processes of the embedded server for these connections have a lower priority than those that write. */
  readonly yieldsToIngest?: boolean;
}

const OWN_POOL: PoolSettings = {
  size: POOL_SIZE,
  applicationName: APPLICATION_NAME,
  connectTimeoutMs: CONNECT_TIMEOUT_MS,
  queryTimeoutMs: QUERY_TIMEOUT_MS,
};

export class Database implements PostgresDatabase {
  readonly opened: Promise<void>;
  readonly clock = new DatabaseClock({ database: this, monotonicMs: () => performance.now() });
  readonly #tasks = new Set<(database: PostgresDatabase) => Promise<void>>();
  #resolveOpened: () => void = () => undefined;
  #address: Address | null = null;
  #pool: pg.Pool | null = null;

  constructor() {
    this.opened = new Promise((resolve) => (this.#resolveOpened = resolve));
  }

  get isOpen(): boolean {
    return this.#address !== null;
  }

  /** Before the address is set, every query rejects at once. */
  use(address: Address): this {
    this.#address = clientAddress(address);
    this.#resolveOpened();
    return this;
  }

  /**
   * As `use`; resolves when the clock is measured and the opening tasks are done. Rejects when the database cannot be
   * queried.
   */
  async open(address: Address): Promise<void> {
    const early = new Database().use(address);
    try {
      await this.clock.measure(early);
      for (const task of this.#tasks) await task(early);
    } finally {
      await early.close();
    }
    this.use(address);
  }

  beforeOpening(task: (database: PostgresDatabase) => Promise<void>): () => void {
    this.#tasks.add(task);
    return () => void this.#tasks.delete(task);
  }

  /** Queries on the pool. Rejects when the database cannot be reached or takes too long. */
  async query(text: string, values: readonly unknown[] = []): ReturnType<Query> {
    this.#pool ??= this.createPool(OWN_POOL);
    return this.#pool.query({ text, values: [...values] });
  }

  async session<T>(limits: SessionLimits, work: (query: Query) => Promise<T>): Promise<T> {
    const client = await this.connect({
      statementTimeoutMs: limits.statementTimeoutMs,
      ready: (session) => session.query(`SET lock_timeout = ${limits.lockTimeoutMs}`),
    });
    const cut = (): void => destroyConnection(client);
    limits.signal?.addEventListener('abort', cut);
    try {
      limits.signal?.throwIfAborted();
      return await work((text, values = []) => client.query(text, [...values]));
    } finally {
      limits.signal?.removeEventListener('abort', cut);
      await endConnection(client);
    }
  }

  /** A dedicated connection, after `ready`. The caller ends it. If `ready` fails, the connection is ended here. */
  async connect(settings: ConnectionSettings = {}): Promise<pg.Client> {
    const address = this.#known();
    const client = new pg.Client({
      ...address,
      application_name: APPLICATION_NAME,
      connectionTimeoutMillis: settings.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
      keepAlive: true,
      ...(settings.queryTimeoutMs === undefined ? {} : { query_timeout: settings.queryTimeoutMs }),
    });
    // Without a listener a lost connection would end the process. The user of the client gets the error at its next
    // query.
    client.on('error', () => undefined);
    await client.connect();
    // If the server stops answering now, the system's own timeout would be much longer.
    const limit = setTimeout(() => destroyConnection(client), settings.readyTimeoutMs ?? READY_TIMEOUT_MS);
    try {
      if (settings.yieldsToIngest === true && isEmbedded(address)) await lowerPriority(client);
      await makeReady(client, settings.statementTimeoutMs ?? 0);
      await settings.ready?.(client);
      return client;
    } catch (error) {
      await endConnection(client);
      throw error;
    } finally {
      clearTimeout(limit);
    }
  }

  /** Final: later queries must not open connections that would not be closed. */
  async close(): Promise<void> {
    const pool = this.#pool;
    this.#pool = null;
    this.#address = null;
    if (pool !== null) await endPool(pool);
  }

  #known(): Address {
    if (this.#address === null) throw new Error('the database is not open');
    return this.#address;
  }

  /** Connections to the same database for another purpose. The caller ends the pool. */
  createPool(settings: PoolSettings): pg.Pool {
    const address = this.#known();
    const lowers = settings.yieldsToIngest === true && isEmbedded(address);
    const pool = new pg.Pool({
      ...address,
      application_name: settings.applicationName,
      max: settings.size,
      connectionTimeoutMillis: settings.connectTimeoutMs,
      query_timeout: settings.queryTimeoutMs,
      keepAlive: true,
      allowExitOnIdle: true,
      onConnect: async (client) => {
        // The pool listens only while a client is idle in it. A reader holds one without a running statement between
        // the parts of its rows.
        client.on('error', () => undefined);
        if (lowers) await lowerPriority(client);
        await makeReady(client, settings.queryTimeoutMs);
      },
    });
    pool.on('error', () => undefined);
    return pool;
  }
}
