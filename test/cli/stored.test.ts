// The commands that show stored data, and the demonstration, with a daemon and its database.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import t from 'tap';
import { connectTo } from '../support/connection.ts';
import { longTest } from '../support/long.ts';
import { folderOf } from '../support/config-files.ts';
import { type Outcome, sluice as call } from '../support/command-line.ts';
import { FILE_CONFIG, KEY, startDaemon } from '../support/daemon.ts';
import { freePort, startExecutable } from '../support/executable.ts';
import { send } from '../support/otlp-client.ts';
import { aLogRequest, aSpan, aTraceRequest, newTraceId } from '../support/payloads.ts';
import { waitFor } from '../../src/extensions/postgres/embedded/wait.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { createDatabase } from '../support/postgres.ts';
import { postgresConfig, SERVED } from '../support/postgres-daemon.ts';

t.setTimeout(300_000);

const { url: databaseUrl } = await createDatabase(t, SERVED);
const config = postgresConfig({ databaseUrl, processors: 'auth, environment, normalization, pricing' })
  .replace('  normalization: {}', '  normalization: {}\n  pricing: {}')
  .replace('    keys:', '    keys:\n      - { key: key-of-production-only, project: demo, environment: production }');
const daemon = await startDaemon(t, { config });
const folder = folderOf({
  'a.yaml': config.replace('127.0.0.1:0', `127.0.0.1:${daemon.port}`),
  'nothing.yaml': 'processors: {',
});

const sluice = (...args: string[]): Promise<Outcome> => call([...args, '-c', 'a.yaml'], { folder });

/** The JSON output of a command, which must succeed. */
async function read(...args: string[]): Promise<unknown> {
  const { code, out, err } = await sluice(...args, '--json');
  if (code !== 0) throw new Error(err);
  return JSON.parse(out);
}

