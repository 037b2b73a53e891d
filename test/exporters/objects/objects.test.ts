// Objects through a whole daemon and a real database: every acknowledged record is in exactly one part, whatever the
// store and the ledger answer.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import type { ObjectStore } from '../../../src/object-store/object-store.ts';
import { openStore } from '../../../src/object-store/open-store.ts';
import { FREE_KEY, OTHER_KEY, STAGING_KEY } from '../../support/daemon.ts';
import { startS3 } from '../../support/fake-s3.ts';
import { send } from '../../support/otlp-client.ts';
import { aGauge, aLogRequest, aMetricRequest, aSpan, aTraceRequest, newTraceId } from '../../support/payloads.ts';
import { type PostgresDaemon, startPostgresDaemon } from '../../support/postgres-daemon.ts';
import { readParts, type StoredPart } from '../../support/stored-parts.ts';
import { eventually } from '../../support/eventually.ts';
import { longTest, ordinaryTest } from '../../support/long.ts';

t.setTimeout(300_000);

interface Scene extends PostgresDaemon {
  readonly store: ObjectStore;
  parts(): Promise<readonly StoredPart[]>;
  /** The names of all spans of the parts, sorted. */
  names(): Promise<readonly string[]>;
}

interface SceneOptions {
  readonly to: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly exporters?: string;
  readonly databaseUrl?: string;
  readonly linger?: string;
}

async function startScene(t: Parameters<typeof startPostgresDaemon>[0], options: SceneOptions): Promise<Scene> {
  const { to, env = {}, exporters = 'objects', databaseUrl, linger = '0s' } = options;
  const daemon = await startPostgresDaemon(t, {
    exporters,
    moreExporters: `objects: { to: "${to}", linger: ${linger} }`,
    env,
    ...(databaseUrl === undefined ? {} : { databaseUrl }),
  });
  const store = openStore(to, { environment: env });
  const parts = (): Promise<readonly StoredPart[]> => readParts(daemon.query, store);
  const names = async (): Promise<readonly string[]> =>
    (await parts()).flatMap(({ rows }) => rows.map(({ name }) => String(name))).sort();
  return { ...daemon, store, parts, names };
}

/** By the extension of either codec; which one is used depends on the version of Node.js. */
const isIngested = (key: string): boolean => /\.(?:gz|zst)$/u.test(key);

async function startInBucket(t: Parameters<typeof startS3>[0], exporters = 'objects') {
  const s3 = await startS3(t);
  const scene = await startScene(t, { to: `s3://${s3.bucket}/some/prefix`, env: s3.environment, exporters });
  const ingested = (): readonly string[] => [...s3.objects.keys()].filter((key) => isIngested(key));
  return { s3, scene, ingested };
}

function aFolder(t: { teardown(task: () => void): unknown }): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-objects-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const spanBody = (name: string, traceId = newTraceId()): string =>
  JSON.stringify(aTraceRequest([aSpan({ name, traceId })]));

t.test('all signals: what was accepted is read from the parts, in a folder', async (t) => {
  const scene = await startScene(t, { to: aFolder(t), linger: '500ms' });
  const spans = ['a', 'b', 'c'].map((name) => send(scene.url, { body: spanBody(name) }));
  const others = {
    '/v1/logs': aLogRequest([{ timeUnixNano: '5', body: { stringValue: 'hello' } }]),
    '/v1/metrics': aMetricRequest([aGauge('load', 0.5)]),
  };
  for (const answer of await Promise.all(spans)) t.equal(answer.status, 200);
  for (const [path, request] of Object.entries(others))
    t.equal((await send(scene.url, { path, body: JSON.stringify(request) })).status, 200);
  const parts = await scene.parts();
  t.same(
    parts.map(({ signal, project, records }) => [signal, project, records]),
    [
      ['spans', 'demo', 1],
      ['spans', 'demo', 1],
      ['spans', 'demo', 1],
      ['logs', 'demo', 1],
      ['metric_points', 'demo', 1],
    ],
  );
  t.ok(parts.every(({ rows, records }) => rows.length === records));
  t.same(await scene.names(), ['a', 'b', 'c', 'load', 'undefined']);
  t.equal(new Set(parts.slice(0, 3).map(({ object }) => object)).size, 1, 'requests share an object');
  const [span] = parts.flatMap(({ rows }) => rows.filter(({ name }) => name === 'a'));
  t.match(span, { signal: 'span', project: 'demo', environment: 'default', service_name: 'shop', kind: 'unspecified' });
  const [usage] = await scene.query('SELECT spans, logs, metric_points FROM sluice.usage_months');
  t.match(usage, { spans: '3', logs: '1', metric_points: '1' });
  t.ok(scene.registry.print().includes('sluice_object_seconds_count'));
});

