/**
 * Files of the lake that this database does not know: of another database, or of a time after the backup from which
 * this one was restored. Their days would be archived again, so no run of the archive begins while there are such
 * files. A run that adopts them records each as published; records that they have are then left out of later files.
 */
import { stat, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { inTransaction } from '../component/in-transaction.ts';
import { UserError } from '../errors.ts';
import { downloadObject } from '../object-store/object-store.ts';
import type { ArchivedFile, Work } from './archive-day.ts';
import { DamagedFile, readFile } from './archived-file.ts';
import { keyOf, LAKE_PREFIX, type Origin, recordFile } from './lake-jobs.ts';
import { type LakeSignal, type LakeTable, tableOf } from './lake-table.ts';
import { Staging } from './staging.ts';

const KEY = new RegExp(
  `^${LAKE_PREFIX}(spans|logs|metric_points)/day=(\\d{4}-\\d\\d-\\d\\d)/job-(\\d{12,18})\\.parquet$`,
  'u',
);

/** What to do after a restore from a backup. Objects have the records of files that were published later once more. */
const HINTS: Readonly<Record<Origin, string>> = {
  tables: 'run `sluice archive --adopt` once.',
  parts:
    'move them out of lake/, to a place of their own, and run `sluice compact` again: it publishes the requests of this database from the objects. docs/operations.md says what is only in these files.',
};

interface UnknownFile {
  readonly key: string;
  readonly table: LakeTable;
  readonly day: string;
  readonly id: string;
}

type Lake = Pick<Work, 'store' | 'session'>;

export async function unknownFiles({ store, session: { query } }: Lake): Promise<readonly UnknownFile[]> {
  const { rows } = await query("SELECT id::text, signal, to_char(day, 'YYYY-MM-DD') AS day FROM sluice.lake_jobs");
  const known = new Set(rows.map((row) => keyOf(row['signal'] as LakeSignal, String(row['day']), String(row['id']))));
  const unknown: UnknownFile[] = [];
  for await (const { key } of store.list(LAKE_PREFIX)) {
    const [, signal, day, number] = KEY.exec(key) ?? [];
    if (signal === undefined || day === undefined || number === undefined || known.has(key)) continue;
    unknown.push({ key, table: tableOf(signal as LakeSignal), day, id: String(BigInt(number)) });
  }
  return unknown;
}

export async function requireKnownFiles(lake: Lake, origin: Origin): Promise<void> {
  const unknown = await unknownFiles(lake);
  const [first] = unknown;
  if (first === undefined) return;
  const days = unknown.map(({ day }) => day).sort();
  throw new UserError(
    `${lake.store.url} has files that this database does not know: ${unknown.length}, of ${days[0]} to ${days.at(-1)}, such as ${first.key}`,
    `If this database was restored from a backup that is older than these files: ${HINTS[origin]} If they are of another database, use a folder or bucket of its own.`,
  );
}

/** Yields each file when it is recorded. An interrupted run is continued by the next one. */
export async function* adoptFiles(work: Work): AsyncGenerator<ArchivedFile> {
  for (const file of await unknownFiles(work)) yield await adopt(work, file);
}

/** With the figures of the file, which nothing else has. */
async function adopt(work: Work, { key, table, day, id }: UnknownFile): Promise<ArchivedFile> {
  const { store, folder, duck } = work;
  const { query } = work.session;
  const path = join(folder, 'adopted.parquet');
  const staging = new Staging(duck, table);
  try {
    await downloadObject(store, key, path);
    const { figures } = await readFile(staging, path, key);
    const mark = await staging.markOf(path);
    if (mark?.job !== id) throw new DamagedFile(`${key} is no file of \`sluice archive\``);
    const [extent, { size: bytes }] = [await staging.extentOf(path), await stat(path)];
    await inTransaction(query, async () => {
      const { rowCount } = await query(
        `INSERT INTO sluice.lake_jobs (id, token, signal, day) OVERRIDING SYSTEM VALUE VALUES ($1, $2, $3, $4)
         ON CONFLICT DO NOTHING`,
        [id, mark.token, table.signal, day],
      );
      if (rowCount !== 1) throw new DamagedFile(`${key} has the number of another file of this database`);
      await recordFile(query, { job: { id, token: mark.token }, figures, extent, bytes });
      await query(
        "SELECT setval(pg_get_serial_sequence('sluice.lake_jobs', 'id'), greatest(max(id), nextval(pg_get_serial_sequence('sluice.lake_jobs', 'id')))) FROM sluice.lake_jobs",
      );
    });
    return { signal: table.signal, day, key, records: Number(figures.records), bytes };
  } finally {
    await rm(path, { force: true });
  }
}
