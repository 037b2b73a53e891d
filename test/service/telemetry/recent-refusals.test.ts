/** The refused requests that a process keeps. */
import t from 'tap';
import { RecentRefusals } from '../../../src/service/telemetry/recent-refusals.ts';

const KEPT = 200;
const REFUSED = { code: 'not_found', message: 'no such route', cause: null, signal: null } as const;
const UNKNOWN = { project: null, key: null, bytes: null, address: null } as const;

t.test('the last 200 are kept, the newest first', async (t) => {
  let now = 0;
  const added: number[] = [];
  const refusals = new RecentRefusals(
    () => now,
    ({ timeMs }) => added.push(timeMs),
  );
  t.same(refusals.list(), []);
  for (now = 1; now <= 2 * KEPT + 1; now++) refusals.add({ ...REFUSED, ...UNKNOWN });
  const times = refusals.list().map(({ timeMs }) => timeMs);
  t.same(
    times,
    Array.from({ length: KEPT }, (_, index) => 2 * KEPT + 1 - index),
  );
  t.equal(added.length, 2 * KEPT + 1);
});