async function sendSpans(spans: readonly object[], service = 'shop'): Promise<void> {
  const answer = await send(daemon.url, { body: JSON.stringify(aTraceRequest(spans, { 'service.name': service })) });
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.body}`);
}

const nowNs = (): bigint => BigInt(Date.now()) * 1_000_000n;

t.test('without stored data every command reports that and succeeds', async (t) => {
  t.match(await sluice('traces'), { code: 0, out: /^There are no traces\. `.* demo --config a\.yaml` /u, err: '' });
  t.strictSame(await sluice('traces', '--user', 'u-1'), { code: 0, out: 'No traces match.\n', err: '' });
  t.strictSame(await read('traces'), []);
  t.match(await sluice('usage'), { code: 0, out: /^No model calls match\./u });
  t.match(await read('usage'), {
    by: 'model',
    usage: [],
    total: { call_count: 0, input_tokens: null, total_cost: null },
    unpriced: [],
  });
});

let demoId = '';

t.test('the demonstration is stored and priced, and its output names its trace', async (t) => {
  const sent = await sluice('demo', '--key', KEY);
  t.match(sent, { code: 0, err: '' });
  t.match(sent.out, `Sent to ${daemon.url}, and stored:`);
  demoId = /sluice trace ([0-9a-f]{32})/u.exec(sent.out)?.[1] ?? '';
  t.match(await read('trace', demoId), {
    trace_id: demoId,
    project: 'demo',
    environment: 'demo',
    span_count: 6,
    log_count: 1,
    error_count: 1,
    model_call_count: 2,
    input_tokens: 4690,
    output_tokens: 576,
    cache_read_tokens: 3072,
    total_cost: /^0\.00\d{6}$/u,
    unpriced_count: 0,
    spans: [
      { name: 'invoke_agent travel-assistant', category: 'agent', parent_span_id: null },
      { category: 'retrieval' },
      { category: 'model_call', provider: 'openai', time_to_first_token_ms: 410, total_cost: String },
      { category: null },
      { category: 'tool_step', tool_name: 'get_weather', status: 'error', error_type: 'timeout' },
      { category: 'model_call', provider: 'anthropic', total_cost: String },
    ],
    logs: [{ severity_text: 'WARN', event_name: 'tool.retry' }],
  });
});

t.test('a stored trace is explained with the columns that are stored', async (t) => {
  const records = (await read('explain', demoId.slice(0, 12))) as {
    readonly row: Readonly<Record<string, unknown>>;
    readonly differences: readonly unknown[];
  }[];
  t.ok(records.length > 5);
  for (const { row, differences } of records) t.strictSame(differences, [], String(row['name'] ?? row['event_name']));
  const call = records.find(({ row }) => row['category'] === 'model_call')?.row;
  const { code, out } = await sluice('explain', demoId, '--span', String(call?.['span_id']).slice(0, 8));
  t.equal(code, 0);
  t.match(out, /input_tokens\s+\d+\s+← gen_ai\.usage\.input_tokens/);
  t.match(out, /input: \d+ tokens x/);
  t.match(await sluice('explain', demoId, '--span', 'ffffffff'), { code: 1, err: /no such record/ });
});

t.test('the waterfall shows the tree, tokens and cost, the error, the log record and the totals', async (t) => {
  const { code, out, err } = await sluice('trace', demoId.slice(0, 9).toUpperCase());
  t.equal(code, 0);
  t.equal(err, '');
  const lines = out.split('\n');
  t.match(lines[0], `${demoId}  demo, demo, `);
  t.match(lines[2], /^invoke_agent travel-assistant +agent +4\.86s +━+$/u);
  t.match(lines[4], /^ {2}chat gpt-5-mini +model +1\.82s +━+ +3\.5k \(3\.1k cached\) → 412 · \$0\.001\d* ·/u);
  t.match(
    out,
    /^ {4}execute_tool get_weather .*\n {6}! timeout: the weather service .*\n {6}· \+3\.12s WARN tool\.retry: /mu,
  );
  t.match(lines.at(-2), /^4\.86s · 6 spans · 1 log record · 2 model calls · .* · \$0\.007\d* · 1 error$/u);
});

t.test('an unknown, an ambiguous and an invalid id have different errors', async (t) => {
  const [first, second] = [newTraceId(), newTraceId()].map((id) => `feedfeed${id.slice(8)}`);
  await sendSpans(
    [first, second].map((traceId) => aSpan({ ...(traceId === undefined ? {} : { traceId }), start: nowNs() })),
  );
  t.match(await sluice('trace', 'feedfeed'), {
    code: 1,
    out: '',
    err: /several traces begin with feedfeed\n {2}hint: .*, feedfeed/u,
  });
  t.match(await sluice('trace', '0000000000000001'), { code: 1, err: /there is no trace 0000000000000001/u });
  t.match(await sluice('trace', demoId, '--project', 'other'), { code: 1, err: /there is no trace/u });
  t.match(await sluice('trace', 'not-hex'), { code: 2, err: /32 hexadecimal digits/u });
  t.match(await sluice('trace'), { code: 2, err: /ID is missing/u });
});

t.test('traces are listed newest first, filtered, and cut to the limit', async (t) => {
  const old = newTraceId();
  await sendSpans([aSpan({ traceId: old, name: 'yesterday', start: nowNs() - 86_400_000_000_000n })]);
  const ids = (rows: unknown): string[] => (rows as { trace_id: string }[]).map(({ trace_id }) => trace_id);
  const all = ids(await read('traces'));
  t.equal(all.length, 4);
  t.equal(all.at(-1), old);
  t.strictSame(ids(await read('traces', '--errors')), [demoId]);
  t.strictSame(ids(await read('traces', '--environment', 'DEMO')), [demoId]);
  for (const since of ['1h', '-1h', new Date(Date.now() - 3_600_000).toISOString()])
    t.notOk(ids(await read('traces', '--since', since)).includes(old), since);
  t.ok(ids(await read('traces', '--since', '1970-01-01')).includes(old));
  t.equal(ids(await read('traces', '--limit', '2')).length, 2);
  t.strictSame(await read('traces', '--project', 'other'), []);
  const { out } = await sluice('traces');
  t.match(out, /^AGE +TRACE +NAME +SPANS +CALLS +TOKENS +COST +TOOK +ERRORS +ENVIRONMENT$/mu);
  t.match(
    out,
    new RegExp(
      `^\\d*\\w+ +${demoId.slice(0, 12)} +invoke_agent\\S* .* 6 +2 +4\\.7k → 576 +\\$0\\.007\\d* +4\\.86s +1 +demo$`,
      'mu',
    ),
  );
});

t.test('names cannot control the terminal, and a trace of log records alone is listed', async (t) => {
  const traceId = newTraceId();
  await sendSpans([
    aSpan({ traceId, parentSpanId: 'b7ad6b7169203331', name: '\u001b[2J\u0007evil 日本語\n\u202e', start: nowNs() }),
  ]);
  const record = { timeUnixNano: String(nowNs()), traceId: newTraceId(), body: { stringValue: 'alone' } };
  t.equal((await send(daemon.url, { path: '/v1/logs', body: JSON.stringify(aLogRequest([record])) })).status, 200);
  for (const { out } of [await sluice('traces'), await sluice('trace', traceId)]) {
    t.notMatch(out, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/u);
    t.match(out, /… .*evil 日/u, 'and its parent is known to be missing');
  }
  t.match((await sluice('traces')).out, '(logs only)');
  t.match(await sluice('trace', record.traceId), { code: 0, out: /alone\n\n.*1 log record/u });
});

t.test('usage counts every call once in each grouping, and lists calls without a price', async (t) => {
  const call = { 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'acme', 'gen_ai.request.model': 'secret-1' };
  const tokens = { 'gen_ai.usage.input_tokens': 7, 'gen_ai.usage.output_tokens': 5 };
  await sendSpans([aSpan({ start: nowNs(), attributes: { ...call, ...tokens } })]);
  const total = { call_count: 3, unpriced_count: 1, input_tokens: 4697, output_tokens: 581 };
  const byModel = await read('usage');
  t.match(byModel, {
    usage: [
      { provider: 'anthropic', call_count: 1, unpriced_count: 0 },
      { provider: 'openai', call_count: 1, cache_read_tokens: 3072 },
      { provider: 'acme', model: 'secret-1', call_count: 1, unpriced_count: 1, total_cost: null },
    ],
    total,
    unpriced: [{ provider: 'acme', model: 'secret-1', call_count: 1 }],
    kept: [
      {
        signal: 'spans',
        oldest: /^\d{4}-\d\d-\d\d$/u,
        retention: '30d',
        next_drop: /^\d{4}-\d\d-\d\d$/u,
        bytes: Number,
      },
      { signal: 'logs', oldest: /^\d{4}/u },
      { signal: 'metrics', oldest: /^\d{4}/u, retention: '90d' },
      { signal: 'traces', oldest: new Date().toISOString().slice(0, 10), retention: '30d' },
      { signal: 'usage', oldest: `${new Date().toISOString().slice(0, 7)}-01`, retention: '400d' },
    ],
  });
  const today = new Date().toISOString().slice(0, 10);
  t.match(await read('usage', '--by', 'day', '--since', '7d'), { usage: [{ day: today }], total });
  t.match(await read('usage', '--by', 'project', '--since', 'all'), {
    usage: [{ project: 'demo', environment: 'demo' }, {}],
    total,
  });
  t.match(await read('usage', '--by', 'conversation', '--project', 'demo'), {
    usage: [{ conversation_id: `demo-${demoId.slice(0, 8)}`, call_count: 2 }, { conversation_id: null }],
  });
  const { out } = await sluice('usage');
  t.match(out, /^PROVIDER +MODEL +CALLS +INPUT +CACHED +OUTPUT +COST$/mu);
  t.match(out, /^total +3 +4\.7k +3\.1k +581 +\$0\.007/mu);
  t.match(out, /^Without a price.*\n {2}acme \/ secret-1 +1 call$/mu);
  t.notMatch(out, 'STORED');
  t.match(
    (await sluice('usage', '--kept')).out,
    /^STORED +SINCE +KEPT +NEXT DROP +SIZE\nspans +\d{4}-\d\d-\d\d +30d +\d{4}-\d\d-\d\d +\d.* [KMG]iB\nlogs /mu,
  );
});

t.test('prices are explained from the configuration, and a missing one is a failure', async (t) => {
  const priced = await sluice(
    'prices',
    'check',
    'gpt-5-mini',
    '--provider',
    'openai',
    '--usage',
    'input=1000,cache_read=200',
  );
  t.match(priced, { code: 0, out: /cache_read: 200 tokens x 0\.025/u });
  t.match(await read('prices', 'check', 'gpt-5-mini', '--provider', 'openai', '--at', '2026-03-01'), {
    startedAt: '2026-03-01',
    totalCost: '0.00225000',
  });
  t.match(await sluice('prices', 'check', 'secret\u001b[2J-1', '--provider', 'acme'), {
    code: 1,
    out: /^No price: /mu,
  });
  t.match(await sluice('prices', 'check', 'x', '--usage', 'inptu=1'), { code: 2, err: /did you mean "input"/u });
  t.match(await sluice('prices', 'check', 'x', '--usage', 'input=1.5'), { code: 2, err: /whole numbers/u });
  t.match(await sluice('prices', 'check', 'x', '--usage', 'input=1,input=2'), { code: 2, err: /"input" twice/u });
  t.match(await sluice('prices', 'check', 'x', '--usage', 'input=1=2'), { code: 2, err: /not "input=1=2"/u });
  t.match(await sluice('prices', 'check', 'x', '--at', 'soon'), { code: 2, err: /takes a date/u });
  t.match(await sluice('prices', 'check'), { code: 2, err: /MODEL is missing/u });
});

t.test('the demonstration creates a key if possible, and revokes it', async (t) => {
  t.match(await sluice('demo', '--json'), { code: 0, out: /"trace_id": "[0-9a-f]{32}"/u });
  t.match(await read('key', 'list'), [{ project: 'default', label: 'demo', revokedAt: String }]);
  t.match(await read('traces', '--project', 'default'), [{ root_name: 'invoke_agent travel-assistant' }]);
});

t.test('without a database the demonstration names no command that needs one', async (t) => {
  const { port } = await startDaemon(t, { config: FILE_CONFIG });
  const files = { 'file.yaml': FILE_CONFIG.replace('127.0.0.1:0', `127.0.0.1:${port}`) };
  const outcome = await call(['demo', '-c', 'file.yaml', '--key', KEY], { folder: folderOf(files) });
  t.match(outcome, { code: 0, out: /This configuration has no database\. .* explain FILE --config file\.yaml\n$/u });
  t.notMatch(outcome.out, /Show it/u);
});

t.test('a plan is changed only when it is named', async (t) => {
  t.match(await sluice('project', 'create', 'trial', '--plan', 'free', '--monthly-spans', '10'), { code: 0 });
  t.match(await sluice('project', 'set-plan', 'trial'), { code: 2, err: /--plan is missing/u });
  t.match(await sluice('project', 'list'), { out: /trial +free +10 /u });
});

longTest('a demonstration that cannot be sent is reported with a hint', async (t) => {
  const away = `http://127.0.0.1:${await freePort()}`;
  const cases: readonly [readonly string[], number, RegExp][] = [
    [['--key', 'wrong'], 1, /answered 401: .*\n {2}hint: Give another key/u],
    [['--key', 'key-of-production-only'], 1, /answered 403: .*\n {2}hint: .*--environment/u],
    [['--endpoint', away], 1, /nothing listens at http.*\n {2}hint: Start the daemon/u],
    [['--endpoint', away, '--key', KEY], 1, /nothing listens at http/u],
    [['--endpoint', 'localhost:4318'], 1, /is not a URL/u],
    [['--endpoint', `${daemon.url}/elsewhere`, '--key', KEY], 1, /answered 404.*\n {2}hint: .*without \/v1/u],
  ];
  for (const [args, code, err] of cases) t.match(await sluice('demo', ...args), { code, out: '', err }, args.join(' '));
  t.match(await sluice('demo', '--key', 'key-of-production-only', '--environment', 'production'), { code: 0 });
});

