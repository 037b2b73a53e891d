/**
 * Daily partitions: created ahead, and dropped whole. A partition is created beside its table and attached when it is
 * complete. Rows of its day that are in the default partition move in the same transaction, while the default partition
 * is locked. If there are many, `rewrite.ts` or `reserve.ts` opens the day instead; they hold locks only briefly.
 */
import { type DayColumn, dayOfPartition } from '../../component/archived-day.ts';
import type { PostgresDatabase, Query, SessionLimits } from '../../component/capabilities/postgres.ts';
import { LOCK_TIMEOUT, withShortLocks } from '../../component/short-locks.ts';
import { DAY_MS, MS_NS } from '../../pdata/time-units.ts';
import { errorCode } from '../../errors.ts';

/** The days that are kept open before today (for late spans) and after it. */
const DAYS_BACK = 7;
const DAYS_AHEAD = 7;
/**
 * Rows of the default partition are moved under its lock up to this size: ingest into it waits up to a fifth of a
 * second.
 */
const MAX_MOVED_BYTES = 2 * 1024 * 1024;
/** The longest wait of a statement for a lock. Ingest queues behind it meanwhile. */
const LOCK_MS = 100;
const OPEN_TRIES = 5;
export const DROP_TRIES = 20;
/** Raised by our own statement. */
const TOO_LARGE = 'SL001';
/** Longer than any statement here takes, and short enough to end one that hangs. */
export const PARTITION_LIMITS: SessionLimits = { statementTimeoutMs: 30000, lockTimeoutMs: LOCK_MS };

export interface PartitionedTable {
  readonly name: 'spans' | 'logs' | 'metric_points';
  /** The unit of the partition key. */
  readonly key: 'nanoseconds' | 'timestamp';
  /** How long rows are kept, in milliseconds. */
  readonly retentionMs: number;
}

export interface Partition {
  /** UTC days since 1970. */
  readonly day: number;
  readonly name: string;
}

/** `later`: the default partition is too large to be locked for a search and a move. */
export type Opening = 'open' | 'later';

export interface OpeningEvents {
  failed(day: number, error: unknown): void;
  /** Days after this moment, of `performance.now()`, are left for later. */
  readonly untilMs: number;
}

export class Partitions {
  readonly #database: PostgresDatabase;

  constructor(database: PostgresDatabase) {
    this.#database = database;
  }

  /**
   * Creates the missing partitions of the days around now that would not be dropped at once. Safe on several replicas.
   * Returns the days that are left for later. Without `events` the first failure rejects.
   */
  async open(table: PartitionedTable, nowMs: number, events?: OpeningEvents): Promise<readonly number[]> {
    const later: number[] = [];
    const missing = await this.#missing(table, nowMs);
    if (missing.length === 0) return later;
    await this.#database.session(PARTITION_LIMITS, async (query) => {
      for (const day of missing) {
        try {
          if (performance.now() > (events?.untilMs ?? Infinity))
            throw new Error('the time limit for opening days is reached');
          const opening = await withShortLocks({ tries: OPEN_TRIES }, () => openDay(query, table, day));
          if (opening === 'later') later.push(day);
        } catch (error) {
          if (events === undefined) throw error;
          events.failed(day, error);
        }
      }
    });
    return later;
  }

  /** The partitions whose whole day is before `cutoffMs`. */
  async past(table: PartitionedTable, cutoffMs: number): Promise<readonly Partition[]> {
    return (await this.list(table)).filter(({ day }) => (day + 1) * DAY_MS <= cutoffMs);
  }

  async drop(table: PartitionedTable, { name }: Partition): Promise<void> {
    await this.#database.session(PARTITION_LIMITS, async (query) => {
      const statement = `DO $$ BEGIN ${lockForDrop(table)}; DROP TABLE IF EXISTS sluice.${name}; END $$`;
      await withShortLocks({ tries: DROP_TRIES }, () => query(statement));
    });
  }

  list(table: PartitionedTable): Promise<readonly Partition[]> {
    return listPartitions(this.#database.query.bind(this.#database), table);
  }

  /** Today first, then the next days, because ingest needs these. Past days are for late spans. */
  async #missing(table: PartitionedTable, nowMs: number): Promise<readonly number[]> {
    const today = dayOf(nowMs);
    const existing = new Set((await this.list(table)).map(({ day }) => day));
    const back = table.key === 'nanoseconds' ? DAYS_BACK : 0;
    const first = Math.max(today - back, dayOf(nowMs - table.retentionMs));
    const ahead = Array.from({ length: DAYS_AHEAD + 1 }, (_, index) => today + index);
    const past = Array.from({ length: today - first }, (_, index) => today - 1 - index);
    return [...ahead, ...past].filter((day) => !existing.has(day));
  }
}

