/** Histogram, facets, conversations, live rows and exports. */
import t from 'tap';
import { listConversations, listTurns } from '../../../../src/extensions/console/api/conversations.ts';
import { exportRows, exportTrace } from '../../../../src/extensions/console/api/export.ts';
import { listFacets } from '../../../../src/extensions/console/api/facets.ts';
import { listTools } from '../../../../src/extensions/console/api/tools.ts';
import { showHistogram } from '../../../../src/extensions/console/api/histogram.ts';
import { listLogs } from '../../../../src/extensions/console/api/logs.ts';
import { listTraces } from '../../../../src/extensions/console/api/traces.ts';
import { showLive } from '../../../../src/extensions/console/api/live.ts';
import type { Page } from '../../../../src/extensions/console/api/shapes/answers.ts';
import type { ConversationRow, Turns } from '../../../../src/extensions/console/api/shapes/conversations.ts';
import {
  type Asking,
  BASE_NS,
  eventsOf,
  hex,
  logRow,
  spanRow,
  startReading,
  store,
} from '../../../support/console-reading.ts';

t.setTimeout(300_000);
const reading = await startReading(t);

/** All conversations, read in pages of `limit`. */
async function conversationsInPages(limit: number, asking: Asking = {}): Promise<readonly ConversationRow[]> {
  const rows: ConversationRow[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Page<ConversationRow> = await reading.ask(listConversations, { ...asking, query: { limit, cursor } });
    rows.push(...page.items);
    cursor = page.next;
  }
  return rows;
}
const plain = (number: number): string => hex(number, 16).slice(2);
const call = {
  category: 'model_call',
  provider: 'openai',
  usage_scope: 'own',
  total_tokens: 10,
  input_tokens: 8,
  output_tokens: 2,
};

// Conversation c-N has the traces N, N + 3, N + 6 … of 12; the third of them has an error.
await store(
  reading,
  Array.from({ length: 12 }, (_, at) =>
    spanRow({
      ...call,
      trace: at + 1,
      at: at * 1000,
      name: at % 2 === 0 ? 'chat' : 'answer',
      service_name: at < 9 ? 'web' : null,
      response_model: `m-${at % 2}`,
      conversation_id: `c-${(at % 3) + 1}`,
      user_id: `u-${(at % 3) + 1}`,
      total_cost: at === 0 ? null : '0.01',
      status: at === 5 ? 'error' : 'ok',
      error_type: at === 5 ? 'timeout' : null,
      input_content: `=input ${at}`,
      attributes: { at },
    }),
  ),
);

t.test('the histogram counts every trace once', async (t) => {
  const query = { from: String(BASE_NS), to: String(BASE_NS + 12_000_000_000n), buckets: 4 };
  const counts = async (more: Asking['query']) => {
    const { buckets, ...rest } = await reading.ask(showHistogram, { query: { ...query, ...more } });
    return [
      rest.sampled,
      buckets.map((bucket: { trace_count: number; error_count?: number }) => [bucket.trace_count, bucket.error_count]),
    ];
  };
  t.same(await counts({}), [
    false,
    [
      [3, undefined],
      [3, undefined],
      [3, undefined],
      [3, undefined],
    ],
  ]);
  t.same(await counts({ by: 'error' }), [
    false,
    [
      [3, 0],
      [3, 1],
      [3, 0],
      [3, 0],
    ],
  ]);
  const values = async (by: string, name: string) =>
    (await reading.ask(showHistogram, { query: { ...query, by } })).buckets.map(
      (bucket: Readonly<Record<string, unknown>>) => bucket[name],
    );
  t.same(await values('cost', 'total_cost'), ['0.02000000', '0.03000000', '0.03000000', '0.03000000']);
  t.same(await values('duration', 'p95_duration_ns'), ['5000000', '5000000', '5000000', '5000000']);
  t.same(await counts({ q: 'model:m-1' }), [
    false,
    [
      [1, undefined],
      [2, undefined],
      [1, undefined],
      [2, undefined],
    ],
  ]);
  const open = await reading.ask(showHistogram, { query: { buckets: 2 } });
  t.same(
    open.buckets.map(({ trace_count }: { trace_count: number }) => trace_count),
    [6, 6],
  );
  t.same((await reading.ask(showHistogram, { project: 'empty' })).buckets, []);
});

