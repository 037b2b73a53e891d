/** How long an attempt to lock a table waits, while other statements queue behind it. */

/**
 * One of so many attempts waits longer than `deadlock_timeout`, which is a second: then PostgreSQL cancels an
 * autovacuum of the table. A large table is vacuumed for minutes.
 */
const LONG_EVERY = 10;
const LONG_MS = 1500;

/** `attempt`: from 1. `usualMs`: for the other attempts. */
export const lockWaitMs = (attempt: number, usualMs: number): number =>
  attempt % LONG_EVERY === 0 ? LONG_MS : usualMs;