t.test('a step with an error type and without a status is an error in the list and in the view', async (t) => {
  const failed = newTraceId();
  const attributes = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'x', 'error.type': 'timeout' };
  await sendSpans([aSpan({ traceId: failed, start: nowNs(), attributes }), aSpan({ traceId: failed, start: nowNs() })]);
  const listed = (await read('traces', '--errors', '--since', '1h')) as { trace_id: string; error_count: number }[];
  t.match(
    listed.filter(({ trace_id }) => trace_id === failed),
    [{ error_count: 1 }],
  );
  const client = await connectTo(t, databaseUrl);
  const { rows } = await client.query('SELECT error_count::int FROM traces WHERE trace_id = $1', [failed]);
  t.strictSame(rows, [{ error_count: 1 }]);
});

t.test('wrong usage exits with 2, an invalid configuration with 1, without a stack trace', async (t) => {
  const outcomes = [
    [await sluice('traces', '--limit', '0'), 2, /--limit takes a number from 1 to 1000/u],
    [await sluice('traces', '--since', 'yesterday'), 2, /--since takes a duration/u],
    [await sluice('usage', '--by', 'colour'), 2, /--by takes model, day, conversation, project/u],
    [await sluice('usage', 'extra'), 2, /does not take "extra"/u],
    [await sluice('conversation', ''), 2, /ID is missing/u],
    [
      await sluice('environment', 'set', 'shop', 'x', '--capture-content', 'no'),
      2,
      /takes on, off or default, not "no"/u,
    ],
    [await call(['traces', '-c', 'nothing.yaml'], { folder }), 1, /nothing\.yaml:/u],
  ] as const;
  for (const [outcome, code, err] of outcomes) {
    t.match(outcome, { code, out: '', err });
    t.notMatch(outcome.err, /\n\s+at /u);
  }
});

