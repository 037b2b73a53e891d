/** Collections of an idle process. */
import t from 'tap';
import { IdleCollections } from '../../src/daemon/idle-collections.ts';

/** Runs ticks with the given milliseconds of processor time each, and returns the collections until each. */
function collectionsAfter(loads: readonly number[]): number[] {
  let used = 0;
  let collections = 0;
  const cpuUsage = (since = { user: 0, system: 0 }): NodeJS.CpuUsage => ({ user: used - since.user, system: 0 });
  const idle = new IdleCollections({ cpuUsage }, () => {
    collections++;
    used += 500_000;
  });
  return loads.map((milliseconds) => {
    used += milliseconds * 1000;
    idle.tick();
    return collections;
  });
}

t.test('an idle period begins with three collections, and has no more', async (t) => {
  t.same(collectionsAfter([0, 100, 0, 0, 199, 0]), [1, 2, 3, 3, 3, 3]);
});

t.test('a load is not interrupted, and is followed by collections again', async (t) => {
  t.same(collectionsAfter([0, 10_000, 200, 0, 0, 0, 0]), [1, 1, 1, 2, 3, 4, 4]);
});
