/** The outbox on a real database: order, one holder, limits, measured sizes. */
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import t from 'tap';
import type { TransactionHandle } from '../../../src/component/capabilities/ledger.ts';
import type { OutboxEntry } from '../../../src/component/capabilities/outbox.ts';
import type { PostgresTransaction } from '../../../src/component/capabilities/postgres.ts';
import { Database } from '../../../src/extensions/postgres/database.ts';
import { KnownContents } from '../../../src/extensions/postgres/ledger/contents.ts';
import { OpenTransaction } from '../../../src/extensions/postgres/ledger/transaction.ts';
import { waitFor } from '../../../src/extensions/postgres/embedded/wait.ts';
import { PostgresOutbox } from '../../../src/extensions/postgres/outbox/outbox.ts';
import { Registry } from '../../../src/service/telemetry/registry.ts';
import { PATIENCE_MS } from '../../support/patience.ts';
import { openMigrated } from '../../support/migrated.ts';
import { QUIET } from '../../support/quiet-logger.ts';
import { DAY_MS } from '../../../src/pdata/time-units.ts';

t.setTimeout(300_000);

const { database } = await openMigrated(t);

const nowMs = Date.now();
let names = 0;

function scene(t: { teardown(task: () => Promise<void>): unknown }) {
  const registry = new Registry();
  const outbox = new PostgresOutbox(database, { logger: QUIET, meter: registry, now: () => nowMs });
  t.teardown(() => outbox.stop());
  const destination = `otlp_http/${names++}`;
  const entry = (text: string, over: Partial<OutboxEntry> = {}): OutboxEntry => {
    const chunks = [Buffer.from(text.slice(0, 1)), Buffer.from(text.slice(1), 'latin1')];
    return { destination, signal: 'traces', project: 'demo', records: 1, bytes: text.length, chunks, ...over };
  };
  return { outbox, destination, registry, entry };
}

/** Adds entries in a separate transaction. */
async function add(outbox: PostgresOutbox, entries: readonly OutboxEntry[], commits = true): Promise<void> {
  const client = await database.connect();
  try {
    await client.query('BEGIN');
    const known = new KnownContents(() => performance.now());
    const none = { opening: [], closing: [] };
    const transaction = new OpenTransaction({ client, ...none, repeats: 'fail', known, contentsAreStored: true });
    const handle: TransactionHandle = {
      join: <T>() => transaction satisfies PostgresTransaction as T,
      flush: () => transaction.flush(),
    };
    await outbox.add(entries, handle);
    await transaction.flush();
    await client.query(commits ? 'COMMIT' : 'ROLLBACK');
  } finally {
    await client.end();
  }
}

t.test('a connection whose preparation failed is closed', async (t) => {
  const left = 'SELECT count(*)::int4 AS open FROM pg_stat_activity WHERE query = $1';
  const text = 'SELECT 1 / 0';
  await t.rejects(database.connect({ ready: (client) => client.query(text) }), { code: '22012' });
  const open = async () => (await database.query(left, [text])).rows[0]?.['open'];
  while ((await open()) !== 0) await new Promise(setImmediate);
});

t.test('connecting has a limit when the server stops answering after the greeting', async (t) => {
  const [authenticated, readyForQuery] = ['520000000800000000', '5a0000000549'];
  const silent = createServer((socket) => socket.write(Buffer.from(`${authenticated}${readyForQuery}`, 'hex')));
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => silent.close());
  const { port } = silent.address() as AddressInfo;
  const dead = new Database().use({ connectionString: `postgres://nobody@127.0.0.1:${port}/none` });
  await t.rejects(dead.connect({ ready: (client) => client.query('SELECT 1'), readyTimeoutMs: 50 }));
});

