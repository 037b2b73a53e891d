/** The pacing of calls: a connection that begins many at once is served, and read again, in later iterations. */
import { Duplex } from 'node:stream';
import t, { type Test } from 'tap';
import { CallPacing, PacedCalls } from '../../../src/receivers/otlp/call-pacing.ts';

const MOST_CALLS = 64;
const RATED_UNITS = 8;
const TICK_MS = 10;
const MIB = 1_048_576;
const nextIteration = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A connection that notes when its reading stops and starts, and counts the served calls. */
function openNew(pacing: CallPacing) {
  const seen: string[] = [];
  let served = 0;
  const handle = { bytesRead: 0, readStop: () => seen.push('stop'), readStart: () => seen.push('start') };
  const connection = Object.assign(new Duplex(), { _handle: handle });
  const calls = new PacedCalls(connection, pacing);
  return {
    calls,
    close: () => connection.destroy(),
    seen,
    read: (bytes: number) => {
      handle.bytesRead += bytes;
    },
    begin: (count: number) => {
      for (let call = 0; call < count; call++) calls.begin(() => served++);
    },
    refuse: (count: number) => {
      for (let call = 0; call < count; call++) calls.end(true);
    },
    take: () => {
      const taken = served;
      served = 0;
      return taken;
    },
  };
}

/** A connection after an accepted call. */
async function openConnection(pacing: CallPacing): Promise<ReturnType<typeof openNew>> {
  const connection = openNew(pacing);
  while (connection.seen.length < 2) await nextIteration();
  connection.calls.end(false);
  connection.seen.length = 0;
  return connection;
}

t.test('of several new connections one is read in an iteration, until a call is accepted', async (t) => {
  const pacing = new CallPacing();
  const [first, second] = [openNew(pacing), openNew(pacing)];
  t.same([first.seen, second.seen], [['stop'], ['stop']]);
  await nextIteration();
  t.same([first.seen, second.seen], [['stop', 'start'], ['stop']]);
  first.begin(2);
  t.equal(first.take(), 1);
  t.same(first.seen, ['stop', 'start', 'stop']);
  await nextIteration();
  t.same([first.take(), second.seen], [0, ['stop', 'start']]);
  await nextIteration();
  t.equal(first.take(), 1);
  t.same(first.seen, ['stop', 'start', 'stop', 'start']);
  first.calls.end(false);
  first.begin(MOST_CALLS);
  t.same([first.take(), first.seen.length], [MOST_CALLS, 4]);
});

t.test('when a new connection begins a call, the other new ones are not read in the same iteration', async (t) => {
  const pacing = new CallPacing();
  const proven = await openConnection(pacing);
  const [first, second] = [openNew(pacing), openNew(pacing)];
  while (second.seen.length < 2) await nextIteration();
  for (const { seen } of [first, second]) seen.length = 0;
  first.begin(2);
  t.same([proven.seen, first.seen, second.seen], [[], ['stop'], ['stop']]);
  await nextIteration();
  t.same(second.seen, ['stop', 'start']);
  second.close();
});

/** A clock that advances by a millisecond in each iteration. */
function slowClock(t: Test) {
  const clock = { ms: performance.now() };
  t.intercept(performance, 'now', { value: () => clock.ms });
  const pass = async (): Promise<void> => {
    await nextIteration();
    clock.ms += 1;
  };
  return { clock, pass };
}

t.test('calls that new connections begin count for the rate, also when they are never served', async (t) => {
  for (const idleMs of [0, 10_000]) {
    const { clock, pass } = slowClock(t);
    const pacing = new CallPacing();
    const [hostile, honest] = [openNew(pacing), openNew(pacing)];
    await nextIteration();
    clock.ms += idleMs;
    const started = clock.ms;
    hostile.begin(10 * RATED_UNITS);
    hostile.close();
    while (honest.seen.length < 2) await pass();
    t.ok(clock.ms - started > 9 * TICK_MS, `after ${idleMs} ms without a call`);
  }
});

t.test('closed connections do not delay the next one, however many there are', async (t) => {
  const pacing = new CallPacing();
  const closed = Array.from({ length: 1000 }, () => openNew(pacing));
  const open = openNew(pacing);
  for (const each of closed) each.close();
  await nextIteration();
  t.same(open.seen, ['stop', 'start']);
  t.ok(closed.every(({ seen }) => seen.length === 1));
});

t.test('closed connections take nothing of the rate of refused calls', async (t) => {
  const pacing = new CallPacing();
  const closed = Array.from({ length: 100 }, () => openNew(pacing));
  const open = openNew(pacing);
  while (open.seen.length < 2) await nextIteration();
  for (const each of [...closed, open]) {
    each.refuse(MOST_CALLS);
    each.begin(1);
  }
  for (const each of closed) each.close();
  while (open.take() === 0) await nextIteration();
  t.equal(
    closed.reduce((sum, { take }) => sum + take(), 0),
    0,
  );
});

t.test('a connection serves 64 calls in an iteration and is not read until the others are served', async (t) => {
  const connection = await openConnection(new CallPacing());
  connection.begin(2 * MOST_CALLS + 1);
  t.equal(connection.take(), MOST_CALLS);
  t.same(connection.seen, ['stop']);
  await nextIteration();
  t.equal(connection.take(), MOST_CALLS);
  t.same(connection.seen, ['stop']);
  await nextIteration();
  t.equal(connection.take(), 1);
  t.same(connection.seen, ['stop', 'start']);
});

