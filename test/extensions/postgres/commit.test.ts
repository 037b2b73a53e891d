// The transaction on the wire: its round trips, and the group's outcome when the answer to its COMMIT is lost.
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import t, { type Test } from 'tap';
import type { Fault } from '../../campaigns/crash/proxy/fault.ts';
import { FaultProxy } from '../../campaigns/crash/proxy/fault-proxy.ts';
import { Database } from '../../../src/extensions/postgres/database.ts';
import { openSession } from '../../../src/extensions/postgres/ledger/session.ts';
import { runPipeline } from '../../../src/extensions/postgres/wire-pipeline.ts';
import { waitFor } from '../../../src/extensions/postgres/embedded/wait.ts';
import { isLong, longTest, ordinaryTest } from '../../support/long.ts';
import { FREE_KEY } from '../../support/daemon.ts';
import { send } from '../../support/otlp-client.ts';
import { aSpan, aTraceRequest, newTraceId } from '../../support/payloads.ts';
import { MIGRATED } from '../../support/migrated.ts';
import { PATIENCE_MS } from '../../support/patience.ts';
import { createDatabase } from '../../support/postgres.ts';
import { type PostgresDaemon, SERVED, startPostgresDaemon } from '../../support/postgres-daemon.ts';

const free = { authorization: `Bearer ${FREE_KEY}` };
/** The pause between two looks at a counter: without one, the daemon of this process would get little time. */
const LOOK_MS = 20;
/** On a busy machine a group may be retried, which takes more round trips. Below the quota of the free plan. */
const MOST_ATTEMPTS = 5;
/** Requests with spans of one trace, each of which is sent twice at once. */
const HOT_REQUESTS = isLong ? 48 : 16;
const oneSpan = (traceId = newTraceId()): string => JSON.stringify(aTraceRequest([aSpan({ traceId })]));

/** A daemon that reaches its database through a proxy. */
async function startBehindProxy(
  t: Test,
  exporters = 'postgres',
): Promise<{ readonly proxy: FaultProxy; readonly daemon: PostgresDaemon }> {
  const { address } = await createDatabase(t, SERVED);
  const proxy = await FaultProxy.start(address);
  const url = `postgres://${address.user}:${address.password}@127.0.0.1:${proxy.port}/${address.database}`;
  const daemon = await startPostgresDaemon(t, { databaseUrl: url, exporters });
  t.teardown(() => proxy.stop());
  return { proxy, daemon };
}

const spans = async ({ query }: PostgresDaemon): Promise<number> => (await query('SELECT FROM sluice.spans')).length;

/** Sends as a client does: again after a 503, which a busy machine may answer. */
async function deliver({ url }: PostgresDaemon, body: string): Promise<number> {
  for (;;) {
    const { status } = await send(url, { body });
    if (status !== 503) return status;
  }
}

const counted = ({ registry }: PostgresDaemon, sample: string): number =>
  Number(registry.print().split(`${sample} `)[1]?.split('\n')[0] ?? 0);

const failures = (daemon: PostgresDaemon, reason: string): number =>
  counted(daemon, `sluice_commit_failures{reason="${reason}"}`);

/** The number of the ledger's connection. Maintenance commits too, on its own connections. */
async function connectionOf(t: Test, proxy: FaultProxy, daemon: PostgresDaemon): Promise<number> {
  let connection = -1;
  const end = proxy.watch(({ text }, place) => {
    if (/^COPY sluice\.spans/.test(text)) connection = place.connection;
  });
  t.equal((await send(daemon.url, { body: oneSpan() })).status, 200);
  end();
  return connection;
}

/** The fewest round trips of a request. */
async function roundTrips(t: Test, proxy: FaultProxy, daemon: PostgresDaemon, sender: object): Promise<number> {
  let fewest = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < MOST_ATTEMPTS && fewest > 1; attempt++) {
    let trips = 0;
    const end = proxy.watch(({ side, kind }, { position }) => {
      if (position >= 0 && side === 'backend' && kind === 'ReadyForQuery') trips++;
    });
    t.equal((await send(daemon.url, { ...sender, body: oneSpan() })).status, 200);
    end();
    fewest = Math.min(fewest, trips);
  }
  return fewest;
}

t.test('a group takes one round trip, with a quota as well', async (t) => {
  const { proxy, daemon } = await startBehindProxy(t);
  t.equal((await send(daemon.url, { body: oneSpan() })).status, 200, 'the connection is made and known');
  t.equal(await roundTrips(t, proxy, daemon, {}), 1);
  t.equal(await roundTrips(t, proxy, daemon, free), 1);
});

t.test('another exporter has written before COMMIT is sent', async (t) => {
  const { proxy, daemon } = await startBehindProxy(t, 'postgres, file');
  t.equal((await send(daemon.url, { body: oneSpan() })).status, 200, 'the connection is made and known');
  t.equal(await roundTrips(t, proxy, daemon, {}), 2);
  t.equal((await daemon.rows()).length, await spans(daemon));
});

