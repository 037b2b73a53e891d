/** Atomic changes of the schema, while daemons continue to write. */
import type pg from 'pg';
import { inTransaction } from '../../component/in-transaction.ts';
import { isLockTimeout, type LockAttempts, withShortLocks } from '../../component/short-locks.ts';
import { DEADLOCK_DETECTED, sqlstateOf } from './sqlstate.ts';

/** A long query or a dump delays the change and nothing else. */
const ATTEMPTS: LockAttempts = {
  waitMs: 200,
  pauseMs: 300,
  patienceMs: 120000,
  isRefused: (error) => isLockTimeout(error) || sqlstateOf(error) === DEADLOCK_DETECTED,
};

/** Repeats all of `work` when it does not get its locks. */
export async function changeSchema(client: pg.Client, work: () => Promise<void>): Promise<void> {
  const query = (text: string) => client.query(text);
  await withShortLocks(ATTEMPTS, (lockMs) =>
    inTransaction(query, work, { begin: `BEGIN; SET LOCAL lock_timeout = ${lockMs}` }),
  );
}
