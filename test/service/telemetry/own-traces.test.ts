/** The daemon's own traces: the content of a request's spans, and when there are none. */
import { trace } from '@opentelemetry/api';
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node';
import t from 'tap';
import { type Daemon, FILE_CONFIG, FREE_KEY, KEY, OTHER_KEY, startDaemon } from '../../support/daemon.ts';
import { GrpcClient } from '../../support/grpc-client.ts';
import { send } from '../../support/otlp-client.ts';
import { aSpan, aTraceRequest } from '../../support/payloads.ts';

const ON = FILE_CONFIG.replace('telemetry: { ', 'telemetry: { traces: { enabled: true, exclude_projects: [other] }, ');

const body = (name = 'work', count = 1): string =>
  JSON.stringify(aTraceRequest(Array.from({ length: count }, () => aSpan({ name }))));

t.test('without a provider one warning is logged, and requests are served', async (t) => {
  const daemon = await startDaemon(t, { config: ON });
  t.equal((await send(daemon.url, { body: body('a') })).status, 200);
  t.equal((await send(daemon.url, { body: body('b') })).status, 200);
  t.equal(daemon.log.filter(({ message }) => /no tracer provider/u.test(message)).length, 1);
});

// Registered once for the process, as an application does. Daemons that were started before find it.
const exporter = new InMemorySpanExporter();
let failing = false;
const provider = new NodeTracerProvider({
  spanProcessors: [
    {
      onStart: () => {
        if (failing) throw new Error('a broken processor');
      },
      onEnd: () => undefined,
      forceFlush: async () => undefined,
      shutdown: async () => undefined,
    },
    new SimpleSpanProcessor(exporter),
  ],
});

async function spansOf(daemon: Daemon, work: () => Promise<unknown>): Promise<readonly ReadableSpan[]> {
  exporter.reset();
  await work();
  // Spans are made after the answer of a request. After the stop of the daemon all of them exist.
  await daemon.stop();
  return exporter.getFinishedSpans();
}

const rootOf = (spans: readonly ReadableSpan[]): ReadableSpan | undefined =>
  spans.find(({ parentSpanContext }) => parentSpanContext === undefined);

t.test('a request is one trace: its stages in order as children, and the commit inside the last', async (t) => {
  const daemon = await startDaemon(t, { config: ON });
  t.ok(trace.setGlobalTracerProvider(provider));
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
  const spans = await spansOf(daemon, () =>
    send(daemon.url, { body: body(), headers: { 'content-type': 'application/json', traceparent } }),
  );
  const root = rootOf(spans);
  t.match(root, { name: 'ingest traces', kind: 1, status: { code: 0 } });
  t.strictSame(root?.attributes, {
    'sluice.signal': 'traces',
    'sluice.transport': 'http',
    'sluice.project': 'demo',
    'sluice.records': 1,
    'sluice.replayed': false,
  });
  t.equal(new Set(spans.map((span) => span.spanContext().traceId)).size, 1);
  t.not(root?.spanContext().traceId, '4bf92f3577b34da6a3ce929d0e0e4736', 'the trace of the sender is not continued');
  const below = (parent: ReadableSpan | undefined): readonly ReadableSpan[] =>
    spans.filter(({ parentSpanContext }) => parentSpanContext?.spanId === parent?.spanContext().spanId);
  t.strictSame(
    below(root).map(({ name }) => name),
    ['admit', 'read', 'wait', 'index', 'process', 'encode', 'settle'],
  );
  const [commit] = below(spans.find(({ name }) => name === 'settle'));
  t.match(commit, { name: 'commit', attributes: { 'sluice.commit.requests': 1 } });
  for (const span of spans) {
    t.ok(nanoseconds(span.startTime) >= nanoseconds(root?.startTime), `${span.name} begins in the request`);
    t.ok(nanoseconds(span.endTime) <= nanoseconds(root?.endTime), `${span.name} ends in the request`);
  }
});

const nanoseconds = ([seconds, rest]: readonly [number, number] = [0, 0]): bigint =>
  BigInt(seconds) * 1_000_000_000n + BigInt(rest);

t.test('a refusal has its code, and error status only for failures of the service', async (t) => {
  const daemon = await startDaemon(t, { config: ON });
  const spans = await spansOf(daemon, async () => {
    await send(daemon.url, { body: '{"resourceSpans": 1}' });
    await send(daemon.url, { body: body(), headers: { 'content-type': 'text/plain' } });
    await send(daemon.url, { authorization: `Bearer ${FREE_KEY}`, body: body('much', 11) });
  });
  const roots = spans.filter(({ parentSpanContext }) => parentSpanContext === undefined);
  t.strictSame(
    roots.map(({ attributes, status }) => [attributes['sluice.project'], attributes['sluice.refusal'], status.code]),
    [
      ['demo', 'invalid_json', 0],
      ['demo', 'unsupported_media_type', 0],
      ['free', 'quota_exceeded', 0],
    ],
  );
});

t.test('spans of gRPC requests are the same', async (t) => {
  const both = 'http: { endpoint: "127.0.0.1:0" }, grpc: { endpoint: "127.0.0.1:0" }';
  const daemon = await startDaemon(t, { config: ON.replace('http: { endpoint: "127.0.0.1:0" }', both) });
  const client = new GrpcClient(daemon.grpc);
  const spans = await spansOf(daemon, async () => {
    await client.call({ body: Buffer.from('not protobuf') });
    client.close();
  });
  t.match(rootOf(spans)?.attributes, { 'sluice.transport': 'grpc', 'sluice.refusal': 'invalid_protobuf' });
});

t.test('spans have no content, no key, and no other text of the sender', async (t) => {
  const daemon = await startDaemon(t, { config: ON });
  const secret = 'a-name-nobody-else-has';
  const spans = await spansOf(daemon, async () => {
    await send(daemon.url, {
      body: body(secret),
      headers: { 'content-type': 'application/json', 'user-agent': secret, traceparent: secret },
    });
    await send(daemon.url, { body: `{"${secret}`, headers: { 'content-type': `application/json; ${secret}` } });
  });
  t.ok(spans.length > 10);
  const said = JSON.stringify(spans.map(({ name, attributes, events, status }) => [name, attributes, events, status]));
  t.notMatch(said, secret);
  t.notMatch(said, KEY);
});

t.test('excluded projects and requests without a project make no spans, so that no loop occurs', async (t) => {
  const daemon = await startDaemon(t, { config: ON });
  const spans = await spansOf(daemon, async () => {
    t.equal((await send(daemon.url, { authorization: `Bearer ${OTHER_KEY}`, body: body() })).status, 200);
    t.equal((await send(daemon.url, { authorization: 'Bearer wrong-key-0123456789', body: body() })).status, 401);
  });
  t.strictSame(spans, []);
});

t.test('a provider that fails costs its spans, not the request', async (t) => {
  const daemon = await startDaemon(t, { config: ON });
  failing = true;
  t.teardown(() => void (failing = false));
  t.equal((await send(daemon.url, { body: body() })).status, 200);
  await daemon.stop();
  t.ok(daemon.log.some(({ message }) => message === 'the tracer provider failed'));
});

t.test('without the option there are no spans', async (t) => {
  const daemon = await startDaemon(t);
  t.strictSame(await spansOf(daemon, () => send(daemon.url, { body: body() })), []);
});