t.test('the lines of a trace add up: what repeats other lines is marked', async (t) => {
  const [traceId, agentId] = [newTraceId(), 'a'.repeat(16)];
  const agent = { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.usage.input_tokens': 1000 };
  const start = nowNs();
  await sendSpans([
    aSpan({ traceId, start, spanId: agentId, name: 'planner', attributes: agent }),
    aSpan({
      traceId,
      start,
      parentSpanId: agentId,
      name: 'chat',
      attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.usage.input_tokens': 900 },
    }),
    aSpan({ traceId, start, name: 'alone', attributes: agent }),
  ]);
  const { out } = await sluice('trace', traceId);
  t.match(out, /^planner .*\(Σ 1k → -\)$/mu);
  t.match(out, /^ {2}chat .* {2}900 → -$/mu);
  t.match(out, /^alone .* Σ 1k → -$/mu);
  t.match(out, /^Σ: the sum of the spans below/mu);
  t.match(await read('trace', traceId), { input_tokens: 1900 });
});

longTest('sums beyond 2^53 and 2^63 are exact in the commands, and no view fails on them', async (t) => {
  const largest = 9_007_199_254_740_991;
  const traceId = newTraceId();
  const attributes = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': 'vast',
    'gen_ai.usage.input_tokens': largest,
  };
  const calls = 1100;
  await sendSpans(Array.from({ length: calls }, () => aSpan({ traceId, start: nowNs(), attributes })));
  const sum = String(BigInt(largest) * BigInt(calls));
  t.match(await read('trace', traceId), { input_tokens: sum, spans: [{ input_tokens: largest }] });
  const traces = (await read('traces')) as { trace_id: string; input_tokens: unknown }[];
  t.equal(traces.find((trace) => trace.trace_id === traceId)?.input_tokens, sum);
  const { usage } = (await read('usage')) as { usage: { model: string; input_tokens: unknown }[] };
  t.equal(usage.find(({ model }) => model === 'vast')?.input_tokens, sum);
  for (const command of [['traces'], ['usage'], ['trace', traceId]]) {
    t.match(await sluice(...command), { code: 0, out: /9\.9E/u, err: '' });
  }
  const client = await connectTo(t, databaseUrl);
  for (const view of ['traces', 'usage_daily', 'conversations', 'model_calls', 'steps']) {
    await t.resolves(client.query(`SELECT * FROM ${view}`), view);
  }
  const { rows } = await client.query(`SELECT input_tokens FROM traces WHERE trace_id = $1`, [traceId]);
  t.strictSame(rows, [{ input_tokens: sum }]);
});