t.test('one waiting connection continues in each iteration', async (t) => {
  const pacing = new CallPacing();
  const [first, second] = [await openConnection(pacing), await openConnection(pacing)];
  const quiet = await openConnection(pacing);
  first.begin(MOST_CALLS + 1);
  second.begin(MOST_CALLS + 1);
  quiet.begin(MOST_CALLS);
  t.same([first.take(), second.take(), quiet.take()], [MOST_CALLS, MOST_CALLS, MOST_CALLS]);
  await nextIteration();
  t.same([first.take(), second.take()], [1, 0]);
  await nextIteration();
  t.same([first.take(), second.take()], [0, 1]);
  t.same([first.seen, second.seen, quiet.seen], [['stop', 'start'], ['stop', 'start'], []]);
});

t.test('calls of different iterations are not added up', async (t) => {
  const connection = await openConnection(new CallPacing());
  for (let round = 0; round < 4; round++) {
    connection.begin(MOST_CALLS);
    await nextIteration();
  }
  t.equal(connection.take(), 4 * MOST_CALLS);
  t.same(connection.seen, []);
});

t.test('connections with refused calls only share a rate, until a call is stored', async (t) => {
  const { clock, pass } = slowClock(t);
  const pacing = new CallPacing();
  const [first, second] = [await openConnection(pacing), await openConnection(pacing)];
  for (const each of [first, second]) each.refuse(MOST_CALLS);
  const started = clock.ms;
  for (const each of [first, second]) each.begin(40);
  t.same([first.take(), second.take()], [0, 0]);
  let [served, most] = [0, 0];
  while (served < 80) {
    await pass();
    const now = first.take() + second.take();
    most = Math.max(most, now);
    served += now;
  }
  t.equal(most, RATED_UNITS);
  // Each call counts when it begins and when it is served.
  t.ok(clock.ms - started > (160 / RATED_UNITS - 2) * TICK_MS);
  first.calls.end(false);
  first.begin(1);
  t.equal(first.take(), 1, 'after a stored call it is not limited');
});

t.test('bytes that are no part of a message count for the rate', async (t) => {
  const { clock, pass } = slowClock(t);
  const pacing = new CallPacing();
  const [hostile, other] = [openNew(pacing), openNew(pacing)];
  while (hostile.seen.length < 2) await nextIteration();
  hostile.read(2 * MIB);
  while (hostile.seen.length < 3) await nextIteration();
  t.equal(hostile.seen[2], 'stop');
  const started = clock.ms;
  while (hostile.seen.length < 4) await pass();
  t.ok(clock.ms - started > 10 * TICK_MS, 'it is read again when the work has been paid for');
  while (other.seen.length < 2) await nextIteration();
  other.read(2 * MIB);
  other.calls.received(2 * MIB);
  for (let count = 0; count < 10; count++) await nextIteration();
  t.same(other.seen, ['stop', 'start'], 'a message with a valid key is read on');
});

t.test('a new connection does not wait until the bytes of others are paid for', async (t) => {
  const { pass } = slowClock(t);
  const pacing = new CallPacing();
  const floods = Array.from({ length: 10 }, () => openNew(pacing));
  const flood = (): void => {
    for (const { seen, read } of floods) if (seen.at(-1) === 'start') read(2 * MIB);
  };
  while (floods.some(({ seen }) => seen.length < 3)) {
    flood();
    await pass();
  }
  const reads = (): number => floods.reduce((sum, { seen }) => sum + seen.filter((one) => one === 'start').length, 0);
  const honest = openNew(pacing);
  const atFirst = reads();
  while (honest.seen.length < 2) {
    flood();
    await pass();
  }
  t.ok(reads() - atFirst <= 2, `${reads() - atFirst} reads of others came before`);
  const before = reads();
  for (let passes = 0; passes < 100 * TICK_MS; passes++) {
    flood();
    await pass();
  }
  t.ok(reads() - before <= 4, `${reads() - before} reads of 256 units each in 800 units of time`);
});

t.test('a connection with accepted calls has the limited rate when it sends too much beside them', async (t) => {
  const pacing = new CallPacing();
  const connection = await openConnection(pacing);
  for (let call = 0; call < 100; call++) {
    connection.read(300 + MIB);
    connection.calls.received(MIB);
    connection.calls.end(false);
  }
  await nextIteration();
  connection.begin(1);
  t.same([connection.take(), connection.seen], [1, []], 'headers and messages of accepted calls are no such bytes');
  connection.read(MIB);
  for (let count = 0; count < 10; count++) await nextIteration();
  t.same(connection.seen, [], 'the window of the connection may hold messages of calls that are not admitted yet');
  connection.read(MIB);
  while (connection.seen.length === 0) await nextIteration();
  connection.begin(2);
  t.same([connection.take(), connection.seen], [0, ['stop']]);
  while (connection.seen.length < 2) await nextIteration();
  t.equal(connection.take(), 2);
  connection.calls.end(false);
  connection.begin(MOST_CALLS);
  t.equal(connection.take(), MOST_CALLS, 'after a stored call it is not limited');
});
