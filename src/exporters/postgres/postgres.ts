/** The `postgres` exporter: writes rows as COPY BINARY tuples into the ledger's transaction, in daily partitions. */
import type { Host } from '../../component/component.ts';
import { defineExporter, type Exporter, type Rows } from '../../component/exporter.ts';
import type { TransactionHandle } from '../../component/capabilities/ledger.ts';
import { CommandSchedule, type ScheduledCommand } from '../../component/command-schedule.ts';
import { OWN_COMMANDS } from '../../component/capabilities/own-commands.ts';
import type { Capability } from '../../component/capabilities/capability.ts';
import {
  ARCHIVED_TABLES,
  MAINTAINED_TABLES,
  POSTGRES_DATABASE,
  joinPostgres,
} from '../../component/capabilities/postgres.ts';
import { optionGroup, textOption } from '../../component/option-schema.ts';
import { UserError } from '../../errors.ts';
import type { Batch } from '../../pdata/batch.ts';
import type { Steps } from '../../pdata/steps.ts';
import { ChunkPool } from '../../pdata/chunk-pool.ts';
import { SIGNALS } from '../../pdata/context.ts';
import { encodeInSteps } from '../../pdata/encode-rows.ts';
import { Retention, type RetentionPeriods } from './retention.ts';
import { DAY_MS, HOUR_MS } from '../../pdata/time-units.ts';

export interface ArchiveOptions {
  /** Empty: nothing is archived. */
  readonly to: string;
  /** In milliseconds. */
  readonly older_than: number;
  /** Left out: files stay. */
  readonly keep?: number;
  readonly interval: number;
  readonly memory: number;
}

export interface PostgresExporterOptions {
  readonly retention: RetentionPeriods;
  readonly archive: ArchiveOptions;
}

/** The interval in which days are opened and dropped. */
const MAINTENANCE_MS = HOUR_MS;
/** The pause after a run with a failure. */
const MAINTENANCE_RETRY_MS = 600000;

/**
 * The rows of one COPY statement. For each row the server searches a list of the up to 1,000 rows that it has not
 * inserted yet, so several statements in one transaction cost less than one long statement. A statement costs as much
 * as three rows.
 */
const COPY_PORTION_ROWS = 128;

/** `sluice archive` reads the other options from the configuration. */
export const scheduleOf = ({ to, interval }: Pick<ArchiveOptions, 'to' | 'interval'>): ScheduledCommand => ({
  name: 'archive',
  words: ['archive'],
  intervalMs: interval,
  to,
  messages: {
    begun: 'archiving the days that have ended',
    progress: 'archiving',
    complete: 'the archive is complete',
    failed: 'the archive failed and is tried again; days that are not archived are kept',
  },
});

const TARGETS = [...SIGNALS, 'plain_traces'] as const;

const targetOf = ({ signal, isPlain }: Rows): (typeof TARGETS)[number] => (isPlain === true ? 'plain_traces' : signal);

/** Whole rows. */
interface Portion {
  readonly chunks: Buffer[];
  count: number;
}

/** Each portion except the last has at least `COPY_PORTION_ROWS` rows, and each has whole rows. */
function portionsOf(rows: readonly Rows[]): readonly Portion[] {
  const portions: Portion[] = [];
  let open: Portion | undefined;
  for (const { chunks, chunkRows, count } of rows) {
    for (const [index, chunk] of chunks.entries()) {
      if (open === undefined) {
        open = { chunks: [], count: 0 };
        portions.push(open);
      }
      open.chunks.push(chunk);
      const completed = chunkRows?.[index] ?? (index === chunks.length - 1 ? count : 0);
      open.count += completed;
      if (completed > 0 && open.count >= COPY_PORTION_ROWS) open = undefined;
    }
  }
  return portions;
}

class PostgresExporter implements Exporter {
  readonly transactional = true;
  readonly fillsTables = true;
  readonly #options: PostgresExporterOptions;
  readonly #host: Host;
  readonly #pool = new ChunkPool();
  #retention: Retention | null = null;
  #archive: CommandSchedule | null = null;
  #withdraw: () => void = () => undefined;
  #maintenance: NodeJS.Timeout | null = null;
  #running: Promise<void> = Promise.resolve();

  constructor(options: PostgresExporterOptions, host: Host) {
    this.#options = options;
    this.#host = host;
    noteIn(host, MAINTAINED_TABLES);
    host.meter.gauge(
      'sluice_retention_blocked_days',
      'Days past their retention that could not be dropped, because a session holds a lock.',
      () => this.#retention?.blockedDays ?? 0,
    );
    if (options.archive.to === '') return;
    noteIn(host, ARCHIVED_TABLES);
    host.meter.gauge(
      'sluice_archive_age_seconds',
      'Time since a run of the archive was complete, or since the start.',
      () => this.#archive?.ageSeconds ?? 0,
    );
    host.meter.gauge('sluice_archive_running', '1 while this process runs the archive.', () =>
      this.#archive?.isRunning === true ? 1 : 0,
    );
    host.meter.gauge(
      'sluice_archive_held_days',
      'Days past their retention that are kept because they are not archived.',
      () => this.#retention?.heldDays ?? 0,
    );
  }

