// The ledger in a real database: records that are stored once, refusals, and the state after a refusal.
import pg from 'pg';
import t from 'tap';
import { waitFor } from '../../../src/extensions/postgres/embedded/wait.ts';
import { isLong, longTest } from '../../support/long.ts';
import { FREE_KEY, OTHER_KEY } from '../../support/daemon.ts';
import { send } from '../../support/otlp-client.ts';
import {
  aGauge,
  aLogRequest,
  aMetricRequest,
  aSpan,
  aTraceRequest,
  newSpanId,
  newTraceId,
  START_NS,
} from '../../support/payloads.ts';
import { PATIENCE_MS } from '../../support/patience.ts';
import { type PostgresDaemon, startPostgresDaemon } from '../../support/postgres-daemon.ts';

const other = { authorization: `Bearer ${OTHER_KEY}` };
const free = { authorization: `Bearer ${FREE_KEY}` };

/** Every table that a refused request could change. */
async function ledgerOf({ query }: PostgresDaemon): Promise<object> {
  const count = async (table: string): Promise<number> =>
    Number((await query(`SELECT count(*) AS n FROM sluice.${table}`))[0]?.['n']);
  return {
    spans: await count('spans'),
    logs: await count('logs'),
    points: await count('metric_points'),
    markers: await count('replay_markers'),
    traces: await count('traces'),
    usage: await query(
      'SELECT project, spans::int, logs::int, metric_points::int FROM sluice.usage_months ORDER BY project',
    ),
  };
}

t.test('records of all three signals are in the tables and views before the answer', async (t) => {
  const daemon = await startPostgresDaemon(t);
  const traceId = newTraceId();
  const spanId = newSpanId();
  t.equal(
    (
      await send(daemon.url, {
        body: JSON.stringify(aTraceRequest([aSpan({ traceId, spanId, name: 'GET /', attributes: { a: 'x', n: 1 } })])),
      })
    ).status,
    200,
  );
  t.equal(
    (
      await send(daemon.url, {
        path: '/v1/logs',
        body: JSON.stringify(
          aLogRequest([{ timeUnixNano: String(START_NS), traceId, severityNumber: 9, body: { stringValue: 'hello' } }]),
        ),
      })
    ).status,
    200,
  );
  t.equal(
    (await send(daemon.url, { path: '/v1/metrics', body: JSON.stringify(aMetricRequest([aGauge('load', 0.5)])) }))
      .status,
    200,
  );
  const [span] = await daemon.query('SELECT * FROM spans');
  t.match(span, {
    signal: 'span',
    project: 'demo',
    environment: 'default',
    service_name: 'shop',
    trace_id: traceId,
    span_id: spanId,
    name: 'GET /',
    status: 'unset',
    start_time_unix_nano: String(START_NS),
    duration_ns: '1000000',
    attributes: { a: 'x', n: 1 },
  });
  const [log] = await daemon.query('SELECT * FROM logs');
  t.match(log, { signal: 'log', trace_id: traceId, severity_number: 9, body: 'hello' });
  const [point] = await daemon.query('SELECT * FROM metric_points');
  t.match(point, { signal: 'metric', name: 'load', type: 'gauge', value: '0.5' });
  const [trace] = await daemon.query('SELECT * FROM traces');
  t.match(trace, {
    trace_id: traceId,
    project: 'demo',
    environment: 'default',
    root_name: 'GET /',
    root_span_id: spanId,
    span_count: '1',
    error_count: '0',
  });
});

t.test('a refused request leaves no row, no marker, no claim and no usage', async (t) => {
  const daemon = await startPostgresDaemon(t);
  const traceId = newTraceId();
  t.equal((await send(daemon.url, { body: JSON.stringify(aTraceRequest([aSpan({ traceId })])) })).status, 200);
  const before = await ledgerOf(daemon);
  const refused = [
    [409, { ...other, body: JSON.stringify(aTraceRequest([aSpan(), aSpan({ traceId })])) }],
    [403, { body: JSON.stringify(aTraceRequest([aSpan(), aSpan({ traceId })], { 'deployment.environment': 'b' })) }],
    [429, { ...free, body: JSON.stringify(aTraceRequest(Array.from({ length: 11 }, () => aSpan()))) }],
    [400, { body: JSON.stringify(aTraceRequest([aSpan(), { ...aSpan(), spanId: '00' }])) }],
    [401, { authorization: 'Bearer an-unknown-key', body: JSON.stringify(aTraceRequest([aSpan()])) }],
  ] as const;
  const answers = await Promise.all(refused.map(async ([, sending]) => (await send(daemon.url, sending)).status));
  t.same(
    answers,
    refused.map(([status]) => status),
    'together in one group or not',
  );
  t.same(await ledgerOf(daemon), before);
});

