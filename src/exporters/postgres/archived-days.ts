/**
 * What retention may remove: no day that `sluice restore-day` keeps, and with an archive only what is in a verified
 * file. It reads the tables of the migrations 0009 and 0011, which these commands write.
 */
import { dayOfRow, IS_OF_TABLES, isSealed } from '../../component/archived-day.ts';
import type { Query } from '../../component/capabilities/postgres.ts';
import { unlessDropped } from '../../component/dropped-partition.ts';
import { columnOf, dateOf, DROP_TRIES, lockForDrop, type Partition, type PartitionedTable } from './partitions.ts';
import { withShortLocks } from '../../component/short-locks.ts';
import { errorCode } from '../../errors.ts';

/** Raised by our own statement. */
const KEPT = 'SL002';
/** A job of the archive whose day has been or will be sealed, and which may have records that are in no file. */
const IS_UNFINISHED = "state = 'planned' AND replaces IS NULL";
/** Why a partition is kept that `sluice restore-day` restored or keeps. */
export const RESTORED = 'it is restored';

/** What is asked of a partition before it is dropped. */
export interface DropConditions {
  /** Each of its records must be in a file of the archive. */
  readonly archived: boolean;
  /** Days of `sluice restore-day` are kept. */
  readonly notRestored: boolean;
}

/** Why a partition must not be dropped yet, as SQL: null when it may be. */
function reasonFor(table: PartitionedTable, { name, day }: Partition, conditions: DropConditions): string {
  const isDay = `signal = '${table.name}' AND day = '${dateOf(day)}'`;
  const isJob = `${isDay} AND ${IS_OF_TABLES}`;
  const restored = `
    WHEN EXISTS (SELECT FROM sluice.lake_restored WHERE ${isDay} AND until >= now()) THEN '${RESTORED}'`;
  const archived = `
    WHEN NOT EXISTS (SELECT FROM sluice.${name}) THEN NULL
    WHEN NOT EXISTS (SELECT FROM sluice.lake_jobs WHERE ${isJob} AND state = 'published')
      THEN 'it is not archived yet'
    WHEN EXISTS (SELECT FROM sluice.lake_jobs WHERE ${isJob} AND ${IS_UNFINISHED})
      THEN 'it is being archived'
    WHEN EXISTS (SELECT FROM sluice.lake_late WHERE ${isDay})
      THEN 'records that arrived late are not archived yet'
    WHEN NOT ${isSealed(`'sluice.${name}'::regclass`)}
      THEN 'it was changed since it was archived'`;
  return `CASE WHEN false THEN NULL ${conditions.notRestored ? restored : ''} ${conditions.archived ? archived : ''} END`;
}

/**
 * Drops the partition if all conditions hold. Returns why it is kept; null when it was dropped. The last check holds
 * the locks of the drop, so no record can be stored, and no day restored, in between.
 */
export async function dropUnlessKept(
  query: Query,
  table: PartitionedTable,
  partition: Partition,
  conditions: DropConditions,
): Promise<string | null> {
  const reason = reasonFor(table, partition, conditions);
  const found = await unlessDropped(partition.name, () => query(`SELECT ${reason} AS reason`));
  const known = found?.rows[0]?.['reason'];
  if (typeof known === 'string') return known;
  try {
    await withShortLocks({ tries: DROP_TRIES }, () =>
      query(`
        DO $$ DECLARE reason text; BEGIN
          ${lockForDrop(table)};
          IF to_regclass('sluice.${partition.name}') IS NULL THEN RETURN; END IF;
          LOCK TABLE sluice.${partition.name} IN ACCESS EXCLUSIVE MODE;
          reason := ${reason};
          IF reason IS NOT NULL THEN RAISE SQLSTATE '${KEPT}' USING MESSAGE = reason; END IF;
          DROP TABLE sluice.${partition.name};
        END $$`),
    );
    return null;
  } catch (error) {
    if (error instanceof Error && errorCode(error) === KEPT) return error.message;
    throw error;
  }
}

/** Removes the notes about days that `sluice restore-day` does not keep any more. */
export async function forgetRestored(query: Query, { name }: PartitionedTable): Promise<void> {
  await query('DELETE FROM sluice.lake_restored WHERE signal = $1 AND until < now()', [name]);
}

/**
 * Whether records of a day `d.day` in the default partition may be in no file of the archive. Future days, from clocks
 * that are ahead, are left out: they may never be archived.
 */
export function isUnarchived({ name }: PartitionedTable): string {
  const isDay = `signal = '${name}' AND day = d.day`;
  const isJob = `${isDay} AND ${IS_OF_TABLES}`;
  return `(d.day < (now() AT TIME ZONE 'UTC')::date AND (
    NOT EXISTS (SELECT FROM sluice.lake_jobs WHERE ${isJob} AND state = 'published')
    OR EXISTS (SELECT FROM sluice.lake_jobs WHERE ${isJob} AND ${IS_UNFINISHED})
    OR EXISTS (SELECT FROM sluice.lake_late WHERE ${isDay})
    OR NOT ${isSealed(`'sluice.${name}_default'::regclass`)}))`;
}

/** The days of which rows of the default partition, received before the time, may be in no file of the archive. */
export async function unarchivedDays(
  query: Query,
  table: PartitionedTable,
  cutoffMs: number,
): Promise<readonly string[]> {
  const { rows } = await query(
    `SELECT to_char(day, 'YYYY-MM-DD') AS day FROM (
       SELECT DISTINCT ${dayOfRow(columnOf(table))} AS day FROM sluice.${table.name}_default
       WHERE received_at < to_timestamp($1::float8 / 1000)) d
     WHERE ${isUnarchived(table)} ORDER BY 1`,
    [cutoffMs],
  );
  return rows.map(({ day }) => String(day));
}
