/**
 * The state of the archive in PostgreSQL: which days have something to archive, the seals of the tables, and the jobs.
 *
 * Why no record is lost or archived twice: a day is sealed before it is read. The trigger of the seal is created under
 * a lock that waits for every transaction that has written into the table, so each record is either visible to a later
 * snapshot or leaves a row in `sluice.lake_late` in its own transaction. A job reads records and these rows in one
 * snapshot, and deletes the rows in the transaction that records its file. Rows of transactions that commit later are
 * still there afterwards, and a further job reads the day again: it compares all records with the earlier files and
 * writes those that are in none of them. Neither a clock nor a transaction number is needed.
 *
 * A table without a seal, as after a backup was restored, may have records without a row in `sluice.lake_late`. So the
 * job is planned before its table is sealed, and a planned job is repeated. The default partition gets rows for its
 * other days.
 */
import { dayOfRow, IS_OF_TABLES, isSealed, SEAL, SEAL_OF_PART } from '../component/archived-day.ts';
import type { Query } from '../component/capabilities/postgres.ts';
import { unlessDropped } from '../component/dropped-partition.ts';
import { isLockTimeout, lockWaitMs } from '../component/lock-wait.ts';
import { UserError } from '../errors.ts';
import { literal, quoted } from './duckdb.ts';
import type { Figures } from './figures.ts';
import { type LakeSignal, type LakeTable } from './lake-table.ts';
import type { Extent } from './staging.ts';

/**
 * How long a statement waits for the transactions that write into the table. Ingest of late records queues behind it.
 */
const LOCK_MS = 100;
const LOCK_TRIES = 50;
const LOCK_PAUSE_S = 0.1;
/** The trigger of the default partition until its earlier records are noted. */
const BEGUN_SEAL = 'sluice_archive_begun';
const PARTITION_DAY = /_(\d{4})(\d\d)(\d\d)$/u;
/** The size of a file as a share of its table with indexes. An estimate: texts repeat more or less. */
const PARQUET_SHARE = 0.23;

export interface DayOfTable {
  readonly table: LakeTable;
  /** YYYY-MM-DD */
  readonly day: string;
}

/** A day with records that are in no file, or may be in none. */
export interface OpenDay extends DayOfTable {
  /** The partition; null when the records are in the default partition. */
  readonly partition: string | null;
  /** Late records since the last job; null when there was no job. */
  readonly late: number | null;
  /** On disk, with indexes. */
  readonly tableBytes: number;
}

/** Where the records of a file come from. */
export type Origin = 'tables' | 'parts';

export interface Job {
  readonly id: string;
  readonly token: string;
}

export interface PublishedJob extends Job {
  readonly figures: Figures;
}

export const keyOf = (signal: LakeSignal, day: string, id: string): string =>
  `lake/${signal}/day=${day}/job-${id.padStart(12, '0')}.parquet`;

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
      day: PARTITION_DAY.exec(name)?.slice(1).join('-') ?? null,
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

/**
 * Seals the partition and the default partition. Without a partition the day's records are in the default partition,
 * and they can be there beside a partition too.
 */
export async function seal(query: Query, { table, partition, late }: OpenDay): Promise<void> {
  const partitions = await listPartitions(query, table);
  for (const { name, day, sealed } of partitions) {
    if (sealed) continue;
    if (day === null) await sealDefault(query, table, name);
    if (name !== partition) continue;
    const statement = sealStatement(table, name, late === null ? SEAL : SEAL_OF_PART);
    const options = { isolation: 'transaction', what: `sluice.${name}` } as const;
    await unlessDropped(name, () => withShortLock(query, statement, options));
  }
}

/**
 * The run may end before it has read all days of the default partition. So a trigger of another name, which is not a
 * seal yet, first notes the records that are stored from now on. Then the archived days with earlier records are noted.
 */
