/** With objects alone the ledger does not grow without limit: claims and counters expire as with the tables. */
import t from 'tap';
import { TimeObserver } from '../../../src/component/observed-time.ts';
import { expireLedger } from '../../../src/exporters/objects/expiry.ts';
import { Database } from '../../../src/extensions/postgres/database.ts';
import { startCompaction } from '../../support/compaction-scene.ts';
import { eventually } from '../../support/eventually.ts';
import { send } from '../../support/otlp-client.ts';
import { aSpan, aTraceRequest, newTraceId } from '../../support/payloads.ts';
import { startPostgresDaemon } from '../../support/postgres-daemon.ts';
import { DAY_MS } from '../../../src/pdata/time-units.ts';

t.setTimeout(300_000);

const PERIODS = { traces: 30 * DAY_MS, usage: 400 * DAY_MS };

const scene = await startCompaction(t, 'objects');
const { client } = scene;
const database = new Database().use({ connectionString: scene.databaseUrl });
t.teardown(() => database.close());
const { signal } = new AbortController();
const expire = () => expireLedger(database, PERIODS, { observer: new TimeObserver(() => performance.now()), signal });
const query = async (text: string, values: readonly unknown[] = []) => (await client.query(text, [...values])).rows;
const claims = async (): Promise<readonly string[]> =>
  (await query("SELECT encode(trace_id, 'hex') AS id FROM sluice.traces ORDER BY created_at")).map(({ id }) => id);

const [old, recent] = [newTraceId(), newTraceId()];
for (const traceId of [old, recent])
  await send(scene.url, { body: JSON.stringify(aTraceRequest([aSpan({ traceId })])) });
const age = (days: number, traceId: string) =>
  query("UPDATE sluice.traces SET created_at = now() - $1 * interval '1 day' WHERE trace_id = decode($2, 'hex')", [
    days,
    traceId,
  ]);
await age(40, old);
await age(10, recent);
await query("UPDATE sluice.parts SET received_at = now() - interval '41 days'");
await query(
  `INSERT INTO sluice.usage_months (project, month, spans) SELECT project, month - interval '15 months', 1 FROM sluice.usage_months`,
);

t.test('a claim stays while its requests wait for their publication', async (t) => {
  await expire();
  t.same(await claims(), [old, recent]);
});

t.test('afterwards claims and counters of months expire by their age', async (t) => {
  await scene.run();
  await expire();
  t.same(await claims(), [recent]);
  t.equal((await query('SELECT FROM sluice.usage_months')).length, 1, 'the present month stays');
});

t.test('a daemon does it when it starts, unless an exporter `postgres` has its own periods', async (t) => {
  const further = (exporters: string) =>
    startPostgresDaemon(t, {
      ...{ exporters, databaseUrl: scene.databaseUrl },
      moreExporters: `objects: { to: "${scene.lake}", retention: { traces: 5d } }`,
    });
  const both = await further('postgres, objects');
  await both.stop();
  t.same(await claims(), [recent]);
  await further('objects');
  await eventually('the claim is removed', async () => (await claims()).length === 0);
});
