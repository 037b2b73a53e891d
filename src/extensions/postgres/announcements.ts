/**
 * The listening connection: it receives announcements of changed keys and prices, and runs the queries of the watch.
 * Announcements are lost while no connection listens, so after a new connection everything counts as changed.
 */
import type pg from 'pg';
import { destroyConnection, endConnection } from './connection-end.ts';
import type { Database } from './database.ts';
import { within } from './time-limit.ts';

/** Keys, projects and environments; prices. */
export type Channel = 'sluice_keys' | 'sluice_prices';
const CHANNELS: readonly Channel[] = ['sluice_keys', 'sluice_prices'];
/** A connection takes several round trips, and a busy server is slow to accept it. A shorter limit may never be met. */
const CONNECT_TIMEOUT_MS = 5000;
const LISTEN = CHANNELS.map((channel) => `LISTEN ${channel}`).join(';');

export class Announcements {
  readonly #database: Database;
  readonly #listeners = new Map<Channel, Set<() => void>>(CHANNELS.map((channel) => [channel, new Set()]));
  #client: pg.Client | null = null;
  #lost: () => void = () => undefined;
  #stopped = false;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Calls back at every change. Returns the function that unsubscribes. */
  on(channel: Channel, changed: () => void): () => void {
    this.#listeners.get(channel)?.add(changed);
    return () => this.#listeners.get(channel)?.delete(changed);
  }

  /** Calls back when the connection ends without `stop`. */
  onLost(lost: () => void): void {
    this.#lost = lost;
  }

  /**
   * Runs a query on the listening connection, which it opens first if necessary. Rejects when the database cannot be
   * reached or does not answer the query in time; the connection is destroyed then. One query at a time.
   */
  async ask(text: string, timeoutMs: number): Promise<Readonly<Record<string, unknown>> | undefined> {
    const client = this.#client ?? (await this.#listen());
    try {
      const { rows } = await within(timeoutMs, client.query<Record<string, unknown>>(text));
      return rows[0];
    } catch (error) {
      this.#forget(client);
      destroyConnection(client);
      throw error;
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    const client = this.#client;
    this.#client = null;
    if (client !== null) await endConnection(client);
  }

  async #listen(): Promise<pg.Client> {
    const client = await this.#database.connect({
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      ready: (listener) => listener.query(LISTEN),
      readyTimeoutMs: CONNECT_TIMEOUT_MS,
    });
    if (this.#stopped) {
      await endConnection(client);
      throw new Error('the listening connection is stopped');
    }
    this.#client = client;
    client.on('notification', ({ channel }) => this.#announce(channel));
    client.on('end', () => this.#forget(client));
    for (const channel of CHANNELS) this.#announce(channel);
    return client;
  }

  #forget(client: pg.Client): void {
    if (this.#client !== client) return;
    this.#client = null;
    if (!this.#stopped) this.#lost();
  }

  #announce(channel: string): void {
    for (const changed of this.#listeners.get(channel as Channel) ?? []) changed();
  }
}
