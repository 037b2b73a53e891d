/**
 * Publishes the records of objects as Parquet files in the lake. The parts of one compaction become one file for each
 * day of their records.
 *
 * Why each record is in exactly one file, wherever a run ends: a part belongs to one compaction, which is planned
 * before anything is written and is repeated until it is published. A repeated compaction plans the same jobs, so its
 * files have the same keys. A file of a day without records any more is removed. All files are recorded in the
 * transaction that marks the compaction as published. Compactions of a signal are done one after the other, so a span
 * that was sent again in other bytes is found in an earlier file of its day, and is left out.
 *
 * Nothing here deletes objects. The parts are removed a day after their publication, in one statement; then the
 * exporter removes the objects that no part names.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type ArchivedFile, removeLeftOver, storeFile, type Work } from '../archive-day.ts';
import { lockArchive, unlockArchive } from '../archive.ts';
import { absentFile, DamagedFile, unreadableFile } from '../archived-file.ts';
import { finishErasures } from '../erasure.ts';
import { expireFiles } from '../expiry.ts';
import { keyOf, LAKE_PREFIX, plan, type Publication, removePlanned } from '../lake-jobs.ts';
import { conditionOf, LAKE_TABLES, type LakeTable } from '../lake-table.ts';
import { recordPlace } from '../reading/archived-files.ts';
import { reasonOf } from '../reading/left-out.ts';
import { copyParts, requireReadable } from '../reading/partial-file.ts';
import { conditionOf as erasureOf, readErasures } from '../requested-erasures.ts';
import { Staging } from '../staging.ts';
import { requireKnownFiles } from '../unknown-files.ts';
import { LEFTOVER_MS, StoreError } from '../../object-store/object-store.ts';
import {
  type Compaction,
  earlierFiles,
  nextCompaction,
  type Part,
  partsOf,
  plannedJobs,
  publishAll,
  removePublishedParts,
  timeBefore,
} from './compactions.ts';
import { lineQuery } from './line-rows.ts';
import { copyLines, type PartSource } from './part-lines.ts';
import { DAY_MS } from '../../pdata/time-units.ts';

/** Published parts and their objects stay for readers that began before the publication. */
const KEPT_MS = DAY_MS;

export interface CompactionWork extends Work, Pick<PartSource, 'keyOf'> {
  /** Parts that arrived this long ago, by the clock of the database. */
  readonly olderThanMs: number;
  /** The compressed parts of one compaction. */
  readonly maxBytes: number;
  /** Files of days that ended this long ago are removed; null: none. */
  readonly keepMs: number | null;
}

/** Yields each file when it is recorded; `expired` gets each file that was removed. */
export async function* compact(
  work: CompactionWork,
  expired: (file: ArchivedFile) => Promise<void> = async () => undefined,
): AsyncGenerator<ArchivedFile> {
  const { query } = work.session;
  await lockArchive(work.session, 'parts');
  try {
    await requireKnownFiles(work, 'parts');
    await recordPlace(query, work.store.url);
    await finishErasures(work);
    // Fixed when the run begins, so that it ends although more parts arrive.
    const before = await timeBefore(query, work.olderThanMs);
    for (const table of LAKE_TABLES) {
      for (;;) {
        const compaction = await nextCompaction(query, table.signal, { before, maxBytes: work.maxBytes });
        if (compaction === null) break;
        yield* await publishParts(work, table, compaction);
      }
    }
    // Erasures that were requested during the run.
    await finishErasures(work);
    for await (const file of expireFiles(work, work.keepMs)) await expired(file);
    await removePublishedParts(query, KEPT_MS);
    await work.store.sweep(LAKE_PREFIX, LEFTOVER_MS);
  } finally {
    await unlockArchive(work.session);
  }
}

interface DayFile extends ArchivedFile {
  readonly publication: Publication;
}

async function publishParts(
  work: CompactionWork,
  table: LakeTable,
  compaction: Compaction,
): Promise<readonly ArchivedFile[]> {
  const { query } = work.session;
  const staging = new Staging(work.duck, table);
  await stageParts(work, table, { parts: await partsOf(query, compaction), staging });
  const files: DayFile[] = [];
  for (const day of await staging.days()) {
    const file = await writeDay(work, { table, day, staging });
    if (file !== null) files.push(file);
  }
  await removeOthers(work, { table, staging, files });
  work.report('publish', { table, day: files.at(-1)?.day ?? '-' }, staging.rows);
  await publishAll(
    query,
    compaction,
    files.map(({ publication }) => publication),
  );
  return files.map(({ publication: _, ...file }) => file);
}

