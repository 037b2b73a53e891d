/**
 * Daily partitions: made ahead, and dropped whole. A partition is made beside its table and attached when it is whole, so
 * ingest never waits for it; rows that had gone to the default partition meanwhile move along.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { PostgresDatabase } from '../../component/postgres.ts';

const DAY_MS = 86400000;
const NS_PER_MS = 1000000n;
/** Days kept open before today (spans that arrive late) and after it. */
const DAYS_BACK = 7;
const DAYS_AHEAD = 7;
/** Dropping needs the whole table for itself for a moment. Ingest queues behind whoever waits for that, so the wait is short. */
const DROP_LOCK_MS = 200;
const DROP_TRIES = 20;
const DROP_PAUSE_MS = 100;
const LOCK_NOT_AVAILABLE = '55P03';

export interface PartitionedTable {
  readonly name: 'spans' | 'logs' | 'metric_points';
  /** What the partition key counts. */
  readonly key: 'nanoseconds' | 'timestamp';
  /** How long rows are kept, in milliseconds. */
  readonly retentionMs: number;
}

interface Partition {
  /** UTC days since 1970. */
  readonly day: number;
  readonly name: string;
}

export class Partitions {
  readonly #database: PostgresDatabase;

  constructor(database: PostgresDatabase) {
    this.#database = database;
  }

  /** Makes the partitions of the days around now that are missing and would not be dropped at once. Safe on several replicas. */
  async open(table: PartitionedTable, nowMs: number): Promise<void> {
    const today = dayOf(nowMs);
    const existing = new Set((await this.list(table)).map(({ day }) => day));
    const back = table.key === 'nanoseconds' ? DAYS_BACK : 0;
    const first = Math.max(today - back, dayOf(nowMs - table.retentionMs));
    for (let day = first; day <= today + DAYS_AHEAD; day++) {
      if (!existing.has(day)) await this.#create(table, day);
    }
  }

  /** Drops the partitions whose whole day is past its retention. Returns their names. */
  async drop(table: PartitionedTable, nowMs: number): Promise<readonly string[]> {
    const cutoff = nowMs - table.retentionMs;
    const past = (await this.list(table)).filter(({ day }) => (day + 1) * DAY_MS <= cutoff);
    for (const { name } of past) await this.#drop(name);
    return past.map(({ name }) => name);
  }

  async list({ name }: PartitionedTable): Promise<readonly Partition[]> {
    const { rows } = await this.#database.query(
      `SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = $1::regclass`,
      [`sluice.${name}`],
    );
    return rows.flatMap(({ relname }) => {
      const match = /_(\d{4})(\d\d)(\d\d)$/.exec(String(relname));
      if (match === null) return [];
      return [
        { day: dayOf(Date.UTC(Number(match[1]), Number(match[2]) - 1, Number(match[3]))), name: String(relname) },
      ];
    });
  }

  async #drop(partition: string): Promise<void> {
    for (let tries = 1; ; tries++) {
      try {
        // One block, so that the limit holds for this statement alone on any connection of the pool.
        await this.#database.query(`
          DO $$ BEGIN
            PERFORM set_config('lock_timeout', '${DROP_LOCK_MS}', true);
            DROP TABLE IF EXISTS sluice.${partition};
          END $$`);
        return;
      } catch (error) {
        if ((error as { code?: unknown }).code !== LOCK_NOT_AVAILABLE || tries === DROP_TRIES) throw error;
        await pause(DROP_PAUSE_MS);
      }
    }
  }

  /** One statement block, so that it is one transaction on any connection of the pool. */
  async #create(table: PartitionedTable, day: number): Promise<void> {
    const partition = `${table.name}_${new Date(day * DAY_MS).toISOString().slice(0, 10).replaceAll('-', '')}`;
    const [from, to] = [bound(table, day), bound(table, day + 1)];
    const column = table.key === 'nanoseconds' ? 'start_time_unix_nano' : 'received_at';
    await this.#database.query(`
      DO $$ BEGIN
        PERFORM pg_advisory_xact_lock(hashtext('sluice.${partition}'));
        IF to_regclass('sluice.${partition}') IS NOT NULL THEN RETURN; END IF;
        CREATE TABLE sluice.${partition} (LIKE sluice.${table.name} INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE INCLUDING COMPRESSION INCLUDING INDEXES);
        ALTER TABLE sluice.${partition} ADD CONSTRAINT day CHECK (${column} IS NOT NULL AND ${column} >= ${from} AND ${column} < ${to});
        WITH moved AS (DELETE FROM sluice.${table.name}_default WHERE ${column} >= ${from} AND ${column} < ${to} RETURNING *)
          INSERT INTO sluice.${partition} SELECT * FROM moved;
        ALTER TABLE sluice.${table.name} ATTACH PARTITION sluice.${partition} FOR VALUES FROM (${from}) TO (${to});
        ALTER TABLE sluice.${partition} DROP CONSTRAINT day;
      END $$`);
  }
}

const dayOf = (ms: number): number => Math.floor(ms / DAY_MS);

function bound({ key }: PartitionedTable, day: number): string {
  if (key === 'nanoseconds') return String(BigInt(day) * BigInt(DAY_MS) * NS_PER_MS);
  return `'${new Date(day * DAY_MS).toISOString()}'`;
}
