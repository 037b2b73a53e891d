/** The days that have something to archive. */
import { dayOfPartition, dayOfRow, IS_OF_TABLES, isSealed } from '../component/archived-day.ts';
import type { Query } from '../component/capabilities/postgres.ts';
import { unlessDropped } from '../component/dropped-partition.ts';
import { quoted } from './duckdb.ts';
import type { DayOfTable, LakeTable } from './lake-table.ts';

/** The size of a file as a share of its table with indexes. An estimate: texts repeat more or less. */
const PARQUET_SHARE = 0.23;

/** A day with records that are in no file, or may be in none. */
export interface OpenDay extends DayOfTable {
  /** The partition; null when the records are in the default partition. */
  readonly partition: string | null;
  /** Late records since the last job; null when there was no job. */
  readonly late: number | null;
  /** On disk, with indexes. */
  readonly tableBytes: number;
}

interface PartitionRow {
  readonly name: string;
  readonly day: string | null;
  readonly sealed: boolean;
  readonly bytes: number;
}

/** The days that ended before `beforeMs` and have something to archive, oldest first. */
export async function openDays(query: Query, table: LakeTable, beforeMs: number): Promise<readonly OpenDay[]> {
  const before = new Date(beforeMs).toISOString().slice(0, 10);
  const partitions = await listPartitions(query, table);
  const jobs = await countByDay(query, table, `sluice.lake_jobs WHERE state = 'published' AND ${IS_OF_TABLES} AND`);
  const late = await countByDay(query, table, 'sluice.lake_late WHERE');
  // An interrupted run may have left a file for a day whose records were removed since then.
  const planned = await countByDay(
    query,
    table,
    `sluice.lake_jobs WHERE state = 'planned' AND replaces IS NULL AND ${IS_OF_TABLES} AND`,
  );
  const default_ = partitions.find(({ day }) => day === null);
  const inDefault = new Set(default_ === undefined ? [] : await daysOf(query, table, default_.name));
  const byDay = new Map(partitions.flatMap((each) => (each.day === null ? [] : [[each.day, each] as const])));
  const days = [...new Set([...byDay.keys(), ...inDefault, ...late.keys(), ...planned.keys()])]
    .filter((day) => day < before)
    .sort();
  const open: OpenDay[] = [];
  for (const day of days) {
    const partition = byDay.get(day);
    const isSealed = partition?.sealed !== false && (!inDefault.has(day) || default_?.sealed === true);
    const isArchived = jobs.has(day) && !late.has(day) && isSealed;
    const isKnown = planned.has(day) || (!isArchived && (late.has(day) || inDefault.has(day)));
    if (!isKnown && (isArchived || (await isEmpty(query, partition)))) continue;
    open.push({
      table,
      day,
      partition: partition?.name ?? null,
      late: jobs.has(day) ? (late.get(day) ?? 0) : null,
      tableBytes: partition?.bytes ?? 0,
    });
  }
  return open;
}

export async function listPartitions(query: Query, { signal }: LakeTable): Promise<readonly PartitionRow[]> {
  const { rows } = await query(
    `SELECT c.relname AS name, pg_total_relation_size(c.oid)::float8 AS bytes,
       ${isSealed('c.oid')} AS sealed
     FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = $1::regclass`,
    [`sluice.${signal}`],
  );
  return rows.map((row) => {
    const name = String(row['name']);
    return {
      name,
      day: dayOfPartition(name),
      sealed: row['sealed'] === true,
      bytes: Number(row['bytes']),
    };
  });
}

async function countByDay(query: Query, { signal }: LakeTable, from: string): Promise<ReadonlyMap<string, number>> {
  const { rows } = await query(
    `SELECT to_char(day, 'YYYY-MM-DD') AS day, count(*)::int4 AS count FROM ${from} signal = $1 GROUP BY day`,
    [signal],
  );
  return new Map(rows.map(({ day, count }) => [String(day), Number(count)]));
}

/** The days of the rows in the partition. */
export async function daysOf(query: Query, table: LakeTable, name: string): Promise<readonly string[]> {
  const { rows } = await query(
    `SELECT DISTINCT to_char(${dayOfRow(table.key)}, 'YYYY-MM-DD') AS day FROM sluice.${quoted(name)}`,
  );
  return rows.map(({ day }) => String(day));
}

async function isEmpty(query: Query, partition: PartitionRow | undefined): Promise<boolean> {
  if (partition === undefined) return true;
  const { name } = partition;
  const found = await unlessDropped(name, () => query(`SELECT FROM sluice.${quoted(name)} LIMIT 1`));
  return found === null || found.rows.length === 0;
}

/** The bytes that a file of the whole day is expected to have. */
export const expectedBytes = ({ tableBytes }: OpenDay): number => Math.round(tableBytes * PARQUET_SHARE);