t.test('a part has the outermost times of its records, and says whether the tables have them too', async (t) => {
  const read = async ({ query }: Scene) =>
    query(
      'SELECT signal, first_ns::text AS first, last_ns::text AS last, in_tables FROM sluice.parts ORDER BY received_at',
    );
  const at = 1_800_000_000_123_456_789n;
  const body = JSON.stringify(aTraceRequest([at + 9_000_000_000n, at, at + 5n].map((start) => aSpan({ start }))));
  const alone = await startScene(t, { to: aFolder(t) });
  t.equal((await send(alone.url, { body })).status, 200);
  for (const record of [{ timeUnixNano: '7000', observedTimeUnixNano: '1' }, { observedTimeUnixNano: '9000' }, {}])
    t.equal((await send(alone.url, { path: '/v1/logs', body: JSON.stringify(aLogRequest([record])) })).status, 200);
  const parts = await read(alone);
  t.ok(parts.every((part) => part['in_tables'] === false));
  const isNear = (value: unknown, ns: bigint, side: -1n | 1n): boolean => {
    const apart = (BigInt(String(value)) - ns) * side;
    return apart >= 0n && apart < 10_000n;
  };
  const [spans, withTime, observed, without] = parts;
  t.ok(isNear(spans?.['first'], at, -1n) && isNear(spans?.['last'], at + 9_000_000_000n, 1n));
  t.ok(isNear(withTime?.['first'], 7000n, -1n) && isNear(observed?.['last'], 9000n, 1n));
  t.match(without, { first: null, last: null });
  const both = await startScene(t, { to: aFolder(t), exporters: 'objects, postgres' });
  t.equal((await send(both.url, { body })).status, 200);
  t.match(await read(both), [{ in_tables: true }]);
});

t.test('a metric without points makes no part', async (t) => {
  const scene = await startScene(t, { to: aFolder(t) });
  const body = JSON.stringify(aMetricRequest([{ name: 'empty', gauge: { dataPoints: [] } }]));
  t.equal((await send(scene.url, { path: '/v1/metrics', body })).status, 200);
  t.same(await scene.parts(), []);
});

t.test('a replay, a conflict, another environment and a full quota leave no part', async (t) => {
  const { scene, ingested } = await startInBucket(t);
  const traceId = newTraceId();
  const body = spanBody('first', traceId);
  const answers = [
    await send(scene.url, { body }),
    await send(scene.url, { body }),
    await send(scene.url, { body: spanBody('conflict', traceId), authorization: `Bearer ${OTHER_KEY}` }),
    await send(scene.url, {
      body: JSON.stringify(aTraceRequest([aSpan({ name: 'wrong', traceId })], { 'deployment.environment': 'staging' })),
      authorization: `Bearer ${STAGING_KEY}`,
    }),
    await send(scene.url, {
      body: JSON.stringify(aTraceRequest(Array.from({ length: 11 }, () => aSpan({ name: 'too many' })))),
      authorization: `Bearer ${FREE_KEY}`,
    }),
  ];
  t.same(
    answers.map(({ status }) => status),
    [200, 200, 409, 403, 429],
  );
  t.same(await scene.names(), ['first']);
  t.equal(ingested().length, 5, 'their objects have no part');
});

