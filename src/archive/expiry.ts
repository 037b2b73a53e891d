/**
 * Removes the files of old days. A file of the tables is removed only when PostgreSQL has nothing of its day: no
 * partition, no late record and no restored day. Retention drops a partition only because its day is in the archive. A
 * file is marked as removed before it is deleted, so readers and retention never rely on a file that may be missing.
 */
import { IS_OF_TABLES } from '../component/archived-day.ts';
import { lastObservedTime } from '../component/observed-time.ts';
import type { ArchivedFile, Work } from './archive-day.ts';
import { keyOf } from './lake-jobs.ts';
import { daysOf, listPartitions } from './open-days.ts';
import { LAKE_TABLES, type LakeTable } from './lake-table.ts';
import { deleteRemoved, markRemoved } from './removed-files.ts';

/**
 * Yields each file when it is deleted. `keepMs`: since the day ended, by the database's clock without its steps; null:
 * files stay.
 */
export async function* expireFiles(
  work: Pick<Work, 'session' | 'store'>,
  keepMs: number | null,
): AsyncGenerator<ArchivedFile> {
  if (keepMs === null) return;
  const beforeMs = (await lastObservedTime(work.session.query)).cutoff(keepMs);
  for (const table of LAKE_TABLES) {
    for (const file of await oldFiles(work, table, beforeMs)) {
      await markRemoved(work.session.query, file);
      await deleteRemoved(work);
      yield file;
    }
  }
}

interface OldFile extends ArchivedFile {
  readonly id: string;
}

async function oldFiles(
  { session: { query } }: Pick<Work, 'session'>,
  table: LakeTable,
  beforeMs: number,
): Promise<readonly OldFile[]> {
  const { signal } = table;
  const partitions = await listPartitions(query, table);
  const stored = new Set(partitions.flatMap(({ day }) => day ?? []));
  for (const { name, day } of partitions)
    if (day === null) for (const each of await daysOf(query, table, name)) stored.add(each);
  const { rows } = await query(
    `SELECT id::text, to_char(day, 'YYYY-MM-DD') AS day, records::float8 AS records, bytes::float8 AS bytes FROM sluice.lake_jobs j
     WHERE signal = $1 AND state = 'published' AND (day + 1)::timestamp <= to_timestamp($2::float8 / 1000) AT TIME ZONE 'UTC'
       AND NOT (${IS_OF_TABLES} AND (day = ANY ($3::date[])
         OR EXISTS (SELECT FROM sluice.lake_late l WHERE l.signal = j.signal AND l.day = j.day)
         OR EXISTS (SELECT FROM sluice.lake_restored r WHERE r.signal = j.signal AND r.day = j.day)))
     ORDER BY j.day, id`,
    [signal, beforeMs, [...stored]],
  );
  return rows.map((row) => {
    const [id, day] = [String(row['id']), String(row['day'])];
    const [records, bytes] = [Number(row['records']), Number(row['bytes'])];
    return { id, signal, day, key: keyOf(signal, day, id), records, bytes };
  });
}