export async function listPartitions(query: Query, { name }: PartitionedTable): Promise<readonly Partition[]> {
  const { rows } = await query(
    `SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = $1::regclass`,
    [`sluice.${name}`],
  );
  return rows.flatMap(({ relname }) => {
    const date = dayOfPartition(String(relname));
    return date === null ? [] : [{ day: dayOf(Date.parse(date)), name: String(relname) }];
  });
}

/**
 * Statements of PL/pgSQL before a drop. They lock the parent first, as each statement that writes does. No day is
 * dropped during a rewrite (`rewrite.ts`): its copy takes no rows of days that had a partition when it began.
 */
export const lockForDrop = ({ name }: PartitionedTable): string => `
  LOCK TABLE ONLY sluice.${name} IN ACCESS EXCLUSIVE MODE;
  IF to_regclass('sluice.${name}_default_next') IS NOT NULL THEN
    RAISE SQLSTATE '${LOCK_TIMEOUT}' USING MESSAGE = 'rows are moved out of sluice.${name}_default';
  END IF`;

/**
 * One statement, because each round trip waits for the event loop, which may be busy with refusals when the database
 * becomes available.
 */
async function openDay(query: Query, table: PartitionedTable, day: number): Promise<Opening> {
  const partition = partitionName(table, day);
  const column = columnOf(table);
  const [from, to] = [boundOf(table, day), boundOf(table, day + 1)];
  try {
    await query(`
      DO $$ BEGIN
        PERFORM ${openingLock(partition)};
        IF to_regclass('sluice.${partition}') IS NOT NULL THEN RETURN; END IF;
        IF pg_table_size('sluice.${table.name}_default') > ${MAX_MOVED_BYTES} THEN RAISE SQLSTATE '${TOO_LARGE}'; END IF;
        ${creation(table, partition, from, to)};
        LOCK TABLE sluice.${table.name} IN SHARE UPDATE EXCLUSIVE MODE;
        LOCK TABLE sluice.${table.name}_default IN ACCESS EXCLUSIVE MODE;
        WITH moved AS (DELETE FROM sluice.${table.name}_default WHERE ${column} >= ${from} AND ${column} < ${to} RETURNING *)
          INSERT INTO sluice.${partition} SELECT * FROM moved;
        ${attachment(table, partition, from, to)};
      END $$`);
    return 'open';
  } catch (error) {
    if (errorCode(error) === TOO_LARGE) return 'later';
    throw error;
  }
}

/** Excludes others that open the day, until the end of the transaction. An expression. */
export const openingLock = (partition: string): string => `pg_advisory_xact_lock(hashtext('sluice.${partition}'))`;

/** A table for one day. Its constraint spares the server a search for rows of other days when it is attached. */
export function creation(table: PartitionedTable, partition: string, from: string, to: string): string {
  const column = columnOf(table);
  return `
    CREATE TABLE sluice.${partition} (LIKE sluice.${table.name} INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE INCLUDING COMPRESSION INCLUDING INDEXES);
    ALTER TABLE sluice.${partition} ADD CONSTRAINT day CHECK (${column} IS NOT NULL AND ${column} >= ${from} AND ${column} < ${to})`;
}

export function attachment(table: PartitionedTable, partition: string, from: string, to: string): string {
  return `
    ALTER TABLE sluice.${table.name} ATTACH PARTITION sluice.${partition} FOR VALUES FROM (${from}) TO (${to});
    ${release(partition)}`;
}

/** The constraint is not needed after the day was attached. */
export const release = (partition: string): string => `ALTER TABLE sluice.${partition} DROP CONSTRAINT IF EXISTS day`;

export const dayOf = (ms: number): number => Math.floor(ms / DAY_MS);

export const startOf = (day: number): number => day * DAY_MS;

export const columnOf = ({ key }: PartitionedTable): DayColumn =>
  key === 'nanoseconds' ? 'start_time_unix_nano' : 'received_at';

export function dateOf(day: number): string {
  return new Date(startOf(day)).toISOString().slice(0, 10);
}

export const partitionName = ({ name }: PartitionedTable, day: number): string =>
  `${name}_${dateOf(day).replaceAll('-', '')}`;

export function boundOf(table: PartitionedTable, day: number): string {
  return boundAt(table, startOf(day));
}

export function boundAt({ key }: PartitionedTable, ms: number): string {
  return key === 'nanoseconds' ? String(BigInt(ms) * MS_NS) : `'${new Date(ms).toISOString()}'`;
}