t.test('a trigger that leaves rows out fails the request before COMMIT', async (t) => {
  const { proxy, daemon } = await startBehindProxy(t);
  t.equal((await send(daemon.url, { body: oneSpan() })).status, 200);
  await daemon.query(`
    CREATE FUNCTION public.leave_out() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;
    CREATE TRIGGER leave_out BEFORE INSERT ON sluice.spans FOR EACH ROW EXECUTE FUNCTION public.leave_out()`);
  proxy.cutAll();
  // The ledger finds the trigger on its new connection.
  const refused = oneSpan();
  const isRefused = async (): Promise<true | undefined> => {
    t.equal((await send(daemon.url, { body: refused })).status, 503);
    return failures(daemon, 'unavailable') > 0 || undefined;
  };
  t.ok(await waitFor(isRefused, { timeoutMs: PATIENCE_MS }));
  await daemon.query('DROP TRIGGER leave_out ON sluice.spans');
  t.equal(await deliver(daemon, refused), 200);
  t.equal(await spans(daemon), 2);
});

t.test('an outcome that was read from the markers has the quota of a free plan', async (t) => {
  const { proxy, daemon } = await startBehindProxy(t);
  const connection = await connectionOf(t, proxy, daemon);
  const fault: Fault = { kind: 'cut', where: 'before' };
  const shot = proxy.arm({ side: 'backend', kind: 'CommandComplete', text: /^COMMIT$/, connection, fault });
  const answer = await send(daemon.url, { ...free, body: oneSpan() });
  t.equal(shot.hit?.text, 'COMMIT');
  t.equal(answer.status, 200);
  t.equal(answer.headers['ratelimit-limit'], '10');
  t.ok(Number(answer.headers['ratelimit-reset']) > 0);
  t.equal(failures(daemon, 'ambiguous'), 1);
  t.equal(await spans(daemon), 2);
});

longTest('a stored request that is repeated on a connection that is lost is counted as a repetition', async (t) => {
  const { proxy, daemon } = await startBehindProxy(t);
  const body = oneSpan();
  t.equal((await send(daemon.url, { body })).status, 200);
  await daemon.query('UPDATE sluice.replay_markers SET expires_ms = expires_ms - 60000');
  const connection = await connectionOf(t, proxy, daemon);
  const fault: Fault = { kind: 'cut', where: 'before' };
  const shot = proxy.arm({ side: 'backend', kind: 'ErrorResponse', connection, fault });
  t.equal((await send(daemon.url, { body })).status, 200);
  t.ok(shot.hit !== null);
  t.equal(failures(daemon, 'ambiguous'), 1);
  t.equal(counted(daemon, 'sluice_verdicts{signal="traces",verdict="replayed"}'), 1);
  t.equal(counted(daemon, 'sluice_verdicts{signal="traces",verdict="stored"}'), 2);
  t.equal(await spans(daemon), 2);
});

const STATEMENTS = { guards: /INTO sluice\.traces/, counters: /INTO sluice\.usage_months/ };
for (const [name, text] of Object.entries(STATEMENTS)) {
  const test = name === 'guards' ? ordinaryTest : longTest;
  test(`a deadlock at the ${name} is retried, and the group is stored once`, async (t: Test) => {
    const { proxy, daemon } = await startBehindProxy(t);
    const fault: Fault = { kind: 'error', sqlstate: '40P01' };
    const shot = proxy.arm({ side: 'frontend', kind: 'Execute', text, fault });
    t.equal((await send(daemon.url, { body: oneSpan() })).status, 200);
    t.ok(shot.hit !== null);
    t.equal(failures(daemon, 'retried'), 1);
    t.equal(await spans(daemon), 1);
    t.equal(Number((await daemon.query('SELECT spans FROM sluice.usage_months'))[0]?.['spans']), 1);
  });
}

longTest('a lock wait that takes too long is ended and retried', async (t) => {
  const { daemon } = await startBehindProxy(t);
  const traceId = newTraceId();
  t.equal((await send(daemon.url, { body: oneSpan(traceId) })).status, 200);
  const holder = new pg.Client({ connectionString: daemon.databaseUrl });
  await holder.connect();
  await holder.query('BEGIN');
  await holder.query('SELECT FROM sluice.traces FOR UPDATE');
  const waiting = deliver(daemon, oneSpan(traceId));
  // On a busy machine the time for a retry may be over when the wait ends. The answer is then 503 and is sent again.
  const ended = (): number => failures(daemon, 'retried') + failures(daemon, 'unavailable');
  while (ended() === 0) await pause(LOOK_MS);
  await holder.end();
  t.equal(await waiting, 200);
  t.equal(await spans(daemon), 2);
});

t.test('when a guard refuses, the rows of the same write are not stored, in the file neither', async (t) => {
  const { daemon } = await startBehindProxy(t, 'postgres, file');
  const traceId = newTraceId();
  t.equal((await send(daemon.url, { body: oneSpan(traceId) })).status, 200);
  const answers = await Promise.all([
    send(daemon.url, { ...free, body: oneSpan(traceId) }),
    send(daemon.url, { ...free, body: oneSpan() }),
    send(daemon.url, { body: oneSpan() }),
  ]);
  t.same(
    answers.map(({ status }) => status),
    [409, 200, 200],
  );
  t.equal(await spans(daemon), 3);
  t.equal((await daemon.rows()).length, 3);
});

