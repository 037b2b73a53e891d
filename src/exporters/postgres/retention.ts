/**
 * What is kept how long: days of records are dropped, the few rows outside of all days deleted, then the claims on traces of
 * which nothing is left, then months of usage. The database's clock decides: a replica whose own is wrong must drop nothing.
 */
import type { PostgresDatabase } from '../../component/postgres.ts';
import type { Logger } from '../../component/logger.ts';
import { type PartitionedTable, Partitions } from './partitions.ts';

/** In milliseconds. */
export interface RetentionPeriods {
  readonly spans: number;
  readonly logs: number;
  readonly metrics: number;
  readonly traces: number;
  readonly usage: number;
}

/** Rows are deleted this many at a time, so that no statement takes long; the traces, each looked up in all days, fewer. */
const DELETE_BATCH = 10000;
const TRACES_BATCH = 2000;
/** At most so many batches at once; the rest waits for the next hour. */
const MAX_BATCHES = 1000;

const NOW = 'SELECT (extract(epoch FROM now()) * 1000)::float8 AS now';

export class Retention {
  readonly #database: PostgresDatabase;
  readonly #partitions: Partitions;
  readonly #tables: readonly PartitionedTable[];
  readonly #periods: RetentionPeriods;
  readonly #logger: Logger;

  constructor(database: PostgresDatabase, periods: RetentionPeriods, logger: Logger) {
    this.#database = database;
    this.#partitions = new Partitions(database);
    this.#periods = periods;
    this.#logger = logger;
    this.#tables = [
      { name: 'spans', key: 'nanoseconds', retentionMs: periods.spans },
      { name: 'logs', key: 'timestamp', retentionMs: periods.logs },
      { name: 'metric_points', key: 'timestamp', retentionMs: periods.metrics },
    ];
  }

  /** Makes the days that are missing. */
  async open(): Promise<void> {
    const now = await this.#now();
    for (const table of this.#tables) await this.#partitions.open(table, now);
  }

  /** Removes what is past its time. */
  async expire(): Promise<void> {
    const now = await this.#now();
    for (const table of this.#tables) {
      const dropped = await this.#partitions.drop(table, now);
      if (dropped.length > 0) this.#logger.info({ partitions: dropped }, 'dropped days past their retention');
      await this.#expireDefault(table, now);
    }
    await this.#expireTraces(now);
    await this.#database.query(
      `DELETE FROM sluice.usage_months
       WHERE month < date_trunc('month', to_timestamp($1::float8 / 1000) AT TIME ZONE 'UTC')::date`,
      [now - this.#periods.usage],
    );
  }

  /** Rows there have clocks that are years wrong: they go by the day they arrived. */
  async #expireDefault({ name, retentionMs }: PartitionedTable, now: number): Promise<void> {
    const table = `sluice.${name}_default`;
    const removal = `
      DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM ${table} WHERE received_at < to_timestamp($1::float8 / 1000) LIMIT ${DELETE_BATCH}))`;
    for (let batch = 0; batch < MAX_BATCHES; batch++) {
      const { rowCount } = await this.#database.query(removal, [now - retentionMs]);
      if ((rowCount ?? 0) < DELETE_BATCH) return;
    }
  }

  /** Not before their records can be gone, or every look would go through all traces that still have some. */
  async #expireTraces(now: number): Promise<void> {
    const { traces, spans, logs } = this.#periods;
    const moment = now - Math.max(traces, spans, logs);
    for (let batch = 0; batch < MAX_BATCHES; batch++) {
      const { rows } = await this.#database.query(
        `SELECT sluice.expire_traces(to_timestamp($1::float8 / 1000), ${TRACES_BATCH}) AS found`,
        [moment],
      );
      if (Number(rows[0]?.['found']) < TRACES_BATCH) return;
    }
  }

  async #now(): Promise<number> {
    const { rows } = await this.#database.query(NOW);
    return Number(rows[0]?.['now']);
  }
}
