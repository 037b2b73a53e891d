/** How long an attempt to lock a table waits, while other statements queue behind it, and the failure of an attempt. */
import { errorCode } from '../errors.ts';

/** The SQLSTATE of a statement that did not get its lock within `lock_timeout`. */
export const LOCK_TIMEOUT = '55P03';

/**
 * One of so many attempts waits longer than `deadlock_timeout`, which is a second: then PostgreSQL cancels an
 * autovacuum of the table. A large table is vacuumed for minutes.
 */
const LONG_EVERY = 10;
const LONG_MS = 1500;

/** `attempt`: from 1. `usualMs`: for the other attempts. */
export const lockWaitMs = (attempt: number, usualMs: number): number =>
  attempt % LONG_EVERY === 0 ? LONG_MS : usualMs;

export const isLockTimeout = (error: unknown): boolean => errorCode(error) === LOCK_TIMEOUT;
