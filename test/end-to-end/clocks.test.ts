/**
 * Replicas with wrong clocks, and a database that is available late: every record is in the day of the database's
 * clock.
 */
import pg from 'pg';
import t from 'tap';
import { waitFor } from '../../src/extensions/postgres/embedded/wait.ts';
import { longTest } from '../support/long.ts';
import { startDaemon } from '../support/daemon.ts';
import { send } from '../support/otlp-client.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { aSpan, aTraceRequest } from '../support/payloads.ts';
import { MIGRATED } from '../support/migrated.ts';
import { createDatabase, makeServer } from '../support/postgres.ts';
import { postgresConfig, startPostgresDaemon } from '../support/postgres-daemon.ts';
import { DAY_MS } from '../../src/pdata/time-units.ts';

t.setTimeout(300_000);

const CLOCKS: Readonly<Record<string, () => number>> = {
  'forty days behind': () => Date.now() - 40 * DAY_MS,
  'forty days ahead': () => Date.now() + 40 * DAY_MS,
  'of a device that starts in 1970': () => 1000,
};

const aSpanNow = () => ({ ...aSpan(), startTimeUnixNano: String(BigInt(Date.now()) * 1_000_000n) });
const logs = (text: string): string =>
  JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords: [{ body: { stringValue: text } }] }] }] });
const metrics = (name: string): string =>
  JSON.stringify({
    resourceMetrics: [
      { scopeMetrics: [{ metrics: [{ name, gauge: { dataPoints: [{ timeUnixNano: '1', asInt: '1' }] } }] }] },
    ],
  });

t.test('acknowledged records are stored, with any clock of the replica', async (t) => {
  const { url: databaseUrl } = await createDatabase(t, MIGRATED);
  for (const [name, now] of Object.entries(CLOCKS)) {
    const daemon = await startDaemon(t, { config: postgresConfig({ databaseUrl }), now });
    t.equal((await send(daemon.url, { body: JSON.stringify(aTraceRequest([aSpanNow()])) })).status, 200, name);
    t.equal((await send(daemon.url, { path: '/v1/logs', body: logs(name) })).status, 200, name);
    t.equal((await send(daemon.url, { path: '/v1/metrics', body: metrics(name) })).status, 200, name);
  }
  const { query } = await startPostgresDaemon(t, { databaseUrl });
  for (const table of ['spans', 'logs', 'metric_points']) {
    const rows = await query(`
      SELECT count(*)::int4 AS stored, bool_and(abs(extract(epoch FROM now() - received_at)) < 120) AS on_time,
        count(*) FILTER (WHERE tableoid = 'sluice.${table}_default'::regclass)::int4 AS outside FROM sluice.${table}`);
    t.strictSame(rows, [{ stored: 3, on_time: true, outside: 0 }], table);
  }
});

longTest('a database that is available late has its partitions before the first request is stored', async (t) => {
  const server = await makeServer(t);
  const config = postgresConfig({ databaseUrl: server.url }).replace(', allow_unsafe: true', '');
  const daemon = await startDaemon(t, { config });
  let [going, stored] = [true, 0];
  const senders = Array.from({ length: 32 }, async () => {
    while (going) {
      const { status } = await send(daemon.url, { body: JSON.stringify(aTraceRequest([aSpanNow()])) });
      if (status === 200) stored++;
      else await new Promise((resolve) => setTimeout(resolve, 15));
    }
  });
  await server.start();
  await waitFor(async () => (stored > 100 ? true : undefined), { timeoutMs: PATIENCE_MS });
  going = false;
  await Promise.all(senders);
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  const { rows } = await client.query(`
    SELECT (SELECT count(*)::int4 FROM sluice.spans) AS spans, (SELECT count(*)::int4 FROM sluice.spans_default) AS outside,
      (SELECT array_agg(n ORDER BY t)::int4[] FROM (
        SELECT inhparent::regclass::text AS t, count(*) AS n FROM pg_inherits
        WHERE inhparent IN ('sluice.spans'::regclass, 'sluice.logs'::regclass, 'sluice.metric_points'::regclass) GROUP BY 1) p) AS days`);
  await client.end();
  t.strictSame(rows, [{ spans: stored, outside: 0, days: [9, 9, 16] }]);
});