t.test('entries are read in their order, and exist only after their commit', async (t) => {
  const { outbox, destination, entry } = scene(t);
  const queue = await outbox.open(destination);
  t.equal(await queue.acquire(), true);
  await add(outbox, [entry('lost')], false);
  await add(outbox, [entry('one'), entry('two', { signal: 'logs', project: 'other', records: 7 })]);
  await add(outbox, [entry(''), entry('three\0\xff')]);
  const waiting = await queue.waiting(10);
  t.match(waiting, [
    { signal: 'traces', project: 'demo', records: 1, bytes: 3, attempts: 0, firstAttemptMs: null, nextAttemptMs: null },
    { signal: 'logs', project: 'other', records: 7, bytes: 3 },
    { bytes: 0 },
    {},
  ]);
  t.strictSame(
    (await queue.bodies(waiting)).map((body) => body.toString('latin1')),
    ['one', 'two', '', 'three\0\xff'],
  );
  t.equal((await queue.waiting(1)).length, 1);
  await queue.delivered(waiting.slice(0, 3));
  t.equal((await queue.waiting(10)).length, 1);
  await queue.release();
});

t.test('the tenth entry is behind the ninth', async (t) => {
  const { outbox, destination, entry } = scene(t);
  await database.query("SELECT setval('sluice.outbox_sequence_seq', 97)");
  await add(
    outbox,
    [...'abcd'].map((text) => entry(text)),
  );
  const queue = await outbox.open(destination);
  await queue.acquire();
  const waiting = await queue.waiting(9);
  t.strictSame(
    waiting.map(({ sequence }) => sequence),
    [98n, 99n, 100n, 101n],
  );
  t.strictSame((await queue.bodies(waiting)).map(String), [...'abcd']);
  await queue.release();
});

t.test('a failed attempt is recorded durably', async (t) => {
  const { outbox, destination, entry } = scene(t);
  await add(outbox, [entry('a')]);
  const queue = await outbox.open(destination);
  await queue.acquire();
  await queue.failed(await queue.waiting(1), { nowMs: 1000, nextAttemptMs: 6000, error: 'a\0b' });
  await queue.failed(await queue.waiting(1), { nowMs: 7000, nextAttemptMs: 9000, error: 'again' });
  await queue.release();
  const next = await scene(t).outbox.open(destination);
  await next.acquire();
  t.match(await next.waiting(1), [{ attempts: 2, firstAttemptMs: 1000, nextAttemptMs: 9000 }]);
  await next.release();
});

t.test('one process at a time holds a queue; the next one holds it when the first has ended in any way', async (t) => {
  const { outbox, destination } = scene(t);
  const [first, second] = [await outbox.open(destination), await outbox.open(destination)];
  t.equal(await first.acquire(), true);
  t.equal(await first.acquire(), true, 'still');
  t.equal(await second.acquire(), false);
  await t.rejects(second.waiting(1), { message: 'the connection of the outbox was lost' });
  await first.release();
  t.equal(await second.acquire(), true);
  await database.query(
    "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND pid <> pg_backend_pid() AND database = (SELECT oid FROM pg_database WHERE datname = current_database())",
  );
  while (!(await first.acquire()));
  await t.rejects(second.waiting(1), 'the former holder gets an error');
  await first.release();
});

t.test('the size is measured, and counted until the next measurement', async (t) => {
  const { outbox, destination, entry, registry } = scene(t);
  await add(outbox, [entry('before')]);
  const queue = await outbox.open(destination);
  t.match(outbox.size(destination), { waiting: 1, waitingBytes: 6, dead: 0 });
  await add(outbox, [entry('then')]);
  t.match(outbox.size(destination), { waiting: 2, waitingBytes: 10 });
  await queue.acquire();
  const [head, last] = await queue.waiting(2);
  if (head === undefined || last === undefined) throw new Error('nothing waits');
  await queue.deadLetter([head], { nowMs, error: '400' });
  t.match(outbox.size(destination), { waiting: 1, waitingBytes: 4, dead: 1, deadBytes: 6 });
  await queue.delivered([last]);
  const counted = { ...outbox.size(destination) };
  await outbox.measure();
  t.match(outbox.size(destination), { waiting: 0, waitingBytes: 0, dead: 1, deadBytes: 6 });
  t.match(counted, { waiting: 0, waitingBytes: 0, dead: 1, deadBytes: 6 });
  t.match(registry.print(), 'sluice_outbox_dead_letters 1\n');
  await queue.release();
});

