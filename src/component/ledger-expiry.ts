/**
 * Removes what the ledger does not need any more: claims on traces without records, and counters of former months. One
 * of the exporters on a database does it, by its own periods.
 */
import type { Query } from './capabilities/postgres.ts';

/**
 * The time of one batch of the removal of trace claims, which locks these claims; and the time of all batches of a run.
 */
const BUDGET_MS = 200;
const BATCH = 20_000;
const RUN_MS = 60_000;

/** Taken by the one process that runs the long steps of the maintenance, of the tables and of the ledger. */
export const MAINTENANCE_LOCK = "SELECT pg_try_advisory_lock(hashtext('sluice.maintenance')) AS held";

/** Claims that were made before the UTC day of `beforeMs`. */
export async function expireClaims(query: Query, beforeMs: number): Promise<void> {
  const untilMs = performance.now() + RUN_MS;
  while (performance.now() < untilMs) {
    const { rows } = await query(
      `SELECT done FROM sluice.expire_traces_for(to_timestamp($1::float8 / 1000), ${BUDGET_MS}, ${BATCH})`,
      [beforeMs],
    );
    if (rows[0]?.['done'] === true) return;
  }
}

/** Months that ended before. */
export async function expireUsage(query: Query, beforeMs: number): Promise<void> {
  await query(
    `DELETE FROM sluice.usage_months
     WHERE month < date_trunc('month', to_timestamp($1::float8 / 1000) AT TIME ZONE 'UTC')::date`,
    [beforeMs],
  );
}
