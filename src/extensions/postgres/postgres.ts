/**
 * The `postgres` extension: the database, its schema, the ledger and the stored API keys. Without a URL it starts a server of
 * its own in `data_dir`.
 */
import type { Host } from '../../component/component.ts';
import { KEY_DIRECTORY } from '../../component/directory.ts';
import { defineExtension, type Extension } from '../../component/extension.ts';
import { LEDGER } from '../../component/ledger.ts';
import { POSTGRES_DATABASE } from '../../component/postgres.ts';
import { UserError } from '../../errors.ts';
import { type Address, Database } from './database.ts';
import { checkDurability } from './durability.ts';
import { EmbeddedServerError } from './embedded/host.ts';
import { EmbeddedServer } from './embedded/server.ts';
import { PostgresKeyDirectory } from './key-directory.ts';
import { PostgresLedger } from './ledger/ledger.ts';
import { migrate } from './migrate.ts';
import { type PostgresOptions, POSTGRES_SCHEMA } from './options.ts';

/** Expired markers are removed this often, and so many at a time. */
const SWEEP_MS = 60000;
const SWEEP_MARKERS = `
  DELETE FROM sluice.replay_markers WHERE (project, key) IN (
    SELECT project, key FROM sluice.replay_markers WHERE expires_ms < (extract(epoch FROM now()) * 1000)::int8 LIMIT 20000)`;
/** An unreachable database is tried again after this, ever more slowly up to the second figure. */
const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 10000;
const MIN_SERVER_VERSION = 140000;

export class PostgresExtension implements Extension {
  readonly #options: PostgresOptions;
  readonly #host: Host;
  readonly #database: Database;
  readonly #ledger: PostgresLedger;
  readonly #directory: PostgresKeyDirectory;
  readonly #embedded: EmbeddedServer | null;
  #sweeper: NodeJS.Timeout | null = null;
  #opened = false;
  #stopped = false;

  constructor(options: PostgresOptions, host: Host) {
    this.#options = options;
    this.#host = host;
    this.#embedded = options.url === '' ? createEmbedded(options, host) : null;
    this.#database = new Database();
    this.#ledger = new PostgresLedger(this.#database, host.logger, host.meter, () => host.now());
    this.#directory = new PostgresKeyDirectory(this.#database, host.logger);
    host.capabilities.offer(LEDGER, this.#ledger);
    host.capabilities.offer(KEY_DIRECTORY, this.#directory);
    host.capabilities.offer(POSTGRES_DATABASE, this.#database);
    host.meter.gauge('sluice_embedded_server_running', '1 while the embedded PostgreSQL runs.', () =>
      this.#embedded?.state === 'running' ? 1 : 0,
    );
  }

  async start(): Promise<void> {
    await this.#open();
    await this.#directory.start();
    this.#sweeper = setInterval(() => void this.#sweep(), SWEEP_MS);
    this.#sweeper.unref();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    if (this.#sweeper !== null) clearInterval(this.#sweeper);
    await this.#directory.stop();
    await this.#ledger.stop();
    await this.#database.close();
    await this.#embedded?.stop();
  }

  healthy(): boolean {
    return this.#opened && this.#ledger.reachable;
  }

  async #open(): Promise<void> {
    this.#database.use(await this.#address());
    await this.#reach();
    const unsafe = await checkDurability(this.#database, this.#options.allow_unsafe);
    if (unsafe.length > 0)
      this.#host.logger.warn({ settings: unsafe }, 'the server can lose acknowledged data in a crash');
    const applied = await migrate(this.#database, this.#options.views_schema);
    if (applied.length > 0) this.#host.logger.info({ applied }, 'the database schema was brought up to date');
    this.#opened = true;
  }

  async #address(): Promise<Address> {
    if (this.#embedded === null) return { connectionString: this.#options.url };
    try {
      return await this.#embedded.start();
    } catch (error) {
      if (error instanceof EmbeddedServerError) throw new UserError(error.message);
      throw error;
    }
  }

  /** Waits for a database that is not up yet: after a power cut both start at once. */
  async #reach(): Promise<void> {
    const deadline = this.#host.now() + this.#options.connect_timeout;
    for (let pauseMs = FIRST_RETRY_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_RETRY_MS)) {
      try {
        const { rows } = await this.#database.query("SELECT current_setting('server_version_num')::int4 AS version");
        if (Number(rows[0]?.['version']) >= MIN_SERVER_VERSION) return;
        throw new UserError('the PostgreSQL server is too old', 'Use PostgreSQL 14 or newer.');
      } catch (error) {
        if (error instanceof UserError) throw error;
        if (isFinal(error) || this.#stopped || this.#host.now() + pauseMs > deadline) throw unreachable(error);
        this.#host.logger.warn({ error: describe(error) }, 'the database cannot be reached yet; trying again');
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    }
  }

  async #sweep(): Promise<void> {
    try {
      await this.#database.query(SWEEP_MARKERS);
    } catch (error) {
      this.#host.logger.warn({ error: describe(error) }, 'expired replay markers could not be removed');
    }
  }
}

function createEmbedded(options: PostgresOptions, host: Host): EmbeddedServer {
  const log = {
    info: (message: string) => host.logger.info({}, message),
    warn: (message: string) => host.logger.warn({}, message),
  };
  return new EmbeddedServer({ dataDir: host.resolvePath(options.data_dir), host: host.process, log });
}

/** Waiting mends neither a wrong password nor a database that does not exist. */
function isFinal(error: unknown): boolean {
  return ['28P01', '28000', '3D000', 'ERR_INVALID_URL'].includes(String((error as { code?: unknown }).code));
}

function unreachable(error: unknown): UserError {
  return new UserError(
    `the database cannot be reached: ${describe(error)}`,
    'Check extensions.postgres.url, or leave it out to use the embedded server.',
  );
}

function describe(error: unknown): string {
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return error.errors[0].message;
  return error instanceof Error ? error.message : String(error);
}

export const postgresExtension = defineExtension<PostgresOptions>({
  type: 'postgres',
  summary: 'A PostgreSQL database by URL, or an embedded server; keeps the ledger and the API keys.',
  stability: 'beta',
  schema: POSTGRES_SCHEMA,
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the configuration's own syntax.
  example: 'url: "${env:DATABASE_URL:-}"',
  create: (options, host) => new PostgresExtension(options, host),
});