t.test('dead letters are removed when they are old, and oldest first when there is no room', async (t) => {
  const { outbox, destination, entry } = scene(t);
  await add(
    outbox,
    [...'abcd'].map((text) => entry(text.repeat(10))),
  );
  const queue = await outbox.open(destination);
  await queue.acquire();
  for (const [index, dead] of (await queue.waiting(3)).entries())
    await queue.deadLetter([dead], { nowMs: Date.now() - (7.5 - index) * DAY_MS, error: 'no' });
  const left = async (): Promise<string> => {
    const { rows } = await database.query(
      "SELECT string_agg(left(convert_from(body, 'UTF8'), 1), '' ORDER BY sequence) AS left FROM sluice.outbox WHERE destination = $1",
      [destination],
    );
    return String(rows[0]?.['left']);
  };
  const seen = async (state: object): Promise<unknown> =>
    database.query(
      "INSERT INTO sluice.maintenance_state VALUES ('clock', $1) ON CONFLICT (name) DO UPDATE SET state = excluded.state",
      [JSON.stringify(state)],
    );
  await seen({ seenMs: Date.now() - 40 * DAY_MS });
  const other = new PostgresOutbox(database, { logger: QUIET, meter: new Registry(), now: () => nowMs });
  t.teardown(() => other.stop());
  await other.open(destination);
  await other.tidy(destination, { maxBytes: 1000, maxDeadAgeMs: 7 * DAY_MS });
  t.equal(await left(), 'abcd', 'a clock that was set since the last observation makes none old');
  await seen({ seenMs: Date.now() - DAY_MS });
  await outbox.tidy(destination, { maxBytes: 1000, maxDeadAgeMs: 7 * DAY_MS });
  const { rows } = await database.query(
    "SELECT (state ->> 'seenMs')::float8 AS seen FROM sluice.maintenance_state WHERE name = 'clock'",
  );
  t.ok(Number(rows[0]?.['seen']) > nowMs, 'it is an observation too: nothing else may observe the clock');
  t.equal(await left(), 'bcd', 'the one that is older than a week');
  await outbox.tidy(destination, { maxBytes: 20, maxDeadAgeMs: 7 * DAY_MS });
  t.equal(await left(), 'cd', 'waiting entries count, and stay');
  await outbox.tidy(destination, { maxBytes: 5, maxDeadAgeMs: 7 * DAY_MS });
  t.equal(await left(), 'd');
  await queue.release();
});

t.test('a dead letter that is replayed while the excess is removed stays', async (t) => {
  const { outbox, destination, entry } = scene(t);
  await add(outbox, [entry('a'.repeat(10))]);
  const queue = await outbox.open(destination);
  await queue.acquire();
  await queue.deadLetter(await queue.waiting(1), { nowMs, error: 'no' });
  const operator = await database.connect();
  await operator.query('BEGIN');
  await operator.query("UPDATE sluice.outbox SET state = 'waiting' WHERE destination = $1", [destination]);
  const tidied = outbox.tidy(destination, { maxBytes: 5, maxDeadAgeMs: 7 * DAY_MS });
  const waits = async (): Promise<true | undefined> => {
    const { rows } = await database.query(
      "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%counted%'",
    );
    return rows.length > 0 ? true : undefined;
  };
  t.ok(await waitFor(waits, { timeoutMs: PATIENCE_MS }));
  await operator.query('COMMIT');
  await operator.end();
  await tidied;
  t.equal((await queue.waiting(1)).length, 1);
  await queue.release();
});

t.test('the oldest waiting entries are dropped when they exceed the limit', async (t) => {
  const { outbox, destination, entry } = scene(t);
  await add(outbox, [
    entry('a'.repeat(10)),
    entry('b'.repeat(10), { signal: 'logs', records: 5 }),
    entry('c'.repeat(10)),
  ]);
  const queue = await outbox.open(destination);
  t.match(await outbox.dropOldest(destination, 30), { entries: 0 });
  t.strictSame(await outbox.dropOldest(destination, 19), { entries: 2, records: { traces: 1, logs: 5, metrics: 0 } });
  t.match(outbox.size(destination), { waiting: 1, waitingBytes: 10 });
  await queue.acquire();
  t.strictSame((await queue.bodies(await queue.waiting(9))).map(String), ['c'.repeat(10)]);
  await queue.release();
});
