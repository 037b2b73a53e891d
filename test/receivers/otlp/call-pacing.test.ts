/** The pacing of calls: a connection that begins many at once is read again in a later iteration. */
import { Duplex } from 'node:stream';
import t from 'tap';
import { CallPacing, PacedCalls } from '../../../src/receivers/otlp/call-pacing.ts';

const MOST_CALLS = 64;
const nextIteration = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A connection that notes when its reading stops and starts. */
function openConnection(pacing: CallPacing, name: string, seen: string[]): PacedCalls {
  const handle = { readStop: () => seen.push(`${name} stops`), readStart: () => seen.push(`${name} starts`) };
  return new PacedCalls(Object.assign(new Duplex(), { _handle: handle }), pacing);
}

t.test('many calls in one iteration stop the reading once, and one connection continues in each', async (t) => {
  const seen: string[] = [];
  const pacing = new CallPacing();
  const [first, second, quiet] = ['first', 'second', 'quiet'].map((name) => openConnection(pacing, name, seen));
  for (let call = 0; call < 3 * MOST_CALLS; call++) first?.begin();
  for (let call = 0; call < MOST_CALLS; call++) second?.begin();
  for (let call = 1; call < MOST_CALLS; call++) quiet?.begin();
  t.same(seen.splice(0), ['first stops', 'second stops']);
  await nextIteration();
  t.same(seen.splice(0), ['first starts']);
  for (let call = 0; call < MOST_CALLS; call++) first?.begin();
  t.same(seen.splice(0), ['first stops']);
  await nextIteration();
  t.same(seen.splice(0), ['second starts']);
  await nextIteration();
  t.same(seen.splice(0), ['first starts']);
});

t.test('calls of different iterations are not added up', async (t) => {
  const seen: string[] = [];
  const connection = openConnection(new CallPacing(), 'one', seen);
  for (let round = 0; round < 4; round++) {
    for (let call = 1; call < MOST_CALLS; call++) connection.begin();
    await nextIteration();
  }
  t.same(seen, []);
});

t.test('a connection with refused calls only is read once, and waits three times as long as that took', async (t) => {
  const seen: string[] = [];
  const pacing = new CallPacing();
  const [first, second] = ['first', 'second'].map((name) => openConnection(pacing, name, seen));
  for (let call = 0; call < MOST_CALLS; call++) for (const each of [first, second]) each?.end(true);
  const started = performance.now();
  first?.begin();
  second?.begin();
  first?.begin();
  t.same(seen.splice(0), ['first stops', 'second stops']);
  while (performance.now() < started + 10) {}
  await nextIteration();
  t.same(seen, [], 'not in the next iteration');
  while (seen.length === 0) await nextIteration();
  t.ok(performance.now() - started >= 39);
  t.same(seen.splice(0), ['first starts']);
  first?.end(false);
  first?.begin();
  t.same(seen, [], 'after a stored call it is not limited');
});
