/**
 * Expires the rows outside of all days one by one, by their arrival time. Rows that arrived, by their time, before all
 * rows that the last run left were written with a wrong clock, for example by a replica of an older version. They get
 * the current time as their arrival.
 */
import { dayOfRow } from '../../component/archived-day.ts';
import type { Logger } from '../../component/logger.ts';
import type { Query } from '../../component/capabilities/postgres.ts';
import type { ObservedTime } from '../../component/observed-time.ts';
import { isUnarchived } from './archived-days.ts';
import { columnOf, type PartitionedTable } from './partitions.ts';

const BATCH = 5000;
/** The most batches of one run; the next run continues. */
const MAX_BATCHES = 2000;

export interface DefaultExpiry {
  readonly time: ObservedTime;
  /** Days of which no row is removed, as YYYY-MM-DD. */
  readonly keptDays: readonly string[];
  /** Rows are removed only when they are in the archive. */
  readonly isArchived: boolean;
  readonly logger: Logger;
}

export async function expireDefault(
  query: Query,
  table: PartitionedTable,
  { time, keptDays, isArchived, logger }: DefaultExpiry,
): Promise<void> {
  const [cutoff, name] = [time.cutoff(table.retentionMs), `${table.name}_default`];
  const { rows } = await query(
    "SELECT (state ->> 'cutoff')::float8 AS last FROM sluice.maintenance_state WHERE name = $1",
    [name],
  );
  const last = (rows[0]?.['last'] ?? null) as number | null;
  if (last !== null) await correctTimes(query, table, { before: Math.min(last, cutoff), nowMs: time.nowMs }, logger);
  const day = dayOfRow(columnOf(table));
  const isPast = 'received_at < to_timestamp($1::float8 / 1000)';
  // Checked again for each batch, because records may have arrived since the days were listed.
  const kept = isArchived ? `SELECT day FROM (SELECT DISTINCT day FROM batch) d WHERE ${isUnarchived(table)}` : '';
  let skipped = 0;
  const done = await inBatches(async (limit) => {
    const result = await query(
      `WITH batch AS MATERIALIZED (
         SELECT ctid AS place, ${day} AS day FROM sluice.${name} WHERE ${isPast} AND ${day} <> ALL ($2::date[]) LIMIT ${limit}),
       removed AS (
         DELETE FROM sluice.${name} WHERE ${isPast} AND ctid = ANY (ARRAY(
           SELECT place FROM batch ${kept === '' ? '' : `WHERE day NOT IN (${kept})`})) RETURNING 1)
       SELECT (SELECT count(*) FROM batch)::float8 AS found, (SELECT count(*) FROM removed)::float8 AS removed`,
      [cutoff, keptDays],
    );
    const [found, removed] = [Number(result.rows[0]?.['found']), Number(result.rows[0]?.['removed'])];
    skipped += found - removed;
    return { rowCount: removed };
  });
  if (!done || skipped > 0) return;
  await query(
    `INSERT INTO sluice.maintenance_state SELECT $1, jsonb_build_object('cutoff', least($2::float8, (
       SELECT extract(epoch FROM min(received_at))::float8 * 1000 FROM sluice.${name}
       WHERE received_at < to_timestamp($2::float8 / 1000) AND ${day} = ANY ($3::date[]))))
     ON CONFLICT (name) DO UPDATE SET state = excluded.state`,
    [name, cutoff, keptDays],
  );
}

async function correctTimes(
  query: Query,
  { name, key }: PartitionedTable,
  { before, nowMs }: { readonly before: number; readonly nowMs: number },
  logger: Logger,
): Promise<void> {
  // An update through the parent moves a row of a table by arrival to its new day.
  const target = key === 'timestamp' ? name : `${name}_default`;
  let corrected = 0;
  await inBatches(async (limit) => {
    const result = await query(
      `UPDATE sluice.${target} SET received_at = to_timestamp($2::float8 / 1000)
       WHERE received_at < to_timestamp($1::float8 / 1000) AND tableoid = 'sluice.${name}_default'::regclass AND ctid = ANY (ARRAY(
         SELECT ctid FROM sluice.${name}_default WHERE received_at < to_timestamp($1::float8 / 1000) LIMIT ${limit}))`,
      [before, nowMs],
    );
    corrected += result.rowCount ?? 0;
    return result;
  });
  if (corrected > 0)
    logger.warn(
      { table: name, rows: corrected },
      'the arrival times of rows are from a wrong clock: their retention starts now',
    );
}

/** Returns false when rows are left. */
async function inBatches(work: (limit: number) => Promise<{ readonly rowCount: number | null }>): Promise<boolean> {
  for (let batch = 0; batch < MAX_BATCHES; batch++) {
    const { rowCount } = await work(BATCH);
    if ((rowCount ?? 0) < BATCH) return true;
  }
  return false;
}
