/**
 * Daily partitions: made ahead, dropped by retention. A partition is made beside its table and attached when it is whole, so
 * ingest never waits for it; rows that had gone to the default partition meanwhile move along.
 */
import type { PostgresDatabase } from '../../component/postgres.ts';
import type { Logger } from '../../component/logger.ts';

const DAY_MS = 86400000;
const NS_PER_MS = 1000000n;
/** Days kept open before today (spans that arrive late) and after it. */
const DAYS_BACK = 7;
const DAYS_AHEAD = 7;
/** Rows of the default partition are removed this many at a time. */
const DELETE_BATCH = 10000;
const MAX_BATCHES = 1000;

export interface PartitionedTable {
  readonly name: 'spans' | 'logs' | 'metric_points';
  /** What the partition key counts. */
  readonly key: 'nanoseconds' | 'timestamp';
  /** How long rows are kept, in milliseconds. */
  readonly retentionMs: number;
}

export class Partitions {
  readonly #database: PostgresDatabase;
  readonly #tables: readonly PartitionedTable[];
  readonly #logger: Logger;

  constructor(database: PostgresDatabase, tables: readonly PartitionedTable[], logger: Logger) {
    this.#database = database;
    this.#tables = tables;
    this.#logger = logger;
  }

  /** Makes the partitions of the days around now that are missing. Safe on several replicas at once. */
  async open(nowMs: number): Promise<void> {
    const today = Math.floor(nowMs / DAY_MS);
    for (const table of this.#tables) {
      const existing = new Set((await this.#days(table)).map(({ day }) => day));
      const first = table.key === 'nanoseconds' ? today - DAYS_BACK : today;
      for (let day = first; day <= today + DAYS_AHEAD; day++) {
        if (!existing.has(day)) await this.#create(table, day);
      }
    }
  }

  /** Drops what is older than its retention. Returns how many partitions went. */
  async expire(nowMs: number): Promise<number> {
    let dropped = 0;
    for (const table of this.#tables) {
      const cutoff = nowMs - table.retentionMs;
      for (const { day, partition } of await this.#days(table)) {
        if ((day + 1) * DAY_MS > cutoff) continue;
        await this.#database.query(`DROP TABLE IF EXISTS sluice.${partition}`);
        this.#logger.info({ partition }, 'dropped a partition past its retention');
        dropped++;
      }
      await this.#deleteOld(`sluice.${table.name}_default`, 'received_at < to_timestamp($1 / 1000.0)', cutoff);
    }
    await this.#expireTraces(nowMs);
    return dropped;
  }

  /** A trace's claim ends with its last span: another project may then use the id. */
  async #expireTraces(nowMs: number): Promise<void> {
    const longest = Math.max(0, ...this.#tables.map(({ retentionMs }) => retentionMs));
    const cutoff = nowMs - longest;
    await this.#deleteOld(
      'sluice.traces',
      'created_at < to_timestamp($1 / 1000.0) AND coalesce(last_ns, 0) < $1 * 1000000::int8',
      cutoff,
    );
  }

  async #deleteOld(table: string, condition: string, cutoff: number): Promise<void> {
    for (let batch = 0; batch < MAX_BATCHES; batch++) {
      const { rowCount } = await this.#database.query(
        `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(SELECT ctid FROM ${table} WHERE ${condition.replaceAll('$1', '$1::int8')} LIMIT ${DELETE_BATCH}))`,
        [Math.floor(cutoff)],
      );
      if ((rowCount ?? 0) < DELETE_BATCH) return;
    }
  }

  async #days({ name }: PartitionedTable): Promise<readonly { readonly day: number; readonly partition: string }[]> {
    const { rows } = await this.#database.query(
      `SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = $1::regclass`,
      [`sluice.${name}`],
    );
    return rows.flatMap(({ relname }) => {
      const match = /_(\d{4})(\d\d)(\d\d)$/.exec(String(relname));
      if (match === null) return [];
      return [
        {
          day: Date.UTC(Number(match[1]), Number(match[2]) - 1, Number(match[3])) / DAY_MS,
          partition: String(relname),
        },
      ];
    });
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

function bound({ key }: PartitionedTable, day: number): string {
  if (key === 'nanoseconds') return String(BigInt(day) * BigInt(DAY_MS) * NS_PER_MS);
  return `'${new Date(day * DAY_MS).toISOString()}'`;
}
