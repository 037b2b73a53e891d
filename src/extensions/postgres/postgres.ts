/**
 * The `postgres` extension: the database, its schema, the ledger, stored API keys and prices. Without a URL it runs its
 * own server in `data_dir`. With a URL, the daemon also starts while that database is unavailable.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Host, OptionFault } from '../../component/component.ts';
import { ADMINISTRATION } from '../../component/capabilities/administration.ts';
import { KEY_DIRECTORY } from '../../component/capabilities/key-directory.ts';
import { defineExtension, type Extension } from '../../component/extension.ts';
import { LEDGER } from '../../component/capabilities/ledger.ts';
import { OUTBOX } from '../../component/capabilities/outbox.ts';
import { PRICE_DIRECTORY } from '../../component/capabilities/price-directory.ts';
import { PEOPLE } from '../../component/capabilities/people.ts';
import { POSTGRES_READER } from '../../component/capabilities/postgres-reader.ts';
import { POSTGRES_DATABASE } from '../../component/capabilities/postgres.ts';
import { UserError } from '../../errors.ts';
import { Administration } from './administration.ts';
import { Announcements } from './announcements.ts';
import { type Address, Database } from './database.ts';
import { EmbeddedServerError } from './embedded/host-process.ts';
import { EmbeddedServer } from './embedded/server.ts';
import { describeFailure, isPassing, makeContact, remedyFor } from './first-contact.ts';
import { PostgresKeyDirectory } from './key-directory.ts';
import { MARKER_LIFETIME_MS, unixMs } from './ledger/guard-statements.ts';
import { PostgresLedger } from './ledger/ledger.ts';
import { type PostgresOptions, POSTGRES_SCHEMA } from './options.ts';
import { PostgresOutbox } from './outbox/outbox.ts';
import { PostgresPeople } from './people.ts';
import { PostgresPriceDirectory } from './price-directory.ts';
import { Readers } from './reader.ts';
import { SidePool } from './side-pool.ts';
import { checkUrl, describeDatabase, faultOfUrl } from './database-url.ts';
import { DatabaseWatch } from './watch.ts';

/** The interval and the batch size of the removal of expired markers. */
const SWEEP_MS = 60000;
const SWEEP_BATCH = 20000;
/** The most batches of one run; the rest waits for the next minute. */
const SWEEP_BATCHES = 100;
const NOW = unixMs('now()');
/** The outer condition protects a marker that a request sets again while the deletion waits for its lock. */
export const SWEEP_MARKERS = `
  DELETE FROM sluice.replay_markers WHERE (project, key) IN (
    SELECT project, key FROM sluice.replay_markers WHERE expires_ms < ${NOW} LIMIT ${SWEEP_BATCH})
  AND expires_ms < ${NOW}`;
/** No marker that was set by the present clock expires later. */
const LATEST = `${NOW} + ${MARKER_LIFETIME_MS + SWEEP_MS}`;
/** Markers that were set while the clock was ahead. A request would be taken for a replay until that time. */
export const SHORTEN_MARKERS = `
  UPDATE sluice.replay_markers SET expires_ms = ${NOW} + ${MARKER_LIFETIME_MS} WHERE (project, key) IN (
    SELECT project, key FROM sluice.replay_markers WHERE expires_ms > ${LATEST} LIMIT ${SWEEP_BATCH})
  AND expires_ms > ${LATEST}`;
/** The pauses between attempts to reach an unavailable database grow from the first value to the second. */
const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 5000;
/** The interval of log lines about a database that stays unavailable. */
const REMINDER_MS = 60000;

class PostgresExtension implements Extension {
  readonly #options: PostgresOptions;
  readonly #host: Host;
  readonly #database: Database;
  readonly #ledger: PostgresLedger;
  readonly #announcements: Announcements;
  readonly #outbox: PostgresOutbox;
  readonly #embedded: EmbeddedServer | null;
  readonly #watch: DatabaseWatch;
  readonly #forConsole: SidePool;
  readonly #stopped = new AbortController();
  #sweeper: NodeJS.Timeout | null = null;