t.test('a missing database and a configuration without one are reported', async (t) => {
  const gone = config.replace(databaseUrl, `postgres://nobody@127.0.0.1:${await freePort()}/x`);
  writeFileSync(join(folder, 'gone.yaml'), gone);
  const outcome = await call(['usage', '-c', 'gone.yaml'], { folder });
  t.match(outcome, { code: 1, out: '', err: /the database cannot be reached/u });
  t.notMatch(outcome.err, /\n\s+at /u);
});

longTest('traces and usage are filtered by model, service, user, conversation, agent, cost and text', async (t) => {
  const ids = (rows: unknown): string[] => (rows as { trace_id: string }[]).map(({ trace_id }) => trace_id);
  const [booking, chat] = [newTraceId(), newTraceId()];
  const callOf = (traceId: string, name: string, more: Record<string, string | number>): object =>
    aSpan({
      traceId,
      name,
      start: nowNs(),
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'openai',
        'gen_ai.response.model': 'gpt-5-mini-2025-08-07',
        'gen_ai.usage.input_tokens': 1000,
        'gen_ai.usage.output_tokens': 100,
        ...more,
      },
    });
  await sendSpans(
    [
      callOf(booking, 'book', {
        'user.id': 'u-1',
        'gen_ai.conversation.id': 'c-1',
        'gen_ai.agent.name': 'clerk',
        // As json.dumps of Python writes it.
        'gen_ai.input.messages': '[{"role": "user", "content": "\\u00dcber \\"Caf\\u00e9s\\" in Z\\u00fcrich"}]',
      }),
    ],
    'booking',
  );
  await sendSpans([callOf(chat, 'talk 100%', { 'user.id': 'u-2', 'gen_ai.usage.output_tokens': 1_000_000 })], 'chat');
  const cases: readonly (readonly [readonly string[], readonly string[]])[] = [
    [['--user', 'u-1'], [booking]],
    [['--service', 'chat'], [chat]],
    [['--conversation', 'c-1'], [booking]],
    [['--agent', 'clerk'], [booking]],
    [['--search', 'TALK 100%'], [chat]],
    [['--min-cost', '0.5'], [chat]],
    [['--service', 'booking', '--user', 'u-2'], []],
    [['--model', 'gpt-5-mini', '--since', '1h', '--user', 'u-2'], [chat]],
    [['--model', 'gpt-5', '--user', 'u-2'], [chat]],
    [['--model', 'gpt-4', '--user', 'u-2'], []],
    [['--model', "x' OR true --"], []],
    [['--search', '%'], [chat]],
    [['--search', 'über "cafés" in ZÜRICH'], [booking]],
    [['--search', 'über "cafes"'], []],
    [['--filter', 'text:"über \\"Cafés\\""'], [booking]],
    [['--filter', '-text:zürich service:booking,chat'], [chat]],
    [['--filter', 'model:gpt-5-mini* output:>1k trace.cost:>0.5'], [chat]],
    [['--filter', 'service:booking,chat -user:u-2 user:*'], [booking]],
    [['--filter', 'service:chat', '--user', 'u-1'], []],
  ];
  for (const [filter, expected] of cases)
    t.strictSame(ids(await read('traces', ...filter)), expected, filter.join(' '));
  t.match(await sluice('traces', '--min-cost', 'much'), { code: 2, err: /--min-cost takes an amount/u });
  t.match(await sluice('traces', '--filter', 'error modell:x'), {
    code: 2,
    err: /at character 7: .*"modell"\n.*model/u,
  });
  const wide = await call(['traces', '-c', 'a.yaml'], { folder, columns: 160 });
  t.match(wide.out, /^AGE .* SERVICE +USER$/mu);

  const usage = async (...args: string[]): Promise<unknown> =>
    ((await read('usage', ...args)) as { usage: unknown }).usage;
  const one = { call_count: 1, input_tokens: 1000 };
  t.match(await usage('--by', 'user', '--user', 'u-1'), [{ user_id: 'u-1', output_tokens: 100, ...one }]);
  t.match(await usage('--by', 'service', '--service', 'chat'), [{ service_name: 'chat', ...one }]);
  t.match(await usage('--by', 'agent', '--conversation', 'c-1'), [{ agent_name: 'clerk', ...one }]);
  t.match(await usage('--by', 'environment', '--user', 'u-2'), [{ environment: 'default', ...one }]);
  t.match(await usage('--by', 'conversation', '--agent', 'clerk'), [{ conversation_id: 'c-1', ...one }]);
  t.match(
    (await sluice('usage', '--by', 'agent', '--user', 'u-1')).out,
    /^AGENT +CALLS .*\n.*\ntotal +1 +1k +- +100 /u,
  );
  t.strictSame(await usage('--environment', 'nowhere'), []);
  t.match(await sluice('usage', '--environment', ' '), { code: 2, err: /--environment takes the name of an env/u });
  t.strictSame(await usage('--by', 'user', '--since', 'all'), await usage('--by', 'user', '--since', '1h'));
  t.strictSame(await usage('--errors', '--user', 'u-1'), []);
  const failed = aSpan({
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'm',
      'gen_ai.usage.input_tokens': 7,
      'user.id': 'u-1',
      'error.type': 'timeout',
    },
    start: nowNs(),
  });
  await sendSpans([failed]);
  t.match(await usage('--errors', '--user', 'u-1'), [{ call_count: 1, input_tokens: 7 }]);
});