t.test('the histogram of traces at the limits of time', async (t) => {
  await reading.client.query(
    `INSERT INTO sluice.traces (trace_id, project, environment, first_ns, last_ns)
     SELECT decode(lpad(to_hex(ns % 7 + 1), 32, 'f'), 'hex'), 'far', 'default', ns, ns FROM unnest($1::int8[]) AS ns`,
    [['1', '9223372036854775807']],
  );
  const { buckets } = await reading.ask(showHistogram, { project: 'far', query: { buckets: 2 } });
  t.same(
    buckets.map(({ trace_count }: { trace_count: number }) => trace_count),
    [1, 1],
  );
});

t.test('what has the last time that can be stored is in every list', async (t) => {
  const last = { start_time_unix_nano: '9223372036854775807', end_time_unix_nano: '9223372036854775807' };
  const at = { project: 'last' };
  await store(reading, [
    spanRow({ ...call, ...at, ...last, trace: 99_900, conversation_id: 'of-spans', name: 'late' }),
  ]);
  await reading.insert('logs', [
    logRow({ ...at, time_unix_nano: last.start_time_unix_nano, conversation_id: 'of-logs', category: 'model_call' }),
  ]);
  for (const query of [{}, { from: '1969-12-31', to: '2263-01-01' }]) {
    t.equal((await reading.ask(listTraces, { ...at, query })).items.length, 1);
    t.equal((await reading.ask(showHistogram, { ...at, query })).buckets.length, 1);
    t.equal((await reading.ask(listLogs, { ...at, query })).items.length, 1);
  }
  t.match((await reading.ask(listFacets, { ...at, query: { fields: 'name' } })).fields, { name: [{ value: 'late' }] });
  for (const limit of [1, 2]) {
    const found = await conversationsInPages(limit, at);
    t.same(found.map(({ conversation_id }) => conversation_id).sort(), ['of-logs', 'of-spans'], `pages of ${limit}`);
  }
  for (const conversation of ['of-logs', 'of-spans']) {
    const turns: Turns = await reading.ask(listTurns, { ...at, path: { conversation } });
    t.equal(turns.items[0]?.steps.length, 1, conversation);
  }
  for (const what of ['traces', 'spans', 'logs'])
    t.equal((await reading.text(exportRows, { ...at, query: { what } })).trimEnd().split('\n').length, 1, what);
  t.match(await reading.text(exportRows, { ...at, query: { what: 'spans' } }), /late/u);
});

t.test('facets count the values of the asked fields', async (t) => {
  const { examined, complete, fields } = await reading.ask(listFacets, {
    query: { fields: 'service,model,error,env' },
  });
  t.same([examined, complete], [12, true]);
  t.same(fields.service, [{ value: 'web', count: 9 }]);
  t.same(fields.model, [
    { value: 'm-0', count: 6 },
    { value: 'm-1', count: 6 },
  ]);
  t.same(fields.error, [{ value: 'timeout', count: 1 }]);
  const filtered = await reading.ask(listFacets, { query: { fields: 'model', q: 'user:u-1 env:default' } });
  t.same(filtered.fields.model, [
    { value: 'm-0', count: 2 },
    { value: 'm-1', count: 2 },
  ]);
  t.equal((await reading.refusal(listFacets, { query: { fields: 'hash' } }))?.code, 'request_invalid');
});

t.test('facets and tools of traces whose figures meet the filter', async (t) => {
  const project = 'figures';
  const tool = { project, category: 'tool_step', tool_name: 'search' };
  // Traces 801, 802 and 803 have 1, 2 and 3 tool steps. The second one has a failed step, and a call that costs.
  const steps = [1, 2, 2, 3, 3, 3].map((number, at) => spanRow({ ...tool, trace: 800 + number, at: number * 10 + at }));
  const paid = spanRow({ ...call, project, trace: 802, at: 30, total_cost: '0.5', status: 'error' });
  await store(reading, [...steps, paid]);
  const range = { from: String(BASE_NS), to: String(BASE_NS + 1_000_000_000n) };
  const counts = async (q: string) => {
    const { fields } = await reading.ask(listFacets, { project, query: { fields: 'tool', q } });
    const { items } = await reading.ask(listTools, { project, query: { ...range, q } });
    return [fields.tool[0]?.count ?? 0, items[0]?.call_count ?? 0];
  };
  t.same(await counts('trace.spans:>2'), [5, 5]);
  t.same(await counts('trace.errors:0'), [4, 4]);
  t.same(await counts('trace.cost:>0.1'), [2, 2]);
  t.same(await counts('-trace.tokens:>=10 trace.duration:<10ms tool:search'), [4, 4]);
  t.same(await counts('trace.duration:>1h'), [0, 0]);
});

