/**
 * Brings the records of an archived day back into PostgreSQL. The new partition is filled, compared with the recorded
 * figures and attached in one transaction, so an interrupted run leaves nothing, and a repeated one restores each table
 * once. The partition is sealed after it was filled: its records are not late records, and those that arrive later are.
 */
import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isSealed } from '../component/archived-day.ts';
import type { Query } from '../component/capabilities/postgres.ts';
import { UserError } from '../errors.ts';
import { archiveDay, type Work } from './archive-day.ts';
import { fetchPublished, requireEqual } from './archived-file.ts';
import { literal, quoted } from './duckdb.ts';
import { figuresIn, figuresOf } from './figures.ts';
import {
  listPartitions,
  openDays,
  type PublishedJob,
  publishedJobs,
  sealStatement,
  withShortLock,
} from './lake-jobs.ts';
import { conditionOf, DAY_MS, type LakeSignal, type LakeTable } from './lake-table.ts';
import { columnNames, lakeNames, textQuery } from './reading/text-rows.ts';
import { Staging } from './staging.ts';

/** Records may be stored for the day while it is restored. They are archived, and the day is restored with them. */
const TRIES = 5;
/** The default partition is searched for records of the day under a lock, while ingest waits. */
const MAX_DEFAULT_BYTES = 256 * 1024 * 1024;

/** The statements that make the partition of a day, and attach it. */
export interface PartitionStatements {
  readonly name: string;
  readonly create: string;
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
    await archiveRest(work, table, day);
    const jobs = await publishedJobs(query, { table, day });
    const records = jobs.reduce((sum, { figures }) => sum + Number(figures.records), 0);
    if (jobs.length === 0) return null;
    const { name } = work.statements(table.signal, day);
    const isThere = (await listPartitions(query, table)).some((each) => each.name === name);
    if (isThere && (await countOf(query, name)) === records) {
      await keep(query, table, { day, untilMs });
      return { signal: table.signal, day, records, present: true };
    }
    // Its records are in the files too, and come back with the others.
    if (isThere && (await work.drop(table.signal, day)) !== null) continue;
    if (await restore(work, table, { day, untilMs, jobs }))
      return { signal: table.signal, day, records, present: false };
  }
  throw new UserError(`records of ${table.signal} of ${day} are stored all the time`, 'Run the command again later.');
}

/** Late records, which are in PostgreSQL only. */
async function archiveRest(work: Work, table: LakeTable, day: string): Promise<void> {
  const days = await openDays(work.session.query, table, Date.parse(day) + DAY_MS);
  const open = days.find((each) => each.day === day);
  if (open !== undefined) await archiveDay(work, open);
}

async function countOf(query: Query, name: string): Promise<number> {
  return Number((await query(`SELECT count(*)::float8 AS count FROM sluice.${quoted(name)}`)).rows[0]?.['count']);
}

interface Restoration {
  readonly day: string;
  readonly untilMs: number;
  readonly jobs: readonly PublishedJob[];
}

/** False when records of the day were stored meanwhile; nothing has changed then. */
async function restore(work: RestoreWork, table: LakeTable, restoration: Restoration): Promise<boolean> {
  const { query } = work.session;
  const { day, jobs } = restoration;
  const statements = work.statements(table.signal, day);
  await refuseLargeDefault(query, table);
  await query('BEGIN');
  try {
    await query(statements.create);
    for (const job of jobs) await copyFile(work, { table, day, job, name: statements.name });
    await requireFigures(query, { table, day, jobs, name: statements.name });
    await query(sealStatement(table, statements.name));
    await claimTraces(query, table, statements.name);
    const isComplete = await attach(query, table, { day, statements });
    if (isComplete) await keep(query, table, restoration);
    await query(isComplete ? 'COMMIT' : 'ROLLBACK');
    if (isComplete) await query(`ANALYZE sluice.${quoted(statements.name)}`);
    return isComplete;
  } catch (error) {
    await query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

async function refuseLargeDefault(query: Query, { signal }: LakeTable): Promise<void> {
  const { rows } = await query(`SELECT pg_table_size('sluice.${signal}_default')::float8 AS bytes`);
  if (Number(rows[0]?.['bytes']) <= MAX_DEFAULT_BYTES) return;
  throw new UserError(
    `sluice.${signal}_default is too large to be searched while ingest waits`,
    'Run the command again when the maintenance of the daemon has moved or expired its rows, or read the files with DuckDB.',
  );
}

interface Filling {
  readonly table: LakeTable;
  readonly day: string;
  /** The new partition. */
  readonly name: string;
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

/** PostgreSQL's own figures of the new partition against the sums of what is recorded. */
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

/** The claims of the traces may have expired. A trace id that belongs to another project now stays with it. */
async function claimTraces(query: Query, { signal }: LakeTable, name: string): Promise<void> {
  if (signal === 'metric_points') return;
  const [first, last] =
    signal === 'spans' ? ['min(start_time_unix_nano)', 'max(start_time_unix_nano)'] : ['NULL::int8', 'NULL::int8'];
  await query(
    `INSERT INTO sluice.traces AS t (trace_id, project, environment, first_ns, last_ns)
     SELECT DISTINCT ON (trace_id) trace_id, project, min(environment), ${first}, ${last}
     FROM sluice.${quoted(name)} WHERE trace_id IS NOT NULL GROUP BY trace_id, project ORDER BY trace_id, max(received_at) DESC
     ON CONFLICT (trace_id) DO UPDATE SET first_ns = least(t.first_ns, excluded.first_ns), last_ns = greatest(t.last_ns, excluded.last_ns)
     WHERE t.project = excluded.project`,
  );
}

/**
 * Attaches the partition, unless a record of the day is in no file. What the default partition has of the day is in the
 * files: such records arrived after the day was dropped, and were archived.
 */
async function attach(
  query: Query,
  table: LakeTable,
  { day, statements }: { readonly day: string; readonly statements: PartitionStatements },
): Promise<boolean> {
  const { signal } = table;
  const rest = `sluice.${signal}_default`;
  await withShortLock(
    query,
    `LOCK TABLE ONLY sluice.${signal} IN SHARE UPDATE EXCLUSIVE MODE; LOCK TABLE ${rest} IN ACCESS EXCLUSIVE MODE`,
    { isolation: 'savepoint', what: `sluice.${signal}` },
  );
  const { rows } = await query(
    `SELECT EXISTS (SELECT FROM sluice.lake_late WHERE signal = ${literal(signal)} AND day = ${literal(day)})
       OR (NOT ${isSealed(`'${rest}'::regclass`)}
         AND EXISTS (SELECT FROM ${rest} WHERE ${conditionOf(table, day)})) AS late`,
  );
  if (rows[0]?.['late'] === true) return false;
  await query(`DELETE FROM ${rest} WHERE ${conditionOf(table, day)}; ${statements.attach}`);
  return true;
}

/** Within the transaction of the restoration, if there is one. */
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
