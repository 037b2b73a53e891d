/** One trace: header, spans in parts, a span with its content, steps and log records; and the rights to them. */
import t from 'tap';
import { listLogs, listTraceLogs } from '../../../../src/extensions/console/api/logs.ts';
import type { LogRow } from '../../../../src/extensions/console/api/shapes/logs.ts';
import type { SpanTuple } from '../../../../src/extensions/console/api/shapes/spans.ts';
import { showContent, showSpan } from '../../../../src/extensions/console/api/span.ts';
import { listSpans } from '../../../../src/extensions/console/api/spans.ts';
import { listSteps } from '../../../../src/extensions/console/api/steps.ts';
import { placeTrace, showTrace } from '../../../../src/extensions/console/api/trace.ts';
import { type Asking, BASE_NS, hex, logRow, spanRow, startReading, store } from '../../../support/console-reading.ts';

t.setTimeout(300_000);
const reading = await startReading(t);

const plain = (number: number, bytes: number): string => hex(number, bytes).slice(2);
const id = (number: number): string => hex(number, 8);
const TRACE = { path: { trace: plain(1, 16) } };
const LONG = 'é'.repeat(300_000);
const call = { category: 'model_call', provider: 'openai', response_model: 'gpt-5', usage_scope: 'own' };

await store(reading, [
  spanRow({
    trace: 1,
    span_id: id(1),
    name: 'agent',
    category: 'agent',
    service_name: 'web',
    conversation_id: 'c-1',
    usage_scope: 'rollup',
    total_tokens: 15,
  }),
  spanRow({
    ...call,
    trace: 1,
    at: 1,
    span_id: id(2),
    parent_span_id: id(1),
    name: 'chat',
    service_name: 'web',
    input_tokens: 10,
    output_tokens: 5,
    total_tokens: 15,
    total_cost: '0.5',
    response_id: 'r-1',
    input_content: LONG,
    output_content: 'fine',
    status_message: 'secret',
    attributes: { a: 1, long: 'x'.repeat(40_000) },
    events: [{ name: 'e' }, { name: 'f' }],
    latency_ms: 12.5,
    time_to_first_token_ms: 3,
  }),
  // A wrapper that tells the same call again.
  spanRow({
    ...call,
    trace: 1,
    at: 2,
    span_id: id(3),
    parent_span_id: id(2),
    name: 'chat',
    response_id: 'r-1',
    total_tokens: 1,
  }),
  spanRow({ ...call, trace: 1, at: 3, span_id: id(4), parent_span_id: id(99), usage_scope: null }),
  spanRow({
    trace: 1,
    at: 4,
    span_id: id(5),
    parent_span_id: id(3),
    category: 'tool_step',
    tool_name: 'find',
    status: 'error',
  }),
  // The same id again, later.
  spanRow({ trace: 1, at: 5, span_id: id(5), parent_span_id: id(5), name: 'again' }),
  spanRow({ trace: 1, at: 6, span_id: id(6), parent_span_id: id(5) }),
  spanRow({ trace: 2, project: 'other', at: 1 }),
]);
await reading.insert('logs', [
  ...Array.from({ length: 7 }, (_, at) =>
    logRow({
      trace_id: hex(1, 16),
      span_id: id(2),
      // Several records have the same time.
      time_unix_nano: String(BASE_NS + BigInt(Math.floor(at / 3)) * 1_000_000n),
      body: `record ${at}`,
      severity_text: at % 2 === 0 ? 'error' : 'INFO',
      severity_number: at % 2 === 0 ? 17 : 9,
      service_name: 'web',
      attributes: { at },
    }),
  ),
  logRow({ project: 'other', body: 'foreign' }),
]);

interface Lines {
  readonly rows: readonly SpanTuple[];
  readonly words: Readonly<Record<string, readonly string[]>>;
  readonly end: { readonly spans: number; readonly of: number; readonly next: string | null };
}

async function spans(query: Asking['query'] = {}): Promise<Lines> {
  const lines = (await reading.text(listSpans, { ...TRACE, query }))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const words: Record<string, string[]> = {};
  for (const line of lines.slice(1, -1).filter((line) => !Array.isArray(line))) {
    for (const [name, added] of Object.entries(line)) (words[name] ??= []).push(...(added as string[]));
  }
  if (lines[0].columns.length !== 18) throw new Error('columns are missing');
  return { rows: lines.filter((line): line is SpanTuple => Array.isArray(line)), words, end: lines.at(-1) };
}

