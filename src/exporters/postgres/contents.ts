/** Removes resources and scopes that no row refers to any more, by their last day of use. */
import type { Query } from '../../component/capabilities/postgres.ts';
import { DAY_MS } from '../../pdata/time-units.ts';

/**
 * Two weeks, because a span whose clock is ahead leaves the default partition when its day is opened, at most two weeks
 * before that day, and then stays for the retention. The other days, because the noted day lags at most half a day and
 * expiry may lag two days.
 */
const MARGIN_MS = 18 * DAY_MS;
const BATCH = 5000;
/** The most batches of one run; the next run continues. */
const MAX_BATCHES = 200;

/** How long a content is kept after its last use, when rows are kept for at most `retentionMs`. */
export const contentPeriod = (retentionMs: number): number => 2 * retentionMs + MARGIN_MS;

/** Rows that a running request uses are skipped. */
export async function expireContents(query: Query, cutoffMs: number): Promise<void> {
  for (const table of ['resources', 'scopes']) {
    for (let batch = 0; batch < MAX_BATCHES; batch++) {
      const { rowCount } = await query(
        `DELETE FROM sluice.${table} WHERE id IN (
           SELECT id FROM sluice.${table} WHERE used_on < (to_timestamp($1::float8 / 1000) AT TIME ZONE 'UTC')::date
           ORDER BY used_on LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)`,
        [cutoffMs],
      );
      if ((rowCount ?? 0) < BATCH) break;
    }
  }
}
