/** The client and the real daemon: what arrives, what a refusal does, and that an outage loses and doubles nothing. */
import { randomBytes } from 'node:crypto';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { metrics, trace } from '@opentelemetry/api';
import { logs } from '@opentelemetry/api-logs';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-node';
import t, { type Test } from 'tap';
import { SluiceLogExporter, SluiceTraceExporter } from '../../src/client/exporters.ts';
import { setup } from '../../src/client/setup.ts';
import { SluiceSpanProcessor } from '../../src/client/span-processor.ts';
import { waitFor } from '../../src/extensions/postgres/embedded/wait.ts';
import { longTest } from '../support/long.ts';
import { FILE_CONFIG, FREE_KEY, KEY, OTHER_KEY, STAGING_KEY, startDaemon } from '../support/daemon.ts';
import { freePort } from '../support/executable.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { makeServer } from '../support/postgres.ts';
import { postgresConfig, startPostgresDaemon } from '../support/postgres-daemon.ts';
import { FakeClock } from './fake-clock.ts';
import { aLogRecord, aSpan, someSpans, watchDiag } from './telemetry.ts';

t.setTimeout(300_000);

const CHAT = {
  'gen_ai.operation.name': 'chat',
  'gen_ai.provider.name': 'openai',
  'gen_ai.request.model': 'gpt-5',
  'gen_ai.usage.input_tokens': 12,
  'gen_ai.usage.output_tokens': 5,
};

/** Sends the spans through a processor and returns how many of them were not stored. */
async function dropsOf(key: string, endpoint: string, spans: readonly ReadableSpan[]): Promise<number> {
  const processor = new SluiceSpanProcessor({ key, endpoint, spanMetrics: false });
  for (const span of spans) processor.onEnd(span);
  await processor.shutdown();
  return processor.droppedSpans;
}

function exportOf(
  key: string,
  endpoint: string,
  spans: ReadableSpan[],
  clock = new FakeClock(),
): Promise<Error | undefined> {
  const exporter = new SluiceTraceExporter({ key, endpoint }, clock);
  return new Promise((resolve) =>
    exporter.export(spans, ({ error }) => void exporter.shutdown().then(() => resolve(error))),
  );
}

t.test('setup sends traces, logs and the metrics of the spans, with the service and the environment', async (t) => {
  const daemon = await startPostgresDaemon(t, { processors: 'auth, environment, normalization' });
  const client = setup({
    key: KEY,
    endpoint: daemon.url,
    service: 'shop',
    environment: 'Production',
    sendAtEnd: false,
  });
  t.teardown(() => client.shutdown());
  t.equal(setup({ key: 'another' }), client, 'a second call');
  const tracer = trace.getTracer('shop');
  tracer.startActiveSpan('invoke_agent shop', (agent) => {
    const call = tracer.startSpan('chat gpt-5', { attributes: CHAT });
    logs.getLogger('shop').emit({ body: 'asked' });
    call.end();
    agent.end();
  });
  metrics.getMeter('shop').createCounter('orders').add(3);
  await client.flush();
  const spans = await daemon.query(
    'SELECT name, environment, service_name, category, input_tokens FROM spans ORDER BY name',
  );
  const place = { environment: 'production', service_name: 'shop' };
  t.match(spans, [
    { ...place, name: 'chat gpt-5', category: 'model_call', input_tokens: /12/u },
    { ...place, name: 'invoke_agent shop' },
  ]);
  const [log] = await daemon.query('SELECT body, trace_id, environment FROM logs');
  const [chat] = await daemon.query("SELECT trace_id FROM spans WHERE name = 'chat gpt-5'");
  t.match(log, { body: 'asked', trace_id: chat?.['trace_id'], environment: 'production' });
  const points = await daemon.query(
    'SELECT name, unit, count, sum, value, temporality FROM metric_points ORDER BY name, sum',
  );
  t.match(points, [
    { name: 'gen_ai.client.operation.duration', unit: 's', count: '1', temporality: 'cumulative' },
    { name: 'gen_ai.client.token.usage', unit: '{token}', sum: 5 },
    { name: 'gen_ai.client.token.usage', unit: '{token}', sum: 12 },
    { name: 'orders' },
  ]);
  await client.shutdown();
  t.notOk(trace.getTracer('shop').startSpan('after the shutdown').isRecording());
});