t.test('facets include a span that was stored after they were asked for', async (t) => {
  const asking = { project: 'fresh', query: { fields: 'service' } };
  const first = await reading.ask(listFacets, asking);
  t.same([first.examined, first.fields.service], [0, []]);
  await store(reading, [spanRow({ project: 'fresh', trace: 699_999, service_name: 'web' })]);
  const second = await reading.ask(listFacets, asking);
  t.same([second.examined, second.fields.service], [1, [{ value: 'web', count: 1 }]]);
});

t.test('facets of more spans than are counted are cached', async (t) => {
  const project = 'large';
  const most = 2000;
  await store(
    reading,
    Array.from({ length: most }, (_, at) => spanRow({ project, trace: 700_000 + at, service_name: 'web' })),
  );
  const asking = { project, query: { fields: 'service', q: 'text:work' } };
  const first = await reading.ask(listFacets, asking);
  t.same([first.examined, first.complete, first.fields.service], [most, false, [{ value: 'web', count: most }]]);
  await store(reading, [spanRow({ project, trace: 700_000 + most, at: 1, service_name: 'api' })]);
  t.same(await reading.ask(listFacets, asking), first);
});

t.test('conversations in pages of any size, each once, by their newest trace', async (t) => {
  for (const limit of [1, 2, 10]) {
    const rows = await conversationsInPages(limit);
    t.same(
      rows.map(({ conversation_id }) => conversation_id),
      ['c-3', 'c-2', 'c-1'],
      `pages of ${limit}`,
    );
    t.match(rows[2], {
      trace_count: 4,
      call_count: 4,
      unpriced_count: 1,
      total_cost: '0.03000000',
      user_id: 'u-1',
      input_tokens: 32,
    });
    t.equal(rows[2]?.first_input?.text, '=input 0');
  }
  const named = async (q: string) =>
    (await reading.ask(listConversations, { query: { q, limit: 1 } })).items.map(
      ({ conversation_id }: ConversationRow) => conversation_id,
    );
  t.same(await named('error'), ['c-3']);
  t.same(await named('user:u-2'), ['c-2']);
  const hidden: Page<ConversationRow> = await reading.ask(listConversations, { seesContent: false });
  t.notOk(hidden.items.some((row) => 'first_input' in row));
});

t.test('the calls of a conversation do not depend on the other conversations of the page', async (t) => {
  const project = 'mixed';
  const at = String(BASE_NS);
  await store(reading, [
    spanRow({ ...call, project, trace: 821, conversation_id: 'm-1' }),
    spanRow({ ...call, project, trace: 822, at: 10, conversation_id: 'm-2' }),
  ]);
  // The second trace has a call of the first conversation, in a log record.
  const record = { ...call, project, trace_id: hex(822, 16), conversation_id: 'm-1', time_unix_nano: at };
  await reading.insert('logs', [logRow(record)]);
  for (const limit of [1, 10]) {
    const rows = await conversationsInPages(limit, { project });
    t.same(
      rows.map(({ conversation_id, trace_count, call_count }) => [conversation_id, trace_count, call_count]),
      [
        ['m-2', 1, 1],
        ['m-1', 1, 2],
      ],
      `pages of ${limit}`,
    );
  }
  const { conversation }: Turns = await reading.ask(listTurns, { project, path: { conversation: 'm-1' } });
  t.equal(conversation.call_count, 2);
});

t.test('the turns of a conversation, from the newest', async (t) => {
  const turns: Turns = await reading.ask(listTurns, { path: { conversation: 'c-2' } });
  t.same(
    turns.items.map(({ trace }) => trace?.trace_id),
    [11, 8, 5, 2].map(plain),
  );
  t.match(turns, { next: null, conversation: { conversation_id: 'c-2', trace_count: 4 } });
  t.match(turns.items[0]?.steps[0], { counts: true, content: { input_content: { text: '=input 10' } } });
  await store(
    reading,
    Array.from({ length: 23 }, (_, at) => spanRow({ trace: 100 + at, project: 'long', at, conversation_id: 'l' })),
  );
  const first: Turns = await reading.ask(listTurns, { project: 'long', path: { conversation: 'l' } });
  const second: Turns = await reading.ask(listTurns, {
    project: 'long',
    path: { conversation: 'l' },
    query: { cursor: first.next ?? '' },
  });
  t.same([first.items.length, second.items.length, second.next], [20, 3, null]);
  t.equal((await reading.refusal(listTurns, { path: { conversation: 'l' } }))?.code, 'not_found');
});

