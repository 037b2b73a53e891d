/**
 * A stock Collector continues to send while the database is stopped for minutes: every span is stored once. Needs the
 * Collector that scripts/collector.js builds.
 *
 *   SLUICE_COLLECTOR=$(node scripts/collector.js) SLUICE_OUTAGE_MINUTES=10 node dist/test/campaigns/outage/outage.js
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { Administration } from '../../../src/extensions/postgres/administration.ts';
import { Database } from '../../../src/extensions/postgres/database.ts';
import { waitFor } from '../../../src/extensions/postgres/embedded/wait.ts';
import { collectorPorts, startCollector } from '../../support/collector.ts';
import { ask } from '../../support/connection.ts';
import { freePort, openFolder, startExecutable } from '../../support/executable.ts';
import { send } from '../../support/otlp-client.ts';
import { makeServer } from '../../support/postgres.ts';

const GATEWAY = fileURLToPath(new URL('../../../../config/gateway.yaml', import.meta.url));
const MINUTES = Number(process.env['SLUICE_OUTAGE_MINUTES'] ?? 1);
const SPANS_PER_SECOND = Number(process.env['SLUICE_OUTAGE_RATE'] ?? 2000);
const BATCHES_PER_SECOND = 10;
const CALM_MS = 5000;
/** Longer than the Collector's longest pause between two attempts, with time to send the queue. */
const DRAIN_MS = 120_000 + MINUTES * 60_000;
/** The size of the queue during the outage: a span of this campaign takes about 150 bytes. */
const QUEUE_BYTES = 1_000_000_000;
const ID_DIGITS = 16;

const executable = process.env['SLUICE_COLLECTOR'] ?? '';
if (executable === '') t.bailout('SLUICE_COLLECTOR is not set to the path of the Collector');
t.setTimeout(MINUTES * 60_000 + DRAIN_MS + 300_000);

const folder = openFolder(t);
const server = await makeServer(t);
await server.start();
const port = await freePort();
const endpoint = `http://127.0.0.1:${port}`;
const sluice = await startSluice();
const key = await createKey();
const collector = await startCollector(
  {
    executable,
    folder,
    endpoint,
    key,
    overrides: `exporters: { otlphttp: { sending_queue: { queue_size: ${QUEUE_BYTES} } } }`,
  },
  await collectorPorts(),
);
t.teardown(() => collector.end('SIGKILL'));

async function startSluice() {
  const overlay = join(folder, 'overlay.yaml');
  await writeFile(
    overlay,
    `extensions: { health_check: { endpoint: "127.0.0.1:${await freePort()}" } }
receivers: { otlp: { protocols: { http: { endpoint: "127.0.0.1:${port}" } } } }
service: { telemetry: { metrics: { enabled: false }, logs: { format: json } } }
`,
  );
  const started = startExecutable(['--config', GATEWAY, '--config', overlay], folder, { DATABASE_URL: server.url });
  t.teardown(async () => {
    started.child.kill('SIGTERM');
    await started.ended;
  });
  await started.until('everything is ready');
  return started;
}

async function createKey(): Promise<string> {
  const database = new Database().use({ connectionString: server.url });
  const administration = new Administration(database);
  await administration.createProject('outage', 'paid', null);
  const { text } = await administration.createKey('outage', null, null);
  await database.close();
  return text;
}

let sent = 0;
let refusedByCollector = 0;
let sending = true;

/** The batch that begins with this number. Equal numbers make equal ids, so a retried batch has the same content. */
function batch(first: number, size: number): string {
  const now = BigInt(Date.now()) * 1_000_000n;
  const spans = Array.from({ length: size }, (_, index) => {
    const id = (first + index + 1).toString(16).padStart(ID_DIGITS, '0');
    return { traceId: `0a${id.slice(2)}${id}`, spanId: id, name: 'step', startTimeUnixNano: String(now) };
  });
  const resource = { attributes: [{ key: 'service.name', value: { stringValue: 'outage' } }] };
  return JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ spans }] }] });
}

/** Sends at the rate, and retries requests that the Collector refused, as an SDK does. */
async function flow(): Promise<void> {
  const size = SPANS_PER_SECOND / BATCHES_PER_SECOND;
  const started = performance.now();
  for (let number = 0; sending; number++) {
    const body = batch(sent, size);
    while ((await send(collector.url, { body }).catch(() => ({ status: 0 }))).status !== 200) {
      refusedByCollector++;
      await pause(100);
    }
    sent += size;
    const due = started + ((number + 1) * 1000) / BATCHES_PER_SECOND;
    await pause(Math.max(0, due - performance.now()));
  }
}

async function stored(): Promise<{ readonly rows: number; readonly spans: number }> {
  const text = 'SELECT count(*)::int AS rows, count(DISTINCT span_id)::int AS spans FROM sluice.spans';
  const [row] = await ask(server.url, text);
  return { rows: Number(row?.['rows']), spans: Number(row?.['spans']) };
}

const until = async (condition: () => Promise<boolean>, timeoutMs: number): Promise<boolean> =>
  (await waitFor(async () => ((await condition()) ? true : undefined), { timeoutMs })) ?? false;

t.test(`${MINUTES} minutes without a database at ${SPANS_PER_SECOND} spans a second`, async (t) => {
  const flowing = flow();
  t.ok(await until(async () => (await stored()).rows > 0, DRAIN_MS), 'spans arrive');
  await pause(CALM_MS);
  await server.stop();
  await pause(MINUTES * 60_000);
  const waiting = await collector.metric('otelcol_exporter_queue_size');
  await server.start();
  const back = performance.now();
  await pause(CALM_MS);
  sending = false;
  await flowing;
  const all = await until(async () => (await stored()).rows >= sent, DRAIN_MS);
  const seconds = Math.round((performance.now() - back) / 1000);
  t.ok(all, 'everything arrives');
  t.ok(
    await until(async () => (await collector.metric('otelcol_exporter_queue_size')) === 0, DRAIN_MS),
    'nothing waits',
  );
  const { rows, spans } = await stored();
  t.comment(
    `sent ${sent}, lost ${sent - spans}, twice ${rows - spans}; the queue held ${waiting} bytes and was empty ${seconds} s after ` +
      `the database was back; the Collector refused ${refusedByCollector} batches`,
  );
  t.equal(spans, sent, 'lost 0');
  t.equal(rows, spans, 'twice 0');
  t.equal(await collector.metric('otelcol_exporter_send_failed_spans'), 0, 'the Collector dropped nothing');
  const log = sluice.output.err + sluice.output.out;
  t.notMatch(log, /authentication_failed/, 'no request was answered 500');
  t.match(log, /the database accepts no writes/);
  t.match(log, /the database accepts writes again/);
});