longTest('a refused request does not delay the others of its group', async (t) => {
  const daemon = await startPostgresDaemon(t);
  const traceId = newTraceId();
  t.equal(
    (await send(daemon.url, { ...other, body: JSON.stringify(aTraceRequest([aSpan({ traceId })])) })).status,
    200,
  );
  const statuses = await Promise.all(
    Array.from({ length: 20 }, async (_, index) => {
      const body = JSON.stringify(aTraceRequest([index % 5 === 0 ? aSpan({ traceId }) : aSpan()]));
      return (await send(daemon.url, { body })).status;
    }),
  );
  t.same(
    statuses.map((status, index) => status === (index % 5 === 0 ? 409 : 200)),
    Array(20).fill(true),
  );
  t.equal((await daemon.query('SELECT FROM sluice.spans')).length, 17);
});

/** Attempts at a race. */
const ROUNDS = isLong ? 10 : 3;

t.test('of two projects that claim one new trace at once, one gets it', async (t) => {
  const daemon = await startPostgresDaemon(t);
  for (let round = 0; round < ROUNDS; round++) {
    const traceId = newTraceId();
    const answers = await Promise.all([
      send(daemon.url, { body: JSON.stringify(aTraceRequest([aSpan({ traceId })])) }),
      send(daemon.url, { ...other, body: JSON.stringify(aTraceRequest([aSpan({ traceId })])) }),
    ]);
    t.same(answers.map(({ status }) => status).sort(), [200, 409]);
    t.equal((await daemon.query('SELECT FROM spans WHERE trace_id = $1', [traceId])).length, 1);
  }
});

t.test('duplicates in flight are stored once, also when they reach two replicas', async (t) => {
  const first = await startPostgresDaemon(t);
  const second = await startPostgresDaemon(t, { databaseUrl: first.databaseUrl });
  for (let round = 0; round < ROUNDS; round++) {
    const body = JSON.stringify(
      aLogRequest([{ timeUnixNano: String(START_NS), body: { stringValue: `round ${round}` } }]),
    );
    const answers = await Promise.all(
      [first.url, second.url, first.url, second.url].map((url) => send(url, { path: '/v1/logs', body })),
    );
    t.same(
      answers.map(({ status }) => status),
      [200, 200, 200, 200],
    );
  }
  t.equal((await first.query('SELECT FROM sluice.logs')).length, ROUNDS);
  t.equal(Number((await first.query('SELECT logs FROM sluice.usage_months'))[0]?.['logs']), ROUNDS);
});

t.test('a span that is sent again in other bytes makes no second row and is not counted twice', async (t) => {
  const daemon = await startPostgresDaemon(t);
  const traceId = newTraceId();
  const span = aSpan({ traceId });
  t.equal((await send(daemon.url, { body: JSON.stringify(aTraceRequest([span])) })).status, 200);
  t.equal(
    (await send(daemon.url, { body: JSON.stringify(aTraceRequest([aSpan({ traceId }), span, span])) })).status,
    200,
  );
  t.equal((await send(daemon.url, { body: JSON.stringify(aTraceRequest([span, aSpan({ traceId })])) })).status, 200);
  t.equal((await daemon.query('SELECT FROM sluice.spans')).length, 3);
  t.equal(Number((await daemon.query('SELECT spans FROM sluice.usage_months'))[0]?.['spans']), 3);
  t.match((await daemon.query('SELECT span_count FROM traces'))[0], { span_count: '3' });
});

t.test('the quota is never exceeded, by any number of concurrent requests', async (t) => {
  const first = await startPostgresDaemon(t);
  const second = await startPostgresDaemon(t, { databaseUrl: first.databaseUrl });
  const answers = await Promise.all(
    Array.from({ length: 16 }, (_, index) =>
      send(index % 2 === 0 ? first.url : second.url, {
        ...free,
        body: JSON.stringify(aTraceRequest([aSpan(), aSpan(), aSpan()])),
      }),
    ),
  );
  t.equal(answers.filter(({ status }) => status === 200).length, 3, '3 × 3 spans fit into 10');
  const refused = answers.filter(({ status }) => status === 429);
  t.equal(refused.length, 13);
  t.ok(refused.every(({ headers }) => Number(headers['retry-after']) > 0 && headers['ratelimit-limit'] === '10'));
  t.equal((await first.query('SELECT FROM sluice.spans')).length, 9);
  t.equal(Number((await first.query("SELECT spans FROM sluice.usage_months WHERE project = 'free'"))[0]?.['spans']), 9);
});

