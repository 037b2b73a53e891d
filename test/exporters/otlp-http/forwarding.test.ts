/** Forwarding through a whole daemon, a real database and real sockets. */
import t from 'tap';
import { longTest } from '../../support/long.ts';
import { FILE_CONFIG, KEY, OTHER_KEY, startDaemon } from '../../support/daemon.ts';
import { accept, messageOf, refuse, reset, spanNames, startRemote } from '../../support/fake-remote.ts';
import { send } from '../../support/otlp-client.ts';
import { aGauge, aLogRequest, aMetricRequest, aSpan, aTraceRequest } from '../../support/payloads.ts';
import { eventually } from '../../support/eventually.ts';
import { type Forwarder, HASTY, sendSpan, startForwarder } from './forwarder.ts';

t.setTimeout(300_000);

// Most tests share one daemon and one remote; each begins with an empty outbox.
const remote = await startRemote(t);
const forwarder = await startForwarder(t, remote.url, { options: `headers: { x-key: "secret word" }, ${HASTY}` });
t.beforeEach(async () => {
  remote.reset();
  await forwarder.query('DELETE FROM sluice.outbox');
});

const isEmpty = async (forwarder: Forwarder): Promise<boolean> =>
  (await forwarder.query('SELECT FROM sluice.outbox')).length === 0;

t.test('stored records arrive, compressed, with the configured headers, and leave the outbox', async (t) => {
  const requests = {
    '/v1/traces': aTraceRequest([aSpan({ name: 'checkout', attributes: { 'gen_ai.system': 'openai', n: 3 } })]),
    '/v1/logs': aLogRequest([{ timeUnixNano: '5', body: { stringValue: 'hello' } }]),
    '/v1/metrics': aMetricRequest([aGauge('load', 0.5)]),
  };
  for (const [path, request] of Object.entries(requests)) {
    t.equal((await send(forwarder.url, { path, body: JSON.stringify(request) })).status, 200);
  }
  await eventually('all three arrive', () => remote.accepted.length === 3);
  t.strictSame(
    remote.accepted.map(({ path }) => path),
    Object.keys(requests),
    'in the order they were accepted',
  );
  const [first, second, third] = remote.accepted.map(messageOf);
  t.match(first, { resourceSpans: [{ scopeSpans: [{ scope: { name: 'test' }, spans: [{ name: 'checkout' }] }] }] });
  t.match(second, { resourceLogs: [{ scopeLogs: [{ logRecords: [{ body: { stringValue: 'hello' } }] }] }] });
  t.match(third, { resourceMetrics: [{ scopeMetrics: [{ metrics: [{ name: 'load' }] }] }] });
  t.match(remote.accepted[0]?.headers, {
    'content-type': 'application/x-protobuf',
    'content-encoding': 'gzip',
    'x-key': 'secret word',
  });
  await eventually('the outbox is empty', () => isEmpty(forwarder));
  const delivered = 'sluice_outbox_attempts{exporter="otlp_http",result="delivered"} 3\n';
  await eventually('all are counted', () => forwarder.registry.print().includes('sent_metric_points{exporter'));
  const metrics = forwarder.registry.print();
  t.match(metrics, 'otelcol_exporter_sent_spans{exporter="otlp_http"} 1\n');
  t.match(metrics, 'otelcol_exporter_sent_log_records{exporter="otlp_http"} 1\n');
  t.match(metrics, 'otelcol_exporter_sent_metric_points{exporter="otlp_http"} 1\n');
  t.match(metrics, delivered);
});

t.test('a refused request is not sent, and a repeated request is sent once', async (t) => {
  const span = aSpan({ name: 'once', traceId: 'ab'.repeat(16) });
  const body = JSON.stringify(aTraceRequest([span]));
  t.equal((await send(forwarder.url, { body })).status, 200);
  t.equal((await send(forwarder.url, { body })).status, 200, 'the same bytes again');
  const conflict = { body, authorization: `Bearer ${OTHER_KEY}` };
  t.equal((await send(forwarder.url, conflict)).status, 409, 'the trace of another project');
  t.equal(await sendSpan(forwarder.url, 'last'), 200);
  await eventually('the last arrives', () => spanNames(remote.accepted).includes('last'));
  t.strictSame(spanNames(remote.accepted), ['once', 'last']);
});