/** All rows of the parts, without those that are to be erased. */
async function stageParts(
  work: CompactionWork,
  table: LakeTable,
  { parts, staging }: { readonly parts: readonly Part[]; readonly staging: Staging },
): Promise<void> {
  const path = join(work.folder, 'parts.ndjson');
  try {
    const report = (rows: number): void => work.report('copy', { table, day: 'objects' }, rows);
    const lines = await copyLines(work, parts, { path, report, leaveOut: refuse });
    await staging.load(lineQuery(table, path, lines.longestLine), lines.bytes);
    requireProjects(parts, await staging.projects());
    const erasures = await readErasures(work.session.query);
    if (erasures.length > 0) await staging.remove(erasureOf(table, erasures));
  } finally {
    await rm(path, { force: true });
  }
}

/** All parts are published, or none. */
const refuse = (error: unknown): Promise<never> => Promise.reject(error);

/** Rejects unless each project has as many rows as its requests committed. */
function requireProjects(parts: readonly Part[], found: ReadonlyMap<string, number>): void {
  const wanted = new Map<string, number>();
  for (const { project, records } of parts) wanted.set(project, (wanted.get(project) ?? 0) + records);
  const names = [...new Set([...wanted.keys(), ...found.keys()])].filter(
    (name) => wanted.get(name) !== found.get(name),
  );
  if (names.length > 0)
    throw new DamagedFile(`the objects have other records of ${names.join(', ')} than the database names`);
}

interface DayOfParts {
  readonly table: LakeTable;
  readonly day: string;
  readonly staging: Staging;
}

/** Returns null when all records of the day are in files already. */
async function writeDay(work: CompactionWork, { table, day, staging }: DayOfParts): Promise<DayFile | null> {
  const { signal } = table;
  const earlier = join(work.folder, 'earlier');
  const paths: string[] = [];
  try {
    // Only spans have a key.
    const files = signal === 'spans' ? await earlierFiles(work.session.query, signal, day) : [];
    for (const { id, bytes } of files) {
      const path = `${earlier}-${id}.parquet`;
      paths.push(path);
      await copyKeys(work, { table, key: keyOf(signal, day, id), bytes }, path);
    }
    await staging.chooseNew(conditionOf(table, day), paths);
  } finally {
    for (const path of paths) await rm(path, { force: true });
  }
  const wanted = await staging.chosen();
  if (wanted.figures.records === '0') return null;
  work.report('plan', { table, day }, staging.rows);
  const job = await plan(work.session.query, { table, day }, 'parts');
  const stored = await storeFile(work, { day: { table, day }, job, staging, wanted });
  return {
    signal,
    day,
    key: keyOf(signal, day, job.id),
    records: Number(wanted.figures.records),
    bytes: stored.bytes,
    publication: { job, figures: wanted.figures, ...stored },
  };
}

/** Reads the columns of the ids of an earlier file. */
async function copyKeys(
  { store, duck }: CompactionWork,
  { table, key, bytes }: { readonly table: LakeTable; readonly key: string; readonly bytes: number },
  path: string,
): Promise<void> {
  try {
    const columns = new Set(table.identity);
    const need = { project: null, traces: null, columns, compared: new Set<string>() };
    await requireReadable(duck, await copyParts({ store, key, bytes, count: () => undefined }, need, { duck, path }));
  } catch (error) {
    if (error instanceof StoreError && error.fault === 'absent') throw absentFile(store, key);
    throw unreadableFile(key, await reasonOf(error, store, { key, bytes }));
  }
}

/** Removes the files that an interrupted run planned or wrote for days without records. */
async function removeOthers(
  work: CompactionWork,
  {
    table,
    staging,
    files,
  }: { readonly table: LakeTable; readonly staging: Staging; readonly files: readonly DayFile[] },
): Promise<void> {
  const { query } = work.session;
  for (const { day, ...job } of await plannedJobs(query, table.signal)) {
    if (files.some(({ publication }) => publication.job.id === job.id)) continue;
    await removeLeftOver(work, { key: keyOf(table.signal, day, job.id), job, staging });
    await removePlanned(query, job);
  }
}
