// Content in the terminal: messages below the calls of a trace, everything of a span, the thread of a conversation.
import t from 'tap';
import { folderOf } from '../support/config-files.ts';
import { type Outcome, sluice as call } from '../support/command-line.ts';
import { ask } from '../support/connection.ts';
import { startDaemon } from '../support/daemon.ts';
import { send } from '../support/otlp-client.ts';
import { aLogRequest, aSpan, aTraceRequest, attributes, newTraceId } from '../support/payloads.ts';
import { createDatabase } from '../support/postgres.ts';
import { postgresConfig, SERVED } from '../support/postgres-daemon.ts';

const { url: databaseUrl } = await createDatabase(t, SERVED);
const config = postgresConfig({ databaseUrl, processors: 'auth, environment, privacy, normalization' }).replace(
  '  normalization: {}',
  '  normalization: {}\n  privacy: { environments: { production: { capture_content: false } } }',
);
const daemon = await startDaemon(t, { config });
const folder = folderOf({ 'a.yaml': config });
const sluice = (...args: string[]): Promise<Outcome> => call([...args, '-c', 'a.yaml'], { folder });

const START = BigInt(Date.now()) * 1_000_000n;
const CONVERSATION = 'c-17 of the test';
const [first = '', second = '', hidden = ''] = ['a1', 'b2', 'c3'].map((digits) => digits + newTraceId().slice(2));
const CHAT = {
  'gen_ai.operation.name': 'chat',
  'gen_ai.provider.name': 'openai',
  'gen_ai.request.model': 'gpt-5-mini',
  'gen_ai.conversation.id': CONVERSATION,
};
const text = (role: string, content: string) => ({ role, parts: [{ type: 'text', content }] });
const CALL = {
  role: 'assistant',
  parts: [{ type: 'tool_call', id: 't1', name: 'get_weather', arguments: { city: 'Bergen' } }],
};
const RESULT = { role: 'tool', parts: [{ type: 'tool_call_response', id: 't1', response: 'rain, 7 degrees' }] };
const SYSTEM = text('system', 'Answer briefly.');
const QUESTION = text('user', 'What should I pack?\n\n  1. for rain\u001b[2J\u202e?');
const ANSWER = text('assistant', 'A jacket.');

const chat = (input: readonly object[], output: readonly object[]) => ({
  ...CHAT,
  'gen_ai.input.messages': JSON.stringify(input),
  'gen_ai.output.messages': JSON.stringify(output),
});

function spanAt(traceId: string, at: number, attributes: Readonly<Record<string, string | number>>): object {
  const spanId = `${traceId.slice(0, 2)}0000000000000${at}`;
  return aSpan({ traceId, spanId, name: `step ${at}`, start: START + BigInt(at) * 1_000_000n, attributes });
}

t.before(async () => {
  const requests = [
    aTraceRequest([
      spanAt(first, 1, chat([SYSTEM, QUESTION], [CALL])),
      {
        ...spanAt(first, 2, {
          'gen_ai.operation.name': 'execute_tool',
          'gen_ai.tool.name': 'get_weather',
          'gen_ai.tool.call.id': 't1',
          'gen_ai.tool.call.arguments': '{"city":"Bergen"}',
          'gen_ai.tool.call.result': 'rain, 7 degrees',
          note: 'line one\nline two',
        }),
        events: [{ name: 'retried', timeUnixNano: String(START), attributes: [] }],
        links: [{ traceId: second, spanId: 'b200000000000003', attributes: [] }],
      },
      spanAt(first, 3, chat([SYSTEM, QUESTION, CALL, RESULT], [ANSWER])),
    ]),
    aTraceRequest([
      spanAt(
        second,
        4,
        chat([SYSTEM, QUESTION, CALL, RESULT, ANSWER, text('user', 'And shoes?')], [text('assistant', 'Boots.')]),
      ),
      // The same call, reported by another library.
      spanAt(
        second,
        5,
        chat([SYSTEM, QUESTION, CALL, RESULT, ANSWER, text('user', 'And shoes?')], [text('assistant', 'Boots.')]),
      ),
    ]),
    aTraceRequest([spanAt(hidden, 6, chat([text('user', 'a secret')], [ANSWER]))], {
      'service.name': 'shop',
      'deployment.environment.name': 'production',
    }),
  ];
  for (const body of requests) t.equal((await send(daemon.url, { body: JSON.stringify(body) })).status, 200);
  const log = {
    timeUnixNano: String(START),
    eventName: 'gen_ai.user.message',
    body: { kvlistValue: { values: [{ key: 'content', value: { stringValue: 'told by an event' } }] } },
    traceId: second,
    spanId: 'b200000000000004',
    attributes: [],
  };
  const logs = JSON.stringify(aLogRequest([log]));
  t.equal((await send(daemon.url, { path: '/v1/logs', body: logs })).status, 200);
});

