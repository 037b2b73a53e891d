/** The jobs of the archive and of the compaction, and the files that they recorded: rows of `sluice.lake_jobs`. */
import type { Query } from '../component/capabilities/postgres.ts';
import { type Figures, figuresOf } from './figures.ts';
import type { DayOfTable, LakeSignal } from './lake-table.ts';
import type { Extent } from './staging.ts';

/** Where the records of a file come from. */
export type Origin = 'tables' | 'parts';

export interface Job {
  readonly id: string;
  readonly token: string;
}

export interface PublishedJob extends Job {
  readonly figures: Figures;
}

/** All keys of the lake begin with it. */
export const LAKE_PREFIX = 'lake/';

export const keyOf = (signal: LakeSignal, day: string, id: string): string =>
  `${LAKE_PREFIX}${signal}/day=${day}/job-${id.padStart(12, '0')}.parquet`;

/**
 * The planned job that an interrupted run left, or a new one. A late put of the interrupted run has the key of its job.
 * `from`: the origin of the records, or the job whose file the new one replaces.
 */
export async function plan(query: Query, { table, day }: DayOfTable, from: Origin | Job): Promise<Job> {
  const [origin, replaces] = typeof from === 'string' ? [from, null] : [null, from.id];
  const { rows } = await query(
    `WITH wanted AS (SELECT $1::text AS signal, $2::date AS day, $3::int8 AS replaces,
         coalesce($4::text, (SELECT origin FROM sluice.lake_jobs WHERE id = $3::int8)) AS origin,
         coalesce((SELECT in_tables FROM sluice.lake_jobs WHERE id = $3::int8), false) AS in_tables),
       left_over AS (SELECT j.id, j.token FROM sluice.lake_jobs j JOIN wanted w ON j.signal = w.signal AND j.day = w.day
         AND j.replaces IS NOT DISTINCT FROM w.replaces AND j.origin = w.origin WHERE j.state = 'planned'),
       made AS (INSERT INTO sluice.lake_jobs (signal, day, replaces, origin, in_tables) SELECT * FROM wanted
         WHERE NOT EXISTS (SELECT FROM left_over) RETURNING id, token)
     SELECT id::text, token::text FROM left_over UNION ALL SELECT id::text, token::text FROM made`,
    [table.signal, day, replaces, origin],
  );
  return { id: String(rows[0]?.['id']), token: String(rows[0]?.['token']) };
}

/** `origin`: null for all files of the day. */
export async function publishedJobs(
  query: Query,
  { table: { signal }, day }: DayOfTable,
  origin: Origin | null,
): Promise<readonly PublishedJob[]> {
  const { rows } = await query(
    `SELECT id::text, token::text, records::text, input_tokens::text AS "inputTokens", output_tokens::text AS "outputTokens",
       total_cost::text AS "totalCost", ids_sum::text AS "idsSum"
     FROM sluice.lake_jobs WHERE signal = $1 AND day = $2 AND state = 'published' AND origin = coalesce($3, origin) ORDER BY id`,
    [signal, day, origin],
  );
  return rows.map((row) => ({ id: String(row['id']), token: String(row['token']), figures: figuresOf(row) }));
}

export interface Publication {
  readonly job: Job;
  readonly figures: Figures;
  readonly extent: Extent;
  readonly bytes: number;
}

/** To be called in the snapshot in which the records were read. */
export async function publish(query: Query, day: DayOfTable, publication: Publication): Promise<void> {
  await forgetLate(query, day);
  await recordFile(query, publication);
}

/** Marks a planned job as published. */
export async function recordFile(query: Query, { job, figures, extent, bytes }: Publication): Promise<void> {
  const { rowCount } = await query(
    `UPDATE sluice.lake_jobs SET state = 'published', published_at = clock_timestamp(), records = $2, bytes = $3, input_tokens = $4,
       output_tokens = $5, total_cost = $6, ids_sum = $7, min_ns = $8, max_ns = $9, projects = $10
     WHERE id = $1 AND state = 'planned'`,
    [
      job.id,
      figures.records,
      bytes,
      figures.inputTokens,
      figures.outputTokens,
      figures.totalCost,
      figures.idsSum,
      extent.minNs,
      extent.maxNs,
      extent.projects,
    ],
  );
  if (rowCount !== 1) throw new Error(`the job ${job.id} is not planned any more`);
}

/** To be called in the snapshot, when every record of the day is in a file. */
export async function cancel(query: Query, day: DayOfTable, job: Job): Promise<void> {
  await forgetLate(query, day);
  await removePlanned(query, job);
}

export const removePlanned = (query: Query, { id }: Job): Promise<unknown> =>
  query("DELETE FROM sluice.lake_jobs WHERE id = $1 AND state = 'planned'", [id]);

/** Deletes only rows of records that were read: the snapshot sees a row only if it sees its record. */
async function forgetLate(query: Query, { table: { signal }, day }: DayOfTable): Promise<void> {
  await query('DELETE FROM sluice.lake_late WHERE signal = $1 AND day = $2', [signal, day]);
}
