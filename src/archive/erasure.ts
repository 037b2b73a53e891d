/**
 * Erases records from the files of the lake: those of a trace, an environment or a project that were removed from
 * PostgreSQL. A file with other records too is replaced: the new one is stored, read back and recorded before the
 * former one is deleted. After an interruption both may exist until the next run, which repeats the same job under the
 * same key, or deletes the former file. Files are never chosen by day, because a trace may have records of any time.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { IS_OF_TABLES } from '../component/archived-day.ts';
import type { Query } from '../component/capabilities/postgres.ts';
import { inTransaction } from '../component/in-transaction.ts';
import { removeLeftOver, storeFile, type Work } from './archive-day.ts';
import { fetchPublished } from './archived-file.ts';
import {
  type Job,
  keyOf,
  LAKE_PREFIX,
  plan,
  type PublishedJob,
  publishedJobs,
  recordFile,
  removePlanned,
} from './lake-jobs.ts';
import { type DayOfTable, LAKE_TABLES, type LakeSignal, type LakeTable, tableOf } from './lake-table.ts';
import { deleteRemoved, markRemoved } from './removed-files.ts';
import { conditionOf, type Erasure, readErasures } from './requested-erasures.ts';
import { Staging } from './staging.ts';

/**
 * A request stays while parts that are older than it may still be published, so that their records are left out. Parts
 * are not published where the tables are archived.
 */
const FORGET = `
  DELETE FROM sluice.lake_erasures e WHERE id = ANY ($1::int8[]) AND (
    EXISTS (SELECT FROM sluice.lake_jobs WHERE ${IS_OF_TABLES})
    OR NOT EXISTS (
      SELECT FROM sluice.parts p LEFT JOIN sluice.compactions c ON c.id = p.compaction
      WHERE c.published_at IS NULL AND p.received_at <= e.requested_at AND (e.project IS NULL OR e.project = p.project)))`;

export interface Erased {
  readonly records: number;
  readonly files: number;
}

/** Does the erasures that are requested in `sluice.lake_erasures`. To be called with the lock of the archive. */
export async function finishErasures(work: Work): Promise<Erased> {
  const { query } = work.session;
  await deleteRemoved(work);
  const erasures = await readErasures(query);
  const erased = { records: 0, files: 0 };
  if (erasures.length === 0) return erased;
  for (const table of LAKE_TABLES) {
    const condition = conditionOf(table, erasures);
    for (const day of await daysWith(query, table, erasures)) {
      for (const job of await publishedJobs(query, { table, day }, null)) {
        const records = await eraseIn(work, { table, day, job }, condition);
        erased.records += records;
        if (records > 0) erased.files++;
      }
    }
  }
  await removeLeftOvers(work);
  // Removes what interrupted puts left. No other put into this lake runs now, because it needs the lock.
  await work.store.sweep(LAKE_PREFIX, 0);
  await query(FORGET, [erasures.map(({ id }) => id)]);
  return erased;
}

/** The days with files that may have records of the erasures. */
async function daysWith(query: Query, { signal }: LakeTable, erasures: readonly Erasure[]): Promise<readonly string[]> {
  const wanted = erasures.filter(({ traceId }) => traceId === null || signal !== 'metric_points');
  const projects = wanted.some(({ project }) => project === null) ? null : wanted.map(({ project }) => project);
  const { rows } = await query(
    `SELECT DISTINCT to_char(day, 'YYYY-MM-DD') AS day FROM sluice.lake_jobs
     WHERE state = 'published' AND signal = $1 AND ($2::text[] IS NULL OR projects && $2) ORDER BY 1`,
    [signal, projects],
  );
  return rows.map(({ day }) => String(day));
}

interface File extends DayOfTable {
  readonly job: PublishedJob;
}

/** Returns the number of erased records. */
async function eraseIn(work: Work, file: File, condition: string): Promise<number> {
  const { table, day, job } = file;
  const path = join(work.folder, `erased-${job.id}.parquet`);
  const staging = new Staging(work.duck, table);
  try {
    await fetchPublished(work, { ...file, staging }, path);
    await staging.choose(path, condition);
    const wanted = await staging.chosen();
    const records = Number(job.figures.records) - Number(wanted.figures.records);
    if (records === 0) return 0;
    const { query } = work.session;
    if (wanted.figures.records === '0') {
      await markRemoved(query, job);
    } else {
      const next = await plan(query, file, job);
      const stored = await storeFile(work, { day: { table, day }, job: next, staging, wanted });
      await inTransaction(query, async () => {
        await recordFile(query, { job: next, figures: wanted.figures, ...stored });
        await markRemoved(query, job);
      });
    }
    await deleteRemoved(work);
    return records;
  } finally {
    await rm(path, { force: true });
  }
}

/**
 * Removes the files of interrupted runs that are not recorded, because they may have the records too. The job of a day
 * archives it again. The replacement of a file is not needed any more: each file with erased records is replaced by
 * now.
 */
async function removeLeftOvers(work: Work): Promise<void> {
  const { query } = work.session;
  const { rows } = await query(
    `SELECT id::text, token::text, signal, to_char(day, 'YYYY-MM-DD') AS day, replaces FROM sluice.lake_jobs WHERE state = 'planned'`,
  );
  for (const row of rows) {
    const job: Job = { id: String(row['id']), token: String(row['token']) };
    const table = tableOf(row['signal'] as LakeSignal);
    const key = keyOf(table.signal, String(row['day']), job.id);
    await removeLeftOver(work, { key, job, staging: new Staging(work.duck, table) });
    if (row['replaces'] !== null) await removePlanned(query, job);
  }
}
