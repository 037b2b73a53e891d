/**
 * A durable database for measurements: the embedded server with its default settings, or an empty database by URL. Each
 * writer is a ledger and a Postgres exporter with their own connection.
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Capabilities } from '../src/component/capabilities/capability.ts';
import type { Host } from '../src/component/component.ts';
import type { Exporter } from '../src/component/exporter.ts';
import { ListeningSockets } from '../src/net/listener.ts';
import type { Logger } from '../src/component/logger.ts';
import { POSTGRES_DATABASE } from '../src/component/capabilities/postgres.ts';
import { Partitions } from '../src/exporters/postgres/partitions.ts';
import { postgresExporter } from '../src/exporters/postgres/postgres.ts';
import { Database } from '../src/extensions/postgres/database.ts';
import { urlOf } from '../src/extensions/postgres/embedded/address.ts';
import { EmbeddedServer } from '../src/extensions/postgres/embedded/server.ts';
import { PostgresLedger } from '../src/extensions/postgres/ledger/ledger.ts';
import { migrate } from '../src/extensions/postgres/migrate.ts';
import { Registry } from '../src/service/telemetry/registry.ts';
import { DAY_MS } from '../src/pdata/time-units.ts';

/** Longer than every benchmark, so that nothing expires during one. */
const RETENTION_MS = 400 * DAY_MS;
/** The product creates partitions for this many days before and after a time. */
const DAYS_ON_A_SIDE = 7;

const FILL_ROWS = 100_000;
const FILL = `
  INSERT INTO sluice.spans (project, environment, service_name, trace_id, span_id, name, kind, status, start_time_unix_nano,
    end_time_unix_nano, duration_ns, category, operation, request_model, input_tokens, output_tokens, resource, attributes, received_at)
  SELECT 'bench', 'default', 'filled', decode(md5(n::text), 'hex'), decode(lpad(to_hex(n), 16, '0'), 'hex'), 'chat', 'client', 'unset',
    started, started + 1000000, 1000000, 'model_call', 'chat', 'gpt-4o', n % 4000, n % 800, '{"service.name": "filled"}',
    '{"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-4o", "app.key": "value"}', now()
  FROM (SELECT n, (extract(epoch FROM now()) - n % 2500000)::int8 * 1000000000 AS started
    FROM generate_series($1::int8, $1::int8 + $2::int8 - 1) AS n) AS numbers`;

/** The ledger is measured without the extension that watches the database. */
const UNWATCHED = {
  unavailable: false,
  onUnavailable: () => () => undefined,
  committed: () => undefined,
  commitFailed: () => undefined,
  commitIsSlow: () => undefined,
};

export const QUIET: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: (fields, message) => console.error(message, fields),
  error: (fields, message) => console.error(message, fields),
};

/** The write path of one daemon. */
export interface Writer {
  readonly ledger: PostgresLedger;
  readonly exporter: Exporter;
  readonly registry: Registry;
  stop(): Promise<void>;
}

export class BenchDatabase {
  readonly url: string;
  readonly database: Database;
  readonly #close: () => Promise<void>;

  private constructor(url: string, close: () => Promise<void>) {
    this.url = url;
    this.database = new Database().use({ connectionString: url });
    this.#close = close;
  }

  /** Without a URL: an embedded server in a new folder, removed at the end. */
  static async open(url?: string): Promise<BenchDatabase> {
    const { url: address, close } =
      url === undefined ? await startEmbedded() : { url, close: async (): Promise<void> => undefined };
    const made = new BenchDatabase(address, close);
    await migrate(made.database, 'public');
    return made;
  }

  /** Creates partitions of spans for `days` days, the last a week in the future. */
  async openDays(days: number): Promise<void> {
    const partitions = new Partitions(this.database);
    const spans = { name: 'spans', key: 'nanoseconds', retentionMs: RETENTION_MS } as const;
    for (let back = 0; back <= days; back += DAYS_ON_A_SIDE) await partitions.open(spans, Date.now() - back * DAY_MS);
  }

  async writer(): Promise<Writer> {
    const registry = new Registry();
    const database = new Database().use({ connectionString: this.url });
    const capabilities = new Capabilities();
    capabilities.offer(POSTGRES_DATABASE, database);
    const host: Host = {
      id: 'postgres',
      logger: QUIET,
      meter: registry,
      capabilities,
      listeners: new ListeningSockets().forService(),
      workers: 1,
      now: Date.now,
      process,
      resolvePath: (path) => path,
      fatal: (error) => {
        throw error;
      },
    };
    const ledger = new PostgresLedger(database, UNWATCHED, host);
    const kept = RETENTION_MS;
    const retention = { spans: kept, logs: kept, metrics: kept, traces: kept, usage: kept };
    const exporter = postgresExporter.create(
      { retention, archive: { to: '', older_than: 0, interval: 0, memory: 0 } },
      host,
    );
    await exporter.start?.();
    const stop = async (): Promise<void> => {
      await exporter.stop?.(AbortSignal.timeout(1000));
      await ledger.stop();
      await database.close();
    };
    return { ledger, exporter, registry, stop };
  }

  /**
   * Adds small spans of the last month, generated in the database. `from` keeps the ids of different calls distinct.
   */
  async fill(rows: number, from: number): Promise<void> {
    for (let done = 0; done < rows; done += FILL_ROWS) {
      await this.database.query(FILL, [from + done, Math.min(FILL_ROWS, rows - done)]);
    }
    await this.database.query('CHECKPOINT');
  }

  /** As after a fresh start, and with the write-ahead log written out. */
  async empty(): Promise<void> {
    await this.database.query('TRUNCATE sluice.spans, sluice.traces, sluice.replay_markers, sluice.usage_months');
    await this.database.query('CHECKPOINT');
  }

  /** The server processes of sessions whose last statement begins with the text. */
  async backends(statement: string): Promise<readonly number[]> {
    const { rows } = await this.database.query(
      'SELECT pid FROM pg_stat_activity WHERE query LIKE $1 AND pid <> pg_backend_pid()',
      [`${statement}%`],
    );
    return rows.map(({ pid }) => Number(pid));
  }

  async close(): Promise<void> {
    await this.database.close();
    await this.#close();
  }
}

async function startEmbedded(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
  await chmod(folder, 0o755);
  const log = { info: () => undefined, warn: (message: string) => console.error(message) };
  const server = new EmbeddedServer({ dataDir: folder, host: process, log });
  const close = async (): Promise<void> => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  };
  return { url: urlOf(await server.start()), close };
}
