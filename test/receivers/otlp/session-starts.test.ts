/** Few sessions start in an iteration of the event loop, in the order of their connections. */
import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import { SessionStarts } from '../../../src/receivers/otlp/session-starts.ts';

t.test('two start at once, two in each later iteration', async (t) => {
  const started: number[] = [];
  const starts = new SessionStarts<number>((connection) => void started.push(connection));
  for (let connection = 0; connection < 7; connection++) starts.add(connection);
  t.same(started, [0, 1]);
  const counts = [started.length];
  while (started.length < 7) {
    await setImmediate();
    counts.push(started.length);
  }
  t.same(started, [0, 1, 2, 3, 4, 5, 6]);
  t.same([...new Set(counts)], [2, 4, 6, 7]);
  await setImmediate();
  starts.add(7);
  t.equal(started.at(-1), 7, 'without others, at once');
});

t.test('a connection that comes while others wait starts after them', async (t) => {
  const started: number[] = [];
  const starts = new SessionStarts<number>((connection) => void started.push(connection));
  for (const connection of [0, 1, 2, 3, 4]) starts.add(connection);
  await setImmediate();
  starts.add(5);
  while (started.length < 6) await setImmediate();
  t.same(started, [0, 1, 2, 3, 4, 5]);
});
