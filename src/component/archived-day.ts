/**
 * What the archive, its readers and retention must agree about: the day of a row, which files are of the tables,
 * whether a table has the seal, and how far the records of a trace can be from it. The archive seals the table of a day
 * with a trigger that notes each record stored later.
 */
import { DAY_NS, HOUR_NS } from '../pdata/time-units.ts';

/** The name of the trigger. */
export const SEAL = 'sluice_archive';
/** The trigger of a partition that was created after its day had been archived: it may lack records of the day. */
export const SEAL_OF_PART = 'sluice_archive_part';

/** The key of the advisory lock that excludes other processes that change the lake of a database. */
export const LAKE_LOCK = "hashtext('sluice.archive')";

/** A row of `sluice.lake_jobs` is of a day of the tables. Others are of objects, and say nothing about the tables. */
export const IS_OF_TABLES = "origin = 'tables'";

/**
 * Log records belong to the day they arrived, and clocks differ: files within this time of a trace, in nanoseconds, may
 * have its records.
 */
export const NEAR_NS = HOUR_NS;

/** Whether a table is sealed. `table`: an expression of its oid. */
export const isSealed = (table: string): string => hasTrigger(table, [SEAL, SEAL_OF_PART]);

const hasTrigger = (table: string, names: readonly string[]): string =>
  `EXISTS (SELECT FROM pg_trigger t WHERE t.tgrelid = ${table} AND t.tgname IN ('${names.join("', '")}') AND t.tgenabled = 'O')`;

const PARTITION_DAY = /_(\d{4})(\d\d)(\d\d)$/u;

/** The UTC day of a partition, as YYYY-MM-DD, by its name; null for the default partition. */
export const dayOfPartition = (name: string): string | null => PARTITION_DAY.exec(name)?.slice(1).join('-') ?? null;

/** The columns by which the tables are partitioned into days. */
export type DayColumn = 'received_at' | 'start_time_unix_nano';

/** The UTC day of a row, as a date. */
export const dayOfRow = (column: DayColumn): string =>
  column === 'received_at' ? "(received_at AT TIME ZONE 'UTC')::date" : dayOfNs(column);

/** The UTC day of an int8 expression in Unix nanoseconds, as a date. */
export const dayOfNs = (ns: string): string => `(date '1970-01-01' + (${ns} / ${DAY_NS})::int4)`;

/**
 * Whether PostgreSQL does not have the day of a job `j` of `sluice.lake_jobs` any more, except late records. The
 * archive seals the partition of a day before it reads it, so a partition with the first seal has all records of its
 * day. One with the seal of a part, or with none, was created after the day had been archived, or dropped.
 */
const IS_DROPPED = `NOT ${hasPartition(`AND ${hasTrigger('c.oid', [SEAL])}`)}`;

function hasPartition(condition: string): string {
  return `EXISTS (
    SELECT FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = ('sluice.' || j.signal)::regclass AND c.relname = j.signal || to_char(j.day, '_YYYYMMDD')
      ${condition})`;
}

/**
 * Whether PostgreSQL may not have all records of a job `j` of `sluice.lake_jobs`. Those of objects are also in the
 * tables where both exporters store, until the day is dropped.
 */
export const MAY_MISS = `CASE WHEN j.${IS_OF_TABLES} THEN ${IS_DROPPED} ELSE NOT (j.in_tables AND ${hasPartition('')}) END`;

/**
 * Parts whose records are in no file yet, and not in the tables. A compaction that is not published has its parts
 * still: all its files are recorded at once, so a snapshot sees either its parts here or its files.
 */
export const WAITING_PARTS = `(
    SELECT * FROM sluice.parts WHERE compaction IS NULL AND NOT in_tables
    UNION ALL SELECT p.* FROM sluice.compactions c JOIN sluice.parts p ON p.compaction = c.id
    WHERE c.published_at IS NULL AND NOT p.in_tables)`;