longTest('equal bytes at once are accepted once', async (t) => {
  const { scene } = await startInBucket(t);
  const body = spanBody('once');
  const answers = await Promise.all(Array.from({ length: 6 }, () => send(scene.url, { body })));
  t.same(new Set(answers.map(({ status }) => status)), new Set([200]));
  t.same(await scene.names(), ['once']);
});

t.test('beside `postgres` a request is in both or in neither', async (t) => {
  const { scene } = await startInBucket(t, 'postgres, objects');
  const body = spanBody('both');
  t.equal((await send(scene.url, { body })).status, 200);
  await scene.query('ALTER TABLE sluice.parts RENAME TO parts_away');
  t.equal((await send(scene.url, { body: spanBody('neither') })).status, 503);
  await scene.query('ALTER TABLE sluice.parts_away RENAME TO parts');
  t.same(await scene.names(), ['both']);
  t.same(await scene.query('SELECT name FROM spans'), [{ name: 'both' }]);
});

t.test(
  'a commit that fails after the put leaves an object without a part; sent again, it is stored once',
  async (t) => {
    const { scene, ingested } = await startInBucket(t);
    const body = spanBody('again');
    await scene.query('ALTER TABLE sluice.parts RENAME TO parts_away');
    const refused = await send(scene.url, { body });
    t.equal(refused.status, 503);
    t.ok(refused.headers['retry-after']);
    t.equal(ingested().length, 1);
    await scene.query('ALTER TABLE sluice.parts_away RENAME TO parts');
    t.equal((await send(scene.url, { body })).status, 200);
    t.same(await scene.names(), ['again']);
    t.equal(ingested().length, 2);
  },
);

for (const fault of ['slow_down', 'lost', 'expired'] as const) {
  const test = fault === 'lost' ? ordinaryTest : longTest;
  test(`a put that fails once (${fault}) is repeated under a new key, and nothing is stored twice`, async (t) => {
    const { s3, scene, ingested } = await startInBucket(t);
    s3.faults.push(fault);
    t.equal((await send(scene.url, { body: spanBody(fault) })).status, 200);
    t.same(await scene.names(), [fault]);
    t.equal(ingested().length, fault === 'lost' ? 2 : 1);
    t.equal(new Set(s3.requests.filter(({ key }) => isIngested(key)).map(({ key }) => key)).size, 2);
    t.match(scene.registry.print(), /sluice_object_failures\{fault="(?:unavailable|denied)"\} 1/);
  });
}

longTest('a cut answer of a put: the put counts, or is repeated; nothing is stored twice', async (t) => {
  const { s3, scene } = await startInBucket(t);
  s3.faults.push('cut');
  t.equal((await send(scene.url, { body: spanBody('cut') })).status, 200);
  t.same(await scene.names(), ['cut']);
});

longTest('a bucket that refuses: 503 with Retry-After and not ready, until it can be written again', async (t) => {
  const { s3, scene } = await startInBucket(t);
  const body = spanBody('late');
  const problems = (): readonly string[] => scene.service.problems();
  t.same(problems(), []);
  // The tries of the object, and the first check of the store.
  s3.faults.push('denied', 'denied', 'denied', 'denied');
  const answer = await send(scene.url, { body });
  t.same([answer.status, answer.headers['retry-after']], [503, '1']);
  t.ok(problems().join().includes('objects'), 'it is not ready');
  t.equal((await send(scene.url, { body })).status, 503, 'refused before anything is put');
  t.same(await scene.names(), []);
  await eventually('the bucket is back', () => problems().length === 0);
  t.equal((await send(scene.url, { body })).status, 200);
  t.same(await scene.names(), ['late']);
});

