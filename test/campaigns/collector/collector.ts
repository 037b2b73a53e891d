/**
 * A stock Collector in front of Sluice, with the configuration of this repository, and the official SDK in front of
 * both. Everything the SDK sent is stored once, although both processes are killed. Not part of `npm test`, because
 * building the Collector needs Go.
 *
 *   SLUICE_COLLECTOR=$(node scripts/collector.js) node dist/test/campaigns/collector/collector.js
 */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import t, { type Test } from 'tap';
import { waitFor } from '../../../src/extensions/postgres/embedded/wait.ts';
import { type Collector, type CollectorOptions, collectorPorts, startCollector } from '../../support/collector.ts';
import { connectTo } from '../../support/connection.ts';
import { FREE_KEY, KEY } from '../../support/daemon.ts';
import { type Executable, freePort, openFolder, startExecutable } from '../../support/executable.ts';
import { send } from '../../support/otlp-client.ts';
import { aSpan, aTraceRequest } from '../../support/payloads.ts';
import { createDatabase } from '../../support/postgres.ts';
import { compare, type Store, VIEWS } from '../../support/sdk-comparison.ts';
import { recordTelemetry } from '../../support/sdk-recording.ts';
import { expectedLog, expectedPoints, expectedSpan } from '../../support/sdk-rows.ts';

const executable = process.env['SLUICE_COLLECTOR'] ?? '';
if (executable === '') t.bailout('SLUICE_COLLECTOR is not set to the path of the Collector');
t.setTimeout(600_000);

const GATEWAY = fileURLToPath(new URL('../../../../config/gateway.yaml', import.meta.url));
const RECIPES = fileURLToPath(new URL('../../../../docs/recipes.md', import.meta.url));
const WAIT_MS = 180_000;
const KILLS = 3;
const SPANS = 2000;
const SPAN_BYTES = 4000;
const FLUSH_EVERY = 500;
/** Records of one recording that are compared field by field. */
const RECORDED = { spans: 3, logs: 3, points: 8 };
const ROUNDS = 20;
/**
 * One project may hold 932,067 of the 1,048,576 bytes in flight (`FairBudget`). These bodies leave 32 kB of it, and a
 * batch of the Collector has at least 50 kB after compression.
 */
const UNFINISHED = 4;
const UNFINISHED_BYTES = 225_000;
/**
 * Small batches, short pauses and many concurrent requests, so that a test has many of each and fills the bytes in
 * flight.
 */
const EAGER = `exporters: { otlphttp: {
  retry_on_failure: { initial_interval: 50ms, max_interval: 1s },
  sending_queue: { num_consumers: 40, batch: { min_size: 100000, max_size: 400000, flush_timeout: 100ms } } } }`;

const folder = openFolder(t);
const database = await createDatabase(t);
const port = await freePort();
const grpcPort = await freePort();
const ports = await collectorPorts();
const endpoint = `http://127.0.0.1:${port}`;
const client = await connectTo(t, database.url);
const store: Store = { query: async (text, values = []) => (await client.query(text, [...values])).rows };

const options: CollectorOptions = { executable, folder, endpoint, key: KEY, overrides: EAGER };
let sluice = await startSluice();
let collector = await startCollector(options, ports);
t.teardown(() => collector.end('SIGKILL'));
t.teardown(async () => {
  sluice.child.kill('SIGKILL');
  await sluice.ended;
});

async function startSluice(): Promise<Executable> {
  const overlay = join(folder, 'overlay.yaml');
  await writeFile(
    overlay,
    `extensions: { postgres: { allow_unsafe: true }, health_check: { endpoint: "127.0.0.1:0" } }
receivers: { otlp: { protocols: { http: { endpoint: "127.0.0.1:${port}", max_in_flight_size: 1MiB }, grpc: { endpoint: "127.0.0.1:${grpcPort}" } } } }
processors: { auth: { keys: [ { key: ${KEY}, project: demo }, { key: ${FREE_KEY}, project: free, plan: free, monthly_spans: 10 } ] } }
service: { telemetry: { metrics: { enabled: false } } }
`,
  );
  const args = ['--config', GATEWAY, '--config', overlay];
  const started = startExecutable(args, folder, { DATABASE_URL: database.url });
  await started.until('listening for OTLP/HTTP');
  return started;
}

/** The configurations for the Collector in docs/recipes.md. */
async function recipes(): Promise<readonly string[]> {
  const text = await readFile(RECIPES, 'utf8');
  return [...text.matchAll(/^```yaml collector\n(receivers:\n.*?)^```$/gms)].map(([, config]) => config ?? '');
}

async function killSluice(): Promise<void> {
  sluice.child.kill('SIGKILL');
  await sluice.ended;
}

