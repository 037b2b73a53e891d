/**
 * Maintenance of the tables: opens days before they begin, and removes records past their retention. Each day, table
 * and step is independent: a failure is logged with its name, and the others continue. Rows of a missing day go to the
 * default partition.
 */
import type { Logger } from '../../component/logger.ts';
import type { PostgresDatabase, Query, SessionLimits } from '../../component/capabilities/postgres.ts';
import { type DropConditions, dropUnlessKept, forgetRestored, RESTORED, unarchivedDays } from './archived-days.ts';
import { contentPeriod, expireContents } from './contents.ts';
import { expireDefault } from './default-rows.ts';
import { buildIndexes, dropReplacedIndexes } from './indexes.ts';
import { expireClaims, expireUsage, MAINTENANCE_LOCK } from '../../component/ledger-expiry.ts';
import { isLockTimeout } from '../../component/short-locks.ts';
import { type ObservedTime, TimeObserver } from '../../component/observed-time.ts';
import { type LockHolder, lockHolder } from './lock-holder.ts';
import { dateOf, type Partition, PARTITION_LIMITS, type PartitionedTable, Partitions } from './partitions.ts';
import { abandonReservation, reserveDay } from './reserve.ts';
import { abandonRewrite, DAYS_PER_REWRITE, rewriteDefault } from './rewrite.ts';
import { HOUR_MS } from '../../pdata/time-units.ts';

/** In milliseconds. */
export interface RetentionPeriods {
  readonly spans: number;
  readonly logs: number;
  readonly metrics: number;
  readonly traces: number;
  readonly usage: number;
}

/** The longest wait of a start for the days of a table. The rest is done in the background. */
const OPENING_MS = 10000;
/** The time limit of statements that do not block ingest. Some read a whole default partition. */
const LIMITS: SessionLimits = { statementTimeoutMs: 600000, lockTimeoutMs: 100 };
/** The time limit of building an index over a day of many gigabytes. */
const INDEX_MS = 6 * HOUR_MS;
const NOW = 'SELECT (extract(epoch FROM now()) * 1000)::float8 AS now';

export class Retention {
  readonly #database: PostgresDatabase;
  readonly #partitions: Partitions;
  readonly #tables: readonly PartitionedTable[];
  readonly #periods: RetentionPeriods;
  readonly #logger: Logger;
  readonly #observer = new TimeObserver();
  readonly #stopped = new AbortController();
  readonly #limits: SessionLimits = { ...LIMITS, signal: this.#stopped.signal };
  readonly #isArchived: boolean;
  #failures = 0;
  #held = 0;
  #blocked = 0;
  /** Whether the last expiry kept days past their retention. */
  #isKeeping = false;