t.test('the header of a trace', async (t) => {
  t.match(await reading.ask(showTrace, TRACE), {
    trace_id: TRACE.path.trace,
    project: 'demo',
    name: 'agent',
    complete: true,
    duration_ns: '11000000',
    span_count: 7,
    error_count: 1,
    model_call_count: 3,
    tool_step_count: 1,
    log_count: 7,
    services: ['web'],
    conversation_id: 'c-1',
    total_cost: '0.50000000',
    input_tokens: 10,
    models: [{ provider: 'openai', model: 'gpt-5', call_count: 1, total_cost: '0.50000000', unpriced_count: 0 }],
  });
  await reading.insert('traces', [
    { trace_id: hex(3, 16), project: 'demo', environment: 'e', created_at: '2026-11-20T12:00:00Z' },
  ]);
  const empty = await reading.ask(showTrace, { path: { trace: plain(3, 16) } });
  t.match(empty, {
    name: null,
    complete: false,
    span_count: 0,
    start_time_unix_nano: null,
    duration_ns: null,
    models: [],
  });
  t.equal(empty.created_at, '2026-11-20T12:00:00.000Z');
});

t.test('a trace of another project, and a text that is no id, are not found', async (t) => {
  for (const trace of [plain(2, 16), plain(77, 16), 'xyz', '']) {
    for (const route of [showTrace, listSpans, listSteps, listTraceLogs]) {
      t.equal((await reading.refusal(route, { path: { trace } }))?.code, 'not_found');
    }
  }
  t.match(await reading.ask(placeTrace, { path: { trace: plain(2, 16) } }), { project: 'other' });
  const refusal = await reading.refusal(placeTrace, { path: { trace: plain(2, 16) }, projects: ['demo'] });
  t.equal(refusal?.code, 'not_found');
});

t.test('the spans of a trace are slim rows with shared words', async (t) => {
  const { rows, words, end } = await spans();
  t.same(words, {
    'names+': ['agent', 'chat', 'work', 'again'],
    'services+': ['web'],
    'models+': ['gpt-5'],
    'tools+': ['find'],
  });
  t.same(end, { end: true, spans: 7, of: 7, next: null });
  const [agent, chat, wrapper, stray, tool, again, last] = rows;
  t.same(agent, [
    plain(1, 8),
    null,
    0,
    0,
    'agent',
    '0',
    '5000000',
    0,
    null,
    null,
    null,
    null,
    null,
    null,
    null,
    0,
    0,
    'sum',
  ]);
  t.same(chat, [
    plain(2, 8),
    0,
    1,
    0,
    'model_call',
    '1000000',
    '5000000',
    0,
    0,
    null,
    10,
    5,
    null,
    3,
    '0.50000000',
    1,
    2,
    null,
  ]);
  t.same(wrapper?.slice(15), [0, 0, 'repeated']);
  t.same(stray?.slice(0, 2), [plain(4, 8), plain(99, 8)], 'a parent that has not arrived');
  t.same(stray?.slice(15), [0, 0, null]);
  t.same([tool?.[1], tool?.[7], tool?.[9]], [2, 1, 0]);
  t.same(
    [again?.[1], last?.[1]],
    [plain(5, 8), 4],
    'its own parent; of two spans with the same id the first is the parent',
  );
});

t.test('spans are answered in parts, below a span, and of some kinds', async (t) => {
  const parts: string[] = [];
  for (let after: string | null = ''; after !== null; ) {
    const part: Lines = await spans({ limit: 2, after });
    parts.push(...part.rows.map(([id]) => id));
    t.equal(part.end.of, 7);
    after = part.end.next;
  }
  t.same(
    parts,
    [1, 2, 3, 4, 5, 5, 6].map((number) => plain(number, 8)),
  );
  const newest: string[] = [];
  for (let after: string | null = ''; after !== null; ) {
    const part: Lines = await spans({ order: 'newest', limit: 2, after });
    newest.push(...part.rows.map(([id]) => id));
    after = part.end.next;
  }
  t.same(newest, parts.toReversed(), 'the newest first');
  const ids = async (query: Asking['query']) => (await spans(query)).rows.map(([id]) => Number.parseInt(id, 16));
  t.same(await ids({ under: plain(2, 8) }), [2, 3, 5, 5, 6]);
  t.same(await ids({ under: plain(2, 8), depth: 1 }), [2, 3]);
  t.same(await ids({ under: plain(77, 8) }), []);
  t.same(await ids({ only: 'model' }), [2, 3, 4]);
  t.same(await ids({ only: 'error,tool' }), [5]);
  t.match((await spans({ only: 'tool', under: plain(1, 8) })).end, { spans: 1, of: 7 });
  for (const query of [{ only: 'x' }, { after: 'x' }, { limit: 30_000 }, { only: 'constructor' }, { order: 'x' }]) {
    t.ok(await reading.refusal(listSpans, { ...TRACE, query }), JSON.stringify(query));
  }
});

