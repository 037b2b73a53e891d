/**
 * One job: the records of a day that are in no file yet become one file, which is read back from the store before it is
 * recorded. The snapshot, the record of the file and the lock that excludes other archives are of one connection: if it
 * is lost, nothing of the job is recorded.
 */
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Query } from '../component/capabilities/postgres.ts';
import { inTransaction } from '../component/in-transaction.ts';
import { UserError } from '../errors.ts';
import { DamagedFile, fetchPublished, readFile, requireEqual } from './archived-file.ts';
import { type Duck, quoted } from './duckdb.ts';
import { differences, figuresIn, figuresOf } from './figures.ts';
import { cancel, type Job, keyOf, plan, publish, publishedJobs } from './lake-jobs.ts';
import { conditionOf, type DayOfTable } from './lake-table.ts';
import type { OpenDay } from './open-days.ts';
import { seal, sealWhole } from './seals.ts';
import { type Extent, type FileContents, Staging } from './staging.ts';
import { downloadObject, type ObjectStore, StoreError } from '../object-store/object-store.ts';

/** One connection to PostgreSQL. */
export interface Session {
  query: Query;
  /** The blocks of a `COPY … TO STDOUT`, to be read before the next query. */
  copyOut(text: string): AsyncIterable<Buffer>;
  /** Runs a `COPY … FROM STDIN`. Returns the number of rows. */
  copyIn(text: string, blocks: AsyncIterable<Buffer>): Promise<number>;
}

/** The steps of a job, in order. Each is reported before it begins. */
export const STEPS = ['plan', 'seal', 'copy', 'write', 'put', 'verify', 'publish'] as const;
export type Step = (typeof STEPS)[number];

export interface Work {
  readonly session: Session;
  readonly store: ObjectStore;
  readonly duck: Duck;
  /** A folder for files of the job. */
  readonly folder: string;
  /** The schema of the readable views. */
  readonly views: string;
  /** `rows`: those copied so far. */
  readonly report: (step: Step, day: DayOfTable, rows: number) => void;
}

export interface ArchivedFile {
  readonly signal: string;
  readonly day: string;
  readonly key: string;
  readonly records: number;
  readonly bytes: number;
}

const ONE_SNAPSHOT = { begin: 'BEGIN ISOLATION LEVEL REPEATABLE READ' };

/** Null when all records of the day are in files already. */
export async function archiveDay(work: Work, day: OpenDay): Promise<ArchivedFile | null> {
  const { query } = work.session;
  work.report('plan', day, 0);
  const job = await plan(query, day, 'tables');
  work.report('seal', day, 0);
  await seal(query, day);
  const file = await inTransaction(query, () => archiveRecords(work, day, job), ONE_SNAPSHOT);
  await sealWhole(query, day);
  return file;
}

const LOCAL = 'written.parquet';
const STORED = 'stored.parquet';

/** Within the transaction of the snapshot. */
async function archiveRecords(work: Work, day: OpenDay, job: Job): Promise<ArchivedFile | null> {
  const { session } = work;
  work.report('copy', day, 0);
  const staging = new Staging(work.duck, day.table);
  await copyRecords(work, day, staging);
  await leaveOutEarlier(work, day, staging);
  const wanted = await staging.chosen();
  const key = keyOf(day.table.signal, day.day, job.id);
  if (wanted.figures.records === '0') {
    await removeLeftOver(work, { key, job, staging });
    await cancel(session.query, day, job);
    return null;
  }
  const stored = await storeFile(work, { day, job, staging, wanted });
  work.report('publish', day, staging.rows);
  await publish(session.query, day, { job, figures: wanted.figures, ...stored });
  const { records } = wanted.figures;
  return { signal: day.table.signal, day: day.day, key, records: Number(records), bytes: stored.bytes };
}

export interface FileOfJob {
  readonly day: DayOfTable;
  readonly job: Job;
  /** The rows that it has chosen are written. */
  readonly staging: Staging;
  readonly wanted: FileContents;
}

/** Writes the file of a job and reads it back from the store. */
export async function storeFile(
  work: Work,
  { day, job, staging, wanted }: FileOfJob,
): Promise<{ readonly extent: Extent; readonly bytes: number }> {
  const key = keyOf(day.table.signal, day.day, job.id);
  try {
    work.report('write', day, staging.rows);
    await staging.write(join(work.folder, LOCAL), { job: job.id, token: job.token });
    work.report('put', day, staging.rows);
    await putFile(work, { key, job, staging, wanted });
    work.report('verify', day, staging.rows);
    return await verifyStored(work, { key, job, staging, wanted });
  } finally {
    for (const name of [LOCAL, STORED]) await rm(join(work.folder, name), { force: true });
  }
}