t.test('a refusal drops the batch, is reported, and does not stop later batches', async (t) => {
  const config = FILE_CONFIG.replace('endpoint: "127.0.0.1:0"', 'endpoint: "127.0.0.1:0", max_request_body_size: 2KiB');
  const daemon = await startDaemon(t, { config });
  const owned = aSpan({ name: 'owned' });
  t.equal(await dropsOf(OTHER_KEY, daemon.url, [owned]), 0);
  const messages = watchDiag(t);
  const large = aSpan({ attributes: { text: randomBytes(4096).toString('hex') } });
  const refusals: readonly (readonly [string, readonly ReadableSpan[], RegExp])[] = [
    ['not-a-key-of-anyone', someSpans(3), /401 Unauthorized: /u],
    [STAGING_KEY, someSpans(3), /403 Forbidden: /u],
    [KEY, [owned], /409 Conflict: /u],
    [KEY, [large], /413 Payload Too Large: /u],
    [FREE_KEY, someSpans(11), /429 Too Many Requests: /u],
  ];
  for (const [key, spans, message] of refusals) {
    const before = messages.length;
    t.equal(await dropsOf(key, daemon.url, spans), spans.length, String(message));
    t.match(messages[before], message);
    t.equal(messages.slice(before).filter((each) => each.startsWith('warn')).length, 1);
  }
  t.equal(await dropsOf(KEY, daemon.url, someSpans(2, 'stored')), 0);
  const names = (await daemon.rows()).map(({ name }) => name);
  t.strictSame(names, ['owned', 'stored 0', 'stored 1']);
});

longTest('a batch outlasts a short absence of the database, and is stored once', async (t) => {
  const server = await makeServer(t);
  await server.start();
  const config = postgresConfig({ databaseUrl: server.url }).replace(', allow_unsafe: true', '');
  const daemon = await startDaemon(t, {
    config: config.replace('exporters: [postgres]', 'exporters: [postgres, file]'),
  });
  await server.stop();
  const clock = new FakeClock();
  const stored = exportOf(KEY, daemon.url, someSpans(5), clock);
  await clock.pass(1000);
  await server.start();
  const ready = async () => (daemon.service.ready() ? true : undefined);
  t.ok(await waitFor(ready, { timeoutMs: PATIENCE_MS }));
  await clock.pass(1000);
  t.equal(await stored, undefined);
  t.equal((await daemon.rows()).length, 5);
  await server.stop();
  const lost = exportOf(KEY, daemon.url, someSpans(1), clock);
  await clock.pass(1000);
  await clock.pass(1000);
  t.match(await lost, { message: /503 Service Unavailable: /u });
  await daemon.stop();
});

t.test('a batch outlasts a restart of the daemon', async (t) => {
  const config = FILE_CONFIG.replace('127.0.0.1:0', `127.0.0.1:${await freePort()}`);
  const first = await startDaemon(t, { config });
  await first.stop();
  const clock = new FakeClock();
  const stored = exportOf(KEY, first.url, someSpans(5), clock);
  await clock.pass(100);
  const second = await startDaemon(t, { config });
  await clock.pass(500);
  t.equal(await stored, undefined);
  t.equal((await second.rows()).length, 5);
});

/** Forwards requests; the first answer of each path is lost with its connection. */
async function losingProxy(t: Test, target: string): Promise<{ url: string; lost: string[] }> {
  const lost: string[] = [];
  const server = createServer((incoming, response) => {
    const path = incoming.url ?? '';
    const outgoing = request(
      `${target}${path}`,
      { method: 'POST', headers: incoming.headers, agent: false },
      (answer) => {
        answer.resume();
        answer.on('end', () => {
          if (lost.includes(path)) return void response.writeHead(answer.statusCode ?? 500).end();
          lost.push(path);
          response.socket?.resetAndDestroy();
        });
      },
    );
    incoming.pipe(outgoing);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => new Promise<void>((resolve) => server.close(() => resolve())));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, lost };
}

t.test('what was stored without an answer is not stored twice', async (t) => {
  const daemon = await startDaemon(t);
  const proxy = await losingProxy(t, daemon.url);
  const clock = new FakeClock();
  const spans = exportOf(KEY, proxy.url, someSpans(5), clock);
  await clock.pass(100);
  t.equal(await spans, undefined);
  const exporter = new SluiceLogExporter({ key: KEY, endpoint: proxy.url }, clock);
  t.teardown(() => exporter.shutdown());
  const records = new Promise((resolve) => exporter.export([aLogRecord('once')], ({ error }) => resolve(error)));
  await clock.pass(100);
  t.equal(await records, undefined);
  t.strictSame(proxy.lost, ['/v1/traces', '/v1/logs']);
  t.strictSame(
    (await daemon.rows()).map(({ signal }) => signal),
    [...Array.from({ length: 5 }, () => 'span'), 'log'],
  );
});
