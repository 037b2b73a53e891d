/**
 * Clocks that were ahead may have put millions of spans of a day into the default partition. Postgres attaches a day
 * only when no row of it is in the default partition, and each row must be visible exactly once at every moment. So the
 * default partition is copied:
 *
 * 1. `spans_next` is created, with the missing days and a default partition of its own. A trigger repeats in it every
 *    change of the old one.
 * 2. The rows are copied in batches. Only the rows of a batch are locked, against deletion.
 * 3. In one transaction of milliseconds the old default partition is detached, and the new days and the new default are
 *    attached.
 *
 * Readers see no change before the last step, which blocks all use of the table. Its time grows with the days, so one
 * rewrite opens a few days. An interrupted run is abandoned and starts again.
 */
import { inTransaction } from '../../component/in-transaction.ts';
import { setTimeout as pause } from 'node:timers/promises';
import type { Query } from '../../component/capabilities/postgres.ts';
import {
  boundOf,
  columnOf,
  creation,
  listPartitions,
  type PartitionedTable,
  partitionName,
  release,
} from './partitions.ts';
import { withShortLocks } from '../../component/short-locks.ts';

/** A batch is a megabyte of the table's own pages, plus their large values. */
const BATCH_PAGES = 128;
/** Leaves the database time for other work. */
const BATCH_PAUSE_MS = 10;
const LOCK_TRIES = 50;
const CONSTRAINT = 'days';
/** The most days of one rewrite. Each takes two changes of the catalogue under the lock of the last step. */
export const DAYS_PER_REWRITE = 4;

/** The days that have partitions, and those to be created. */
interface Days {
  readonly existing: readonly number[];
  readonly missing: readonly number[];
}

/** Opens the missing days. */
export async function rewriteDefault(query: Query, table: PartitionedTable, missing: readonly number[]): Promise<void> {
  await abandonRewrite(query, table);
  const days = await withShortLocks({ tries: LOCK_TRIES }, () =>
    inTransaction(query, () => prepare(query, table, missing)),
  );
  await copyRows(query, table);
  await withShortLocks({ tries: LOCK_TRIES }, () => inTransaction(query, () => query(exchange(table, days))));
  await abandonRewrite(query, table);
  for (const day of days.missing)
    await withShortLocks({ tries: LOCK_TRIES }, () => query(release(partitionName(table, day))));
}

/**
 * Removes the tables of a run, also of an interrupted one: before the last step the copy is not needed, after it the
 * copy is empty and the old table is not read.
 */
export async function abandonRewrite(query: Query, { name }: PartitionedTable): Promise<void> {
  const { rows } = await query(
    `SELECT to_regclass('sluice.${name}_next') IS NOT NULL AS copy, to_regclass('sluice.${name}_old') IS NOT NULL AS old`,
  );
  if (rows[0]?.['copy'] === true) {
    await withShortLocks({ tries: LOCK_TRIES }, () =>
      inTransaction(query, () =>
        query(`DROP TRIGGER IF EXISTS mirror ON sluice.${name}_default; DROP TABLE sluice.${name}_next`),
      ),
    );
  }
  if (rows[0]?.['old'] === true) await query(`DROP TABLE sluice.${name}_old`);
}

async function prepare(query: Query, table: PartitionedTable, missing: readonly number[]): Promise<Days> {
  // No day is dropped between the list and the end of the transaction.
  await query(`LOCK TABLE ONLY sluice.${table.name} IN ACCESS SHARE MODE`);
  const days = { existing: (await listPartitions(query, table)).map(({ day }) => day), missing };
  await query(preparation(table, days));
  return days;
}