/** Compares what arrived with PostgreSQL's own figures of the same snapshot. */
async function copyRecords({ session, views, report }: Work, day: OpenDay, staging: Staging): Promise<void> {
  const { table } = day;
  const from = `FROM ${quoted(views)}.${table.signal} WHERE ${conditionOf(table, day.day)}`;
  const { rows } = await session.query(`SELECT ${figuresIn('postgres', table)} ${from}`);
  const list = table.columns.map(({ select }) => select).join(', ');
  const blocks = session.copyOut(`COPY (SELECT ${list} ${from}) TO STDOUT (FORMAT binary)`);
  await staging.copy(reported(blocks, () => report('copy', day, staging.rows)));
  requireEqual(figuresOf(rows[0]), await staging.figures(), `the records of ${day.day} that were read`);
}

async function* reported(blocks: AsyncIterable<Buffer>, tell: () => void): AsyncGenerator<Buffer> {
  for await (const block of blocks) {
    yield block;
    tell();
  }
}

/** Leaves out the records that earlier files of the day have. Each of these files is compared with its record first. */
async function leaveOutEarlier(work: Work, day: OpenDay, staging: Staging): Promise<void> {
  const paths: string[] = [];
  try {
    for (const job of await publishedJobs(work.session.query, day, 'tables')) {
      const path = join(work.folder, `earlier-${job.id}.parquet`);
      paths.push(path);
      await fetchPublished(work, { table: day.table, day: day.day, job, staging }, path);
    }
    await staging.leaveOut(paths);
  } finally {
    for (const path of paths) await rm(path, { force: true });
  }
}

export interface Target {
  readonly key: string;
  readonly job: Job;
  readonly staging: Staging;
}

interface FilledTarget extends Target {
  readonly wanted: FileContents;
}

/**
 * A file is never written over. A file of this key is the rest of an interrupted run of the same job: it is kept when
 * it has the same rows, else removed. A put of that run which arrives late fails, because the key is taken.
 */
async function putFile(work: Work, target: FilledTarget): Promise<void> {
  const { store, folder } = work;
  const put = (): Promise<void> => store.put(target.key, { path: join(folder, LOCAL) }, { ifAbsent: true });
  try {
    await put();
  } catch (error) {
    if (!isTaken(error)) throw error;
    if (await isLeftOver(work, target)) return;
    await store.delete([target.key]);
    await put();
  }
}

const isTaken = (error: unknown): boolean => error instanceof StoreError && error.fault === 'exists';

/** Whether the file has the wanted rows. Rejects when it is not a file of this job. */
async function isLeftOver(work: Work, { key, job, staging, wanted }: FilledTarget): Promise<boolean> {
  const path = join(work.folder, STORED);
  try {
    await downloadObject(work.store, key, path);
    await requireOwn(work.store, { key, job, staging }, path);
    const found = await staging.read(path).catch(() => null);
    return (
      found !== null && differences(found.figures, wanted.figures).length === 0 && found.content === wanted.content
    );
  } finally {
    await rm(path, { force: true });
  }
}

async function requireOwn(store: ObjectStore, { key, job, staging }: Target, path: string): Promise<void> {
  const mark = await staging.markOf(path);
  if (mark?.token === job.token) return;
  throw new UserError(
    `${key} in ${store.url} is not a file of this database`,
    'Another database is archived there, or this one was restored from a backup that is older than the file. Use a folder or bucket of its own, or move that file away.',
  );
}

/** Removes the file that an interrupted run of the job left, if there is one. */
export async function removeLeftOver(work: Work, target: Target): Promise<void> {
  if ((await work.store.head(target.key)) === null) return;
  const path = join(work.folder, STORED);
  try {
    await downloadObject(work.store, target.key, path);
    await requireOwn(work.store, target, path);
    await work.store.delete([target.key]);
  } finally {
    await rm(path, { force: true });
  }
}

/** Reads the file as the store returns it. A damaged file is removed, so that readers that list do not find it. */
async function verifyStored(work: Work, { key, job, staging, wanted }: FilledTarget) {
  const path = join(work.folder, STORED);
  await downloadObject(work.store, key, path);
  try {
    const found = await readFile(staging, path, key);
    requireEqual(wanted.figures, found.figures, key);
    if (found.content !== wanted.content) throw new DamagedFile(`${key} has other values than the database`);
    if ((await staging.markOf(path))?.token !== job.token) throw new DamagedFile(`${key} was replaced meanwhile`);
  } catch (error) {
    if (error instanceof DamagedFile) await work.store.delete([key]);
    throw error;
  }
  return { extent: await staging.extentOf(path), bytes: (await stat(path)).size };
}
