/**
 * Brings the records of an archived day back into PostgreSQL. The new partition is filled, compared with the recorded
 * figures and attached in one transaction, so an interrupted run leaves nothing, and a repeated one restores each table
 * once. The partition is sealed after it was filled: its records are not late records, and those that arrive later are.
 *
 * Spans of the day can arrive all the time. Those that no file has move into the new partition: first those that exist,
 * then, under the lock of the attachment, those that have arrived since. They stay late records, for the next archive.
 */
import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isSealed } from '../component/archived-day.ts';
import type { Query } from '../component/capabilities/postgres.ts';
import { inTransaction, SAVEPOINT } from '../component/in-transaction.ts';
import { unlessDropped } from '../component/dropped-partition.ts';
import { UserError } from '../errors.ts';
import { archiveDay, type Work } from './archive-day.ts';
import { fetchPublished, requireEqual } from './archived-file.ts';
import { finishErasures } from './erasure.ts';
import { literal, quoted } from './duckdb.ts';
import { figuresIn, figuresOf } from './figures.ts';
import { type PublishedJob, publishedJobs } from './lake-jobs.ts';
import { listPartitions, openDays } from './open-days.ts';
import { countComplete, sealStatement, withTableLock } from './seals.ts';
import { conditionOf, type LakeSignal, type LakeTable } from './lake-table.ts';
import { columnNames, lakeNames, textQuery } from './reading/text-rows.ts';
import { Staging } from './staging.ts';
import { DAY_MS } from '../pdata/time-units.ts';

/**
 * Log records and metric points have no key, so those of a file and those of no file cannot be told apart. When some
 * are stored for the day while it is restored, they are archived, and the day is restored with them.
 */
const TRIES = 5;
/** A larger table is not searched for records of the day, because ingest waits for the lock of the search. */
const MAX_SEARCHED_BYTES = 256 * 1024 * 1024;

/** The statements that make the partition of a day, and attach it. */
export interface PartitionStatements {
  readonly name: string;
  /** An expression. It excludes other processes that create the partition, until the end of the transaction. */
  readonly lock: string;
  /** `name`: of the new table. */
  create(name: string): string;
  readonly attach: string;
}

export interface RestoreWork extends Work {
  statements(signal: LakeSignal, day: string): PartitionStatements;
  /** Drops a partition whose records are all archived. Returns why it cannot be dropped, or null. */
  drop(signal: LakeSignal, day: string): Promise<string | null>;
}

export interface RestoredTable {
  readonly signal: LakeSignal;
  readonly day: string;
  readonly records: number;
  /** Whether PostgreSQL had the records already. */
  readonly present: boolean;
}

/** Null when no record of the day is archived. Retention keeps the day until `untilMs`. */
export async function restoreTable(
  work: RestoreWork,
  table: LakeTable,
  { day, untilMs }: { readonly day: string; readonly untilMs: number },
): Promise<RestoredTable | null> {
  const { query } = work.session;
  for (let left = TRIES; left > 0; left--) {
    await finishErasures(work);
    await archiveRest(work, table, day);
    const jobs = await publishedJobs(query, { table, day }, 'tables');
    if (jobs.length === 0) return null;
    const { name } = work.statements(table.signal, day);
    const isThere = (await listPartitions(query, table)).some((each) => each.name === name);
    const kept = { day, untilMs, name };
    const stored = isThere ? await unlessDropped(name, () => keepComplete(query, table, kept)) : null;
    if (stored !== null) return { signal: table.signal, day, records: stored, present: true };
    // Its records that are in the files are restored with the others.
    const former = isThere && (await work.drop(table.signal, day)) !== null ? name : null;
    const records = await unlessDropped(name, () => restore(work, table, { day, untilMs, jobs, former }));
    if (records !== null) return { signal: table.signal, day, records, present: false };
  }
  throw new UserError(
    `records of ${table.signal} of ${day} are stored, or moved by the daemon, all the time`,
    'Run the command again later.',
  );
}

/**
 * Keeps a partition that has all records of the day, and returns their number; null when there is no such partition.
 * Its lock lasts until the day is kept, so retention cannot drop it in between.
 */
const keepComplete = (
  query: Query,
  table: LakeTable,
  { day, untilMs, name }: { readonly day: string; readonly untilMs: number; readonly name: string },
): Promise<number | null> =>
  inTransaction(query, async () => {
    const stored = await countComplete(query, { table, day }, name);
    if (stored !== null) await keep(query, table, { day, untilMs });
    return stored;
  });

/** Late records, which are in PostgreSQL only. */
async function archiveRest(work: Work, table: LakeTable, day: string): Promise<void> {
  const days = await openDays(work.session.query, table, Date.parse(day) + DAY_MS);
  const open = days.find((each) => each.day === day);
  if (open !== undefined) await archiveDay(work, open);
}

interface Restoration {
  readonly day: string;
  readonly untilMs: number;
  readonly jobs: readonly PublishedJob[];
  /** A partition of the day that has only a part of its records, and that could not be dropped. */
  readonly former: string | null;
}