t.test('new traces are printed as they arrive', async (t) => {
  await sendSpans([aSpan({ name: 'before', start: nowNs() })]);
  const following = startExecutable(['traces', '--follow', '--json', '-c', 'a.yaml'], folder);
  await following.until('Waiting for new traces.');
  await sendSpans([aSpan({ name: 'first after', start: nowNs() - 3_600_000_000_000n })]);
  await following.until('first after');
  await sendSpans([aSpan({ name: 'second after', start: nowNs() })]);
  await following.until('second after');
  following.child.kill('SIGTERM');
  await following.ended;
  const names = following.output.out
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { root_name: string }).root_name);
  t.strictSame(names, ['first after', 'second after']);
});

longTest('traces that arrive with more columns have a heading of their own', async (t) => {
  const following = startExecutable(['traces', '--follow', '-c', 'a.yaml'], folder);
  await following.until('Waiting for new traces.');
  await sendSpans([aSpan({ name: 'alone', start: nowNs() })]);
  await following.until('alone');
  const requests = ['red', 'blue'].map((environment) =>
    aTraceRequest([aSpan({ name: `in ${environment}`, start: nowNs() })], {
      'deployment.environment.name': environment,
    }),
  ) as { resourceSpans: object[] }[];
  const body = JSON.stringify({ resourceSpans: requests.flatMap(({ resourceSpans }) => resourceSpans) });
  t.match(await send(daemon.url, { body }), { status: 200 });
  await following.until('in blue');
  following.child.kill('SIGTERM');
  await following.ended;
  const heads = following.output.out.split('\n').filter((line) => line.startsWith('AGE'));
  t.strictSame(
    heads.map((head) => head.includes('ENVIRONMENT')),
    [false, true],
  );
});

