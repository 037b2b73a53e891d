/**
 * The seals of the tables: triggers that note late records.
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
import { dayOfRow, IS_OF_TABLES, SEAL, SEAL_OF_PART } from '../component/archived-day.ts';
import type { Query } from '../component/capabilities/postgres.ts';
import { unlessDropped } from '../component/dropped-partition.ts';
import { type Ends, inTransaction, TRANSACTION } from '../component/in-transaction.ts';
import { isLockTimeout, withShortLocks } from '../component/short-locks.ts';
import { UserError } from '../errors.ts';
import { literal, quoted } from './duckdb.ts';
import type { DayOfTable, LakeTable } from './lake-table.ts';
import { listPartitions, type OpenDay } from './open-days.ts';

/** For a lock that waits for the transactions that write into the table. */
const LOCK_TRIES = 50;
/** The trigger of the default partition until its earlier records are noted. */
const BEGUN_SEAL = 'sluice_archive_begun';

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
    await unlessDropped(name, () => withTableLock(query, statement, { what: `sluice.${name}` }));
  }
}

/**
 * The run may end before it has read all days of the default partition. So a trigger of another name, which is not a
 * seal yet, first notes the records that are stored from now on. Then the archived days with earlier records are noted.
 */
async function sealDefault(query: Query, table: LakeTable, name: string): Promise<void> {
  const { signal, key } = table;
  const options = { what: `sluice.${name}` };
  await withTableLock(query, sealStatement(table, name, BEGUN_SEAL), options);
  await query(
    `INSERT INTO sluice.lake_late (signal, day) SELECT DISTINCT $1, ${dayOfRow(key)} FROM sluice.${quoted(name)}
     WHERE ${dayOfRow(key)} IN (SELECT day FROM sluice.lake_jobs WHERE signal = $1 AND state = 'published' AND ${IS_OF_TABLES})`,
    [signal],
  );
  const isDone = `DROP TRIGGER IF EXISTS ${SEAL} ON sluice.${quoted(name)};
    ALTER TRIGGER ${BEGUN_SEAL} ON sluice.${quoted(name)} RENAME TO ${SEAL}`;
  await withTableLock(query, isDone, options);
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
    await withTableLock(query, statement, { what: name });
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

/** Runs statements that lock a table, as a transaction or within the caller's. */
export async function withTableLock(
  query: Query,
  statements: string,
  { what, ends = TRANSACTION }: { readonly what: string; readonly ends?: Ends },
): Promise<void> {
  try {
    await withShortLocks({ tries: LOCK_TRIES }, (lockMs) =>
      inTransaction(query, () => query(statements), {
        ...ends,
        begin: `${ends.begin}; SET LOCAL lock_timeout = ${lockMs}`,
      }),
    );
  } catch (error) {
    if (!isLockTimeout(error)) throw error;
    throw new UserError(`${what} could not be locked`, 'Run the command again later.');
  }
}