t.test('a trace shows the messages below each call, and names the command that shows the rest', async (t) => {
  const { out, err, code } = await sluice('trace', first, '--content');
  t.equal(code, 0, err);
  const lines = out.split('\n');
  t.match(lines[2], /^step 1 /u);
  t.same(lines.slice(3, 8), [
    '    system     Answer briefly.',
    '    user       What should I pack?',
    '',
    '                 1. for rain\ufffd[2J?',
    '    assistant  calls get_weather {"city":"Bergen"}',
  ]);
  t.match(out, '    tool       result of get_weather: rain, 7 degrees');
  t.match(out, /^ {4}… 1 more message: sluice span a100000000000003 --trace a1[0-9a-f]{10}$/mu);
  t.notMatch(await sluice('trace', first).then((plain) => plain.out), 'Answer briefly');
});

t.test('content that is not captured is reported', async (t) => {
  t.match((await sluice('trace', hidden, '--content')).out, '(not captured in environment production)');
  t.match((await sluice('span', 'c30', '--trace', hidden)).out, '(not captured in environment production)');
});

t.test('a span shows everything', async (t) => {
  const { out, err, code } = await sluice('span', 'a100000000000002', '--trace', first.slice(0, 9));
  t.equal(code, 0, err);
  t.match(out, /^step 2 {2}1ms$/mu);
  t.match(out, /^assistant {2}calls get_weather \{"city":"Bergen"\}$/mu);
  t.match(out, /^tool {7}result of get_weather: rain, 7 degrees$/mu);
  t.match(out, /^ {2}category +tool_step$/mu);
  t.match(out, /^ {2}note +line one\n +line two$/mu);
  t.match(out, /^Events\n {2}retried · time_unix_nano \d+$/mu);
  t.match(out, new RegExp(`^Links\\n {2}span_id b200000000000003 · trace_id ${second}`, 'mu'));
  t.match(out, /^Resource\n {2}service\.name +shop$/mu);
});

t.test('a span as JSON is its line of the file exporter, with messages and log records', async (t) => {
  const { out } = await sluice('span', 'b200000000000004', '--json');
  const span = JSON.parse(out) as Record<string, unknown>;
  t.match(span, {
    signal: 'span',
    trace_id: second,
    start_time_unix_nano: String(START + 4_000_000n),
    attributes: Object,
    logs: [{ signal: 'log', content: [{ messages: [{ role: 'user', parts: [{ text: 'told by an event' }] }] }] }],
  });
  t.match((span['content'] as object[]).at(-1), {
    source: 'output_content',
    is_complete: true,
    messages: [{ role: 'assistant', parts: [{ type: 'text', text: 'Boots.', media_type: null }] }],
  });
});

t.test('a span with very many log records says how many are shown', async (t) => {
  const logs = Array.from({ length: 1_001 }, (_, at) => ({
    timeUnixNano: String(START + BigInt(at)),
    body: { stringValue: `record ${at}` },
    traceId: first,
    spanId: 'a100000000000003',
    attributes: [],
  }));
  t.equal((await send(daemon.url, { path: '/v1/logs', body: JSON.stringify(aLogRequest(logs)) })).status, 200);
  const { out } = await sluice('span', 'a100000000000003');
  t.match(out, /\n\n… the first 1000 of 1001 log records\n?$/u);
  const span = JSON.parse((await sluice('span', 'a100000000000003', '--json')).out);
  t.equal(span.log_count, 1_001);
  t.equal(span.logs.length, 1_000);
  const other = await sluice('span', 'b200000000000004');
  t.notMatch(other.out, 'the first');
  t.match(JSON.parse((await sluice('span', 'b200000000000004', '--json')).out), { log_count: 1, logs: { length: 1 } });
});

