/**
 * The `objects` exporter: the rows of a request are compressed and put into an object together with those of others.
 * The place of these rows is stored in the ledger's transaction, as one row of `sluice.parts`.
 */
import type { CheckPlace, Host, OptionFault } from '../../component/component.ts';
import { defineExporter, type Exporter, type Rows } from '../../component/exporter.ts';
import { CommandSchedule } from '../../component/command-schedule.ts';
import type { TransactionHandle } from '../../component/capabilities/ledger.ts';
import { OWN_COMMANDS } from '../../component/capabilities/own-commands.ts';
import {
  ARCHIVED_TABLES,
  MAINTAINED_TABLES,
  POSTGRES_DATABASE,
  joinPostgres,
  type PostgresDatabase,
} from '../../component/capabilities/postgres.ts';
import { TimeObserver } from '../../component/observed-time.ts';
import { Stall } from '../../component/stall.ts';
import { timerOption } from '../../component/longest-wait.ts';
import type { Histogram } from '../../component/meter.ts';
import { Rejection, UserError } from '../../errors.ts';
import { FolderStore } from '../../object-store/folder-store.ts';
import { type ObjectStore, StoreError } from '../../object-store/object-store.ts';
import { openStore } from '../../object-store/open-store.ts';
import type { S3Timing } from '../../object-store/s3-request.ts';
import type { Batch } from '../../pdata/batch.ts';
import { ChunkPool } from '../../pdata/chunk-pool.ts';
import { encodeInSteps } from '../../pdata/encode-rows.ts';
import type { Steps } from '../../pdata/steps.ts';
import { type CompactionOptions, COMPACTION_SCHEMA, scheduleOf } from './compaction.ts';
import { CODEC, compress } from './compress.ts';
import { expireLedger, type LedgerPeriods, RETENTION_SCHEMA } from './expiry.ts';
import { claimDay, removeOrphans } from './orphans.ts';
import { claimPlace } from './owner.ts';
import { partTuple } from './part.ts';
import { type RecordTimes, timesOf } from './record-times.ts';
import { type Age, Shipper } from './shipper.ts';
import { StoreWatch } from './watch.ts';
import { DAY_MS, HOUR_MS } from '../../pdata/time-units.ts';

export interface ObjectsOptions {
  /** A folder, or s3://bucket/prefix. */
  readonly to: string;
  /** Milliseconds. */
  readonly linger: number;
  readonly compaction: CompactionOptions;
  readonly retention: LedgerPeriods;
}

/** One attempt for each key: the shipper stores the object again under another key. */
const TIMING: S3Timing = { idleMs: 10_000, attempts: 1, pauseMs: 1 };
/** A request older than this is not committed, because an object without a part is removed after a day. */
const MAX_STAGED_MS = 600_000;
const ORPHAN_MS = DAY_MS;
/** How often the ledger is expired, and the database asked whether orphans are to be removed. */
const TICK_MS = HOUR_MS;
const SECONDS_BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const NOTHING = (): void => undefined;

class ObjectsExporter implements Exporter {
  readonly transactional = true;
  readonly #options: ObjectsOptions;
  readonly #host: Host;
  readonly #pool = new ChunkPool();
  readonly #store: ObjectStore;
  /** With retries, for maintenance: listing all objects takes many requests, and all must succeed. */
  readonly #patientStore: ObjectStore;
  readonly #shipper: Shipper;
  /** Null for a bucket, whose requests have a time limit. */
  readonly #stall: Stall | null;
  /** The project and the times of encoded rows. */
  readonly #facts = new WeakMap<Rows, { readonly project: string; readonly times: RecordTimes | null }>();
  /** The age of staged rows. */
  readonly #ages = new WeakMap<Rows, Age>();
  readonly #seconds: Histogram;
  #compaction: CommandSchedule | null = null;
  #watch: StoreWatch | null = null;
  #timer: NodeJS.Timeout | null = null;
  readonly #stopped = new AbortController();
  readonly #observer = new TimeObserver();
  #removal: Promise<void> = Promise.resolve();

