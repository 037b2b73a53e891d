// Stored times are the database's, whatever the clock of this machine.
import t from 'tap';
import { DatabaseClock } from '../../../src/extensions/postgres/clock.ts';

const NOON = Date.UTC(2026, 10, 22, 12);

/**
 * A database that answers after `afterMs`, and has read its clock at the beginning, in the middle or at the end of that
 * time.
 */
function scene() {
  const state = { monotonicMs: 1000, databaseMs: NOON, tripMs: 0, readAt: 0.5 };
  const pass = (ms: number): void => {
    state.monotonicMs += ms;
    state.databaseMs += ms;
  };
  const query = async () => {
    pass(state.tripMs * state.readAt);
    const rows = [{ now: state.databaseMs }];
    pass(state.tripMs * (1 - state.readAt));
    return { rows, rowCount: 1 };
  };
  const clock = new DatabaseClock({ database: { query }, monotonicMs: () => state.monotonicMs });
  return { state, pass, clock };
}

t.test('the clock is unknown before the first measurement: no request can be stored then either', async (t) => {
  const { clock } = scene();
  t.throws(() => clock.now(), { code: 'ingestion_failed' });
});

t.test('advances with the monotonic clock', async (t) => {
  const { clock, pass } = scene();
  await clock.measure();
  pass(5000);
  t.equal(clock.now(), NOON + 5000);
});

t.test('the error is at most half of the round trip, and the better of two measurements is kept', async (t) => {
  for (const readAt of [0, 0.5, 1]) {
    const { clock, state } = scene();
    Object.assign(state, { tripMs: 10, readAt });
    await clock.measure();
    t.ok(Math.abs(clock.now() - state.databaseMs) <= 5);
    Object.assign(state, { tripMs: 4000, readAt: 1 - readAt });
    await clock.measure();
    t.ok(Math.abs(clock.now() - state.databaseMs) <= 10, 'a slow answer does not change it');
  }
});

t.test('follows a step of the database in either direction with the next measurement', async (t) => {
  for (const step of [40, -40, 56 * 365]) {
    const { clock, state, pass } = scene();
    await clock.measure();
    pass(2000);
    state.databaseMs += step * 86_400_000;
    state.tripMs = 3000;
    await clock.measure();
    t.ok(Math.abs(clock.now() - state.databaseMs) <= 1500);
  }
});
