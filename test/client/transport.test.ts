/** The transport of the client against a server that answers as configured: attempts, pauses, refusals, DELTA. */
import { createServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { randomBytes } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { AggregationTemporality, type ResourceMetrics } from '@opentelemetry/sdk-metrics';
import t, { type Test } from 'tap';
import { SluiceLogExporter, SluiceMetricExporter, SluiceTraceExporter } from '../../src/client/exporters.ts';
import { SYSTEM_CLOCK } from '../../src/client/clock.ts';
import { ExportFailure } from '../../src/client/failure.ts';
import { Transport } from '../../src/client/transport.ts';
import { type Answer, type FakeRemote, accept, refuse, reset, spanNames, startRemote } from '../support/fake-remote.ts';
import { waitFor } from '../../src/extensions/postgres/embedded/wait.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { FakeClock } from './fake-clock.ts';
import { aLogRecord, aSpan, openMeter, someSpans } from './telemetry.ts';

t.setTimeout(300_000);

const KEY = 'a-key-of-the-client-test';

interface AnyExporter<T> {
  export(items: T, done: (result: { readonly code: number; readonly error?: Error }) => void): void;
}

/** The error of an export, or undefined after a success. */
function sent<T>(exporter: AnyExporter<T>, items: T): Promise<Error | undefined> {
  return new Promise((resolve) =>
    exporter.export(items, ({ code, error }) => resolve(code === 0 ? undefined : (error ?? new Error('no error')))),
  );
}

/** Answers the requests in this order, and the last way from then on. */
function script(remote: FakeRemote, ...answers: readonly Answer[]): void {
  remote.reset();
  remote.answer = (request, response) => {
    const answer = answers[Math.min(remote.requests.length, answers.length) - 1] ?? accept;
    answer(request, response);
  };
}

/** Never answers. */
const hang: Answer = () => undefined;

/** Waits for the request of this number, and lets its attempt end without an answer. */
async function expire(remote: FakeRemote, clock: FakeClock, request: number, delayMs = 10_000): Promise<void> {
  await waitFor(async () => (remote.requests.length === request ? true : undefined), { timeoutMs: PATIENCE_MS });
  await clock.pass(delayMs);
}

async function open(t: Test): Promise<{ remote: FakeRemote; clock: FakeClock; traces: SluiceTraceExporter }> {
  const remote = await startRemote(t);
  const clock = new FakeClock();
  const traces = new SluiceTraceExporter({ key: KEY, endpoint: remote.url }, clock);
  t.teardown(() => traces.shutdown());
  return { remote, clock, traces };
}

t.test('a batch is one protobuf request with the key, compressed by default', async (t) => {
  const { remote, traces } = await open(t);
  t.equal(await sent(traces, someSpans(3)), undefined);
  t.equal(remote.requests.length, 1);
  t.match(remote.requests[0], {
    path: '/v1/traces',
    headers: {
      authorization: `Bearer ${KEY}`,
      'content-type': 'application/x-protobuf',
      'content-encoding': 'gzip',
    },
  });
  t.strictSame(spanNames(remote.requests), ['span 0', 'span 1', 'span 2']);
  const plain = new SluiceTraceExporter({ key: KEY, endpoint: `${remote.url}/prefix/`, compression: 'none' });
  t.teardown(() => plain.shutdown());
  t.equal(await sent(plain, someSpans(1)), undefined);
  t.match(remote.requests[1], { path: '/prefix/v1/traces', headers: { 'content-encoding': 'identity' } });
});

t.test('logs and metrics go to their own paths', async (t) => {
  const { remote } = await open(t);
  const logs = new SluiceLogExporter({ key: KEY, endpoint: remote.url });
  const metrics = new SluiceMetricExporter({ key: KEY, endpoint: remote.url });
  t.teardown(() => Promise.all([logs.shutdown(), metrics.shutdown()]));
  t.equal(await sent(logs, [aLogRecord('hello')]), undefined);
  t.equal(await sent(metrics, await counted(AggregationTemporality.CUMULATIVE)), undefined);
  t.strictSame(
    remote.requests.map(({ path }) => path),
    ['/v1/logs', '/v1/metrics'],
  );
});

t.test('nothing is sent for an empty batch, which the server would refuse', async (t) => {
  const { remote, traces } = await open(t);
  const metrics = new SluiceMetricExporter({ key: KEY, endpoint: remote.url });
  t.teardown(() => metrics.shutdown());
  t.equal(await sent(traces, []), undefined);
  t.equal(await sent(metrics, await openMeter().collect()), undefined);
  t.equal(remote.requests.length, 0);
});

for (const status of [429, 502, 503, 504]) {
  t.test(`${status} is sent again after 100 ms and 500 ms, with the same bytes`, async (t) => {
    const { remote, clock, traces } = await open(t);
    script(remote, refuse(status), refuse(status), accept);
    const result = sent(traces, someSpans(2));
    await clock.pass(100);
    await clock.pass(500);
    t.equal(await result, undefined);
    const [first, ...others] = remote.requests.map(({ body }) => body.toString('hex'));
    t.equal(others.length, 2);
    t.ok(others.every((body) => body === first));
  });
}

t.test('there are at most three attempts', async (t) => {
  const { remote, clock, traces } = await open(t);
  script(remote, refuse(503));
  const result = sent(traces, someSpans(1));
  await clock.pass(100);
  await clock.pass(500);
  t.match(await result, { message: /503 Service Unavailable/u, reason: 'status 503' });
  t.equal(remote.requests.length, 3);
});

for (const status of [301, 400, 401, 403, 404, 409, 413, 415, 500, 501]) {
  t.test(`${status} is not sent again`, async (t) => {
    const { remote, clock, traces } = await open(t);
    // A google.rpc.Status with `message` alone.
    script(remote, refuse(status, { location: `${remote.url}/elsewhere`, 'retry-after': '1' }, '\x12\x07refused'));
    t.match(await sent(traces, someSpans(1)), {
      message: new RegExp(`^the server answered ${status} .*: refused$`, 'u'),
    });
    t.equal(remote.requests.length, 1);
    t.strictSame(clock.waiting, []);
    script(remote, accept);
    t.equal(await sent(traces, someSpans(1)), undefined, 'its Retry-After holds nothing back');
  });
}

t.test('a refusal with the page of a proxy is an error without its text', async (t) => {
  const { remote, traces } = await open(t);
  script(remote, refuse(403, { 'content-type': 'text/html' }, '<html>blocked</html>'));
  t.match(await sent(traces, someSpans(1)), { message: 'the server answered 403 Forbidden' });
});

t.test('a path that the server does not have is named as a mistake in the endpoint', async (t) => {
  const { remote, traces } = await open(t);
  for (const status of [404, 405]) {
    script(remote, refuse(status, { 'content-type': 'application/json' }, '{"message":"Route not found"}'));
    t.match(await sent(traces, someSpans(1)), { message: /the endpoint must be the base URL .* without \/v1\//u });
  }
});

t.test('a port of another protocol is named as a mistake in the endpoint', async (t) => {
  // What a server of HTTP/2 sends first, and what one without TLS answers to a handshake.
  const other = createServer((socket) => socket.on('error', () => undefined).end(Buffer.from('000012040000', 'hex')));
  await once(other.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => other.close());
  const { port } = other.address() as AddressInfo;
  for (const [scheme, advice] of [
    ['http', /cannot be reached: .*; this may be the port for gRPC: the one for HTTP is 4318 by default$/su],
    ['https', /cannot be reached: .*; if the port has no TLS, the endpoint must begin with http:\/\/$/su],
  ] as const) {
    const url = new URL(`${scheme}://127.0.0.1:${port}/v1/traces`);
    const transport = new Transport({ url, key: 'k', clock: SYSTEM_CLOCK, keepAlive: false });
    const delivery = { body: Buffer.of(1), encoding: 'identity', repeatable: false } as const;
    await t.rejects(transport.send({ ...delivery, deadline: SYSTEM_CLOCK.monotonicMs() + 20_000 }), {
      message: advice,
    });
    transport.close();
  }
});

t.test('a broken connection is sent again', async (t) => {
  const { remote, clock, traces } = await open(t);
  script(remote, reset, reset, accept);
  const result = sent(traces, someSpans(1));
  await clock.pass(100);
  await clock.pass(500);
  t.equal(await result, undefined);
  t.equal(remote.requests.length, 3);
});

t.test('an unreachable server is tried three times', async (t) => {
  const { remote, clock, traces } = await open(t);
  await remote.close();
  const result = sent(traces, someSpans(1));
  await clock.pass(100);
  await clock.pass(500);
  t.match(await result, { message: /cannot be reached: .*ECONNREFUSED/u, reason: 'network' });
});

t.test('an attempt without an answer ends after 10 s, and all of them after 30 s', async (t) => {
  const { remote, clock, traces } = await open(t);
  script(remote, hang, accept);
  const first = sent(traces, someSpans(1));
  await expire(remote, clock, 1);
  await clock.pass(100);
  t.equal(await first, undefined);
  script(remote, hang);
  const begun = clock.monotonicMs();
  const second = sent(traces, someSpans(1));
  await expire(remote, clock, 1);
  await clock.pass(100);
  await expire(remote, clock, 2);
  await clock.pass(500);
  await expire(remote, clock, 3, 9400);
  t.match(await second, { reason: 'network' });
  t.equal(clock.monotonicMs() - begun, 30_000);
});

const RETRY_AFTER: readonly (readonly [string, number])[] = [
  ['7', 7000],
  [' 2 ', 2000],
  ['0', 100],
  [new Date(new FakeClock().wallMs() + 4000).toUTCString(), 4000],
  [new Date(new FakeClock().wallMs() - 60_000).toUTCString(), 100],
  ['soon', 100],
  ['-5', 100],
  ['1.5', 100],
];
for (const [header, pauseMs] of RETRY_AFTER) {
  t.test(`Retry-After: ${header} is a pause of ${pauseMs} ms`, async (t) => {
    const { remote, clock, traces } = await open(t);
    script(remote, refuse(503, { 'retry-after': header }), accept);
    const result = sent(traces, someSpans(1));
    await clock.pass(pauseMs);
    t.equal(await result, undefined);
    t.equal(remote.requests.length, 2);
  });
}

t.test('the longer of the own pause and Retry-After counts', async (t) => {
  const { remote, clock, traces } = await open(t);
  script(remote, refuse(429), refuse(429, { 'retry-after': '0' }), accept);
  const result = sent(traces, someSpans(1));
  await clock.pass(100);
  await clock.pass(500);
  t.equal(await result, undefined);
});

t.test('a Retry-After beyond the export timeout ends the export, and holds back others for a minute', async (t) => {
  const { remote, clock, traces } = await open(t);
  script(remote, refuse(429, { 'retry-after': '86400' }));
  t.match(await sent(traces, someSpans(1)), { reason: 'status 429' });
  t.match(await sent(traces, someSpans(1)), { reason: 'held back', message: /lasts 60 s longer/u });
  t.equal(remote.requests.length, 1);
  clock.advance(60_000);
  script(remote, accept);
  t.equal(await sent(traces, someSpans(1)), undefined);
});

t.test('the next batch waits for the Retry-After of the one before', async (t) => {
  const { remote, clock, traces } = await open(t);
  script(remote, refuse(503, { 'retry-after': '5' }));
  const first = sent(traces, someSpans(1));
  await clock.pass(5000);
  await clock.pass(5000);
  t.match(await first, { reason: 'status 503' });
  script(remote, accept);
  const second = sent(traces, someSpans(1));
  await clock.pass(5000);
  t.equal(await second, undefined);
});

async function counted(temporality: AggregationTemporality): Promise<ResourceMetrics> {
  const { meter, collect } = openMeter(temporality);
  meter.createCounter('calls').add(1);
  return collect();
}

async function gauged(): Promise<ResourceMetrics> {
  const { meter, collect } = openMeter(AggregationTemporality.DELTA);
  meter.createGauge('temperature').record(21);
  return collect();
}

t.test('a DELTA batch is sent once, whatever happens', async (t) => {
  const { remote } = await open(t);
  const batch = await counted(AggregationTemporality.DELTA);
  for (const answer of [refuse(503, { 'retry-after': '1' }), refuse(429), refuse(502), refuse(504), reset, hang]) {
    const clock = new FakeClock();
    const metrics = new SluiceMetricExporter({ key: KEY, endpoint: remote.url }, clock);
    script(remote, answer);
    const result = sent(metrics, batch);
    if (answer === hang) await expire(remote, clock, 1);
    t.ok((await result) instanceof ExportFailure);
    t.equal(remote.requests.length, 1);
    await metrics.shutdown();
  }
  const { meter, collect } = openMeter(AggregationTemporality.DELTA);
  meter.createGauge('temperature').record(21);
  meter.createHistogram('latency').record(3);
  const metrics = new SluiceMetricExporter({ key: KEY, endpoint: remote.url }, new FakeClock());
  t.teardown(() => metrics.shutdown());
  script(remote, refuse(503));
  t.ok(await sent(metrics, await collect()), 'also beside a gauge');
  t.equal(remote.requests.length, 1);
});

t.test('metrics that cannot count twice are sent again', async (t) => {
  const { remote, clock } = await open(t);
  const metrics = new SluiceMetricExporter({ key: KEY, endpoint: remote.url }, clock);
  t.teardown(() => metrics.shutdown());
  for (const batch of [await counted(AggregationTemporality.CUMULATIVE), await gauged()]) {
    script(remote, refuse(503), reset, accept);
    const result = sent(metrics, batch);
    await clock.pass(100);
    await clock.pass(500);
    t.equal(await result, undefined);
    t.equal(remote.requests.length, 3);
  }
});

t.test('a connection that breaks after the status changes nothing', async (t) => {
  const sockets = new Set<Socket>();
  let status = '200 OK';
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.write(`HTTP/1.1 ${status}\r\nContent-Length: 100\r\n\r\npart`, () => socket.resetAndDestroy());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const traces = new SluiceTraceExporter({ key: KEY, endpoint });
  t.teardown(() => traces.shutdown());
  t.equal(await sent(traces, someSpans(1)), undefined);
  t.equal(sockets.size, 1, 'one attempt');
  status = '400 Bad Request';
  t.match(await sent(traces, someSpans(1)), { reason: 'status 400' });
  t.equal(sockets.size, 2);
});

t.test('a batch above the limits of a request is divided, and the rest of it is stored', async (t) => {
  const { remote, traces } = await open(t);
  const text = (bytes: number): string => randomBytes(bytes / 2).toString('hex');
  const large = (name: string, bytes: number) => aSpan({ name, attributes: { text: text(bytes) } });
  const spans = [1, 2, 3, 4].map((index) => large(`${index}`, 4_000_000));
  t.equal(await sent(traces, spans), undefined);
  t.strictSame(spanNames(remote.requests), ['1', '2', '3', '4']);
  t.ok(remote.requests.length > 1);
  remote.reset();
  const mixed = [large('fits', 1000), large('too large', 17_000_000), large('fits too', 1000)];
  t.match(await sent(traces, mixed), { reason: 'size', lost: 1 });
  t.strictSame(spanNames(remote.requests), ['fits', 'fits too']);
});

t.test('all bodies are gzip that an independent reader expands', async (t) => {
  const { remote } = await open(t);
  const raw: Buffer[] = [];
  const server = (await import('node:http')).createServer((incoming, response) => {
    incoming.on('data', (chunk: Buffer) => raw.push(chunk));
    incoming.on('end', () => response.end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const port = (server.address() as AddressInfo).port;
  const traces = new SluiceTraceExporter({ key: KEY, endpoint: `http://127.0.0.1:${port}` });
  t.equal(await sent(traces, [aSpan({ name: 'compressed' })]), undefined);
  await traces.shutdown();
  server.close();
  t.match(gunzipSync(Buffer.concat(raw)).toString('latin1'), /compressed/u);
  t.equal(remote.requests.length, 0);
});

t.test(
  'without a key, with a wrong endpoint, and after its shutdown an exporter fails without a request',
  async (t) => {
    const { remote, traces } = await open(t);
    for (const options of [
      { endpoint: remote.url, key: '' },
      { key: KEY, endpoint: '127.0.0.1:4318' },
      { key: 'a key\nwith a line break', endpoint: remote.url },
    ]) {
      t.match(await sent(new SluiceTraceExporter(options), someSpans(1)), { reason: 'no key' });
    }
    await traces.shutdown();
    t.match(await sent(traces, someSpans(1)), { reason: 'shut down' });
    t.equal(remote.requests.length, 0);
  },
);

t.test('forceFlush and shutdown wait for the exports that have begun', async (t) => {
  const { remote, clock, traces } = await open(t);
  script(remote, refuse(503), accept);
  const results: unknown[] = [];
  void sent(traces, someSpans(1)).then((error) => results.push(error));
  const flushed = traces.forceFlush().then(() => t.strictSame(results, [undefined]));
  await clock.pass(100);
  await flushed;
});