longTest('a bucket that stops answering: all waiting requests get 503, with one attempt for each object', async (t) => {
  const { s3, scene } = await startInBucket(t);
  t.equal((await send(scene.url, { body: spanBody('before') })).status, 200);
  s3.faults.push(...Array<'hang'>(10).fill('hang'));
  const startedMs = performance.now();
  const first = send(scene.url, { body: spanBody('first') });
  await eventually('its put has begun', () => s3.requests.at(-1)?.method === 'PUT');
  const waiting = Array.from({ length: 20 }, (_, index) => send(scene.url, { body: spanBody(`waiting ${index}`) }));
  const answers = await Promise.all([first, ...waiting]);
  t.same([...new Set(answers.map(({ status }) => status))], [503]);
  t.ok(performance.now() - startedMs < 20_000, 'the time of one attempt, not of three');
  s3.faults.length = 0;
  await eventually('the bucket is back', () => scene.service.problems().length === 0);
  t.equal((await send(scene.url, { body: spanBody('after') })).status, 200);
  t.same(await scene.names(), ['after', 'before']);
});

longTest(
  'a bucket that is unavailable at the start: the daemon starts, answers 503, and stores when it is available',
  async (t) => {
    const s3 = await startS3(t);
    s3.isGone = true;
    const scene = await startScene(t, { to: `s3://${s3.bucket}`, env: s3.environment });
    const body = spanBody('later');
    t.equal((await send(scene.url, { body })).status, 503);
    s3.isGone = false;
    await eventually('the bucket is found', async () => (await send(scene.url, { body })).status === 200);
    t.same(await scene.names(), ['later']);
  },
);

longTest(
  'a commit that fails after the put leaves an object without a part, and the retry is accepted once',
  async (t) => {
    const { scene, ingested } = await startInBucket(t);
    await scene.query(`
    CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE SQLSTATE '57P01'; END $$;
    CREATE CONSTRAINT TRIGGER fails AFTER INSERT ON sluice.parts DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION fail()`);
    const body = spanBody('again');
    t.equal((await send(scene.url, { body })).status, 503);
    t.same([ingested().length, (await scene.parts()).length], [1, 0]);
    await scene.query('DROP TRIGGER fails ON sluice.parts');
    await eventually('the commit succeeds', async () => (await send(scene.url, { body })).status === 200);
    t.same(await scene.names(), ['again']);
  },
);

longTest('a place has the objects of one database', async (t) => {
  const to = aFolder(t);
  const first = await startScene(t, { to });
  t.equal((await send(first.url, { body: spanBody('mine') })).status, 200);
  const replica = await startScene(t, { to, databaseUrl: first.databaseUrl });
  t.equal((await send(replica.url, { body: spanBody('replica') })).status, 200, 'daemons on one database share it');
  const other = await startScene(t, { to });
  t.equal((await send(other.url, { body: spanBody('other') })).status, 503);
  const line = other.log.find(({ level }) => level === 'error');
  t.match(line?.fields, { error: { message: /has the objects of another database/, hint: /ingest\/owner\.json/ } });
  await first.store.delete(['ingest/owner.json']);
  await eventually(
    'it takes the place over',
    async () => (await send(other.url, { body: spanBody('x') })).status === 200,
  );
});

longTest('many senders and lost answers: each acknowledged span is read exactly once', async (t) => {
  const { s3, scene } = await startInBucket(t);
  const acknowledged: string[] = [];
  const sender = async (number: number): Promise<void> => {
    for (let request = 0; request < 10; request++) {
      const spans = Array.from({ length: 20 }, (_, index) => ({ name: `${number}-${request}-${index}` }));
      const body = JSON.stringify(aTraceRequest(spans.map((span) => aSpan(span))));
      if (number % 5 === 0 && request === 4) s3.faults.push('lost');
      // As a client does: the same bytes until they are accepted.
      while ((await send(scene.url, { body })).status !== 200);
      acknowledged.push(...spans.map(({ name }) => name));
    }
  };
  await Promise.all(Array.from({ length: 20 }, (_, number) => sender(number)));
  const names = await scene.names();
  t.equal(names.length, 4000);
  t.same(names, acknowledged.sort());
});