  /** `isArchived`: days are dropped only when they are in the archive. */
  constructor(
    database: PostgresDatabase,
    { isArchived = false, ...periods }: RetentionPeriods & { readonly isArchived?: boolean },
    logger: Logger,
  ) {
    this.#database = database;
    this.#isArchived = isArchived;
    this.#partitions = new Partitions(database);
    this.#periods = periods;
    this.#logger = logger;
    this.#tables = [
      { name: 'spans', key: 'nanoseconds', retentionMs: periods.spans },
      { name: 'logs', key: 'timestamp', retentionMs: periods.logs },
      { name: 'metric_points', key: 'timestamp', retentionMs: periods.metrics },
    ];
  }

  /** Days past their retention that are kept because they are not archived. */
  get heldDays(): number {
    return this.#held;
  }

  /** Days past their retention that could not be dropped, because a session holds a lock. */
  get blockedDays(): number {
    return this.#blocked;
  }

  /** Ends the current work. Nothing runs afterwards. */
  stop(): void {
    this.#stopped.abort();
  }

  /** Creates the missing days that take little time. Never rejects. */
  async open(): Promise<void> {
    await this.#openDays();
  }

  /** Runs all maintenance. Returns false when a step failed and should be tried again soon. Never rejects. */
  async maintain(): Promise<boolean> {
    this.#failures = 0;
    await this.#openDays();
    await this.#step('long maintenance', () =>
      this.#database.session(this.#limits, async (query) => {
        const { rows } = await query(MAINTENANCE_LOCK);
        if (rows[0]?.['held'] !== true) {
          // Another replica runs the maintenance, and reports these.
          [this.#held, this.#blocked] = [0, 0];
          return;
        }
        for (const table of this.#tables) await this.#openLater(query, table);
        await this.expire();
        await this.#step('building indexes', () => this.#buildIndexes());
      }),
    );
    return this.#failures === 0;
  }

  /** Removes records past their retention. Never rejects. */
  async expire(): Promise<void> {
    const time = await this.#step('reading the clock', () => this.#observer.observe(this.#database));
    if (time === undefined) return;
    const failures = this.#failures;
    [this.#held, this.#blocked] = [0, 0];
    this.#isKeeping = false;
    for (const table of this.#tables) {
      await this.#step(`the search for old days of ${table.name}`, () => this.#dropDays(table, time));
      await this.#step(`expiry of sluice.${table.name}_default`, () =>
        this.#database.session(this.#limits, (query) => this.#expireDefault(query, table, time)),
      );
    }
    // Rows that are kept, or could not be removed, still refer to them.
    if (this.#failures === failures && !this.#isKeeping)
      await this.#step('expiry of resources and scopes', () => this.#expireContents(time));
    await this.#step('expiry of claims on traces', () => this.#expireTraces(time));
    await this.#step('expiry of usage by month', () =>
      expireUsage(this.#database.query.bind(this.#database), time.cutoff(this.#periods.usage)),
    );
  }

  /** All tables at once, because requests wait for a database that has just become available. */
  async #openDays(): Promise<void> {
    const open = async (table: PartitionedTable): Promise<void> => {
      const later = await this.#openSoon(table);
      if (later.length === 0) return;
      const days = later.map(dateOf);
      this.#logger.info(
        { table: table.name, days },
        'the default partition is large: these days are opened in the background',
      );
    };
    await Promise.all(this.#tables.map((table) => open(table)));
  }

  /** Returns the days that take longer. */
  async #openSoon(table: PartitionedTable): Promise<readonly number[]> {
    const later = await this.#step(`the search for missing days of ${table.name}`, async () =>
      this.#partitions.open(table, await this.#now(), {
        failed: (day, error) => this.#fail(nameOfDay(table, day), error),
        untilMs: performance.now() + OPENING_MS,
      }),
    );
    return later ?? [];
  }

  /** Removes the rest of an interrupted run first. */
  async #openLater(query: Query, table: PartitionedTable): Promise<void> {
    const byArrival = table.key === 'timestamp';
    await this.#step(`tidying sluice.${table.name}_default`, () =>
      byArrival ? abandonReservation(query, table) : abandonRewrite(query, table),
    );
    const later = await this.#openSoon(table);
    if (later.length === 0) return;
    if (byArrival) {
      for (const day of later)
        await this.#step(nameOfDay(table, day), async () => reserveDay(query, table, day, await this.#now()));
      return;
    }
    await this.#step(`moving rows out of sluice.${table.name}_default`, () => this.#rewrite(query, table, later));
  }

  /** One rewrite after the other, until the rest of the default partition is small or all days are open. */
  async #rewrite(query: Query, table: PartitionedTable, days: readonly number[]): Promise<void> {
    for (let later = days; later.length > 0; later = await this.#openSoon(table)) {
      const existing = (await this.#partitions.list(table)).map(({ day }) => day);
      const missing = later.slice(0, DAYS_PER_REWRITE);
      const last = Math.max(...existing, ...missing);
      // Further days, so that a rewrite does not run every day.
      for (let day = last + 1; missing.length < DAYS_PER_REWRITE; day++) missing.push(day);
      const started = performance.now();
      await rewriteDefault(query, table, missing);
      const seconds = Math.round((performance.now() - started) / 1000);
      this.#logger.info(
        { table: table.name, days: missing.map(dateOf), seconds },
        'rows were moved out of the default partition, and their days opened',
      );
    }
  }

  async #buildIndexes(): Promise<void> {
    const limits = { ...this.#limits, statementTimeoutMs: INDEX_MS };
    const indexes = await this.#database.session(limits, buildIndexes);
    if (indexes.length > 0) this.#logger.info({ indexes }, 'built indexes that this version of Sluice uses');
    const dropped = await this.#database.session(limits, dropReplacedIndexes);
    if (dropped.length > 0) this.#logger.info({ indexes: dropped }, 'dropped indexes that others replace');
  }

  async #dropDays(table: PartitionedTable, time: ObservedTime): Promise<void> {
    const dropped: string[] = [];
    const kept = new Map<string, readonly string[]>();
    await forgetRestored(this.#database.query.bind(this.#database), table);
    const conditions = { archived: this.#isArchived, notRestored: true };
    const past = await this.#partitions.past(table, time.cutoff(table.retentionMs));
    for (const [index, partition] of past.entries()) {
      const drop = (query: Query): Promise<Dropping> => dropOrFindHolder(query, table, partition, conditions);
      const outcome = await this.#step(`dropping sluice.${partition.name}`, () =>
        this.#database.session(PARTITION_LIMITS, drop),
      );
      if (outcome === undefined) continue;
      if ('holder' in outcome) {
        const isTableLocked = outcome.holder?.holdsTable === true;
        this.#block(table, isTableLocked ? past.slice(index) : [partition], outcome.holder);
        // Each attempt lets ingest wait for a moment, so the other days are not tried.
        if (isTableLocked) break;
        continue;
      }
      const { keptFor } = outcome;
      this.#isKeeping ||= keptFor !== null;
      if (keptFor === null) dropped.push(partition.name);
      else if (keptFor !== RESTORED) kept.set(keptFor, [...(kept.get(keptFor) ?? []), dateOf(partition.day)]);
    }
    for (const [reason, days] of kept) this.#hold(table, days, reason);
    if (dropped.length > 0) this.#logger.info({ partitions: dropped }, 'dropped days past their retention');
  }

  async #expireDefault(query: Query, table: PartitionedTable, time: ObservedTime): Promise<void> {
    const days = this.#isArchived ? await unarchivedDays(query, table, time.cutoff(table.retentionMs)) : [];
    if (days.length > 0) this.#hold(table, days, 'rows of the default partition are not archived yet');
    const isArchived = this.#isArchived;
    await expireDefault(query, table, { time, keptDays: days, isArchived, logger: this.#logger });
  }

  #hold({ name }: PartitionedTable, days: readonly string[], reason: string): void {
    this.#held += days.length;
    this.#isKeeping = true;
    this.#logger.warn({ table: name, days, reason }, 'days past their retention are kept until they are archived');
  }

  #block({ name }: PartitionedTable, partitions: readonly Partition[], holder: LockHolder | null): void {
    this.#failures++;
    this.#blocked += partitions.length;
    this.#isKeeping = true;
    const days = partitions.map(({ day }) => dateOf(day));
    this.#logger.warn(
      { table: name, days, ...(holder?.end == null ? {} : { fix: `end it: ${holder.end}` }) },
      `old days of sluice.${name} are kept, because ${holder?.text ?? 'another session'} holds a lock on it; they are dropped later`,
    );
  }

  async #expireContents(time: ObservedTime): Promise<void> {
    const { spans, logs, metrics } = this.#periods;
    const cutoff = time.cutoff(contentPeriod(Math.max(spans, logs, metrics)));
    await this.#database.session(this.#limits, (query) => expireContents(query, cutoff));
  }

  /**
   * Claims expire only when their records can have expired. Otherwise each run would search all traces that still have
   * records.
   */
  async #expireTraces(time: ObservedTime): Promise<void> {
    const { traces, spans, logs } = this.#periods;
    const cutoff = time.cutoff(Math.max(traces, spans, logs));
    await this.#database.session(this.#limits, (query) => expireClaims(query, cutoff));
  }

  async #now(): Promise<number> {
    const { rows } = await this.#database.query(NOW);
    return Number(rows[0]?.['now']);
  }

  async #step<T>(name: string, work: () => Promise<T>): Promise<T | undefined> {
    if (this.#stopped.signal.aborted) return undefined;
    try {
      return await work();
    } catch (error) {
      this.#fail(name, error);
      return undefined;
    }
  }

  #fail(step: string, error: unknown): void {
    if (this.#stopped.signal.aborted) return;
    this.#failures++;
    this.#logger.warn(
      { step, error },
      'a step of the database maintenance failed and is tried again; the other steps continue',
    );
  }
}

const nameOfDay = ({ name }: PartitionedTable, day: number): string => `opening ${dateOf(day)} of ${name}`;

/** Why a day is kept, null when it was dropped; or the session that holds its lock, null when that has ended. */
type Dropping = { readonly keptFor: string | null } | { readonly holder: LockHolder | null };

async function dropOrFindHolder(
  query: Query,
  table: PartitionedTable,
  partition: Partition,
  conditions: DropConditions,
): Promise<Dropping> {
  try {
    return { keptFor: await dropUnlessKept(query, table, partition, conditions) };
  } catch (error) {
    if (!isLockTimeout(error)) throw error;
    return { holder: await lockHolder(query, table, partition) };
  }
}
