/**
 * Word of changes in the database, from whoever makes them: one connection listens for all who want to know. Whatever was said
 * while nobody listened is lost, so a new connection counts as a change of everything.
 */
import type pg from 'pg';
import type { Logger } from '../../component/logger.ts';
import type { Database } from './database.ts';

/** What is announced: keys, projects and environments; prices. */
export type Channel = 'sluice_keys' | 'sluice_prices';
const CHANNELS: readonly Channel[] = ['sluice_keys', 'sluice_prices'];
const LISTEN = CHANNELS.map((channel) => `LISTEN ${channel}`).join(';');
/** How long to wait before listening again after the connection was lost. */
const RELISTEN_MS = 1000;

export class Announcements {
  readonly #database: Database;
  readonly #logger: Logger;
  readonly #listeners = new Map<Channel, Set<() => void>>(CHANNELS.map((channel) => [channel, new Set()]));
  #client: pg.Client | null = null;
  #retry: NodeJS.Timeout | null = null;
  #stopped = true;

  constructor(database: Database, logger: Logger) {
    this.#database = database;
    this.#logger = logger;
  }

  async start(): Promise<void> {
    this.#stopped = false;
    await this.#listen();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#retry !== null) clearTimeout(this.#retry);
    const client = this.#client;
    this.#client = null;
    await client?.end().catch(() => undefined);
  }

  /** Calls back at every change; returns how to stop. */
  on(channel: Channel, changed: () => void): () => void {
    this.#listeners.get(channel)?.add(changed);
    return () => this.#listeners.get(channel)?.delete(changed);
  }

  async #listen(): Promise<void> {
    try {
      const client = await this.#database.connect({ ready: (listener) => listener.query(LISTEN) });
      if (this.#stopped) return await client.end();
      this.#client = client;
      client.on('notification', ({ channel }) => this.#announce(channel));
      client.on('end', () => this.#listenLater());
      for (const channel of CHANNELS) this.#announce(channel);
    } catch (error) {
      this.#logger.warn(
        { error: error instanceof Error ? error.message : String(error) },
        'changes of API keys and prices are not heard; what is cached still grows old',
      );
      this.#listenLater();
    }
  }

  #listenLater(): void {
    this.#client = null;
    if (this.#stopped || this.#retry !== null) return;
    this.#retry = setTimeout(() => {
      this.#retry = null;
      void this.#listen();
    }, RELISTEN_MS);
    this.#retry.unref();
  }

  #announce(channel: string): void {
    for (const changed of this.#listeners.get(channel as Channel) ?? []) changed();
  }
}