t.test('ids of spans by prefix', async (t) => {
  t.match(await sluice('span', 'a1000'), {
    code: 1,
    err: /several spans begin with a1000\n.*more digits: a100000000000001/u,
  });
  t.match(await sluice('span', 'ffff'), { code: 1, err: /there is no span ffff/u });
  t.match(await sluice('span', 'x'), { code: 2, err: /16 hexadecimal digits/u });
  t.match(await sluice('span', 'a100000000000001', '--trace', second), { code: 1, err: /there is no span/u });
});

t.test('a trace as JSON has the content of every record', async (t) => {
  const { out } = await sluice('trace', second, '--content', '--json');
  const { spans, logs } = JSON.parse(out) as { spans: { content: unknown[] }[]; logs: Record<string, unknown>[] };
  t.same(
    spans.map(({ content }) => content.length),
    [2, 2],
  );
  t.match(logs, [{ content: [{ source: 'input_content' }] }]);
  t.notOk('row_id' in (logs[0] ?? {}));
});

t.test('a conversation is one thread across traces, each message once', async (t) => {
  for (const id of [CONVERSATION, 'c-17']) {
    const { out, err, code } = await sluice('conversation', id);
    t.equal(code, 0, err);
    const said = out.split('\n').filter((line) => /^ {2}(?:system|user|assistant|tool) /u.test(line));
    t.same(said, [
      '  system     Answer briefly.',
      '  user       What should I pack?',
      '  assistant  calls get_weather {"city":"Bergen"}',
      '  tool       result: rain, 7 degrees',
      '  assistant  A jacket.',
      '  user       And shoes?',
      '  assistant  Boots.',
    ]);
    t.match(out, /── gpt-5-mini · 1ms · 5 messages as before · span b2/u);
    t.match(out, '(not captured in environment production)');
    t.equal(out.match(/^trace /gmu)?.length, 3);
  }
  const { calls, call_count } = JSON.parse((await sluice('conversation', 'c-17', '--json')).out);
  t.equal(call_count, 5);
  t.same(
    calls.map((each: { repeated_message_count: number; messages: unknown[] }) => [
      each.repeated_message_count,
      each.messages.length,
    ]),
    [
      [0, 3],
      [3, 2],
      [5, 2],
      [6, 0],
      [0, 0],
    ],
  );
  const last = await sluice('conversation', 'c-17', '--limit', '3');
  t.match(last.out, '… 2 earlier calls; see them with --limit 5');
  t.match(await sluice('conversation', 'other'), { code: 1, err: /there is no conversation other/u });
});

const query = (text: string): Promise<readonly unknown[]> => ask(databaseUrl, text);

/** Records of senders that put the conversation and the messages on log records. */
const DETAILS = { ...CHAT, 'gen_ai.usage.input_tokens': 100, 'gen_ai.usage.output_tokens': 10 };
const logAt = (at: number, rest: object, values: Readonly<Record<string, string | number>>): object => ({
  timeUnixNano: String(START + BigInt(at) * 1_000_000n),
  ...rest,
  attributes: attributes(values),
});
const saidIn = (out: string): readonly string[] =>
  out.split('\n').filter((line) => /^ {2}(?:system|user|assistant|tool) /u.test(line));

async function sendLogs(records: readonly object[], scope = 'test'): Promise<void> {
  const body = JSON.stringify(aLogRequest(records)).replace('"scope":{"name":"test"}', `"scope":{"name":"${scope}"}`);
  t.equal((await send(daemon.url, { path: '/v1/logs', body })).status, 200);
}