/** Sends spans in the SDK's own batches. Resolves when the Collector has accepted all of them. */
async function burst(service: string, count = SPANS, to = collector): Promise<void> {
  const exporter = new OTLPTraceExporter({ url: `${to.url}/v1/traces` });
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({ 'service.name': service }),
    spanProcessors: [new BatchSpanProcessor(exporter, { maxQueueSize: count, maxExportBatchSize: 50 })],
  });
  const tracer = provider.getTracer('burst');
  for (let index = 0; index < count; index++) {
    tracer.startSpan('chat', { attributes: { index, content: randomBytes(SPAN_BYTES / 2).toString('hex') } }).end();
    // The exporter refuses more than thirty batches at once.
    if (index % FLUSH_EVERY === 0) await provider.forceFlush();
  }
  await provider.shutdown();
}

/** A request whose body does not end. Resolves when its bytes are sent. */
function beginBody(): Promise<Socket> {
  const head = `POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json`;
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  return new Promise((resolve) => {
    socket.write(`${head}\r\nContent-Length: ${UNFINISHED_BYTES}\r\n\r\n`);
    socket.write(' '.repeat(UNFINISHED_BYTES - 1), () => resolve(socket));
  });
}

async function count(service: string, view = 'spans'): Promise<number> {
  const [row] = await store.query(`SELECT count(*)::int AS n FROM public.${view} WHERE service_name = $1`, [service]);
  return Number(row?.['n']);
}

const atLeast = async (service: string, rows: number, view?: string): Promise<boolean> =>
  (await waitFor(async () => ((await count(service, view)) >= rows ? true : undefined), { timeoutMs: WAIT_MS })) ??
  false;
const says = (output: () => string, text: string): Promise<true | undefined> =>
  waitFor(async () => (output().includes(text) ? true : undefined), { timeoutMs: WAIT_MS });

/** Resolves when the Collector's queue is empty, so that nothing sent before is still in flight. */
async function settled(from: Collector = collector): Promise<boolean> {
  const empty = async () => ((await from.metric('otelcol_exporter_queue_size')) === 0 ? true : undefined);
  return (await waitFor(empty, { timeoutMs: WAIT_MS })) ?? false;
}

async function everySpanOnce(t: Test, service: string, through = collector): Promise<void> {
  t.ok(await atLeast(service, SPANS), 'all have arrived');
  t.ok(await settled(through), 'the queue is empty');
  const [row] = await store.query(
    `SELECT count(*)::int AS rows, count(DISTINCT span_id)::int AS spans,
            count(DISTINCT attributes->>'index')::int AS numbers FROM public.spans WHERE service_name = $1`,
    [service],
  );
  t.strictSame(row, { rows: SPANS, spans: SPANS, numbers: SPANS }, 'each of them once');
}

t.test('the telemetry of the SDK arrives completely through the Collector', async (t) => {
  const service = 'through-collector';
  const transport = { format: 'protobuf', compression: 'gzip' } as const;
  const { spans, logs, metrics, failures } = await recordTelemetry(collector.url, 'any', transport, service);
  t.strictSame(failures, []);
  const points = metrics.flatMap(expectedPoints);
  t.ok(await atLeast(service, points.length, VIEWS.metric));
  t.ok(await atLeast(service, spans.length));
  t.ok(await atLeast(service, logs.length, VIEWS.log));
  const whole = { store, service };
  await compare(t, { ...whole, signal: 'span', recorded: spans.map(expectedSpan) });
  await compare(t, { ...whole, signal: 'log', recorded: logs.map(expectedLog) });
  await compare(t, { ...whole, signal: 'metric', recorded: points });
});

t.test('Sluice is killed under load, and stores every record once', async (t) => {
  const flow = burst('killed');
  const recordings = (async () => {
    const transport = { format: 'json', compression: 'gzip' } as const;
    for (let round = 0; round < ROUNDS; round++) await recordTelemetry(collector.url, 'any', transport, 'killed-small');
  })();
  for (let kill = 1; kill <= KILLS; kill++) {
    t.ok(await atLeast('killed', (SPANS * kill) / (KILLS + 2)), `kill ${kill} is under load`);
    await killSluice();
    sluice = await startSluice();
  }
  await Promise.all([flow, recordings]);
  await everySpanOnce(t, 'killed');
  t.ok(await settled());
  t.equal(await count('killed-small', VIEWS.span), ROUNDS * RECORDED.spans);
  t.equal(await count('killed-small', VIEWS.log), ROUNDS * RECORDED.logs);
  t.equal(await count('killed-small', VIEWS.metric), ROUNDS * RECORDED.points);
  t.match(collector.log.text, /Will retry the request after interval/, 'the Collector retried');
});

