/** Files that were replaced or have expired: in the state `removed` until they are deleted. No reader uses them. */
import type { Query } from '../component/capabilities/postgres.ts';
import type { Work } from './archive-day.ts';
import { DamagedFile } from './archived-file.ts';
import { type Job, keyOf } from './lake-jobs.ts';
import type { LakeSignal } from './lake-table.ts';

export const markRemoved = (query: Query, { id }: Pick<Job, 'id'>): Promise<unknown> =>
  query("UPDATE sluice.lake_jobs SET state = 'removed' WHERE id = $1", [id]);

/** Deletes the files, and then their records. */
export async function deleteRemoved({ session: { query }, store }: Pick<Work, 'session' | 'store'>): Promise<void> {
  const { rows } = await query(
    `SELECT id::text, signal, to_char(day, 'YYYY-MM-DD') AS day FROM sluice.lake_jobs WHERE state = 'removed' ORDER BY id`,
  );
  for (const row of rows) {
    const key = keyOf(row['signal'] as LakeSignal, String(row['day']), String(row['id']));
    await store.delete([key]);
    if ((await store.head(key)) !== null) throw new DamagedFile(`${key} exists although it was deleted`);
    await query('DELETE FROM sluice.lake_jobs WHERE id = $1', [row['id']]);
  }
}