function preparation(table: PartitionedTable, { existing, missing }: Days): string {
  const { name } = table;
  const column = columnOf(table);
  const newDays = missing.map((day) => {
    const [partition, from, to] = [partitionName(table, day), boundOf(table, day), boundOf(table, day + 1)];
    return `
      ${creation(table, partition, from, to)};
      ALTER TABLE sluice.${name}_next ATTACH PARTITION sluice.${partition} FOR VALUES FROM (${from}) TO (${to});`;
  });
  // Spares the server a search through the new default partition when it is attached.
  const outside = runsOf([...existing, ...missing]).map(
    ([first, last], index) => `
      ALTER TABLE sluice.${name}_default_next ADD CONSTRAINT ${CONSTRAINT}_${index}
        CHECK (${column} < ${boundOf(table, first)} OR ${column} >= ${boundOf(table, last + 1)});`,
  );
  return `
    CREATE TABLE sluice.${name}_next (LIKE sluice.${name}) PARTITION BY RANGE (${column});
    CREATE TABLE sluice.${name}_default_next (LIKE sluice.${name} INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE INCLUDING COMPRESSION INCLUDING INDEXES);
    CREATE INDEX ON sluice.${name}_default_next (received_at);
    ${outside.join('')}
    ${newDays.join('')}
    ALTER TABLE sluice.${name}_next ATTACH PARTITION sluice.${name}_default_next DEFAULT;
    CREATE TRIGGER mirror AFTER INSERT OR UPDATE OR DELETE ON sluice.${name}_default
      FOR EACH ROW EXECUTE FUNCTION sluice.mirror_default_span()`;
}

/**
 * Copies from the first page to the last. Rows that arrive meanwhile are mirrored by the trigger. The lock on the rows
 * makes a deletion wait until the copy is complete; its trigger then deletes the copied row.
 */
async function copyRows(query: Query, { name }: PartitionedTable): Promise<void> {
  const { rows } = await query(
    `SELECT (pg_relation_size('sluice.${name}_default') / current_setting('block_size')::int8)::float8 AS pages`,
  );
  const pages = Number(rows[0]?.['pages']);
  for (let page = 0; page < pages; page += BATCH_PAGES) {
    await query(`
      WITH batch AS MATERIALIZED (
        SELECT * FROM sluice.${name}_default WHERE ctid >= '(${page},0)' AND ctid < '(${page + BATCH_PAGES},0)' FOR KEY SHARE)
      INSERT INTO sluice.${name}_next SELECT * FROM batch ON CONFLICT DO NOTHING`);
    await pause(BATCH_PAUSE_MS);
  }
}

/** Does only what must happen at one moment. The rest is done after the commit. */
function exchange(table: PartitionedTable, { existing, missing }: Days): string {
  const { name } = table;
  const newDays = missing.map((day) => {
    const [partition, from, to] = [partitionName(table, day), boundOf(table, day), boundOf(table, day + 1)];
    return `
      ALTER TABLE sluice.${name}_next DETACH PARTITION sluice.${partition};
      ALTER TABLE sluice.${name} ATTACH PARTITION sluice.${partition} FOR VALUES FROM (${from}) TO (${to});`;
  });
  // A later drop of one of these days must not leave a constraint that refuses its late rows.
  const constraints = runsOf([...existing, ...missing]).map((_, index) => `DROP CONSTRAINT ${CONSTRAINT}_${index}`);
  return `
    LOCK TABLE sluice.${name} IN ACCESS EXCLUSIVE MODE;
    ALTER TABLE sluice.${name} DETACH PARTITION sluice.${name}_default;
    ALTER TABLE sluice.${name}_next DETACH PARTITION sluice.${name}_default_next;
    ${newDays.join('')}
    ALTER TABLE sluice.${name} ATTACH PARTITION sluice.${name}_default_next DEFAULT;
    ALTER TABLE sluice.${name}_default_next ${constraints.join(', ')};
    ALTER TABLE sluice.${name}_default RENAME TO ${name}_old;
    ALTER TABLE sluice.${name}_default_next RENAME TO ${name}_default`;
}

/** First and last day of each uninterrupted run of days. */
function runsOf(days: readonly number[]): readonly (readonly [number, number])[] {
  const runs: [number, number][] = [];
  for (const day of [...new Set(days)].sort((a, b) => a - b)) {
    const run = runs.at(-1);
    if (run !== undefined && run[1] === day - 1) run[1] = day;
    else runs.push([day, day]);
  }
  return runs;
}