t.test('Sluice is killed under load over gRPC, and stores every span once', async (t) => {
  const own = await collectorPorts();
  const recipe = (await recipes()).find((text) => text.includes('SLUICE_GRPC_ENDPOINT')) ?? '';
  const overrides = recipe
    .replace(/\$\{env:SLUICE_GRPC_ENDPOINT:-[^}]*\}/u, `127.0.0.1:${grpcPort}`)
    .replace('127.0.0.1:4320', `127.0.0.1:${own.http}`)
    .replace('port: 8889', `port: ${own.metrics}`)
    .replace('min_size: 1000000, max_size: 4000000', 'min_size: 100000, max_size: 400000')
    .replace('max_elapsed_time:', 'initial_interval: 50ms, max_interval: 1s, max_elapsed_time:');
  const overGrpc = await startCollector({ ...options, name: 'grpc', overrides }, own);
  t.teardown(() => overGrpc.end('SIGKILL'));
  const flow = burst('grpc-killed', SPANS, overGrpc);
  for (let kill = 1; kill <= KILLS; kill++) {
    t.ok(await atLeast('grpc-killed', (SPANS * kill) / (KILLS + 2)), `kill ${kill} is under load`);
    await killSluice();
    sluice = await startSluice();
  }
  await flow;
  await everySpanOnce(t, 'grpc-killed', overGrpc);
  t.match(overGrpc.log.text, /Will retry the request after interval.*Unavailable/u, 'the Collector retried');
});

t.test('under overload Sluice answers 503 with Retry-After, and the Collector waits', async (t) => {
  const before = collector.log.text.length;
  // Without Retry-After, which asks for a second, the interval is about 50 ms.
  const waits = /Will retry.*503.*server is busy.*"interval": "1(\.\d+)?s"/;
  // Unfinished bodies hold most of the bytes in flight, so the batches of the Collector find no room.
  const unfinished = await Promise.all(Array.from({ length: UNFINISHED }, beginBody));
  const closeAll = (): void => {
    for (const socket of unfinished) socket.destroy();
  };
  t.teardown(closeAll);
  const flow = burst('overloaded');
  const refused = async () => (waits.test(collector.log.text.slice(before)) ? true : undefined);
  t.ok(await waitFor(refused, { timeoutMs: WAIT_MS }), 'the Collector waits for the time of Retry-After');
  closeAll();
  await flow;
  await everySpanOnce(t, 'overloaded');
});

t.test('data that the Collector accepted is stored although both are killed', async (t) => {
  await killSluice();
  await burst('both-killed');
  await collector.end('SIGKILL');
  collector = await startCollector(options, ports);
  sluice = await startSluice();
  await everySpanOnce(t, 'both-killed');
});

t.test('data that can never be stored is refused once and not sent again', async (t) => {
  const dropped = await collector.metric('otelcol_exporter_send_failed_spans');
  const refusals = () => (sluice.output.err + sluice.output.out).split('"code":"invalid_payload"').length - 1;
  const body = JSON.stringify(aTraceRequest([aSpan({ start: 0n })], { 'service.name': 'broken' }));
  t.equal((await send(collector.url, { body })).status, 200, 'the Collector accepts data that Sluice refuses');
  t.ok(await says(() => collector.log.text, 'Dropping data'));
  await burst('after-broken', 100);
  t.ok(await atLeast('after-broken', 100), 'later data is stored');
  t.ok(await settled());
  t.equal(refusals(), 1, 'Sluice received it once');
  t.equal(
    await collector.metric('otelcol_exporter_send_failed_spans'),
    dropped + 1,
    'the Collector counts it as failed',
  );
  t.equal(await count('broken'), 0);
});

t.test('a request over its quota is not retried before the quota is renewed', async (t) => {
  const free = await startCollector(
    {
      ...options,
      key: FREE_KEY,
      name: 'free',
      overrides: EAGER.replace('max_interval', 'max_elapsed_time: 15m, max_interval'),
    },
    await collectorPorts(),
  );
  t.teardown(() => free.end('SIGKILL'));
  const some = (spans: number) =>
    send(free.url, {
      body: JSON.stringify(
        aTraceRequest(
          Array.from({ length: spans }, () => aSpan()),
          { 'service.name': 'free' },
        ),
      ),
    });
  await some(10);
  t.ok(await atLeast('free', 10));
  await some(5);
  t.ok(await says(() => free.log.text, 'no more retries left'), 'the next month begins after max_elapsed_time');
  t.match(free.log.text, /429/);
  t.equal(await free.metric('otelcol_exporter_send_failed_spans'), 5);
  t.equal(await count('free'), 10);
});

t.test('the Collector accepts the configurations of the recipes', async (t) => {
  const configs = await recipes();
  t.ok(configs.length > 0, 'there are some');
  for (const [index, config] of configs.entries()) {
    const path = join(folder, `recipe-${index}.yaml`);
    await writeFile(path, config);
    const env = { ...process.env, SLUICE_KEY: KEY, SHOP_KEY: KEY, SEARCH_KEY: KEY };
    const { status, stderr } = spawnSync(executable, ['validate', '--config', path], { env, encoding: 'utf8' });
    t.equal(status, 0, stderr);
  }
});