  constructor(options: ObjectsOptions, host: Host) {
    const { to, linger, compaction } = options;
    this.#options = options;
    this.#host = host;
    const settings = { environment: host.process.env, resolvePath: (path: string) => host.resolvePath(path) };
    this.#store = openStore(to, { ...settings, timing: TIMING });
    this.#patientStore = openStore(to, settings);
    const { meter } = host;
    this.#seconds = meter.histogram('sluice_object_seconds', 'Time one object took to be stored.', SECONDS_BOUNDS);
    const bytes = meter.counter('sluice_object_bytes', 'Bytes of stored objects, compressed.');
    const failures = meter.counter('sluice_object_failures', 'Puts of objects that failed, by fault.');
    if (compaction.enabled) this.#watchCompaction();
    this.#stall = this.#store instanceof FolderStore ? new Stall(this.#store.url, host.logger) : null;
    this.#shipper = new Shipper({
      store: this.#store,
      stall: this.#stall,
      lingerMs: linger,
      now: () => host.now(),
      events: {
        stored: (length, seconds) => {
          bytes.add(length);
          this.#seconds.record(seconds);
        },
        failed: (error) => {
          failures.add(1, { fault: error instanceof StoreError ? error.fault : 'unknown' });
          // During an outage the watch reports.
          if (this.#watch?.isReady === true) host.logger.warn({ error }, 'an object could not be stored');
        },
        lost: (error) => this.#lost(error),
      },
    });
  }

  async start(): Promise<void> {
    const database = this.#host.capabilities.find(POSTGRES_DATABASE);
    if (database === undefined) {
      throw new UserError(
        `${this.#host.id}: there is no database`,
        'Add the postgres extension to service.extensions; it keeps the places of the objects.',
      );
    }
    this.#refuseArchive();
    const watch = new StoreWatch({
      check: () => claimPlace(this.#store, database),
      logger: this.#host.logger,
    });
    this.#watch = watch;
    const compaction = this.#scheduleCompaction(database);
    this.#compaction = compaction;
    void database.opened.then(() => compaction?.start());
    if (database.isOpen) await watch.start();
    else void database.opened.then(() => watch.start());
    void database.opened.then(() => this.#expire(database));
    this.#timer = setInterval(() => {
      this.#expire(database);
      void this.#removeOrphans(database);
    }, TICK_MS).unref();
  }

  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#watch?.stop();
    this.#stopped.abort();
    await Promise.all([this.#removal, this.#compaction?.stop()]);
    await this.#store.close();
    await this.#patientStore.close();
  }

  healthy(): boolean {
    return this.#watch?.isReady === true && !this.isStalled();
  }

  isStalled(): boolean {
    return this.#stall?.active === true;
  }

  onStalled(callback: () => void): () => void {
    return this.#stall?.on(callback) ?? NOTHING;
  }

  admit(project: string): void {
    this.#refuseWhileUnavailable();
    this.#shipper.admit(project);
  }

  *encode(batch: Batch): Steps<Rows> {
    this.#refuseWhileUnavailable();
    const times = yield* timesOf(batch);
    const rows = yield* encodeInSteps(batch, 'ndjson', this.#pool);
    this.#facts.set(rows, { project: batch.context.project.name, times });
    return rows;
  }

  async stage(rows: Rows, inTables: boolean): Promise<Rows> {
    const { signal, count: records } = rows;
    // A metric without points.
    if (records === 0) return { signal, count: 0, bytes: 0, chunks: [], release: NOTHING };
    const facts = this.#facts.get(rows) ?? { project: '', times: null };
    const compressed = await compress(rows.chunks);
    // The store may have become unavailable since the rows were encoded.
    if (this.#watch !== null) this.#refuseWhileUnavailable();
    const { objectId, firstByte, age } = await this.#shipper.store(facts.project, compressed);
    const part = { objectId, firstByte, bytes: compressed.length, codec: CODEC, signal, records, ...facts, inTables };
    const tuple = partTuple(part);
    const staged = { signal, count: records, bytes: tuple.length, chunks: [tuple], release: NOTHING };
    this.#ages.set(staged, age);
    return staged;
  }

  async write(group: readonly Rows[], handle: TransactionHandle): Promise<void> {
    const transaction = joinPostgres(handle);
    const parts = group.filter(({ count }) => count > 0);
    if (parts.length === 0) return;
    if (parts.some((rows) => (this.#ages.get(rows)?.() ?? Infinity) > MAX_STAGED_MS))
      throw new Error('an object waited too long for its commit');
    await transaction.copy(
      'parts',
      parts.flatMap(({ chunks }) => chunks),
      parts.length,
    );
  }

  #refuseArchive(): void {
    if (!this.#options.compaction.enabled) return;
    const [archived] = this.#host.capabilities.find(ARCHIVED_TABLES) ?? [];
    if (archived === undefined) return;
    throw new UserError(
      `${this.#host.id} and the archive of ${archived} would write the same records into the lake`,
      'Remove `archive` of the postgres exporter, or the exporter objects from the pipelines.',
    );
  }

  #watchCompaction(): void {
    const { meter } = this.#host;
    meter.gauge(
      'sluice_compaction_age_seconds',
      'Time since a run of the compaction was complete, or since the start.',
      () => this.#compaction?.ageSeconds ?? 0,
    );
    meter.gauge('sluice_compaction_running', '1 while this process runs the compaction.', () =>
      this.#compaction?.isRunning === true ? 1 : 0,
    );
  }

  #scheduleCompaction(database: PostgresDatabase): CommandSchedule | null {
    const { logger, capabilities } = this.#host;
    const commands = capabilities.find(OWN_COMMANDS);
    if (!this.#options.compaction.enabled || commands === undefined) return null;
    return new CommandSchedule(database, commands, scheduleOf(this.#options), logger);
  }

  /** Requests that wait would wait for as long as the lost object, and be refused too. */
  #lost(error: unknown): void {
    this.#watch?.failed(error);
    this.#shipper.refuseWaiting(error);
  }

  #refuseWhileUnavailable(): void {
    const cause = this.#watch?.cause;
    if (cause !== null) throw new Rejection('ingestion_failed', { cause: cause ?? 'the exporter is not started' });
  }

  /** An exporter that maintains the tables expires the ledger too. */
  #expire(database: PostgresDatabase): void {
    const { capabilities, logger } = this.#host;
    const { signal } = this.#stopped;
    if (capabilities.find(MAINTAINED_TABLES) !== undefined) return;
    const run = async (): Promise<void> => {
      try {
        await expireLedger(database, this.#options.retention, { observer: this.#observer, signal });
      } catch (error) {
        if (!signal.aborted) logger.warn({ error }, 'the ledger could not be expired; trying again in an hour');
      }
    };
    this.#removal = this.#removal.then(run);
  }

  /** Runs once a day, in one of the processes on the database. */
  async #removeOrphans(database: PostgresDatabase): Promise<void> {
    const { logger } = this.#host;
    const { signal } = this.#stopped;
    const place = { store: this.#patientStore, database };
    const run = async (): Promise<void> => {
      try {
        if (!(await claimDay(place))) return;
        await claimPlace(place.store, database);
        const objects = await removeOrphans(place, { orphanMs: ORPHAN_MS, signal });
        if (objects > 0) logger.info({ objects }, 'removed objects of requests that were not accepted');
      } catch (error) {
        if (!signal.aborted)
          logger.warn(
            { error },
            'objects of requests that were not accepted could not be removed; trying again tomorrow',
          );
      }
    };
    this.#removal = this.#removal.then(run);
    await this.#removal;
  }
}

/** The endpoint of a store comes from the environment of the process and is checked when the exporter is created. */
function checkPlace({ to }: ObjectsOptions, { resolvePath }: CheckPlace): readonly OptionFault[] {
  try {
    openStore(to, { environment: {}, resolvePath });
    return [];
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return [{ option: ['to'], severity: 'error', message: error.message, hint: error.hint }];
  }
}

export const objectsExporter = defineExporter<ObjectsOptions>({
  type: 'objects',
  summary: 'Stores every record in objects of a folder or a bucket, named by the transaction of its replay marker.',
  stability: 'development',
  schema: {
    type: 'object',
    additionalProperties: false,
    properties: {
      to: {
        type: 'string',
        minLength: 1,
        default: './data/objects',
        description: 'A folder, or s3://bucket/prefix.',
      },
      linger: timerOption(
        0,
        '250ms',
        'How long a request waits for others of its object. 0: only while another object is stored.',
      ),
      compaction: COMPACTION_SCHEMA,
      retention: RETENTION_SCHEMA,
    },
  },
  example: 'to: ./data/objects',
  requires: ['project', 'environment'],
  signals: ['traces', 'logs', 'metrics'],
  ledger: 'postgres',
  once: 'service',
  check: checkPlace,
  create: (options, host) => new ObjectsExporter(options, host),
});