  constructor(options: PostgresOptions, host: Host) {
    this.#options = options;
    this.#host = host;
    this.#embedded = options.url === '' ? createEmbedded(options, host) : null;
    this.#database = new Database();
    this.#announcements = new Announcements(this.#database);
    this.#watch = new DatabaseWatch(this.#database, this.#announcements, host.logger);
    const { logger, meter } = host;
    this.#ledger = new PostgresLedger(this.#database, this.#watch, { logger, meter, now: () => performance.now() });
    this.#outbox = new PostgresOutbox(this.#database, { logger, meter, now: () => this.#database.clock.now() });
    host.capabilities.offer(LEDGER, this.#ledger);
    host.capabilities.offer(OUTBOX, this.#outbox);
    const keys = new PostgresKeyDirectory(this.#database, this.#announcements, this.#watch);
    host.capabilities.offer(KEY_DIRECTORY, keys);
    host.capabilities.offer(PRICE_DIRECTORY, new PostgresPriceDirectory(this.#database, this.#announcements));
    host.capabilities.offer(POSTGRES_DATABASE, this.#database);
    this.#forConsole = new SidePool(this.#database);
    host.capabilities.offer(ADMINISTRATION, (by) => new Administration(this.#forConsole, by));
    host.capabilities.offer(PEOPLE, new PostgresPeople(this.#forConsole));
    host.capabilities.offer(POSTGRES_READER, new Readers(this.#database, options.views_schema));
    host.meter.gauge('sluice_embedded_server_running', '1 while the embedded PostgreSQL runs.', () =>
      this.#embedded?.state === 'running' ? 1 : 0,
    );
  }

  /** An unavailable external database does not fail the start: the ports open, and requests are answered 503. */
  async start(stopping?: AbortSignal): Promise<void> {
    if (this.#embedded !== null) {
      // Without its server, a migration that runs fails and is rolled back.
      stopping?.addEventListener('abort', () => void this.#embedded?.stop().catch(() => undefined));
      const address = await startEmbedded(this.#embedded);
      this.#host.logger.info(await this.#embedded.describe(), 'the embedded PostgreSQL runs');
      return this.#open(address).catch(explainEnd);
    }
    checkUrl(this.#options.url);
    this.#host.logger.info({ database: describeDatabase(this.#options.url) }, 'using a database by URL');
    const address = { connectionString: this.#options.url };
    try {
      await this.#open(address);
    } catch (error) {
      if (!isPassing(error)) throw error;
      this.#host.logger.warn(
        { error: describeFailure(error), fix: remedyFor(error) },
        'the database cannot be reached: requests are answered 503 until it can; trying again',
      );
      void this.#openLater(address);
    }
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    if (this.#sweeper !== null) clearInterval(this.#sweeper);
    this.#watch.stop();
    this.#database.clock.stop();
    await this.#announcements.stop();
    await this.#outbox.stop();
    await this.#ledger.stop();
    await this.#forConsole.close();
    await this.#database.close();
    await this.#embedded?.stop();
  }

  /** A data directory has one server, and restarting it would refuse requests meanwhile. */
  reconfigure(options: PostgresOptions): null {
    const { data_dir: folder } = this.#options;
    if (this.#embedded === null || options.url !== '' || options.data_dir !== folder) return null;
    throw new UserError(
      `extensions.${this.#host.id}: options of the embedded server in ${folder} do not change while it runs`,
      'Restart to use them.',
    );
  }

  /** How many processes of this configuration use the database; with several workers this includes their primary. */
  get #processes(): number {
    const { workers } = this.#host;
    return workers > 1 ? workers + 1 : 1;
  }

  healthy(): boolean {
    return this.#watch.healthy;
  }

  async #open(address: Address): Promise<void> {
    const { unsafe, warnings, held, applied } = await makeContact(address, this.#options, this.#processes);
    if (this.#stopped.signal.aborted) return;
    for (const { message, fix } of warnings) this.#host.logger.warn({ fix }, message);
    if (held !== null) this.#host.logger.warn({ fix: held.hint }, held.message);
    if (unsafe.length > 0)
      this.#host.logger.warn({ settings: unsafe }, 'the server can lose acknowledged data in a crash');
    if (applied.length > 0) this.#host.logger.info({ applied }, 'the database schema was brought up to date');
    await this.#database.open(address);
    if (this.#stopped.signal.aborted) return this.#database.close();
    this.#database.clock.start(this.#host.logger);
    await this.#watch.start();
    this.#sweeper = setInterval(() => void this.#sweep(), SWEEP_MS);
    this.#sweeper.unref();
  }

  /**
   * Tries until the database is open or the daemon stops. A permanent fault ends the daemon, as it would have at the
   * start.
   */
  async #openLater(address: Address): Promise<void> {
    const since = this.#host.now();
    let reminded = since;
    for (let pauseMs = FIRST_RETRY_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_RETRY_MS)) {
      await pause(pauseMs, undefined, { signal: this.#stopped.signal, ref: false }).catch(() => undefined);
      if (this.#stopped.signal.aborted) return;
      try {
        await this.#open(address);
        const seconds = Math.round((this.#host.now() - since) / 1000);
        return this.#host.logger.info({ seconds }, 'the database is available: requests are stored from now on');
      } catch (error) {
        if (!isPassing(error)) return this.#host.fatal(error instanceof Error ? error : new Error(String(error)));
        if (this.#host.now() - reminded < REMINDER_MS) continue;
        reminded = this.#host.now();
        this.#host.logger.warn(
          { error: describeFailure(error), fix: remedyFor(error) },
          'the database still cannot be reached; trying again',
        );
      }
    }
  }

  async #sweep(): Promise<void> {
    try {
      for (const statement of [SHORTEN_MARKERS, SWEEP_MARKERS]) {
        for (let batch = 0; batch < SWEEP_BATCHES; batch++) {
          const { rowCount } = await this.#database.query(statement);
          if ((rowCount ?? 0) < SWEEP_BATCH) break;
        }
      }
    } catch (error) {
      this.#host.logger.warn({ error: describeFailure(error) }, 'expired replay markers could not be removed');
    }
  }
}

function createEmbedded(options: PostgresOptions, host: Host): EmbeddedServer {
  const log = {
    info: (message: string) => host.logger.info({}, message),
    warn: (message: string) => host.logger.warn({}, message),
  };
  const onLost = (error: Error): void => host.fatal(new UserError(error.message));
  return new EmbeddedServer({ dataDir: host.resolvePath(options.data_dir), host: host.process, log, onLost });
}

async function startEmbedded(server: EmbeddedServer): Promise<Address> {
  try {
    return await server.start();
  } catch (error) {
    if (error instanceof EmbeddedServerError) throw new UserError(error.message);
    throw error;
  }
}

/** The server answered, and was lost before the database was open. */
function explainEnd(error: unknown): never {
  if (!isPassing(error)) throw error;
  throw new UserError(
    `the embedded PostgreSQL was lost while its database was opened: ${describeFailure(error)}`,
    'Start Sluice again. The log of the server, in the folder log beside its database, says why it ended.',
  );
}

function urlFaults(url: string): readonly OptionFault[] {
  const fault = url === '' ? null : faultOfUrl(url);
  if (fault === null) return [];
  return [
    { option: ['url'], severity: 'error', message: `the URL cannot be used: ${fault.message}`, hint: fault.hint },
  ];
}

export const postgresExtension = defineExtension<PostgresOptions>({
  type: 'postgres',
  summary: 'A PostgreSQL database by URL, or an embedded server; keeps the ledger and the API keys.',
  stability: 'beta',
  // The primary runs the embedded server; each worker has its own connections.
  placement: 'both',
  schema: POSTGRES_SCHEMA,
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the configuration's own syntax.
  example: 'url: "${env:DATABASE_URL:-}"',
  check: ({ url }) => urlFaults(url),
  create: (options, host) => new PostgresExtension(options, host),
});