t.test('conversations that only log records name are listed by their newest record, with their calls', async (t) => {
  const project = 'records';
  const at = (seconds: number): string => String(BASE_NS + BigInt(seconds) * 1_000_000_000n);
  const record = (seconds: number, columns: object): object =>
    logRow({ project, dialect: 'claude-code', time_unix_nano: at(seconds), ...columns });
  const said = { ...call, event_name: 'api_request', response_model: 'm', total_cost: '0.01' };
  await store(reading, [
    spanRow({ project, trace: 400, at: 5000, ...call, conversation_id: 'spans', user_id: 'u-1' }),
    spanRow({ project, trace: 401, at: 9000, ...call, conversation_id: 'newest', user_id: 'u-1' }),
  ]);
  await reading.insert('logs', [
    record(1, {
      conversation_id: 'calls',
      input_content: 'What time is it?',
      event_name: 'user_prompt',
      user_id: 'u-2',
    }),
    record(2, { conversation_id: 'calls', ...said, response_id: 'r-1' }),
    record(2, { conversation_id: 'calls', ...said, response_id: 'r-1' }),
    record(7, { conversation_id: 'calls', ...said, response_id: 'r-2', is_error: true }),
    record(6, { conversation_id: 'observed', time_unix_nano: null, observed_time_unix_nano: at(6), ...said }),
    record(4, { conversation_id: 'arrived', time_unix_nano: null, received_at: '2026-11-20T00:00:04Z', ...said }),
    record(8, { conversation_id: 'spans', event_name: 'user_prompt' }),
    ...Array.from({ length: 130 }, (_, index) =>
      record(3, { conversation_id: 'long', ...said, response_id: `l-${index}` }),
    ),
  ]);
  const names = ['newest', 'calls', 'observed', 'spans', 'arrived', 'long'];
  for (const limit of [1, 2, 10]) {
    const rows = await conversationsInPages(limit, { project });
    t.same(
      rows.map(({ conversation_id }) => conversation_id),
      names,
      `pages of ${limit}`,
    );
    t.match(rows[1], {
      trace_count: 0,
      call_count: 2,
      error_count: 1,
      total_cost: '0.02000000',
      user_id: 'u-2',
      first_time_unix_nano: at(1),
      last_time_unix_nano: at(7),
      first_input: { text: 'What time is it?' },
    });
  }
  const named = async (query: NonNullable<Asking['query']>) =>
    (await reading.ask(listConversations, { project, query })).items.map(
      ({ conversation_id }: ConversationRow) => conversation_id,
    );
  t.same(await named({ q: 'user:u-2' }), ['calls']);
  t.same(await named({ q: '-kind:server' }), ['newest', 'spans'], 'log records cannot answer this');
  t.same(await named({ q: 'user:u-1 -kind:server' }), ['newest', 'spans'], 'nor this, although they have a user');
  t.same(await named({ env: 'nowhere' }), []);
  t.same(
    await named({ from: at(2), to: at(7) }),
    ['observed', 'spans', 'arrived', 'long', 'calls'],
    'the range has older records of it',
  );

  const turns: Turns = await reading.ask(listTurns, { project, path: { conversation: 'calls' } });
  t.match(turns, {
    next: null,
    conversation: { conversation_id: 'calls' },
    items: [{ trace: null, more_steps: false }],
  });
  t.same(
    turns.items[0]?.steps.map(({ category, start_time_unix_nano: ns }) => [category, ns]),
    [
      ['message', at(1)],
      ['model_call', at(2)],
      ['model_call', at(2)],
      ['model_call', at(7)],
    ],
  );
  t.match(turns.items[0]?.steps[0], { name: 'user_prompt', span_id: null, content: { input_content: { length: 16 } } });
  const hidden: Turns = await reading.ask(listTurns, { project, path: { conversation: 'calls' }, seesContent: false });
  t.notOk(hidden.items[0]?.steps.some((step) => 'content' in step));
  const lengths: number[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Turns = await reading.ask(listTurns, { project, path: { conversation: 'long' }, query: { cursor } });
    lengths.push(page.items[0]?.steps.length ?? 0);
    cursor = page.next;
  }
  t.same(lengths, [100, 30], 'records of one time are each on one page');
});

