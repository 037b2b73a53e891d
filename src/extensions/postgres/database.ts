/**
 * Connections to one Postgres database: a small pool for questions, and single connections for who must hold one (the
 * ledger's writer, the listener). A connection that failed or timed out is destroyed, never given to somebody else.
 */
import pg from 'pg';
import type { PostgresDatabase, Query, SessionLimits } from '../../component/capabilities/postgres.ts';
import { DatabaseClock } from './clock.ts';
import { destroyConnection, endConnection, endPool } from './connection-end.ts';
import { makeReady } from './session-settings.ts';

/** Questions run at once: key lookups, maintenance, the command line. */
const POOL_SIZE = 4;
const CONNECT_TIMEOUT_MS = 5000;
const READY_TIMEOUT_MS = 10000;
/** A question that takes longer is given up, and its connection destroyed. */
const QUERY_TIMEOUT_MS = 5000;
const APPLICATION_NAME = 'sluice';

/** How to reach the database: a URL, or what the embedded server answered. */
export type Address =
  | { readonly connectionString: string }
  | {
      readonly host: string;
      readonly port: number;
      readonly user: string;
      readonly password: string;
      readonly database: string;
    };

export interface ConnectionSettings {
  /** How long connecting may take; left out, five seconds. */
  readonly connectTimeoutMs?: number;
  readonly statementTimeoutMs?: number;
  /** How long this side waits for an answer; left out, without limit. */
  readonly queryTimeoutMs?: number;
  /** What is done first on it: settings, statements to prepare. */
  readonly ready?: (client: pg.Client) => Promise<unknown>;
  /** How long that may take; left out, ten seconds. */
  readonly readyTimeoutMs?: number;
}

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

  /** Until it is told where, every question rejects at once. */
  use(address: Address): this {
    this.#address = address;
    this.#resolveOpened();
    return this;
  }

  /** As `use`, when the clock is measured and the tasks that come first are done. Rejects when the database cannot be asked. */
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

  /** Asks on the pool. Rejects when the database cannot be reached or takes too long. */
  async query(text: string, values: readonly unknown[] = []): ReturnType<Query> {
    this.#pool ??= this.#createPool(this.#known());
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

  /** A connection of one's own, connected and made ready. The owner ends it; one that could not be made ready is not left behind. */
  async connect(settings: ConnectionSettings = {}): Promise<pg.Client> {
    const client = new pg.Client({
      ...this.#known(),
      application_name: APPLICATION_NAME,
      connectionTimeoutMillis: settings.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
      keepAlive: true,
      ...(settings.queryTimeoutMs === undefined ? {} : { query_timeout: settings.queryTimeoutMs }),
    });
    // Without a listener a lost connection would end the process; whoever uses the client finds out at its next query.
    client.on('error', () => undefined);
    await client.connect();
    // A server that went silent right now would be waited for as long as the system does.
    const limit = setTimeout(() => destroyConnection(client), settings.readyTimeoutMs ?? READY_TIMEOUT_MS);
    try {
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

  /** For good: what is asked afterwards must not open connections that nobody closes. */
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

  #createPool(address: Address): pg.Pool {
    const pool = new pg.Pool({
      ...address,
      application_name: APPLICATION_NAME,
      max: POOL_SIZE,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      query_timeout: QUERY_TIMEOUT_MS,
      keepAlive: true,
      allowExitOnIdle: true,
      onConnect: (client) => makeReady(client, QUERY_TIMEOUT_MS),
    });
    pool.on('error', () => undefined);
    return pool;
  }
}