t.test(
  'concurrent requests, with duplicates in flight and a hot trace, are each stored once by any number of groups',
  async (t) => {
    const { daemon } = await startBehindProxy(t, 'postgres, file');
    const hot = newTraceId();
    const bodies = Array.from({ length: HOT_REQUESTS }, () =>
      JSON.stringify(aTraceRequest([aSpan({ traceId: hot }), aSpan(), aSpan({ traceId: hot })])),
    );
    const statuses = await Promise.all([...bodies, ...bodies].map((body) => deliver(daemon, body)));
    t.same([...new Set(statuses)], [200]);
    t.equal(await spans(daemon), 3 * HOT_REQUESTS);
    t.equal(Number((await daemon.query('SELECT spans FROM sluice.usage_months'))[0]?.['spans']), 3 * HOT_REQUESTS);
    t.equal((await daemon.query('SELECT FROM sluice.replay_markers')).length, HOT_REQUESTS);
    t.equal((await daemon.query('SELECT FROM sluice.traces')).length, HOT_REQUESTS + 1);
    const lines = await daemon.rows();
    t.equal(new Set(lines.map((line) => line['span_id'])).size, 3 * HOT_REQUESTS);
  },
);

t.test("every wait of the ledger's connection has a limit", async (t) => {
  const { url } = await createDatabase(t, MIGRATED);
  const database = new Database().use({ connectionString: url });
  const session = await openSession(database);
  const setting = async (name: string): Promise<unknown> => (await session.query(`SHOW ${name}`)).rows[0]?.[name];
  t.equal(await setting('statement_timeout'), '10s');
  t.equal(await setting('lock_timeout'), '2s');
  t.equal(await setting('idle_in_transaction_session_timeout'), '15s');
  t.equal(await setting('idle_session_timeout'), '0');
  t.equal(await setting('synchronous_commit'), 'on');
  await session.end();
  await database.close();
});

const BIG_ROW_BYTES = 5000;
const BIG_ROWS = 512;
const GROUPS = 4;
const GROUPS_PAGES = (GROUPS * BIG_ROWS * BIG_ROW_BYTES) / 4096;
const SESSIONS = 2;
/** The column count of a row, and the length of its only column. */
const BIG_ROW = Buffer.concat([
  Buffer.from([0, 1, 0, 0, BIG_ROW_BYTES >> 8, BIG_ROW_BYTES & 0xff]),
  Buffer.alloc(BIG_ROW_BYTES),
]);

/** Page faults of the server's process during the rows of some groups, after as many rows before. */
async function faultsOfCopies(session: pg.Client): Promise<number> {
  const { rows } = await session.query('SELECT pg_backend_pid() AS pid');
  const faults = (): number => Number(readFileSync(`/proc/${rows[0]?.pid}/stat`, 'utf8').split(' ')[9]);
  const copy = {
    statement: { text: 'COPY public.big FROM STDIN (FORMAT binary)' },
    chunks: Array.from({ length: BIG_ROWS }, () => BIG_ROW),
  };
  for (let group = 0; group < GROUPS; group++) await runPipeline(session, [copy]);
  const before = faults();
  for (let group = 0; group < GROUPS; group++) await runPipeline(session, [copy]);
  return faults() - before;
}

const onLinux = existsSync('/proc/self/stat');
longTest('the server keeps the memory of one group for the next', { skip: !onLinux && 'needs /proc' }, async (t) => {
  const { url } = await createDatabase(t, MIGRATED);
  const database = new Database().use({ connectionString: url });
  await database.query('CREATE TABLE public.big (value bytea)');
  await database.query('ALTER TABLE public.big ALTER COLUMN value SET STORAGE EXTERNAL');
  const faults: number[] = [];
  for (let count = 0; count < SESSIONS; count++) {
    const session = await openSession(database);
    faults.push(await faultsOfCopies(session));
    await session.end();
  }
  // The table's own pages are touched once each. Memory that is returned after each group would be touched again, at
  // least as many pages. The smaller of two figures: the kernel may take pages from any process.
  t.ok(Math.min(...faults) < GROUPS_PAGES * 2, `${faults} page faults, ${GROUPS_PAGES} pages of rows`);
  await database.close();
});

t.test('notices and warnings of a trigger at COMMIT do not make the outcome unknown', async (t) => {
  const daemon = await startPostgresDaemon(t);
  await daemon.query(`
    CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      RAISE NOTICE 'a notice'; RAISE WARNING 'a warning'; RAISE LOG 'a line'; RETURN NULL;
    END $$;
    CREATE CONSTRAINT TRIGGER tell AFTER INSERT ON sluice.replay_markers DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION tell()`);
  for (let requests = 0; requests < 3; requests++) t.equal(await deliver(daemon, oneSpan()), 200);
  t.equal(failures(daemon, 'ambiguous'), 0);
});