  async start(): Promise<void> {
    const database = this.#host.capabilities.find(POSTGRES_DATABASE);
    if (database === undefined) {
      throw new UserError(
        `${this.#host.id}: there is no database`,
        'Add the postgres extension to service.extensions.',
      );
    }
    const { archive } = this.#options;
    const periods = { ...this.#options.retention, isArchived: archive.to !== '' };
    const { logger, capabilities } = this.#host;
    const commands = capabilities.find(OWN_COMMANDS);
    if (archive.to !== '' && commands !== undefined)
      this.#archive = new CommandSchedule(database, commands, scheduleOf(archive), logger);
    const retention = new Retention(database, periods, logger);
    this.#retention = retention;
    // Opens the days before the first rows, also when the database is started later.
    this.#withdraw = database.beforeOpening((early) => new Retention(early, periods, logger).open());
    if (database.isOpen) await retention.open();
    void database.opened.then(() => {
      this.#maintain(retention);
      this.#archive?.start();
    });
  }

  async stop(): Promise<void> {
    this.#withdraw();
    if (this.#maintenance !== null) clearTimeout(this.#maintenance);
    this.#retention?.stop();
    this.#retention = null;
    const archive = this.#archive;
    this.#archive = null;
    await Promise.all([this.#running, archive?.stop()]);
  }

  encode(batch: Batch): Steps<Rows> {
    return encodeInSteps(batch, 'copy', this.#pool);
  }

  async write(group: readonly Rows[], handle: TransactionHandle): Promise<void> {
    const transaction = joinPostgres(handle);
    const contents = group.flatMap((rows) => rows.contents ?? []);
    const sumOf = (field: 'count' | 'bytes'): number => group.reduce((sum, rows) => sum + rows[field], 0);
    if (contents.length > 0) await transaction.share(contents, { count: sumOf('count'), bytes: sumOf('bytes') });
    for (const target of TARGETS) {
      const rows = group.filter((one) => targetOf(one) === target && one.count > 0);
      for (const { chunks, count } of portionsOf(rows)) await transaction.copy(target, chunks, count);
    }
  }

  /** Runs until the exporter stops. Ingest continues when a step fails: rows go to the default partition. */
  #maintain(retention: Retention): void {
    if (this.#retention !== retention) return;
    this.#running = retention.maintain().then((complete) => {
      if (this.#retention !== retention) return;
      const pauseMs = complete ? MAINTENANCE_MS : MAINTENANCE_RETRY_MS;
      this.#maintenance = setTimeout(() => this.#maintain(retention), pauseMs).unref();
    });
  }
}

function noteIn({ capabilities, id }: Host, exporters: Capability<Set<string>>): void {
  const noted = capabilities.find(exporters);
  if (noted === undefined) capabilities.offer(exporters, new Set([id]));
  else noted.add(id);
}

const DAY = { type: 'integer', format: 'duration', minimum: HOUR_MS } as const;

export const postgresExporter = defineExporter<PostgresExporterOptions>({
  type: 'postgres',
  summary: 'Stores every record in Postgres, in the same transaction as its replay marker and quota.',
  stability: 'beta',
  schema: {
    type: 'object',
    additionalProperties: false,
    properties: {
      retention: optionGroup('How long records are kept. Whole days are dropped at once.', {
        spans: { ...DAY, default: '30d', description: 'Spans, by the day they began.' },
        logs: { ...DAY, default: '30d', description: 'Log records, by the day they arrived.' },
        metrics: { ...DAY, default: '90d', description: 'Metric points, by the day they arrived.' },
        traces: {
          ...DAY,
          default: '30d',
          description: 'How long a trace id stays with its project; longer while spans or log records of it are kept.',
        },
        usage: {
          ...DAY,
          minimum: 31 * DAY_MS,
          default: '400d',
          description: 'What was stored in each month, which quotas count.',
        },
      }),
      archive: optionGroup(
        'Days that have ended are written as Parquet files, by `sluice archive` in a process of its own. Retention then drops only what is archived.',
        {
          to: textOption('', 'A folder, or s3://bucket/prefix. Left out or empty: nothing is archived.'),
          older_than: { ...DAY, minimum: 0, default: '7d', description: 'Only days that ended this long ago.' },
          keep: {
            ...DAY,
            minimum: DAY_MS,
            description: 'Files of days that ended this long ago are removed from the archive. Left out: they stay.',
          },
          interval: { ...DAY, default: '1d', description: 'Time between two runs.' },
          memory: {
            type: 'integer',
            format: 'byte_size',
            minimum: 268435456,
            default: '1GiB',
            description: 'Memory for sorting; the rest is in files.',
          },
        },
      ),
    },
  },
  example: 'retention: { spans: 30d, logs: 30d, metrics: 90d }',
  requires: ['project', 'environment'],
  signals: ['traces', 'logs', 'metrics'],
  ledger: 'postgres',
  once: 'pipeline',
  create: (options, host) => new PostgresExporter(options, host),
});
