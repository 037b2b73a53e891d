/**
 * Mappings of the configuration: a sender of the user's own is read like a built-in one, its content obeys privacy, and
 * its mistakes are reported with their place.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { Capabilities } from '../../../src/component/capabilities/capability.ts';
import { COMPONENTS } from '../../../src/components.ts';
import { CompiledSchemas } from '../../../src/config/compiled-schemas.ts';
import { ConfigError } from '../../../src/config/diagnostics.ts';
import { loadConfig } from '../../../src/config/load.ts';
import type { MappingOption } from '../../../src/processors/normalization/mappings.ts';
import { codeBlocks, read, section } from '../../docs/markdown.ts';
import { FILE_CONFIG, parseLines, startDaemon } from '../../support/daemon.ts';
import { send } from '../../support/otlp-client.ts';
import { PATIENCE_MS } from '../../support/patience.ts';
import { encodeProtobuf, loadProtos } from '../../support/protos.ts';
import { jsonBody, Normalized, type PlainRecord, type PlainValue, protobufMessage } from './normalized.ts';

const ACME: MappingOption = {
  name: 'acme',
  markers: ['acme.step', 'vendor=acme'],
  scopes: ['acme-agents*'],
  services: ['acme-bot'],
  fields: {
    request_model: ['acme.model', { attribute: 'acme.request', paths: ['$.options.model'] }],
    provider: { attribute: 'acme.model', before: '/' },
    input_tokens: { attribute: 'acme.usage', paths: ['in', 'prompt'] },
    output_tokens: { attribute: 'acme.usage', paths: ['out.text', 'out.thought'], sum: true },
    cache_read_tokens: 'acme.cached',
    time_to_first_token_ms: { attribute: 'acme.first', unit: 's' },
    total_cost: { attribute: 'acme.micros', unit: 'micro_usd' },
    input_content: { attribute: 'acme.request', paths: ['$.messages'] },
    output_content: 'acme.answer',
    tool_name: { attribute: 'acme.tool', when: ['execute_tool'] },
    agent_name: { attribute: 'acme.request', paths: ['agent'] },
    conversation_id: 'acme.thread',
    finish_reasons: 'acme.stop',
  },
  operations: { 'acme.step': { ask: 'chat', 'run*': 'execute_tool' } },
  span_names: { 'plan *': 'plan' },
  events: { 'acme.asked': 'chat' },
  cached_tokens: 'outside',
  content: ['acme.note.*'],
};
const REQUEST = JSON.stringify({ messages: [{ role: 'user', content: 'QUESTION' }], agent: 'AGENT', options: {} });
const CALL: Readonly<Record<string, PlainValue>> = {
  'acme.step': 'Ask',
  'acme.model': 'openai/gpt-5-mini',
  'acme.request': REQUEST,
  'acme.usage': '{"in":100,"out":{"text":7,"thought":5}}',
  'acme.cached': 40n,
  'acme.first': 0.25,
  'acme.micros': 1234n,
  'acme.answer': 'ANSWER',
  'acme.thread': 'thread-1',
  'acme.stop': 'stop',
  'acme.note.1': 'NOTE',
};

const normalized = new Normalized(new Capabilities(), { mappings: [ACME] });

t.test('a span is read by its mapping: paths, sums, units, words, cache accounting, content', async (t) => {
  for (const rows of [
    normalized.plain('traces', [{ attributes: CALL }]),
    normalized.viaProtobuf('traces', [{ attributes: CALL }]),
  ]) {
    t.match(rows[0], {
      dialect: 'acme',
      operation: 'chat',
      category: 'model_call',
      provider: 'openai',
      request_model: 'openai/gpt-5-mini',
      input_tokens: 140,
      output_tokens: 12,
      cache_read_tokens: 40,
      time_to_first_token_ms: 250,
      output_content: 'ANSWER',
      agent_name: 'AGENT',
      conversation_id: 'thread-1',
      finish_reasons: ['stop'],
    });
    t.strictSame(rows[0]?.['input_content'], '[{"role":"user","content":"QUESTION"}]');
    t.notOk(Object.hasOwn((rows[0]?.attributes ?? {}) as object, 'acme.answer'), 'content stands in its column only');
  }
});

t.test('a tool step, a span name and a log record are read by their words', async (t) => {
  t.match(normalized.span({ 'acme.step': 'run it', 'acme.tool': 'search' }), {
    operation: 'execute_tool',
    tool_name: 'search',
  });
  t.match(normalized.span({ vendor: 'acme' }, { name: 'plan the trip' }), { dialect: 'acme', operation: 'plan' });
  t.match(normalized.log('acme.asked', { 'acme.model': 'gpt-5' }, { scope: 'acme-agents/2' }), {
    dialect: 'acme',
    operation: 'chat',
    request_model: 'gpt-5',
  });
});

t.test('counts, durations and words of finishing are the part of a text that a mapping names', async (t) => {
  const cut = new Normalized(new Capabilities(), {
    mappings: [
      {
        name: 'cut',
        markers: ['cut.model'],
        fields: {
          request_model: 'cut.model',
          input_tokens: { attribute: 'cut.in', before: ' tokens' },
          output_tokens: { attribute: 'cut.usage', paths: ['out', 'thought'], sum: true, after: ': ' },
          cache_read_tokens: [
            { attribute: 'cut.cached', before: '/' },
            { attribute: 'cut.usage', paths: ['cached'], after: ': ' },
          ],
          time_to_first_token_ms: { attribute: 'cut.first', unit: 's', before: ' s' },
          finish_reasons: { attribute: 'cut.stop', after: 'reason=' },
        },
        operations: { 'cut.step': { ask: 'chat' } },
      },
    ],
  });
  const attributes = {
    ...{ 'cut.model': 'm', 'cut.step': 'ask', 'cut.in': '120 tokens', 'cut.cached': 'unknown' },
    ...{ 'cut.usage': '{"out":"words: 7","thought":"words: 5","cached":"words: 20"}' },
    ...{ 'cut.first': '0.25 s', 'cut.stop': 'reason=stop' },
  };
  t.match(cut.span(attributes), {
    ...{ input_tokens: 120, output_tokens: 12, cache_read_tokens: 20, time_to_first_token_ms: 250 },
    ...{ finish_reasons: ['stop'] },
  });
  const other = { 'gen_ai.operation.name': 'chat', 'gen_ai.response.finish_reasons': 'reason=stop' };
  t.match(cut.span(other), { finish_reasons: ['reason=stop'] }, 'of another sender it is the whole text');
  t.match(cut.span({ ...attributes, 'cut.in': 120n }), { input_tokens: 120 }, 'a number is not cut');
  t.match(cut.span({ ...attributes, 'cut.in': '120' }), { input_tokens: null }, 'a text without the end that is named');
});

t.test('the mapping precedes built-in dialects on the records it detects, and touches no others', async (t) => {
  const builtIn = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'other', 'gen_ai.usage.input_tokens': 3n };
  const mixed = normalized.span({ ...builtIn, 'openinference.span.kind': 'AGENT', ...CALL });
  t.match(mixed, { dialect: 'acme', operation: 'chat', request_model: 'openai/gpt-5-mini', input_tokens: 140 });
  t.match(normalized.span({ ...builtIn, 'acme.step': 'Ask' }), { dialect: 'acme', input_tokens: 3 }, 'further names');
  const plain = new Normalized();
  const foreign = { ...builtIn, 'acme.model': 'x', 'acme.usage': '{"in":9}' };
  t.strictSame(normalized.span(foreign), plain.span(foreign), 'a record without a sign of it');
  t.strictSame(normalized.span({ 'acme.model': 'x' }), plain.span({ 'acme.model': 'x' }));
});

t.test('a scope or a service detects the sender only together with something of its own', async (t) => {
  for (const more of [{ scope: 'acme-agents' }, { resource: { 'service.name': 'acme-bot' } }]) {
    t.equal(normalized.span({ 'acme.model': 'x' }, more)['dialect'], 'acme');
    t.equal(normalized.span({ 'acme.model': 'x', 'openinference.span.kind': 'LLM' }, more)['dialect'], 'acme');
    t.notOk(normalized.span({ 'http.route': '/' }, more)['dialect']);
  }
});

t.test('a mapping without signs adds names to every record', async (t) => {
  const mappings = [{ name: 'house', fields: { user_id: 'crm.customer', request_model: 'house.model' } }] as const;
  const all = new Normalized(new Capabilities(), { mappings });
  t.match(all.span({ 'crm.customer': 'c-1', 'http.route': '/' }), { user_id: 'c-1', dialect: null });
  t.match(all.span({ 'gen_ai.operation.name': 'chat', 'house.model': 'm', 'crm.customer': 'c-2', 'user.id': 'u' }), {
    dialect: 'otel',
    request_model: 'm',
    user_id: 'u',
  });
});

const PRIVATE = /QUESTION|ANSWER|NOTE|AGENT|BODY/;
const MAPPINGS = JSON.stringify([
  { ...ACME, fields: { ...ACME.fields, system_instructions: { attribute: '(body)', paths: ['system'], on: 'log' } } },
]);
const PROCESSORS = '[auth, environment, privacy, normalization]';
const configOf = (privacy: string, mappings = MAPPINGS, pricing = ''): string =>
  FILE_CONFIG.replace(
    'environment: {}',
    `environment: {}\n  privacy: ${privacy}\n  normalization: { mappings: ${mappings} }${pricing}`,
  ).replaceAll('[auth, environment]', pricing === '' ? PROCESSORS : PROCESSORS.replace(']', ', pricing]'));
const PRICED = '\n  pricing: {}';

const protos = loadProtos();
async function sendBoth(url: string, signal: 'traces' | 'logs', records: readonly PlainRecord[]): Promise<void> {
  const type = protos.requests[signal === 'traces' ? 0 : 1];
  const json = jsonBody(signal, records);
  const protobuf = Buffer.from(encodeProtobuf(type, protobufMessage(signal, records)));
  for (const [body, media] of [
    [json, 'application/json'],
    [protobuf, 'application/x-protobuf'],
  ] as const) {
    const { status } = await send(url, { path: `/v1/${signal}`, body, headers: { 'content-type': media } });
    if (status !== 200) throw new Error(`answered ${status}`);
  }
}
const SPAN: PlainRecord = {
  attributes: CALL,
  events: [{ name: 'noted', attributes: { 'acme.note.2': 'NOTE', 'acme.answer': 'ANSWER' } }],
};
const LOG: PlainRecord = { attributes: CALL, name: 'acme.asked', body: { system: 'BODY' } };

t.test('the example of docs/dialects.md is as it says', async (t) => {
  const text = section(read('docs/dialects.md'), '## Senders of your own');
  const [yaml = ''] = codeBlocks(text, 'yaml');
  const [attributes = '', columns = ''] = codeBlocks(text, 'json');
  const { mappings } = (parse(yaml) as { processors: { normalization: { mappings: object } } }).processors
    .normalization;
  const daemon = await startDaemon(t, { config: configOf('{}', JSON.stringify(mappings), PRICED) });
  const plain = Object.entries(JSON.parse(attributes) as Record<string, string | number>);
  const values = plain.map(([key, value]) => [key, Number.isInteger(value) ? BigInt(value) : value] as const);
  await sendBoth(daemon.url, 'traces', [{ attributes: Object.fromEntries(values) }]);
  const rows = await daemon.rows();
  t.equal(rows.length, 2);
  for (const row of rows) t.match(row, JSON.parse(columns) as object);
});

t.test('content of a mapping is not stored where capture is off, in traces and logs of both encodings', async (t) => {
  const daemon = await startDaemon(t, { config: configOf('{ capture_content: false }', MAPPINGS, PRICED) });
  await sendBoth(daemon.url, 'traces', [SPAN]);
  await sendBoth(daemon.url, 'logs', [LOG]);
  const text = await daemon.file();
  t.notMatch(text, PRIVATE);
  const rows = parseLines(text);
  t.equal(rows.length, 4);
  for (const row of rows)
    t.match(row, {
      dialect: 'acme',
      input_tokens: 140,
      input_content: null,
      output_content: null,
      system_instructions: null,
      agent_name: null,
      total_cost: '0.00123400',
      cost_source: 'explicit',
      price_id: 'explicit acme.micros',
    });
});

t.test('content of a mapping is stored and redacted where capture is on', async (t) => {
  const redact = '{ redact: [{ name: secret, pattern: "QUESTION|ANSWER|NOTE|AGENT|BODY" }] }';
  const daemon = await startDaemon(t, { config: configOf(redact) });
  await sendBoth(daemon.url, 'traces', [SPAN]);
  await sendBoth(daemon.url, 'logs', [LOG]);
  const text = await daemon.file();
  t.notMatch(text, PRIVATE);
  for (const row of parseLines(text))
    t.match(row, { output_content: '[secret]', agent_name: '[secret]', input_content: /\[secret\]/ });
});

t.test('each pipeline has its own mappings', async (t) => {
  const config = configOf('{ capture_content: false }')
    .replace('  privacy:', '  normalization/logs: {}\n  privacy:')
    .replace(/(logs: .*)normalization/, '$1normalization/logs');
  const daemon = await startDaemon(t, { config });
  const note = { 'acme.step': 'ask', 'acme.answer': 'ANSWER' };
  await sendBoth(daemon.url, 'traces', [{ attributes: note }]);
  await sendBoth(daemon.url, 'logs', [{ attributes: note }]);
  for (const row of await daemon.rows()) {
    t.equal(row['dialect'], row['signal'] === 'span' ? 'acme' : null);
    t.match(row['attributes'], row['signal'] === 'span' ? { 'acme.step': 'ask' } : note);
    t.equal(Object.hasOwn(row['attributes'] as object, 'acme.answer'), row['signal'] === 'log');
  }
});

t.test('a reload changes the mappings and their privacy', async (t) => {
  const daemon = await startDaemon(t, { config: configOf('{ capture_content: false }', '[]') });
  const answer = { attributes: { 'acme.step': 'ask', 'acme.answer': 'ANSWER' } };
  const rowsNow = async (): Promise<readonly Record<string, unknown>[]> => {
    await sendBoth(daemon.url, 'traces', [answer]);
    return (await daemon.rows()).slice(-2);
  };
  for (const row of await rowsNow()) t.match(row, { dialect: null, attributes: { 'acme.answer': 'ANSWER' } });
  const path = join(daemon.folder, 'sluice.yaml');
  const reload = async (mappings: string): Promise<void> => {
    writeFileSync(path, configOf('{ capture_content: false }', mappings).replaceAll('{folder}', daemon.folder));
    await daemon.service.reload(await load(path), AbortSignal.timeout(PATIENCE_MS));
  };
  await reload(MAPPINGS);
  answer.attributes['acme.answer'] = 'ANSWER 2';
  for (const row of await rowsNow()) t.match(row, { dialect: 'acme', attributes: { 'acme.step': 'ask' } });
  t.notMatch(await daemon.file(), 'ANSWER 2');
  await reload(MAPPINGS.replace('"acme"', '"zenith"'));
  answer.attributes['acme.answer'] = 'ANSWER 3';
  for (const row of await rowsNow()) t.equal(row['dialect'], 'zenith');
  t.notMatch(await daemon.file(), 'ANSWER 3');
});

const schemas = new CompiledSchemas();
const load = (path: string) =>
  loadConfig({ files: [path], definitions: COMPONENTS, workingDirectory: '/', environment: {}, schemas });

const MISTAKES: readonly (readonly [mapping: string, place: string, message: RegExp])[] = [
  [
    '{ name: a, fields: { input_token: x } }',
    '5:28',
    /unknown option "input_token".*\n.*\n.*\^[\s\S]*did you mean "input_tokens"/,
  ],
  ['{ name: a, fields: { latency_ms: { attribute: x, unit: h } } }', '5:62', /one of s, ms, ns/],
  ['{ name: a, fields: { input_tokens: { attribute: x, unit: ms } } }', '5:64', /input_tokens has no unit "ms"/],
  ['{ name: a, fields: { user_id: [x, { attribute: "y=1" }] } }', '5:54', /attribute/],
  ['{ name: a, fields: { is_error: { attribute: x, paths: [y] } } }', '5:61', /whole attributes only/],
  ['{ name: a, fields: { user_id: { attribute: x, paths: ["a..b"] } } }', '5:61', /paths/],
  ['{ name: a, operations: { kind: { ask: chatt } } }', '5:45', /did you mean "chat"/],
  ['{ name: langfuse, fields: { user_id: x } }', '5:15', /"langfuse" is a built-in dialect/],
  ['{ name: a, fields: { input_content: (body) } }', '5:43', /body of every log record/],
  ['{ name: a }', '5:7', /maps nothing/],
  ['{ fields: { user_id: x } }', '5:7', /lacks the option "name"/],
];

t.test('a mistake in a mapping is reported at its place, with a hint', async (t) => {
  const folder = t.testdir();
  const path = join(folder, 'sluice.yaml');
  for (const [mapping, place, message] of MISTAKES) {
    writeFileSync(
      path,
      `processors:\n  auth: {}\n  normalization:\n    mappings:\n    - ${mapping}\n${FILE_CONFIG.slice(FILE_CONFIG.indexOf('exporters:'))}`,
    );
    const error = await load(path).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof ConfigError)) t.fail(`${mapping} is accepted`);
    else {
      t.match(error.message, message, mapping);
      t.match(error.message, `sluice.yaml:${place}: error`, mapping);
    }
  }
});