/** Returns the number of records; null, with nothing changed, when records that were stored meanwhile prevent it. */
async function restore(work: RestoreWork, table: LakeTable, restoration: Restoration): Promise<number | null> {
  const { query } = work.session;
  const { day, jobs, former } = restoration;
  if (former !== null && (!hasKey(table) || (await isLarge(query, former)))) return null;
  const statements = work.statements(table.signal, day);
  const sources = [`${table.signal}_default`, ...(former === null ? [] : [former])];
  await refuseLargeDefault(query, table);
  const filling = { table, day, name: former === null ? statements.name : `${former}_restored`, sources };
  try {
    await inTransaction(query, async () => {
      await query(`SELECT ${statements.lock}`);
      await requireMissing(query, filling);
      await query(statements.create(filling.name));
      for (const job of jobs) await copyFile(work, { ...filling, job });
      await requireFigures(query, { ...filling, jobs });
      if (hasKey(table)) await moveRecords(query, filling);
      await claimTraces(query, table, filling.name);
      await attach(query, filling, { former, statements });
      await keep(query, table, restoration);
    });
  } catch (error) {
    if (error instanceof Hindered) return null;
    throw error;
  }
  await query(`ANALYZE sluice.${quoted(statements.name)}`);
  return Number(
    (await query(`SELECT count(*)::float8 AS count FROM sluice.${quoted(statements.name)}`)).rows[0]?.['count'],
  );
}

/** Spans have a unique key. */
const hasKey = ({ signal }: LakeTable): boolean => signal === 'spans';

/**
 * The day cannot be restored now: a record may be in no file and not noted as late, or a file is to be erased, or the
 * daemon has created the partition meanwhile.
 */
class Hindered extends Error {}

async function requireMissing(query: Query, { name }: Filling): Promise<void> {
  const { rows } = await query('SELECT WHERE to_regclass($1) IS NOT NULL', [`sluice.${quoted(name)}`]);
  if (rows.length > 0) throw new Hindered();
}

async function refuseLargeDefault(query: Query, { signal }: LakeTable): Promise<void> {
  if (!(await isLarge(query, `${signal}_default`))) return;
  throw new UserError(
    `sluice.${signal}_default is too large to be searched while ingest waits`,
    'Run the command again when the maintenance of the daemon has moved or expired its rows, or read the files with DuckDB.',
  );
}

async function isLarge(query: Query, name: string): Promise<boolean> {
  const { rows } = await query('SELECT pg_table_size($1::regclass)::float8 AS bytes', [`sluice.${quoted(name)}`]);
  return Number(rows[0]?.['bytes']) > MAX_SEARCHED_BYTES;
}

interface Filling {
  readonly table: LakeTable;
  readonly day: string;
  /** The new partition. */
  readonly name: string;
  /** The tables that may have records of the day, as late records are stored there. */
  readonly sources: readonly string[];
}

async function copyFile(
  work: Work,
  { table, day, job, name }: Filling & { readonly job: PublishedJob },
): Promise<void> {
  const [file, text] = [join(work.folder, `restored-${job.id}.parquet`), join(work.folder, `restored-${job.id}.txt`)];
  const staging = new Staging(work.duck, table);
  try {
    await fetchPublished(work, { table, day, job, staging }, file);
    const names = columnNames(table.signal);
    const from = `read_parquet(${literal(file)})`;
    await work.duck.run(
      textQuery({ signal: table.signal, names, present: lakeNames(names), from, where: 'true' }, text),
    );
    const list = names.map(quoted).join(', ');
    work.report('copy', { table, day }, Number(job.figures.records));
    await work.session.copyIn(`COPY sluice.${quoted(name)} (${list}) FROM STDIN`, createReadStream(text));
  } finally {
    for (const path of [file, text]) await rm(path, { force: true });
  }
}

/** Compares PostgreSQL's figures of the new partition with the sums of the recorded ones. */
async function requireFigures(
  query: Query,
  { table, day, jobs, name }: Filling & { readonly jobs: readonly PublishedJob[] },
): Promise<void> {
  const ids = ['trace_id', 'span_id'];
  const usage = table.hasUsage ? ['input_tokens', 'output_tokens', 'total_cost'] : [];
  const list = [...table.identity, ...usage].map((column) =>
    ids.includes(column) ? `encode(${column}, 'hex') AS ${column}` : column,
  );
  const restored = await query(
    `SELECT ${figuresIn('postgres', table)} FROM (SELECT ${list.join(', ')} FROM sluice.${quoted(name)}) restored`,
  );
  const recorded = await query(
    `SELECT sum(records)::text AS "records", sum(input_tokens)::text AS "inputTokens", sum(output_tokens)::text AS "outputTokens",
       ${table.hasUsage ? 'sum(total_cost)::decimal(38,8)::text' : "'0'"} AS "totalCost", sum(ids_sum)::text AS "idsSum"
     FROM sluice.lake_jobs WHERE id = ANY ($1::int8[])`,
    [jobs.map(({ id }) => id)],
  );
  requireEqual(figuresOf(recorded.rows[0]), figuresOf(restored.rows[0]), `the restored ${table.signal} of ${day}`);
}