async function sealDefault(query: Query, table: LakeTable, name: string): Promise<void> {
  const { signal, key } = table;
  const options = { isolation: 'transaction', what: `sluice.${name}` } as const;
  await withShortLock(query, sealStatement(table, name, BEGUN_SEAL), options);
  await query(
    `INSERT INTO sluice.lake_late (signal, day) SELECT DISTINCT $1, ${dayOfRow(key)} FROM sluice.${quoted(name)}
     WHERE ${dayOfRow(key)} IN (SELECT day FROM sluice.lake_jobs WHERE signal = $1 AND state = 'published' AND ${IS_OF_TABLES})`,
    [signal],
  );
  const isDone = `DROP TRIGGER IF EXISTS ${SEAL} ON sluice.${quoted(name)};
    ALTER TRIGGER ${BEGUN_SEAL} ON sluice.${quoted(name)} RENAME TO ${SEAL}`;
  await withShortLock(query, isDone, options);
}

/**
 * Replaces the seal of a part by a complete seal when the partition has all records of the files, as after a backup was
 * restored. It is not replaced while queries keep the table locked; readers then read the files too, which takes
 * longer.
 */
export async function sealWhole(query: Query, { table, day, partition }: OpenDay): Promise<void> {
  if (partition !== null) await unlessDropped(partition, () => sealComplete(query, { table, day }, partition));
}

async function sealComplete(query: Query, { table, day }: DayOfTable, partition: string): Promise<void> {
  const name = `sluice.${quoted(partition)}`;
  const { rows } = await query('SELECT FROM pg_trigger WHERE tgrelid = $1::regclass AND tgname = $2', [
    name,
    SEAL_OF_PART,
  ]);
  if (rows.length === 0 || (await countComplete(query, { table, day }, partition)) === null) return;
  const statement = `ALTER TRIGGER ${SEAL_OF_PART} ON ${name} RENAME TO ${SEAL}`;
  try {
    await withShortLock(query, statement, { isolation: 'transaction', what: name });
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
  }
}

/** The number of records in the partition; null when it does not have all those of the files. */
export async function countComplete(
  query: Query,
  { table: { signal }, day }: DayOfTable,
  partition: string,
): Promise<number | null> {
  // One snapshot: each late record is counted in the partition and in `lake_late`.
  const { rows } = await query(
    `SELECT count(*)::float8 AS count, count(*) =
       (SELECT sum(records) FROM sluice.lake_jobs WHERE signal = $1 AND day = $2 AND state = 'published' AND ${IS_OF_TABLES}) +
       (SELECT count(*) FROM sluice.lake_late WHERE signal = $1 AND day = $2) AS complete
     FROM sluice.${quoted(partition)}`,
    [signal, day],
  );
  return rows[0]?.['complete'] === true ? Number(rows[0]['count']) : null;
}

export const sealStatement = ({ signal }: LakeTable, name: string, seal: string = SEAL): string =>
  `CREATE OR REPLACE TRIGGER ${seal} AFTER INSERT ON sluice.${quoted(name)}
   FOR EACH ROW EXECUTE FUNCTION sluice.note_late(${literal(signal)})`;

const ISOLATIONS = {
  transaction: { begin: 'BEGIN', end: 'COMMIT', undo: 'ROLLBACK' },
  savepoint: { begin: 'SAVEPOINT lock', end: 'RELEASE lock', undo: 'ROLLBACK TO lock' },
};

/** Runs statements with a short limit for locks, because other statements queue behind them, and repeats them. */
export async function withShortLock(
  query: Query,
  statements: string,
  { isolation, what }: { readonly isolation: keyof typeof ISOLATIONS; readonly what: string },
): Promise<void> {
  const { begin, end, undo } = ISOLATIONS[isolation];
  for (let attempt = 1; ; attempt++) {
    try {
      await query(`${begin}; SET LOCAL lock_timeout = ${lockWaitMs(attempt, LOCK_MS)}`);
      await query(statements);
      await query(end);
      return;
    } catch (error) {
      await query(undo);
      if (!isLockTimeout(error)) throw error;
      if (attempt > LOCK_TRIES) throw new UserError(`${what} could not be locked`, 'Run the command again later.');
      await query(`SELECT pg_sleep(${LOCK_PAUSE_S})`);
    }
  }
}

/**
 * The planned job that an interrupted run left, or a new one. A late put of the interrupted run has the key of its job.
 * `from`: the origin of the records, or the job whose file the new one replaces.
 */