t.test('a conversation of log records without spans and without a trace', async (t) => {
  const event = (at: number, name: string, values: Readonly<Record<string, string | number>>): object =>
    logAt(at, { eventName: `claude_code.${name}` }, { 'event.name': name, 'session.id': 'session of logs', ...values });
  await sendLogs(
    [
      event(1, 'user_prompt', { prompt: 'Fix the test.' }),
      event(2, 'api_request', { model: 'claude-sonnet-4-5', input_tokens: 1000, output_tokens: 50 }),
    ],
    'com.anthropic.claude_code.events',
  );
  for (const id of ['session of logs', 'session of l']) {
    const { out, err, code } = await sluice('conversation', id);
    t.equal(code, 0, err);
    t.same(saidIn(out), ['  user       Fix the test.']);
    t.match(out, /── claude-sonnet-4-5 · 1k → 50/u);
    t.match(out, /^log records, default, /mu);
  }
  const { calls, call_count } = JSON.parse((await sluice('conversation', 'session of logs', '--json')).out);
  t.equal(call_count, 2);
  t.match(calls, [
    { signal: 'log', trace_id: null, span_id: null, messages: [{ role: 'user' }] },
    { signal: 'log', model: 'claude-sonnet-4-5', input_tokens: 1000 },
  ]);
});

t.test('a conversation that log records name, in traces whose spans do not', async (t) => {
  const [traceId, spanId] = [`d4${newTraceId().slice(2)}`, 'd400000000000001'];
  const { 'gen_ai.conversation.id': _id, ...chatOnly } = DETAILS;
  const span = spanAt(traceId, 1, chatOnly);
  const request = JSON.stringify(aTraceRequest([span]));
  t.equal((await send(daemon.url, { body: request })).status, 200);
  const id = { 'gen_ai.conversation.id': 'named by events' };
  await sendLogs([
    logAt(
      2,
      { traceId, spanId, eventName: 'gen_ai.client.inference.operation.details' },
      { ...chat([QUESTION], [ANSWER]), ...id, 'gen_ai.usage.input_tokens': 100, 'gen_ai.usage.output_tokens': 10 },
    ),
    // Without a span that is stored.
    logAt(
      3,
      { traceId: `d5${traceId.slice(2)}`, spanId, eventName: 'gen_ai.client.inference.operation.details' },
      { ...chat([QUESTION, ANSWER, text('user', 'And shoes?')], [text('assistant', 'Boots.')]), ...id },
    ),
  ]);
  const { out, err } = await sluice('conversation', 'named by events');
  t.equal(err, '');
  t.same(saidIn(out), [
    '  user       What should I pack?',
    '  assistant  A jacket.',
    '  user       And shoes?',
    '  assistant  Boots.',
  ]);
  t.equal(out.match(/── gpt-5-mini/gu)?.length, 2, 'the record of a call is not a second call');
  const [counted] = await query(
    "SELECT call_count::int4, trace_count::int4 FROM conversations WHERE conversation_id = 'named by events'",
  );
  t.same(counted, { call_count: 1, trace_count: 1 }, 'one has usage');
});

t.test('messages on log records of a conversation that spans name', async (t) => {
  const [traceId, spanId] = [`d6${newTraceId().slice(2)}`, 'd600000000000001'];
  const id = { 'gen_ai.conversation.id': 'named by spans' };
  const request = JSON.stringify(aTraceRequest([spanAt(traceId, 1, { ...DETAILS, ...id })]));
  t.equal((await send(daemon.url, { body: request })).status, 200);
  const body = (value: object): object => ({ kvlistValue: { values: attributes(value as Record<string, string>) } });
  await sendLogs([
    logAt(1, { traceId, spanId, eventName: 'gen_ai.user.message', body: body({ content: 'Hello.' }) }, {}),
    logAt(2, { traceId, spanId, eventName: 'gen_ai.assistant.message', body: body({ content: 'Good day.' }) }, {}),
  ]);
  const { out } = await sluice('conversation', 'named by spans');
  t.same(saidIn(out), ['  user       Hello.', '  assistant  Good day.']);
  t.equal(out.match(/^ {2}── /gmu)?.length, 1);
});