t.test('a record that arrives between two pages of a conversation moves no other of its time', async (t) => {
  const asking = { project: 'between pages', path: { conversation: 'c' } };
  const said = (name: string): object =>
    logRow({ project: asking.project, conversation_id: 'c', event_name: name, input_content: name });
  const names = Array.from({ length: 130 }, (_, at) => `event ${at}`);
  await reading.insert('logs', names.map(said));
  const first: Turns = await reading.ask(listTurns, asking);
  await reading.insert('logs', [said('late')]);
  const second: Turns = await reading.ask(listTurns, { ...asking, query: { cursor: first.next ?? '' } });
  const found = [first, second].flatMap(({ items }) => items[0]?.steps.map(({ name }) => name) ?? []);
  t.same(found.sort(), [...names, 'late'].sort());
  t.equal(second.next, null);
});

t.test('a call without a conversation counts in the only one that its trace names', async (t) => {
  const call = { category: 'model_call', usage_scope: 'own', total_tokens: '1' };
  await store(reading, [
    spanRow({ trace: 300, project: 'agents', conversation_id: 'only', category: 'agent' }),
    spanRow({ trace: 300, project: 'agents', at: 1, ...call, conversation_id: null }),
    spanRow({ trace: 301, project: 'agents', ...call, conversation_id: 'first' }),
    spanRow({ trace: 301, project: 'agents', at: 1, ...call, conversation_id: 'second' }),
    spanRow({ trace: 301, project: 'agents', at: 2, ...call, conversation_id: null }),
  ]);
  const { items }: Page<ConversationRow> = await reading.ask(listConversations, { project: 'agents' });
  t.same(
    items
      .map(({ conversation_id, call_count }) => [conversation_id, call_count])
      .sort((one, other) => (String(one) < String(other) ? -1 : 1)),
    [
      ['first', 1],
      ['only', 1],
      ['second', 1],
    ],
  );
});

t.test('exports', async (t) => {
  const lines = async (query: Readonly<Record<string, string | number>>, seesContent = true) =>
    (await reading.text(exportRows, { query, seesContent })).trimEnd().split('\n');
  const spans = (await lines({ what: 'spans', q: 'user:u-1' })).map((line) => JSON.parse(line));
  t.same(
    spans.map(({ trace_id }) => trace_id),
    [10, 7, 4, 1].map(plain),
  );
  t.match(spans[0], { signal: 'span', input_content: '=input 9', attributes: { at: 9 } });
  const hidden = await lines({ what: 'spans' }, false);
  t.equal(hidden.length, 12);
  t.notOk(hidden.some((line) => /=input|"at":/u.test(line)));
  const [head = '', first = ''] = await lines({ what: 'spans', as: 'csv', limit: 1 });
  t.match(head, /^signal,project,/u);
  t.match(first, /"'=input 11"/u, 'no formula for a spreadsheet');
  const traces = (await lines({ what: 'traces' })).map((line) => JSON.parse(line).trace_id);
  t.equal(new Set(traces).size, 12);
  t.equal((await lines({ what: 'traces', as: 'csv' })).length, 13);
  t.equal((await lines({ what: 'traces', limit: 5 })).length, 5);
  const otlp = JSON.parse(await reading.text(exportTrace, { path: { trace: plain(3) } }));
  t.equal(otlp.resourceSpans[0].scopeSpans[0].spans[0].name, 'chat');
  t.notMatch(await reading.text(exportTrace, { path: { trace: plain(3) }, seesContent: false }), '=input');
  await reading.insert('logs', [logRow({ body: 'a', event_name: 'e' }), logRow({ body: 'b' })]);
  t.equal((await lines({ what: 'logs', q: 'name:e' })).length, 1);
  t.match(await lines({ what: 'logs', as: 'otlp' }), [/resourceLogs/u]);
  t.equal((await reading.refusal(exportRows, { query: { what: 'traces', as: 'otlp' } }))?.code, 'request_invalid');
});

