/**
 * Locks of tables that are used at the same time. While a statement waits for such a lock, other statements queue
 * behind it. So each attempt waits briefly, and the others continue between the attempts.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { errorCode } from '../errors.ts';

/** The SQLSTATE of a statement that did not get its lock within `lock_timeout`. */
export const LOCK_TIMEOUT = '55P03';

/**
 * One of so many attempts waits longer than `deadlock_timeout`, which is a second: then PostgreSQL cancels an
 * autovacuum of the table. A large table is vacuumed for minutes.
 */
const LONG_EVERY = 10;
const LONG_MS = 1500;

export interface LockAttempts {
  /** How long a statement usually waits for a lock. */
  readonly waitMs?: number;
  /** The time for other statements after an attempt. */
  readonly pauseMs?: number;
  readonly tries?: number;
  /** No attempt begins later. */
  readonly patienceMs?: number;
  readonly isRefused?: (error: unknown) => boolean;
}

export const isLockTimeout = (error: unknown): boolean => errorCode(error) === LOCK_TIMEOUT;

/** Repeats `work` until it gets its locks; then rejects with the last failure. `lockMs`: the limit to set for them. */
export async function withShortLocks<T>(attempts: LockAttempts, work: (lockMs: number) => Promise<T>): Promise<T> {
  const { waitMs = 100, pauseMs = 100, tries = Infinity, patienceMs = Infinity, isRefused = isLockTimeout } = attempts;
  const end = performance.now() + patienceMs;
  for (let attempt = 1; ; attempt++) {
    try {
      return await work(attempt % LONG_EVERY === 0 ? LONG_MS : waitMs);
    } catch (error) {
      if (!isRefused(error) || attempt >= tries || performance.now() > end) throw error;
      await pause(pauseMs);
    }
  }
}