export async function plan(query: Query, { table, day }: DayOfTable, from: Origin | Job): Promise<Job> {
  const [origin, replaces] = typeof from === 'string' ? [from, null] : [null, from.id];
  const { rows } = await query(
    `WITH wanted AS (SELECT $1::text AS signal, $2::date AS day, $3::int8 AS replaces,
         coalesce($4::text, (SELECT origin FROM sluice.lake_jobs WHERE id = $3::int8)) AS origin,
         coalesce((SELECT in_tables FROM sluice.lake_jobs WHERE id = $3::int8), false) AS in_tables),
       left_over AS (SELECT j.id, j.token FROM sluice.lake_jobs j JOIN wanted w ON j.signal = w.signal AND j.day = w.day
         AND j.replaces IS NOT DISTINCT FROM w.replaces AND j.origin = w.origin WHERE j.state = 'planned'),
       made AS (INSERT INTO sluice.lake_jobs (signal, day, replaces, origin, in_tables) SELECT * FROM wanted
         WHERE NOT EXISTS (SELECT FROM left_over) RETURNING id, token)
     SELECT id::text, token::text FROM left_over UNION ALL SELECT id::text, token::text FROM made`,
    [table.signal, day, replaces, origin],
  );
  return { id: String(rows[0]?.['id']), token: String(rows[0]?.['token']) };
}

/** `origin`: null for all files of the day. */
export async function publishedJobs(
  query: Query,
  { table: { signal }, day }: DayOfTable,
  origin: Origin | null,
): Promise<readonly PublishedJob[]> {
  const { rows } = await query(
    `SELECT id::text, token::text, records::text, input_tokens::text, output_tokens::text, total_cost::text, ids_sum::text
     FROM sluice.lake_jobs WHERE signal = $1 AND day = $2 AND state = 'published' AND origin = coalesce($3, origin) ORDER BY id`,
    [signal, day, origin],
  );
  return rows.map((row) => ({
    id: String(row['id']),
    token: String(row['token']),
    figures: {
      records: String(row['records']),
      inputTokens: String(row['input_tokens']),
      outputTokens: String(row['output_tokens']),
      totalCost: String(row['total_cost']),
      idsSum: String(row['ids_sum']),
    },
  }));
}

export interface Publication {
  readonly job: Job;
  readonly figures: Figures;
  readonly extent: Extent;
  readonly bytes: number;
}

/** To be called in the snapshot in which the records were read. */
export async function publish(query: Query, day: OpenDay, publication: Publication): Promise<void> {
  await forgetLate(query, day);
  await recordFile(query, publication);
}

/** Marks a planned job as published. */
export async function recordFile(query: Query, { job, figures, extent, bytes }: Publication): Promise<void> {
  const { rowCount } = await query(
    `UPDATE sluice.lake_jobs SET state = 'published', published_at = clock_timestamp(), records = $2, bytes = $3, input_tokens = $4,
       output_tokens = $5, total_cost = $6, ids_sum = $7, min_ns = $8, max_ns = $9, projects = $10
     WHERE id = $1 AND state = 'planned'`,
    [
      job.id,
      figures.records,
      bytes,
      figures.inputTokens,
      figures.outputTokens,
      figures.totalCost,
      figures.idsSum,
      extent.minNs,
      extent.maxNs,
      extent.projects,
    ],
  );
  if (rowCount !== 1) throw new Error(`the job ${job.id} is not planned any more`);
}

/** To be called in the snapshot, when every record of the day is in a file. */
export async function cancel(query: Query, day: OpenDay, job: Job): Promise<void> {
  await forgetLate(query, day);
  await query("DELETE FROM sluice.lake_jobs WHERE id = $1 AND state = 'planned'", [job.id]);
}

/** Deletes no row of a record that was not read: the snapshot sees a row only if it sees its record. */
async function forgetLate(query: Query, { table: { signal }, day }: OpenDay): Promise<void> {
  await query('DELETE FROM sluice.lake_late WHERE signal = $1 AND day = $2', [signal, day]);
}