longTest('every trace of a large transaction is printed once, and a poll reads the new ones only', async (t) => {
  const count = 2_500;
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  t.teardown(async () => {
    for (const table of ['traces', 'logs'])
      await client.query(`DELETE FROM sluice.${table} WHERE project IN ('old', 'new', 'empty', 'last')`);
    await client.end();
  });
  const store = async (number: number, project: string): Promise<void> => {
    await client.query(
      `INSERT INTO sluice.traces (trace_id, project, environment, created_at)
       SELECT decode(md5($1 || i), 'hex'), $1, 'default', CASE WHEN $1 = 'old' THEN now() - i * interval '1 minute' ELSE now() END
       FROM generate_series(1, $2::int) i`,
      [project, number],
    );
    // Records of the others are stored elsewhere.
    if (project === 'empty') return;
    await client.query(
      `INSERT INTO sluice.logs (project, environment, trace_id, attributes, received_at)
       SELECT $1, 'default', decode(md5($1 || i), 'hex'), '{}', now() FROM generate_series(1, $2::int) i`,
      [project, number],
    );
  };
  await store(20_000, 'old');
  await client.query('ANALYZE sluice.traces');
  const scans = async (): Promise<number> => {
    const { rows } = await client.query(
      "SELECT coalesce(idx_scan, 0)::int AS scans FROM pg_stat_user_indexes WHERE indexrelname = 'traces_created'",
    );
    return rows[0]?.scans;
  };
  const before = await scans();
  const following = startExecutable(['traces', '--follow', '--json', '-c', 'a.yaml'], folder);
  await following.until('Waiting for new traces.');
  await store(count, 'new');
  await store(count, 'empty');
  await store(1, 'last');
  await following.until('"project": "last"');
  const isUsed = async (): Promise<true | undefined> => (await scans()) > before || undefined;
  t.ok(await waitFor(isUsed, { timeoutMs: PATIENCE_MS }), 'the index is used');
  following.child.kill('SIGTERM');
  await following.ended;
  const ids = following.output.out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { trace_id: string; project: string })
    .filter(({ project }) => project === 'new')
    .map((row) => row.trace_id);
  t.equal(ids.length, count);
  t.equal(new Set(ids).size, count);
});

t.test('each span of a large trace can be explained, and what was left out is said', async (t) => {
  const traceId = newTraceId();
  const start = nowNs();
  const spans = Array.from({ length: 2_050 }, (_, index) => aSpan({ traceId, start: start + BigInt(index) }));
  await sendSpans(spans);
  const all = await sluice('explain', traceId, '--json');
  t.equal((JSON.parse(all.out) as unknown[]).length, 2_000);
  t.match(all.err, /only 2000 records of the trace are explained; --span ID/);
  const last = (spans.at(-1) as { readonly spanId: string }).spanId;
  const one = await sluice('explain', traceId, '--span', last, '--json');
  t.match(JSON.parse(one.out), [{ row: { span_id: last } }]);
  t.equal(one.err, '');
});
