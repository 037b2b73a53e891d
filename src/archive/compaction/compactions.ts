/** The state of compaction in PostgreSQL: which parts become files together, and which are published. */
import { IS_OF_TABLES } from '../../component/archived-day.ts';
import type { Query } from '../../component/capabilities/postgres.ts';
import { inTransaction } from '../../component/in-transaction.ts';
import { type Publication, recordFile } from '../lake-jobs.ts';
import type { LakeSignal } from '../lake-table.ts';

/** How many parts are asked for at once. */
const MAX_PARTS = 50_000;

export interface Compaction {
  readonly id: string;
  readonly signal: LakeSignal;
}

/** The place of the rows of one request. */
export interface Part {
  /** Hex. */
  readonly objectId: string;
  readonly firstByte: number;
  readonly bytes: number;
  readonly codec: string;
  readonly project: string;
  readonly records: number;
}

/** Parts that no compaction has taken yet. */
export interface PartsOfDay {
  readonly signal: LakeSignal;
  /** The UTC day they arrived. */
  readonly day: string;
  readonly parts: number;
  readonly records: number;
  /** Compressed. */
  readonly bytes: number;
}

/**
 * The time this long ago, by the database's clock. Parts that may have records to erase are published without this
 * delay and without these records: an erasure ends when none of these parts is left.
 */
export async function timeBefore(query: Query, ms: number): Promise<string> {
  const { rows } = await query(
    `SELECT greatest(now() - $1::float8 * interval '1 ms',
       (SELECT max(requested_at) + interval '1 microsecond' FROM sluice.lake_erasures))::text AS time`,
    [ms],
  );
  return String(rows[0]?.['time']);
}

export interface PartLimits {
  /** A time of the database's clock. */
  readonly before: string;
  /** The compressed parts of one compaction, unless one is larger. */
  readonly maxBytes: number;
}

/**
 * The compaction of the signal that an interrupted run left, or a new one of the oldest parts; null when there is
 * nothing to do. All parts of a new one arrived on one UTC day, and the records of all or of none of them are in the
 * tables too. Parts that are committed later belong to a later compaction: only the missing mark decides.
 */
export async function nextCompaction(
  query: Query,
  signal: LakeSignal,
  { before, maxBytes }: PartLimits,
): Promise<Compaction | null> {
  const { rows } = await query('SELECT id::text FROM sluice.compactions WHERE signal = $1 AND published_at IS NULL', [
    signal,
  ]);
  if (rows[0] !== undefined) return { id: String(rows[0]['id']), signal };
  const made = await query(
    `WITH oldest AS (
       SELECT object_id, first_byte, bytes, received_at, in_tables FROM sluice.parts
       WHERE signal = $1 AND compaction IS NULL AND received_at < $2::timestamptz
       ORDER BY received_at, object_id, first_byte LIMIT ${MAX_PARTS}
     ), chosen AS (
       SELECT object_id, first_byte FROM (
         SELECT *, sum(bytes) OVER (ORDER BY received_at, object_id, first_byte) - bytes AS earlier,
           min(received_at) OVER () AS first,
           first_value(in_tables) OVER (ORDER BY received_at, object_id, first_byte) AS first_in_tables FROM oldest) o
       WHERE earlier < $3::float8 AND in_tables = first_in_tables AND (received_at AT TIME ZONE 'UTC')::date = (first AT TIME ZONE 'UTC')::date
     ), made AS (
       INSERT INTO sluice.compactions (signal) SELECT $1 WHERE EXISTS (SELECT FROM chosen) RETURNING id
     ), taken AS (
       UPDATE sluice.parts p SET compaction = made.id FROM chosen c, made
       WHERE p.object_id = c.object_id AND p.first_byte = c.first_byte
     )
     SELECT id::text FROM made`,
    [signal, before, maxBytes],
  );
  return made.rows[0] === undefined ? null : { id: String(made.rows[0]['id']), signal };
}

