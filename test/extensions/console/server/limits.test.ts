/** The limits on queries, failed logins and live streams. */
import t from 'tap';
import type { ReaderFailure } from '../../../../src/component/capabilities/postgres-reader.ts';
import type { ConsoleError } from '../../../../src/extensions/console/errors.ts';
import { FailedLogins, Places, QueryTurns } from '../../../../src/extensions/console/server/limits.ts';

t.test('the fifth query of a caller waits for one of the four', async (t) => {
  const turns = new QueryTurns();
  const { signal } = new AbortController();
  const ends = await Promise.all([1, 2, 3, 4].map(() => turns.take('ada', signal)));
  (await turns.take('bob', signal))();
  const fifth = turns.take('ada', signal);
  ends[0]?.();
  const end = await fifth;
  const leaving = new AbortController();
  const sixth = turns.take('ada', leaving.signal);
  leaving.abort();
  t.equal(await sixth.catch((error: ReaderFailure) => error.reason), 'canceled');
  t.equal(await turns.take('ada', signal).catch((error: ConsoleError) => error.code), 'too_many');
  for (const each of [end, ...ends.slice(1)]) each();
  (await turns.take('ada', signal))();
});

t.test('ten failed logins a minute for each address', async (t) => {
  let nowMs = 0;
  const failed = new FailedLogins(() => nowMs);
  for (let count = 0; count < 10; count++) {
    failed.check('a');
    failed.add('a');
  }
  t.throws(() => failed.check('a'), { code: 'too_many' });
  failed.check('b');
  nowMs = 60_001;
  failed.check('a');
});

t.test('S25: places for live streams', async (t) => {
  const places = new Places(2);
  const leave = places.take();
  places.take();
  t.throws(() => places.take(), { code: 'too_many' });
  leave();
  leave();
  places.take();
  t.throws(() => places.take(), { code: 'too_many' });
});
