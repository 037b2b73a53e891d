/** `sluice tap`: stored records and refusals of a running daemon, over its local socket. */
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { recordFilter } from '../../src/cli/tap-filter.ts';
import { sluice } from '../support/command-line.ts';
import { folderOf } from '../support/config-files.ts';
import { type Executable, freePort, startExecutable } from '../support/executable.ts';
import { send } from '../support/otlp-client.ts';
import { aLogRequest, aSpan, aTraceRequest, START_NS } from '../support/payloads.ts';

t.setTimeout(300_000);

const KEY = 'a-key-of-thirty-two-characters-00';
const OTHER_KEY = 'a-key-of-thirty-two-characters-01';
const skip = process.platform === 'win32';

const configOf = (port: number): string => `
receivers: { otlp: { protocols: { http: { endpoint: "127.0.0.1:${port}" } } } }
processors:
  auth: { keys: [{ key: ${KEY}, project: shop }, { key: ${OTHER_KEY}, project: blog }] }
  environment:
  normalization:
exporters: { file: { path: telemetry.ndjson } }
service:
  ledger: memory
  telemetry: { metrics: { enabled: false } }
  pipelines:
    traces: &pipeline { receivers: [otlp], processors: [auth, environment, normalization], exporters: [file] }
    logs: *pipeline
`;

function start(t: Test, folder: string, args: readonly string[]): Executable {
  const started = startExecutable(args, folder);
  t.teardown(async () => {
    started.child.kill('SIGTERM');
    await started.ended;
  });
  return started;
}

t.test('stored records and refusals, as they happen', { skip }, async (t) => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const folder = folderOf({ 'sluice.yaml': configOf(port) });
  t.match(await sluice(['tap'], { folder }), { code: 1, err: /no daemon runs with this configuration/u });
  const daemon = start(t, folder, []);
  await daemon.until('everything is ready');

  const taps = {
    text: start(t, folder, ['tap']),
    json: start(t, folder, [
      'tap',
      '--json',
      '--project',
      'shop',
      '--filter',
      'model:gpt-5* attr.big:9007199254740993',
    ]),
    refused: start(t, folder, ['tap', '--refused', '--pid', String(daemon.child.pid)]),
    one: start(t, folder, ['tap', '--limit', '1', '--signal', 'traces', '--config', join(folder, 'sluice.yaml')]),
  };
  await Promise.all(Object.values(taps).map((tap) => tap.until('Showing what arrives')));

  const call = (name: string, model: string): object =>
    aSpan({
      name,
      attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': model, big: '9007199254740993' },
    });
  const bodyOf = (request: object): string => JSON.stringify(request);
  const chat = bodyOf(
    aTraceRequest([call('chat one', 'gpt-5-mini'), call('chat two', 'claude'), call('chat three', 'x')]),
  );
  t.equal((await send(url, { authorization: `Bearer ${KEY}`, body: chat })).status, 200);
  // A request that is stored already is not shown again.
  t.equal((await send(url, { authorization: `Bearer ${KEY}`, body: chat })).status, 200);
  const wrong = await send(url, { authorization: 'Bearer wrong', body: chat });
  t.equal(wrong.status, 401);
  const log = bodyOf(
    aLogRequest([{ timeUnixNano: String(START_NS), severityText: 'WARN', body: { stringValue: 'x' } }]),
  );
  t.equal((await send(url, { path: '/v1/logs', authorization: `Bearer ${OTHER_KEY}`, body: log })).status, 200);

  await Promise.all([
    taps.text.until('WARN'),
    taps.json.until('chat one'),
    taps.refused.until('invalid_api_key'),
    taps.one.until('further records'),
  ]);
  const { out } = taps.text.output;
  t.match(out, /^\d\d:\d\d:\d\d\.\d{3} {2}shop\/default +chat one .* [0-9a-f]{12}$/mu);
  t.equal(out.split('chat two').length, 2, 'once');
  t.match(out, /refused invalid_api_key {2}traces .*from 127\.0\.0\.1/u);
  t.match(out, /blog\/default +WARN +log/u);
  t.notMatch(out, 'wrong', 'a refused credential is not shown');

  const [line = '', ...others] = taps.json.output.out.trim().split('\n');
  const records = [line, ...others].map((each) => JSON.parse(each) as Readonly<Record<string, unknown>>);
  t.match(
    records.filter(({ signal }) => signal === 'span'),
    [{ signal: 'span', project: 'shop', name: 'chat one', request_model: 'gpt-5-mini' }],
  );
  t.match(taps.refused.output.out, /^\S+ {2}refused invalid_api_key .* \(not the text of a key\)$/mu);
  t.notMatch(taps.refused.output.out, 'chat one');
  t.notMatch(taps.one.output.out, /chat two|WARN/u);
  t.match(taps.one.output.err, '… 2 further records');

  // The daemon closes the taps when it stops.
  daemon.child.kill('SIGTERM');
  t.equal(await daemon.ended, 0);
  t.equal(await taps.text.ended, 1);
  t.match(taps.text.output.err, 'the daemon has ended');
});

t.test('wrong options are refused', { skip }, async (t) => {
  const folder = folderOf({ 'sluice.yaml': configOf(1) });
  const wrong = [
    ['--signal', 'spans'],
    ['--limit', '0'],
    ['--limit', '10001'],
    ['--filter', 'modell:x'],
    ['--filter', 'trace.cost:>1'],
  ];
  for (const options of wrong) t.match(await sluice(['tap', ...options], { folder }), { code: 2 }, options.join(' '));
});

t.test('the filter chooses records by any of their columns', async (t) => {
  const record = {
    signal: 'span',
    name: 'chat',
    environment: 'production',
    trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
    service_name: 'web',
    request_model: 'gpt-5',
    response_model: 'gpt-5-2026',
    usage_scope: 'own',
    total_tokens: 15,
    total_cost: '0.06',
    duration_ns: '2500000000',
    latency_ms: 2500,
    status: 'error',
    error_type: 'Timeout',
    parent_span_id: null,
    input_content: 'Rain in Lisbon?',
    attributes: { 'http.route': '/chat', retries: 3 },
    resource: { 'host.name': 'web-1' },
  };
  const matching = [
    ...['', 'name:chat', 'env:production', 'model:gpt-5-2026', 'model:gpt-5*', 'service:web,worker', 'trace:4bf9'],
    ...['tokens:>=15', 'cost:>0.05', 'duration:>2s', 'latency:<3s', 'error', 'error:time', '-service:worker', 'root'],
    ...[
      'attr.http.route:/chat',
      'attr.retries:>2',
      'attr.retries:3',
      'resource.host.name:web*',
      '"rain in"',
      'name:~ha',
    ],
  ];
  for (const text of matching) t.ok(recordFilter(text)(record), text);
  const missing = [
    ...['name:cha', 'model:gpt-5', 'cost:>0.06', 'tokens:<15', 'duration:<2s', '-error', 'error:quota', 'unpriced'],
    ...['attr.http.route:/', 'attr.none:x', 'attr.retries:>3', 'severity:ERROR', 'tool:x', '"snow"', 'trace:5'],
  ];
  for (const text of missing) t.notOk(recordFilter(text)(record), text);
  t.ok(recordFilter('severity:ERROR error')({ signal: 'log', severity_text: 'error', severity_number: 17 }));
  t.notOk(recordFilter('')({ signal: 'metric' }), 'metrics have no fields');
});