t.test('a small request of a project with a quota does not wait for the rows of its large one', async (t) => {
  const daemon = await startPostgresDaemon(t);
  const ask = (...spans: ReturnType<typeof aSpan>[]) =>
    send(daemon.url, { ...free, body: JSON.stringify(aTraceRequest(spans)) });
  const ids = { traceId: newTraceId(), spanId: newSpanId() };
  t.equal((await ask(aSpan(ids))).status, 200);
  // COPY waits for the outcome of a transaction that removes the same span.
  const holder = new pg.Client({ connectionString: daemon.databaseUrl });
  await holder.connect();
  await holder.query('BEGIN; DELETE FROM sluice.spans');
  let isAnswered = false;
  const large = ask(aSpan({ ...ids, name: 'large', attributes: { text: 'x'.repeat(700_000) } })).finally(() => {
    isAnswered = true;
  });
  const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  while ((await daemon.query(waiting)).length === 0);
  t.same([(await ask(aSpan())).status, isAnswered], [200, false]);
  await holder.query('ROLLBACK');
  await holder.end();
  t.equal((await large).status, 200);
  t.equal(Number((await daemon.query('SELECT spans FROM sluice.usage_months'))[0]?.['spans']), 2, 'no span twice');
  const rest = Array.from({ length: 8 }, () => aSpan());
  t.equal((await ask(...rest, aSpan())).status, 429);
  t.equal((await ask(...rest)).status, 200);
});

longTest('a clock of 1970 or 2100 is stored like any other, without a partition of its own', async (t) => {
  const daemon = await startPostgresDaemon(t);
  const partitions = async (): Promise<number> =>
    (await daemon.query("SELECT FROM pg_inherits WHERE inhparent = 'sluice.spans'::regclass")).length;
  const before = await partitions();
  for (const start of [1n, 4102444800000000000n, 9223372036854775807n - 1000000n]) {
    t.equal((await send(daemon.url, { body: JSON.stringify(aTraceRequest([aSpan({ start })])) })).status, 200);
  }
  t.equal((await daemon.query('SELECT FROM sluice.spans_default')).length, 3);
  t.equal(await partitions(), before);
});

t.test(
  'while the database is unavailable: 503 with Retry-After, no acknowledgement; afterwards ingest continues',
  async (t) => {
    const daemon = await startPostgresDaemon(t);
    t.equal((await send(daemon.url, { body: JSON.stringify(aTraceRequest([aSpan()])) })).status, 200);
    await daemon.query('ALTER TABLE sluice.spans RENAME TO spans_away');
    const body = JSON.stringify(aTraceRequest([aSpan()]));
    const failed = await send(daemon.url, { body });
    t.equal(failed.status, 503);
    t.equal(failed.headers['retry-after'], '1');
    await daemon.query('ALTER TABLE sluice.spans_away RENAME TO spans');
    t.equal((await send(daemon.url, { body })).status, 200, 'the same bytes: no marker was left');
    await daemon.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'sluice' AND datname = current_database()",
    );
    // The backends end some time after the signal. Until then the daemon may find the database unavailable.
    const answered = async (): Promise<true | undefined> => {
      const { status } = await send(daemon.url, { body: JSON.stringify(aTraceRequest([aSpan()])) });
      if (status !== 200 && status !== 503) t.fail(`an answer of ${status}`);
      return status === 200 || undefined;
    };
    t.ok(await waitFor(answered, { timeoutMs: PATIENCE_MS }), 'on a new connection');
  },
);

longTest('rows of both sinks are equal', async (t) => {
  const daemon = await startPostgresDaemon(t, { exporters: 'postgres, file' });
  t.equal(
    (
      await send(daemon.url, {
        body: JSON.stringify(aTraceRequest([aSpan({ attributes: { a: 'ü"\\', f: 0.1, b: true } })])),
      })
    ).status,
    200,
  );
  const [row] = await daemon.rows();
  const [stored] = await daemon.query('SELECT * FROM spans');
  const { received_at: receivedAt, ...line } = row as Record<string, unknown>;
  const { received_at: storedAt, ...columns } = stored as Record<string, unknown>;
  t.same(columns, line);
  t.equal((storedAt as Date).getTime(), Date.parse(String(receivedAt)));
});
