// Stored spans arrive again in new requests: every request is answered 200, and each span is stored once.
import pg from 'pg';
import t, { type Test } from 'tap';
import { FaultProxy } from '../../campaigns/crash/proxy/fault-proxy.ts';
import { urlOf } from '../../../src/extensions/postgres/embedded/address.ts';
import { connectTo } from '../../support/connection.ts';
import { longTest, ordinaryTest } from '../../support/long.ts';
import { OTHER_KEY } from '../../support/daemon.ts';
import { gzip, send } from '../../support/otlp-client.ts';
import { aSpan, aTraceRequest } from '../../support/payloads.ts';
import { createDatabase } from '../../support/postgres.ts';
import { type PostgresDaemon, SERVED, startPostgresDaemon } from '../../support/postgres-daemon.ts';

const other = { authorization: `Bearer ${OTHER_KEY}` };
/** Rows of this size form a group by themselves, so a second concurrent group settles them. */
const LARGE_TEXT = 'x'.repeat(9 * 1024 * 1024);

const store = async ({ url }: PostgresDaemon, spans: readonly object[], settings = {}): Promise<number> => {
  const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
  return (await send(url, { headers, body: gzip(JSON.stringify(aTraceRequest(spans))), ...settings })).status;
};

const countOf = async ({ query }: PostgresDaemon): Promise<{ rows: number; counted: number }> => {
  const [rows] = await query('SELECT count(*) AS n FROM sluice.spans');
  const [usage] = await query('SELECT sum(spans) AS n FROM sluice.usage_months');
  return { rows: Number(rows?.['n']), counted: Number(usage?.['n']) };
};

/** Blocks all writers of the table of spans until it is released. */
async function holdSpans(t: Test, { databaseUrl, query }: PostgresDaemon) {
  const holder = await connectTo(t, databaseUrl);
  await holder.query('BEGIN; LOCK TABLE sluice.spans IN EXCLUSIVE MODE');
  const waiting = async (): Promise<number> => {
    const text = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
    return (await query(text)).length;
  };
  return {
    blocked: async (count: number): Promise<void> => {
      while ((await waiting()) < count) await new Promise((resolve) => setImmediate(resolve));
    },
    release: () => holder.query('ROLLBACK'),
  };
}

t.test('two groups that both hold a stored span fail at once: no request is refused', async (t) => {
  const daemon = await startPostgresDaemon(t);
  const [first, second] = [aSpan(), aSpan()];
  t.equal(await store(daemon, [first, second]), 200);
  const spans = await holdSpans(t, daemon);
  const small = store(daemon, [aSpan(), first]);
  await spans.blocked(1);
  const large = store(daemon, [aSpan({ attributes: { text: LARGE_TEXT } }), second]);
  await spans.blocked(2);
  await spans.release();
  t.same(await Promise.all([small, large]), [200, 200]);
  t.same(await countOf(daemon), { rows: 4, counted: 4 });
});

t.test('a role that may not create temporary tables stores repeated spans once, and all other records', async (t) => {
  const { address } = await createDatabase(t);
  const role = `role_${address.database}`;
  const admin = new pg.Client(address);
  await admin.connect();
  await admin.query(`
    REVOKE ALL ON DATABASE ${address.database} FROM PUBLIC;
    CREATE ROLE ${role} LOGIN PASSWORD 'x';
    GRANT CONNECT, CREATE ON DATABASE ${address.database} TO ${role};
    GRANT CREATE, USAGE ON SCHEMA public TO ${role}`);
  t.teardown(async () => {
    await admin.query(`DROP OWNED BY ${role} CASCADE; DROP ROLE ${role}`);
    await admin.end();
  });
  const daemon = await startPostgresDaemon(t, { databaseUrl: urlOf({ ...address, user: role, password: 'x' }) });
  const spans = Array.from({ length: 100 }, (_, index) =>
    aSpan({ attributes: { text: 'ü'.repeat(index * 100), number: index, yes: true } }),
  );
  t.equal(await store(daemon, spans.slice(0, 40)), 200);
  const answers = [store(daemon, [...spans, ...spans.slice(50)]), store(daemon, [aSpan()], other)];
  t.same(await Promise.all(answers), [200, 200]);
  t.equal(await store(daemon, [spans[3] ?? {}, aSpan()]), 200, 'the next ones too');
  t.same(await countOf(daemon), { rows: 102, counted: 102 });
  const [row] = await daemon.query(`SELECT attributes FROM spans WHERE (attributes ->> 'number')::int = 70`);
  t.same(row, { attributes: { text: 'ü'.repeat(7000), number: 70, yes: true } });
  const large = aSpan({ attributes: { text: LARGE_TEXT } });
  t.equal(await store(daemon, [spans[3] ?? {}, large, aSpan()]), 200, 'a row larger than a chunk');
  t.equal(await store(daemon, [large, aSpan()]), 200, 'and again');
  t.same(await countOf(daemon), { rows: 105, counted: 105 });
});

longTest('old spans in new concurrent requests through two replicas: each is stored once', async (t) => {
  const daemon = await startPostgresDaemon(t);
  const replica = await startPostgresDaemon(t, { databaseUrl: daemon.databaseUrl });
  const spans = Array.from({ length: 120 }, () => aSpan());
  const body = (index: number): readonly object[] =>
    Array.from({ length: 12 }, (_, position) => spans[(index * 7 + position * 5) % spans.length] ?? {});
  const requests = Array.from({ length: 150 }, async (_, index) => {
    // Large requests are settled by the heavy group.
    const more = index % 50 === 0 ? [aSpan({ attributes: { text: LARGE_TEXT } })] : [];
    for (;;) {
      const status = await store(index % 2 === 0 ? daemon : replica, [...body(index), aSpan(), ...more]);
      // A busy machine may refuse some requests, which are sent again.
      if (status !== 503) return status;
    }
  });
  t.same([...new Set(await Promise.all(requests))], [200]);
  const expected = spans.length + requests.length + 3;
  t.same(await countOf(daemon), { rows: expected, counted: expected });
});

for (const [name, sqlstate] of [
  ['an internal error, as Citus says of a span that is stored already', 'XX000'],
  ['a row for a partition that was created meanwhile', '23514'],
  ['a value that does not fit, reported by a guard', '22003'],
] as const) {
  const test = sqlstate === 'XX000' ? ordinaryTest : longTest;
  test(`${name}, is never a reason to refuse the request`, async (t: Test) => {
    const { address } = await createDatabase(t, SERVED);
    const proxy = await FaultProxy.start(address);
    const url = `postgres://${address.user}:${address.password}@127.0.0.1:${proxy.port}/${address.database}`;
    const daemon = await startPostgresDaemon(t, { databaseUrl: url });
    t.teardown(() => proxy.stop());
    t.equal(await store(daemon, [aSpan()]), 200);
    const text = sqlstate === '22003' ? /INTO sluice\.traces/ : /COPY sluice\.spans/;
    const shot = proxy.arm({ side: 'frontend', kind: 'Execute', text, fault: { kind: 'error', sqlstate } });
    t.equal(await store(daemon, [aSpan()]), sqlstate === '22003' ? 503 : 200);
    t.ok(shot.hit !== null);
  });
}