/** The order is the same for each run. */
export async function partsOf(query: Query, { id }: Compaction): Promise<readonly Part[]> {
  const { rows } = await query(
    `SELECT encode(object_id, 'hex') AS object, first_byte, bytes, codec, project, records FROM sluice.parts
     WHERE compaction = $1 ORDER BY object_id, first_byte`,
    [id],
  );
  return rows.map(partOfRow);
}

/** Reads a row with the columns `object`, `first_byte`, `bytes`, `codec`, `project` and `records`. */
export const partOfRow = (row: Readonly<Record<string, unknown>>): Part => ({
  objectId: String(row['object']),
  firstByte: Number(row['first_byte']),
  bytes: Number(row['bytes']),
  codec: String(row['codec']),
  project: String(row['project']),
  records: Number(row['records']),
});

/** All files of a compaction are recorded at once, so that its parts are either all published or all not. */
export const publishAll = (query: Query, { id }: Compaction, files: readonly Publication[]): Promise<void> =>
  inTransaction(query, async () => {
    for (const file of files) await recordFile(query, file);
    await query(
      `UPDATE sluice.lake_jobs SET in_tables = (SELECT bool_and(in_tables) FROM sluice.parts WHERE compaction = $1)
       WHERE id = ANY ($2::int8[])`,
      [id, files.map(({ job }) => job.id)],
    );
    const { rowCount } = await query(
      'UPDATE sluice.compactions SET published_at = clock_timestamp() WHERE id = $1 AND published_at IS NULL',
      [id],
    );
    if (rowCount !== 1) throw new Error(`the compaction ${id} is not planned any more`);
  });

/** Removes the parts that were published this long ago. Returns their number. */
export async function removePublishedParts(query: Query, keptMs: number): Promise<number> {
  const { rowCount } = await query(
    `WITH old AS (DELETE FROM sluice.compactions WHERE published_at < now() - $1::float8 * interval '1 ms' RETURNING id)
     DELETE FROM sluice.parts p USING old WHERE p.compaction = old.id`,
    [keptMs],
  );
  return rowCount ?? 0;
}

export async function waitingParts(query: Query, olderThanMs: number): Promise<readonly PartsOfDay[]> {
  const { rows } = await query(
    `SELECT p.signal, to_char(p.received_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, count(*)::float8 AS parts,
       sum(p.records)::float8 AS records, sum(p.bytes)::float8 AS bytes
     FROM sluice.parts p LEFT JOIN sluice.compactions c ON c.id = p.compaction
     WHERE c.published_at IS NULL AND (c.id IS NOT NULL OR p.received_at < now() - $1::float8 * interval '1 ms')
     GROUP BY 1, 2 ORDER BY 2, 1`,
    [olderThanMs],
  );
  return rows.map((row) => ({
    signal: row['signal'] as LakeSignal,
    day: String(row['day']),
    parts: Number(row['parts']),
    records: Number(row['records']),
    bytes: Number(row['bytes']),
  }));
}

export interface EarlierFile {
  readonly id: string;
  readonly bytes: number;
}

/** The published files of a day, also of the tables: the database may have had another exporter before. */
export async function earlierFiles(query: Query, signal: LakeSignal, day: string): Promise<readonly EarlierFile[]> {
  const { rows } = await query(
    `SELECT id::text, bytes::float8 AS bytes FROM sluice.lake_jobs
     WHERE signal = $1 AND day = $2 AND state = 'published' ORDER BY id`,
    [signal, day],
  );
  return rows.map((row) => ({ id: String(row['id']), bytes: Number(row['bytes']) }));
}

export interface PlannedJob {
  readonly id: string;
  readonly token: string;
  readonly day: string;
}

/** Jobs that interrupted runs of the signal's compaction planned. */
export async function plannedJobs(query: Query, signal: LakeSignal): Promise<readonly PlannedJob[]> {
  const { rows } = await query(
    `SELECT id::text, token::text, to_char(day, 'YYYY-MM-DD') AS day FROM sluice.lake_jobs
     WHERE signal = $1 AND state = 'planned' AND replaces IS NULL AND NOT ${IS_OF_TABLES} ORDER BY id`,
    [signal],
  );
  return rows.map((row) => ({ id: String(row['id']), token: String(row['token']), day: String(row['day']) }));
}