t.test('dropped and replaced content is never sent', async (t) => {
  const remote = await startRemote(t);
  const forwarder = await startForwarder(t, remote.url, {
    processors: 'auth, environment, privacy, normalization',
    definitions: `  privacy:
    capture_content: false
    redact: [{ preset: email }]`,
  });
  const attributes = [
    { key: 'gen_ai.prompt', value: { stringValue: 'what I asked' } },
    { key: 'gen_ai.request.model', value: { stringValue: 'gpt-5' } },
    { key: 'note', value: { stringValue: 'ask ann@example.com' } },
    { key: 'ann@example.com', value: { intValue: '1' } },
    {
      key: 'nested',
      value: {
        kvlistValue: {
          values: [
            { key: 'to', value: { stringValue: 'ann@example.com' } },
            { key: 'n', value: { intValue: '7' } },
            { key: 'half', value: { doubleValue: 0.5 } },
            { key: 'yes', value: { boolValue: true } },
            { key: 'list', value: { arrayValue: { values: [{ stringValue: 'x' }, {}] } } },
          ],
        },
      },
    },
  ];
  const span = { ...aSpan({ name: 'to ann@example.com' }), attributes };
  t.equal((await send(forwarder.url, { body: JSON.stringify(aTraceRequest([span])) })).status, 200);
  await eventually('it arrives', () => remote.accepted.length === 1);
  const [request] = remote.accepted;
  if (request === undefined) throw new Error('nothing arrived');
  t.notOk(request.body.includes('what I asked'), 'content that may not be stored');
  t.notOk(request.body.includes('example.com'), 'text that matches a pattern');
  const [stored] = await forwarder.query("SELECT encode(string_agg(body, ''), 'escape') AS body FROM sluice.outbox");
  t.notMatch(String(stored?.['body']), 'example.com', 'it was not in the database either');
  t.match(messageOf(request), {
    resourceSpans: [
      {
        scopeSpans: [
          {
            spans: [
              {
                name: 'to [email]',
                attributes: [
                  { key: 'gen_ai.request.model', value: { stringValue: 'gpt-5' } },
                  { key: 'note', value: { stringValue: 'ask [email]' } },
                  { key: '[email]', value: { intValue: 1n } },
                  {
                    key: 'nested',
                    value: {
                      kvlistValue: {
                        values: [
                          { key: 'to', value: { stringValue: '[email]' } },
                          { key: 'n', value: { intValue: 7n } },
                          { key: 'half', value: { doubleValue: 0.5 } },
                          { key: 'yes', value: { boolValue: true } },
                          { key: 'list', value: { arrayValue: { values: [{ stringValue: 'x' }, {}] } } },
                        ],
                      },
                    },
                  },
                ],
              },
            ],
          },
        ],
      },
    ],
  });
});

longTest('a remote can be sent uncompressed JSON, also when no record is stored here', async (t) => {
  const remote = await startRemote(t);
  const forwarder = await startForwarder(t, 'http://127.0.0.1:1', {
    options: `encoding: json, compression: none, traces_endpoint: "${remote.url}/ingest"`,
    exporters: 'otlp_http',
  });
  t.equal(await sendSpan(forwarder.url, 'as json'), 200);
  await eventually('it arrives', () => remote.accepted.length === 1);
  const [request] = remote.accepted;
  t.match(request, {
    path: '/ingest',
    headers: { 'content-type': 'application/json', 'content-encoding': undefined },
  });
  t.match(JSON.parse(String(request?.body)), { resourceSpans: [{ scopeSpans: [{ spans: [{ name: 'as json' }] }] }] });
  t.strictSame(await forwarder.query('SELECT FROM sluice.spans'), []);
});

t.test('while the remote is down requests are acknowledged; when it is back all arrive, in order', async (t) => {
  const remote = await startRemote(t);
  await remote.close();
  const forwarder = await startForwarder(t, remote.url);
  const names = Array.from({ length: 30 }, (_, i) => `span ${i}`);
  for (const name of names) t.equal(await sendSpan(forwarder.url, name), 200);
  t.ok(forwarder.service.ready(), 'the daemon stays ready');
  await eventually('an attempt fails', () => forwarder.registry.print().includes('result="unreachable"'));
  const back = await startRemote(t, remote.port);
  await eventually('the outbox is empty', () => isEmpty(forwarder));
  t.strictSame(spanNames(back.accepted), names);
  t.ok(back.accepted.length < names.length, 'those that had waited were sent together');
});

t.test('resets, 503 and 429 delay a request and those behind it, and lose nothing', async (t) => {
  const answers = [reset, refuse(503, { 'retry-after': '0' }), refuse(429), refuse(502), refuse(504), reset];
  remote.answer = (request, response) => (answers.shift() ?? accept)(request, response);
  for (const name of ['a', 'b', 'c']) t.equal(await sendSpan(forwarder.url, name), 200);
  await eventually('all arrive', () => spanNames(remote.accepted).length === 3);
  t.strictSame(spanNames(remote.accepted), ['a', 'b', 'c']);
});

