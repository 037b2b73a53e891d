/** Attempts to lock a table: their limits, and what is not repeated. */
import t from 'tap';
import { LOCK_TIMEOUT, withShortLocks } from '../../src/component/short-locks.ts';

const held = Object.assign(new Error('held'), { code: LOCK_TIMEOUT });

t.test('each tenth attempt waits longer than an autovacuum is protected', async (t) => {
  const waits: number[] = [];
  const work = async (lockMs: number) => {
    waits.push(lockMs);
    if (waits.length < 11) throw held;
    return 'locked';
  };
  t.equal(await withShortLocks({ waitMs: 7, pauseMs: 0 }, work), 'locked');
  t.same(waits, [7, 7, 7, 7, 7, 7, 7, 7, 7, 1500, 7]);
});

t.test('the last of the attempts rejects', async (t) => {
  let attempts = 0;
  const work = async () => {
    attempts++;
    throw held;
  };
  await t.rejects(withShortLocks({ pauseMs: 0, tries: 3 }, work), held);
  t.equal(attempts, 3);
  await t.rejects(withShortLocks({ pauseMs: 0, patienceMs: -1 }, work), held);
  t.equal(attempts, 4, 'none begins after the time is over');
});

t.test('another failure is not repeated', async (t) => {
  let attempts = 0;
  const work = async () => {
    attempts++;
    throw new Error('no such table');
  };
  await t.rejects(withShortLocks({}, work), { message: 'no such table' });
  t.equal(attempts, 1);
});
