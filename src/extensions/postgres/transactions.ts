/** Atomic changes of the schema, while daemons continue to write. */
import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { LOCK_TIMEOUT, lockWaitMs } from '../../component/lock-wait.ts';
import { DEADLOCK_DETECTED, sqlstateOf } from './sqlstate.ts';

/** How long a statement waits for a lock, the pause for ingest after that, and the limit of all attempts. */
const LOCK_MS = 200;
const LOCK_PAUSE_MS = 300;
const LOCK_PATIENCE_MS = 120000;
const LOCK_FAILURES = new Set([LOCK_TIMEOUT, DEADLOCK_DETECTED]);

/**
 * While a statement waits for a lock, ingest queues behind it. So the wait is short, and all of `work` is tried again:
 * a long query or a dump delays the migration and nothing else.
 */
export async function changeSchema(client: pg.Client, work: () => Promise<void>): Promise<void> {
  const end = performance.now() + LOCK_PATIENCE_MS;
  for (let attempt = 1; ; attempt++) {
    await client.query(`BEGIN; SET LOCAL lock_timeout = ${lockWaitMs(attempt, LOCK_MS)}`);
    try {
      await work();
      await client.query('COMMIT');
      return;
    } catch (error) {
      await client.query('ROLLBACK').catch(() => undefined);
      if (!LOCK_FAILURES.has(sqlstateOf(error) ?? '') || performance.now() > end) throw error;
      await pause(LOCK_PAUSE_MS);
    }
  }
}