t.test('of requests that were sent together only the failing one becomes a dead letter', async (t) => {
  let isDown = true;
  remote.answer = (request, response) => {
    if (isDown) return refuse(503)(request, response);
    const isBad = spanNames([request]).includes('bad');
    return (isBad ? refuse(400, { 'content-type': 'application/json' }, '{"message":"no such\\u0007thing"}') : accept)(
      request,
      response,
    );
  };
  for (const name of ['a', 'b', 'bad', 'c', 'd']) t.equal(await sendSpan(forwarder.url, name), 200);
  isDown = false;
  await eventually('the others arrive', () => spanNames(remote.accepted).length === 4);
  t.strictSame(spanNames(remote.accepted), ['a', 'b', 'c', 'd']);
  const left = () => forwarder.query('SELECT state, last_error, records FROM sluice.outbox');
  await eventually('one is left', async () => (await left()).length === 1);
  t.strictSame(await left(), [{ state: 'dead', last_error: '400 no such thing', records: 1 }]);
  const buried = 'sluice_outbox_buried{exporter="otlp_http",reason="refused"} 1\n';
  await eventually('it is counted', () => forwarder.registry.print().includes(buried));
});

t.test('redirects are not followed', async (t) => {
  const elsewhere = await startRemote(t);
  remote.answer = refuse(307, { location: elsewhere.url });
  await sendSpan(forwarder.url, 'a');
  const left = () => forwarder.query("SELECT last_error FROM sluice.outbox WHERE state = 'dead'");
  await eventually('it is a dead letter', async () => (await left()).length === 1);
  t.match(await left(), [{ last_error: `307 to ${elsewhere.url}; redirects are not followed` }]);
  t.equal(elsewhere.requests.length, 0);
});

t.test('the rejected records of a partial success are counted', async (t) => {
  // ExportTraceServiceResponse { partial_success { rejected_spans: 3, error_message: "too old" } }
  const partial = Buffer.from('0a0b08031207746f6f206f6c64', 'hex');
  remote.answer = (_request, response) =>
    void response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end(partial);
  await sendSpan(forwarder.url, 'a');
  await eventually('it left the outbox', () => isEmpty(forwarder));
  const rejected = 'sluice_outbox_rejected_records{exporter="otlp_http"} 3\n';
  await eventually('it is counted', () => forwarder.registry.print().includes(rejected));
  const warning = forwarder.log.find(({ message }) => message.startsWith('the remote accepted a request in part'));
  t.match(warning?.fields, { rejected: 3, message: 'too old', records: 1 });
});

longTest('a request to a remote that does not answer ends after the timeout', async (t) => {
  const remote = await startRemote(t);
  remote.answer = () => undefined;
  const forwarder = await startForwarder(t, remote.url, { options: `timeout: 50ms, ${HASTY}` });
  await sendSpan(forwarder.url, 'a');
  await eventually('the attempt ends', () => forwarder.registry.print().includes('result="timeout"'));
  remote.answer = accept;
  await eventually('it arrives', () => spanNames(remote.accepted).includes('a'));
});

longTest('of two daemons on one database one sends, and the other continues after its stop', async (t) => {
  const remote = await startRemote(t);
  const first = await startForwarder(t, remote.url);
  const second = await startForwarder(t, remote.url, { databaseUrl: first.databaseUrl });
  const names = Array.from({ length: 12 }, (_, i) => `span ${i}`);
  for (const [i, name] of names.slice(0, 8).entries()) await sendSpan((i % 2 === 0 ? first : second).url, name);
  await eventually('all arrive', () => spanNames(remote.accepted).length === 8);
  await first.stop();
  for (const name of names.slice(8)) await sendSpan(second.url, name);
  await eventually('the rest arrives', () => spanNames(remote.accepted).length === 12);
  t.strictSame(spanNames(remote.accepted), names, 'each once, in order');
});

longTest('a full outbox refuses before anything is stored, or drops the oldest, as configured', async (t) => {
  const remote = await startRemote(t);
  await remote.close();
  const big = (i: number): string =>
    JSON.stringify(aTraceRequest([aSpan({ name: `big ${i}`, attributes: { text: 'x'.repeat(600_000) } })]));
  const refusing = await startForwarder(t, remote.url, { options: `outbox: { max_size: 1MiB }, ${HASTY}` });
  const statuses = [];
  for (let i = 0; i < 4; i++) statuses.push((await send(refusing.url, { body: big(i) })).status);
  t.strictSame(statuses, [200, 200, 503, 503]);
  const [{ spans } = {}] = await refusing.query('SELECT count(*)::int4 AS spans FROM sluice.spans');
  t.equal(spans, 2, 'the refused request is not stored');
  t.match(refusing.registry.print(), 'otelcol_exporter_enqueue_failed_spans{exporter="otlp_http"} 2\n');
  t.ok(refusing.service.ready());
  t.equal((await send(refusing.url, { body: big(4), authorization: `Bearer ${KEY}` })).headers['retry-after'], '1');
});

t.test('without a database the configuration is refused', async (t) => {
  const config = FILE_CONFIG.replace(
    'exporters: {',
    'exporters: { otlp_http: { endpoint: "http://127.0.0.1:1" },',
  ).replace('exporters: [file]', 'exporters: [file, otlp_http]');
  await t.rejects(startDaemon(t, { config }), {
    message: /the exporter "otlp_http" writes within the transactions of the postgres ledger/u,
  });
});
