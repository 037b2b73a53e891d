/** Recorded files: fetched from the store and compared with their records. */
import { UserError } from '../errors.ts';
import { OutOfMemory } from './duckdb.ts';
import { differences, type Figures } from './figures.ts';
import { keyOf, type PublishedJob } from './lake-jobs.ts';
import type { DayOfTable } from './lake-table.ts';
import type { FileContents, Staging } from './staging.ts';
import { downloadObject, type ObjectStore, StoreError } from '../object-store/object-store.ts';

export interface RecordedFile extends DayOfTable {
  readonly job: PublishedJob;
  readonly staging: Staging;
}

/** Downloads a file and returns what it holds. Rejects when the file differs from its record. */
export async function fetchPublished(
  { store }: { readonly store: ObjectStore },
  { table, day, job, staging }: RecordedFile,
  path: string,
): Promise<FileContents> {
  const key = keyOf(table.signal, day, job.id);
  await download(store, key, path);
  const contents = await readFile(staging, path, key).catch((error: unknown) => {
    throw error instanceof DamagedFile ? new DamagedFile(error.message, BRING_BACK) : error;
  });
  requireEqual(job.figures, contents.figures, `${key}, written earlier,`, BRING_BACK);
  return contents;
}

const CHECK = 'Nothing was recorded, and nothing is dropped. Check the store and the memory, then run it again.';
const BRING_BACK =
  'Nothing was recorded, and nothing is dropped. Bring the file back and run it again; docs/archive.md says what to do when it is lost.';

async function download(store: ObjectStore, key: string, path: string): Promise<void> {
  try {
    await downloadObject(store, key, path);
  } catch (error) {
    if (!(error instanceof StoreError) || error.fault !== 'absent') throw error;
    throw absentFile(store, key);
  }
}

export const absentFile = ({ url }: Pick<ObjectStore, 'url'>, key: string): UserError =>
  new UserError(
    `${key} is not in ${url}`,
    'Name the folder or bucket to which this database was archived before, or restore the file; docs/archive.md says what to do when it is lost.',
  );

/** A recorded file that another one depends on. */
export const unreadableFile = (key: string, reason: string): DamagedFile =>
  new DamagedFile(`${key} cannot be read: ${reason}`, BRING_BACK);

export async function readFile(staging: Staging, path: string, key: string): Promise<FileContents> {
  try {
    return await staging.read(path);
  } catch (error) {
    if (error instanceof OutOfMemory) throw error;
    // The first line: the others quote the query.
    const [reason = ''] = String(error instanceof Error ? error.message : error).split('\n');
    throw new DamagedFile(`${key} cannot be read: ${reason.replace(path, key)}`);
  }
}

/** A file, or the rows that were read, differ from PostgreSQL. */
export class DamagedFile extends UserError {
  constructor(message: string, hint = CHECK) {
    super(message, hint);
  }
}

export function requireEqual(wanted: Figures, found: Figures, what: string, hint = CHECK): void {
  const names = differences(wanted, found);
  if (names.length === 0) return;
  const list = names.map((name) => `${name}: ${found[name]} instead of ${wanted[name]}`);
  throw new DamagedFile(`${what} differ from the database (${list.join(', ')})`, hint);
}