t.test('a live stream: new traces that match, changes of the open trace, and the watermark', async (t) => {
  const now = async () => String((await reading.client.query('SELECT now() AS now')).rows[0].now.toISOString());
  const leaving = new AbortController();
  const asking = { project: 'live', query: { q: 'service:web', trace: plain(200) }, signal: leaving.signal };
  const stream = eventsOf(await reading.reply(showLive, asking));
  /** The next event that is no beat: on a slow machine beats come in between. */
  const nextChange = async () => {
    let { value } = await stream.next();
    while (value?.event === 'beat') ({ value } = await stream.next());
    return value;
  };
  t.match((await stream.next()).value, {
    event: 'trace',
    data: JSON.stringify({ trace_id: plain(200), span_count: 0 }),
  });
  const { value: beat } = await stream.next();
  t.match(beat, { event: 'beat', id: /^\d+$/u, data: '{}' });
  const received_at = await now();
  await store(reading, [
    spanRow({ trace: 200, project: 'live', service_name: 'web', received_at }),
    spanRow({ trace: 201, project: 'live', service_name: 'worker', received_at }),
  ]);
  const value = await nextChange();
  const { items, dropped } = JSON.parse(value.data);
  t.same([value.event, items.length, items[0].trace_id, dropped], ['traces', 1, plain(200), 0]);
  t.match(await nextChange(), { event: 'trace', data: /"span_count":1/u });
  await store(reading, [spanRow({ trace: 200, project: 'live', at: 1, name: 'late', received_at: await now() })]);
  t.equal(JSON.parse((await nextChange()).data).items[0].span_count, 2, 'a trace that got a span is sent again');
  leaving.abort();
  for (let next = await stream.next(); next.done !== true; next = await stream.next());
  const first = async (since: unknown, headers: Record<string, string> = {}) => {
    const signal = AbortSignal.timeout(60_000);
    const again = eventsOf(
      await reading.reply(showLive, { project: 'live', query: { since: String(since) }, headers, signal }),
    );
    const { value } = await again.next();
    await again.return?.();
    return value;
  };
  const missed = await first(beat.id);
  t.equal(JSON.parse(missed.data).items.length, 2, 'what was missed is sent after a reconnect');
  t.match(await first(0), { event: 'gap', id: /^\d+$/u, data: '{}' }, 'after a long time, it is not known');
  t.equal((await first(0, { 'last-event-id': beat.id })).event, 'traces', 'the header is the stronger one');
  const many = Array.from({ length: 500 }, (_, at) => spanRow({ trace: 10_000 + at, project: 'live' }));
  await store(reading, many);
  t.equal((await first(beat.id)).event, 'gap', 'too many have changed');
  t.equal((await reading.refusal(showLive, { query: { q: 'x:y' } }))?.code, 'filter_invalid');
});

t.test('an export writes some records at a time', async (t) => {
  const spans = Array.from({ length: 120 }, (_, at) => spanRow({ trace: 900, at, project: 'large' }));
  await store(reading, spans);
  for (const as of ['ndjson', 'csv', 'otlp']) {
    const reply = await reading.reply(exportRows, { project: 'large', query: { what: 'spans', as } });
    if (reply.kind !== 'download') throw new Error(reply.kind);
    let pieces = 0;
    for await (const piece of reply.pieces) pieces += piece.length > 0 ? 1 : 0;
    t.ok(pieces >= 5, `${as}: ${pieces} pieces`);
  }
});

t.test('an export writes a giant row in pieces, and other work is done between them', async (t) => {
  const many = Object.fromEntries(Array.from({ length: 50_000 }, (_, index) => [`key ${index}`, `value, ${index}`]));
  const attributes = {
    many,
    numbers: Array.from({ length: 100_000 }, (_, index) => index),
    quotes: '"'.repeat(500_000),
  };
  await store(reading, [spanRow({ trace: 901, at: 0, project: 'giant', attributes })]);
  const { rows } = await reading.client.query(`SELECT attributes::text FROM sluice.spans WHERE project = 'giant'`);
  const stored = String(rows[0].attributes);
  for (const as of ['ndjson', 'csv']) {
    const reply = await reading.reply(exportRows, { project: 'giant', query: { what: 'spans', as } });
    if (reply.kind !== 'download') throw new Error(reply.kind);
    let [turns, ended] = [0, false];
    const turn = (): void => {
      turns++;
      if (!ended) setImmediate(turn);
    };
    turn();
    const pieces: string[] = [];
    for await (const piece of reply.pieces) pieces.push(String(piece));
    ended = true;
    t.ok(pieces.length > 20, `${as}: ${pieces.length} pieces`);
    t.ok(turns >= pieces.length, `${as}: ${turns} turns`);
    const text = pieces.join('');
    if (as === 'ndjson') t.ok(text.includes(`"attributes":${JSON.stringify(JSON.parse(stored))}`));
    else t.ok(text.includes(`,"${stored.replaceAll('"', '""')}",`), 'quotes are doubled');
  }
});