t.test('a span with its content, and a long text in pieces', async (t) => {
  const path = { ...TRACE.path, span: plain(2, 8) };
  const span = await reading.ask(showSpan, { path });
  t.match(span, {
    name: 'chat',
    counts: true,
    note: null,
    total_cost: '0.50000000',
    latency_ms: 12.5,
    input_tokens: 10,
  });
  t.match(span, { start_time_unix_nano: String(BASE_NS + 1_000_000n), parent_span_id: plain(1, 8), resource: {} });
  t.same(Object.keys(span.content), ['input_content', 'output_content']);
  t.match(span.content.input_content, { length: 300_000, cut: true });
  t.equal(span.content.input_content.text.length, 262_144);
  t.same(span.content.output_content, { text: 'fine', length: 4, cut: false });
  t.equal(span.status_message.text, 'secret');
  t.same(span.attributes, { a: 1 });
  t.match(span.long_attributes.long, { length: 40_000, cut: true });
  t.equal(span.events.length, 2);
  const piece = await reading.ask(showContent, {
    path: { ...path, field: 'input_content' },
    query: { offset: 299_999 },
  });
  t.same(piece, { field: 'input_content', offset: 299_999, length: 300_000, text: 'é', next: null });
  t.equal((await reading.ask(showContent, { path: { ...path, field: 'attributes' } })).length > 40_000, true);
  for (const field of ['tool_result', 'hash', 'project']) {
    t.equal((await reading.refusal(showContent, { path: { ...path, field } }))?.code, 'not_found', field);
  }
  const later = { path: { ...TRACE.path, span: plain(5, 8) }, query: { start: String(BASE_NS + 5_000_000n) } };
  t.match(await reading.ask(showSpan, later), { name: 'again' });
  t.match(await reading.ask(showSpan, { path: later.path }), { name: 'work' });
  for (const start of ['x', '-1', '9223372036854775808'])
    t.match(await reading.refusal(showSpan, { path, query: { start } }), {
      code: 'range_invalid',
      message: /`start`/u,
    });
});

t.test('a reader without the right to content gets no content of a span', async (t) => {
  const asking = { path: { ...TRACE.path, span: plain(2, 8), field: 'input_content' }, seesContent: false };
  const span = await reading.ask(showSpan, asking);
  for (const name of ['content', 'status_message', 'attributes', 'long_attributes', 'events'])
    t.notOk(name in span, name);
  t.equal(span.name, 'chat');
  t.equal((await reading.refusal(showContent, asking))?.code, 'forbidden');
  t.notMatch(await reading.text(listSteps, asking), 'content');
  for (const route of [listTraceLogs, listLogs]) {
    const text = await reading.text(route, asking);
    t.notMatch(text, 'record 0');
    t.notMatch(text, 'attributes');
  }
  t.equal((await reading.refusal(listLogs, { ...asking, query: { q: '"record"' } }))?.code, 'filter_invalid');
});

t.test('steps have their content', async (t) => {
  const first = await reading.ask(listSteps, { ...TRACE, query: { limit: 2 } });
  t.same(
    first.items.map(({ span_id }: { span_id: string }) => span_id),
    [plain(2, 8), plain(3, 8)],
  );
  t.match(first.items[0], {
    model: 'gpt-5',
    counts: true,
    error: false,
    content: { input_content: { length: 300_000, cut: true } },
  });
  const second = await reading.ask(listSteps, { ...TRACE, query: { limit: 2, after: first.next } });
  t.same(
    second.items.map(({ span_id }: { span_id: string }) => span_id),
    [plain(4, 8), plain(5, 8)],
  );
  t.same(await reading.ask(listSteps, { ...TRACE, query: { after: second.next } }), { items: [], next: null });
});

t.test('positions that no answer gives are refused', async (t) => {
  for (const route of [listSpans, listSteps])
    for (const after of ['x', '9223372036854775808', '9999999999999999999', '٣'].map((ns) => `${ns}.${plain(1, 8)}`))
      t.equal((await reading.refusal(route, { ...TRACE, query: { after } }))?.code, 'cursor_invalid', after);
});