/**
 * The claims of the traces may have expired. A trace arrives with its first record. A trace id that belongs to another
 * project now stays with it.
 */
async function claimTraces(query: Query, { signal }: LakeTable, name: string): Promise<void> {
  if (signal === 'metric_points') return;
  const [first, last] =
    signal === 'spans' ? ['min(start_time_unix_nano)', 'max(start_time_unix_nano)'] : ['NULL::int8', 'NULL::int8'];
  await query(
    `INSERT INTO sluice.traces AS t (trace_id, project, environment, first_ns, last_ns, created_at)
     SELECT DISTINCT ON (trace_id) trace_id, project, min(environment), ${first}, ${last}, min(received_at)
     FROM sluice.${quoted(name)} WHERE trace_id IS NOT NULL GROUP BY trace_id, project ORDER BY trace_id, max(received_at) DESC
     ON CONFLICT (trace_id) DO UPDATE SET first_ns = least(t.first_ns, excluded.first_ns), last_ns = greatest(t.last_ns, excluded.last_ns),
       created_at = least(t.created_at, excluded.created_at) WHERE t.project = excluded.project`,
  );
}

/** Attaches the partition with the records that were stored meanwhile. Rejects with `Hindered`. */
async function attach(
  query: Query,
  filling: Filling,
  { former, statements }: { readonly former: string | null; readonly statements: PartitionStatements },
): Promise<void> {
  const { table, name, sources } = filling;
  const { signal } = table;
  // The parent is locked first, as by each statement that writes.
  const mode = former === null ? 'SHARE UPDATE EXCLUSIVE' : 'ACCESS EXCLUSIVE';
  const locks = sources.map((source) => `LOCK TABLE sluice.${quoted(source)} IN ACCESS EXCLUSIVE MODE`);
  await withTableLock(query, [`LOCK TABLE ONLY sluice.${signal} IN ${mode} MODE`, ...locks].join('; '), {
    what: `sluice.${signal}`,
    ends: SAVEPOINT,
  });
  // A removal that did not see the new partition has ended, because it held a lock of the default partition.
  if ((await query('SELECT FROM sluice.lake_erasures LIMIT 1')).rows.length > 0) throw new Hindered();
  if (hasKey(table)) await moveRecords(query, filling);
  else await removeArchived(query, filling);
  await query(sealStatement(table, name));
  if (former !== null)
    await query(`DROP TABLE sluice.${quoted(former)}; ALTER TABLE sluice.${quoted(name)} RENAME TO ${quoted(former)}`);
  await query(statements.attach);
}

/** Moves the records of the day from the other tables. Those that the new partition has already came from the files. */
async function moveRecords(query: Query, { table, day, name, sources }: Filling): Promise<void> {
  for (const source of sources) {
    // The table cannot be replaced by one without a seal.
    await query(`LOCK TABLE sluice.${quoted(source)} IN ROW EXCLUSIVE MODE`);
    await requireSeal(query, { table, day, source });
    await query(
      `WITH moved AS (DELETE FROM sluice.${quoted(source)} WHERE ${conditionOf(table, day)} RETURNING *)
       INSERT INTO sluice.${quoted(name)} SELECT * FROM moved ON CONFLICT DO NOTHING`,
    );
  }
}

/**
 * What the default partition has of the day is in the files, unless a late record is noted: such records arrived after
 * the day was dropped, and were archived.
 */
async function removeArchived(query: Query, { table, day, sources }: Filling): Promise<void> {
  const { rows } = await query('SELECT FROM sluice.lake_late WHERE signal = $1 AND day = $2 LIMIT 1', [
    table.signal,
    day,
  ]);
  if (rows.length > 0) throw new Hindered();
  for (const source of sources) {
    await requireSeal(query, { table, day, source });
    await query(`DELETE FROM sluice.${quoted(source)} WHERE ${conditionOf(table, day)}`);
  }
}

/** Rejects when the table has no seal: its records must be archived first. */
async function requireSeal(
  query: Query,
  { table, day, source }: { readonly table: LakeTable; readonly day: string; readonly source: string },
): Promise<void> {
  const name = `sluice.${quoted(source)}`;
  const { rows } = await query(
    `SELECT WHERE NOT ${isSealed(`${literal(name)}::regclass`)} AND EXISTS (SELECT FROM ${name} WHERE ${conditionOf(table, day)})`,
  );
  if (rows.length > 0) throw new Hindered();
}

/** Within the transaction that makes or counts the partition. */
async function keep(
  query: Query,
  { signal }: LakeTable,
  { day, untilMs }: { readonly day: string; readonly untilMs: number },
): Promise<void> {
  await query(
    `INSERT INTO sluice.lake_restored AS r VALUES ($1, $2, to_timestamp($3::float8 / 1000))
     ON CONFLICT (signal, day) DO UPDATE SET until = greatest(r.until, excluded.until)`,
    [signal, day, untilMs],
  );
}