t.test('log records of a trace and of a project, in pages', async (t) => {
  const bodies = (items: readonly LogRow[]) => items.map(({ body }) => Number(body?.text.slice(8, 9)));
  const found: number[] = [];
  for (let after: string | null = '0'; after !== null; ) {
    const page: { items: LogRow[]; next: string | null } = await reading.ask(listTraceLogs, {
      ...TRACE,
      query: { limit: 2, after },
    });
    found.push(...bodies(page.items));
    after = page.next;
  }
  t.same(found, [0, 1, 2, 3, 4, 5, 6]);
  for (const limit of [1, 2, 3, 10]) {
    const listed: LogRow[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: { items: LogRow[]; next: string | null } = await reading.ask(listLogs, { query: { limit, cursor } });
      listed.push(...page.items);
      cursor = page.next;
    }
    t.same(bodies(listed).sort(), [0, 1, 2, 3, 4, 5, 6], `pages of ${limit}`);
    const times = listed.map(({ time_unix_nano }) => time_unix_nano);
    t.same(times, [...times].sort().reverse());
  }
  const count = async (q: string) => (await reading.ask(listLogs, { query: { q } })).items.length;
  t.same(
    await Promise.all(
      ['severity:error', '-severity:Error', 'severity:~err', '"record 3"', 'service:web', 'attr.at:>4', 'error'].map(
        count,
      ),
    ),
    [4, 3, 4, 1, 7, 2, 4],
  );
  t.equal((await reading.refusal(listLogs, { query: { q: 'root' } }))?.code, 'filter_invalid');
});

t.test('a log record of a trace that arrives between two pages repeats none and hides none', async (t) => {
  const trace = { project: 'late', path: { trace: plain(41, 16) } };
  const time = (at: number) => String(BASE_NS + BigInt(at));
  const record = (body: string, columns: object) =>
    logRow({ trace_id: hex(41, 16), project: 'late', body, ...columns });
  await store(reading, [spanRow({ trace: 41, project: 'late' })]);
  await reading.insert('logs', [
    record('1', { time_unix_nano: time(10), span_id: id(2) }),
    record('2', { time_unix_nano: time(20), span_id: id(3) }),
    record('3', { time_unix_nano: time(20), span_id: id(2) }),
    record('4', { time_unix_nano: null, observed_time_unix_nano: time(20) }),
    record('5', { time_unix_nano: time(30), span_id: id(2) }),
  ]);
  const page = async (query: NonNullable<Asking['query']>): Promise<{ bodies: string[]; next: string | null }> => {
    const { items, next } = await reading.ask(listTraceLogs, { ...trace, query });
    return { bodies: items.map(({ body }: LogRow) => JSON.parse(body?.text ?? '')), next };
  };
  const first = await page({ limit: 2 });
  t.same(first.bodies, ['1', '2']);
  await reading.insert('logs', [
    record('earlier', { time_unix_nano: time(5) }),
    record('of the time of the position', { time_unix_nano: time(20), span_id: id(2) }),
  ]);
  const second = await page({ limit: 2, after: first.next ?? '' });
  t.same(second.bodies, ['3', '4']);
  const third = await page({ limit: 2, after: second.next ?? '' });
  t.same(third.bodies, ['of the time of the position', '5']);
  t.same(await page({ limit: 2, after: third.next ?? '' }), { bodies: [], next: null });
  const own = await page({ limit: 2, span: plain(2, 8) });
  t.same(own.bodies, ['1', '3']);
  t.same(await page({ span: plain(2, 8), after: own.next ?? '' }), {
    bodies: ['of the time of the position', '5'],
    next: null,
  });
  const byNumber = await page({ limit: 2, after: 3 });
  t.same(byNumber.bodies, ['3', '4'], 'a number counts from the first record');
  t.same((await page({ after: byNumber.next ?? '' })).bodies, ['of the time of the position', '5']);
  for (const after of ['x', '1.', '.1', '9223372036854775808.0', '1.2.3', '-1'])
    t.equal((await reading.refusal(listTraceLogs, { ...trace, query: { after } }))?.code, 'cursor_invalid', after);
  t.equal((await reading.refusal(listTraceLogs, { ...trace, query: { span: 'x' } }))?.code, 'not_found');
});

t.test('records of one time are in the order of their arrival', async (t) => {
  const bodies = Array.from({ length: 12 }, (_, at) => `record ${at}`);
  await store(reading, [spanRow({ trace: 40, project: 'times' })]);
  await reading.insert(
    'logs',
    bodies.map((body) => logRow({ trace_id: hex(40, 16), project: 'times', body })),
  );
  const { items } = await reading.ask(listTraceLogs, { project: 'times', path: { trace: hex(40, 16).slice(2) } });
  t.same(
    items.map(({ body }: LogRow) => JSON.parse(body?.text ?? '')),
    bodies,
  );
});
