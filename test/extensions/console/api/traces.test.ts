/** The list of traces: its rows, its pages, and filters against the same filter evaluated here. */
import fc from 'fast-check';
import t from 'tap';
import { listConversations } from '../../../../src/extensions/console/api/conversations.ts';
import { writeCursor } from '../../../../src/extensions/console/api/cursor.ts';
import { listLogs } from '../../../../src/extensions/console/api/logs.ts';
import { listTraces } from '../../../../src/extensions/console/api/traces.ts';
import type { Page } from '../../../../src/extensions/console/api/shapes/answers.ts';
import type { TraceRow } from '../../../../src/extensions/console/api/shapes/traces.ts';
import { BASE_NS, hex, logRow, spanRow, startReading, store } from '../../../support/console-reading.ts';

t.setTimeout(300_000);
const reading = await startReading(t);

const MODELS = ['gpt-5', 'gpt-5-mini', 'claude-x', null];
const SERVICES = ['web', 'worker', null];
const CONVERSATIONS = ['c-1', 'c-2', `${'long '.repeat(40)}1`, `${'long '.repeat(40)}2`, null, null];
const TRACES = 60;
/** Log records of these traces name a user and a conversation. */
const isLogged = (trace: number): boolean => trace % 7 === 0;
const LOGGED = { user_id: 'u-3', conversation_id: 'c-3' };

/** What the oracle knows of a span. */
interface Span {
  readonly trace: number;
  readonly at: number;
  readonly name: string;
  readonly response_model: string | null;
  readonly request_model: string | null;
  readonly service_name: string | null;
  readonly status: string;
  readonly is_error: boolean | null;
  readonly usage_scope: string | null;
  readonly total_cost: number | null;
  readonly total_tokens: number | null;
  readonly duration_ns: string;
  readonly parent_span_id: string | null;
  readonly user_id: string | null;
  readonly conversation_id: string | null;
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly input_content: string | null;
  readonly environment: string;
}

/** A fixed sequence of numbers, so that a failure can be repeated. */
function numbers(): (below: number) => number {
  let state = 7;
  return (below) => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return Math.floor((state / 2147483648) * below);
  };
}

function generate(): readonly Span[] {
  const next = numbers();
  const pick = <T>(list: readonly T[]): T => list[next(list.length)] as T;
  return Array.from({ length: TRACES }, (_, trace) =>
    // Several traces begin at the same time.
    Array.from({ length: 1 + next(3) }, (_, at): Span => {
      const isCall = next(2) === 0;
      return {
        trace: trace + 1,
        at: Math.floor(trace / 3) * 10 + at,
        name: pick(['chat', 'tool %x', 'a_b', 'work']),
        response_model: pick(MODELS),
        request_model: pick(MODELS),
        service_name: pick(SERVICES),
        status: pick(['unset', 'ok', 'error']),
        is_error: pick([true, false, null]),
        usage_scope: isCall ? pick(['own', 'rollup']) : null,
        total_cost: isCall ? pick([0.05, 0.5, null]) : null,
        total_tokens: isCall ? pick([100, 2000, null]) : null,
        duration_ns: pick(['5000000', '2000000000', '2000000001']),
        parent_span_id: at === 0 ? null : hex(1, 8),
        user_id: pick(['u-1', 'u-2', null]),
        attributes: pick([{}, { n: 5 }, { n: '5' }, { n: 7.5 }, { 'http.route': '/chat' }]),
        input_content: pick([null, 'It timed OUT', 'fine 日本']),
        environment: trace % 4 === 0 ? 'staging' : 'default',
        conversation_id: pick(CONVERSATIONS),
      };
    }),
  ).flat();
}

/** `inherits`: a span without a user has that of the span above it, else the only one of the records of its trace. */
type Holds = (span: Span, inherits: boolean) => boolean;
const ownedBy =
  (column: 'user_id' | 'conversation_id', value: string): Holds =>
  (span, inherits) =>
    (inherits ? ownerOf(span, column) : span[column]) === value;
function ownerOf(span: Span, column: 'user_id' | 'conversation_id'): string | null {
  const others = spans.filter(({ trace }) => trace === span.trace);
  // The first span of all has the id that the spans below name; in other traces it is missing.
  const above = span.trace === 1 && span.parent_span_id !== null ? others[0]?.[column] : undefined;
  const ofLogs = isLogged(span.trace) ? [LOGGED[column]] : [];
  const named = [...new Set([...others.flatMap((other) => other[column] ?? []), ...ofLogs])];
  return span[column] ?? above ?? (named.length === 1 ? (named[0] ?? null) : null);
}
const modelOf = (span: Span): string | null => span.response_model ?? span.request_model;
const ownOf = (span: Span, value: number | null): number | null => (span.usage_scope === 'own' ? value : null);
const TERMS: readonly (readonly [string, Holds])[] = [
  ['model:gpt-5*', (span) => modelOf(span)?.startsWith('gpt-5') === true],
  ['model:gpt-5', (span) => modelOf(span) === 'gpt-5'],
  ['model:gpt-5,claude-x', (span) => ['gpt-5', 'claude-x'].includes(modelOf(span) ?? '')],
  ['model:~5-m', (span) => modelOf(span)?.includes('5-m') === true],
  ['service:*', (span) => span.service_name !== null],
  ['service:web', (span) => span.service_name === 'web'],
  ['name:"tool %"*', (span) => span.name.startsWith('tool %')],
  ['name:a_*', (span) => span.name.startsWith('a_')],
  ['error', (span) => span.status === 'error' || span.is_error === true],
  ['unpriced', (span) => span.usage_scope === 'own' && span.total_cost === null],
  ['root', (span) => span.parent_span_id === null],
  ['cost:>0.05', (span) => (ownOf(span, span.total_cost) ?? 0) > 0.05],
  ['cost:<=0.05', (span) => (ownOf(span, span.total_cost) ?? 1) <= 0.05],
  ['tokens:>=2k', (span) => (ownOf(span, span.total_tokens) ?? 0) >= 2000],
  ['duration:>2s', (span) => BigInt(span.duration_ns) > 2_000_000_000n],
  ['duration:2s', (span) => BigInt(span.duration_ns) === 2_000_000_000n],
  ['user:u-1', ownedBy('user_id', 'u-1')],
  ['user:u-3', ownedBy('user_id', 'u-3')],
  ['conversation:c-1', ownedBy('conversation_id', 'c-1')],
  ['conversation:c-3', ownedBy('conversation_id', 'c-3')],
  [`conversation:"${'long '.repeat(40)}1"`, ownedBy('conversation_id', `${'long '.repeat(40)}1`)],
  [
    'conversation:c-*',
    (span, inherits) => (inherits ? ownerOf(span, 'conversation_id') : span.conversation_id)?.startsWith('c-') === true,
  ],
  [
    'conversation:c-2,c-3',
    (span, inherits) => ['c-2', 'c-3'].some((id) => ownedBy('conversation_id', id)(span, inherits)),
  ],
  ['attr.n:5', (span) => String(span.attributes['n']) === '5'],
  ['attr.n:>5', (span) => typeof span.attributes['n'] === 'number' && span.attributes['n'] > 5],
  ['attr.http.route:/chat', (span) => span.attributes['http.route'] === '/chat'],
  ['"timed out"', (span) => span.input_content?.includes('timed OUT') === true],
  ['text:日', (span) => span.input_content?.includes('日') === true],
  ['env:staging', (span) => span.environment === 'staging'],
];

const spans = generate();
await store(
  reading,
  spans.map((span) => spanRow({ ...span })),
);
await store(reading, [spanRow({ trace: 900, project: 'other', at: 1, conversation_id: 'c-1' })]);
await reading.insert(
  'logs',
  Array.from({ length: TRACES }, (_, at) => at + 1)
    .filter(isLogged)
    .map((trace) => logRow({ ...LOGGED, trace_id: hex(trace, 16) })),
);

/** In the order of the list. The environment is a term of the trace. */
function expected(
  terms: readonly { readonly text: string; readonly holds: Holds; readonly negated: boolean }[],
): readonly string[] {
  const several = terms.filter(({ text }) => !/^-?env:/u.test(text)).length > 1;
  const found = new Map<number, number>();
  for (const span of spans)
    if (!found.has(span.trace) || span.at < (found.get(span.trace) ?? 0)) found.set(span.trace, span.at);
  const matching = [...found].filter(([trace]) =>
    spans.some(
      (span) =>
        span.trace === trace && terms.every(({ holds, negated }) => holds(span, several && !negated) !== negated),
    ),
  );
  return matching.sort(([a, first], [b, second]) => second - first || b - a).map(([trace]) => hex(trace, 16).slice(2));
}

async function pages(query: Readonly<Record<string, string | number>>): Promise<readonly TraceRow[]> {
  const rows: TraceRow[] = [];
  let cursor = '';
  do {
    const page: Page<TraceRow> = await reading.ask(listTraces, {
      query: { ...query, ...(cursor === '' ? {} : { cursor }) },
    });
    if (page.items.length > Number(query['limit'])) throw new Error('too many items');
    if (page.more !== (page.next !== null)) throw new Error('`more` and `next` differ');
    rows.push(...page.items);
    cursor = page.next ?? '';
  } while (cursor !== '');
  return rows;
}

const idsOf = (rows: readonly TraceRow[]): readonly string[] => rows.map(({ trace_id }) => trace_id);

t.test('a filter gives the traces that the same filter gives here, for any size of the pages', async (t) => {
  const terms = fc.array(fc.tuple(fc.nat(TERMS.length - 1), fc.boolean()), { maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(terms, fc.integer({ min: 1, max: 70 }), async (chosen, limit) => {
      const parts = chosen.map(([index, negated]) => {
        const [text, holds] = TERMS[index] ?? ['', () => true];
        return { text: `${negated ? '-' : ''}${text}`, holds, negated };
      });
      const q = parts.map(({ text }) => text).join(' ');
      t.same(idsOf(await pages({ q, limit: Math.max(limit, 10) })), expected(parts), `${q} by ${limit}`);
    }),
    { numRuns: 25 },
  );
});

t.test('each term alone, and its opposite', async (t) => {
  for (const [text, holds] of TERMS) {
    t.same(idsOf(await pages({ q: text, limit: 100 })), expected([{ text, holds, negated: false }]), text);
    t.same(idsOf(await pages({ q: `-${text}`, limit: 100 })), expected([{ text, holds, negated: true }]), `-${text}`);
  }
});

t.test('pages of one have every trace once', async (t) => {
  t.same(idsOf(await pages({ limit: 1 })), expected([]));
});

t.test('the range: `from` belongs to it, `to` does not', async (t) => {
  const from = BASE_NS + 10_000_000n;
  const query = { limit: 100, from: String(from), to: String(from + 10_000_000n) };
  const found = await pages(query);
  t.equal(found.length, 3);
  t.ok(found.every(({ start_time_unix_nano }) => BigInt(start_time_unix_nano) === from));
});

t.test('a row of the list', async (t) => {
  const call = { category: 'model_call', usage_scope: 'own', input_tokens: 10, output_tokens: 2, total_tokens: 12 };
  const more = { provider: 'openai', response_model: 'gpt-5', total_cost: '0.25', cache_read_tokens: 4 };
  await store(reading, [
    spanRow({
      trace: 500,
      project: 'rows',
      name: 'agent',
      service_name: 'web',
      duration_ns: '9000000',
      agent_name: 'a',
    }),
    spanRow({
      trace: 500,
      project: 'rows',
      at: 1,
      parent_span_id: hex(1, 8),
      ...call,
      ...more,
      user_id: 'u',
      conversation_id: 'c',
    }),
    spanRow({
      trace: 500,
      project: 'rows',
      at: 2,
      parent_span_id: hex(1, 8),
      ...call,
      response_model: 'b',
      status: 'error',
    }),
    spanRow({ trace: 501, project: 'rows', at: 3, parent_span_id: hex(1, 8), name: 'early' }),
  ]);
  const page: Page<TraceRow> = await reading.ask(listTraces, { project: 'rows' });
  t.match(page, { examined: 2, next: null, more: false, reached: String(BASE_NS) });
  t.match(page.items[0], { name: 'early', complete: false, total_cost: null, input_tokens: null, unpriced_count: 0 });
  t.same(page.items[1], {
    trace_id: hex(500, 16).slice(2),
    name: 'agent',
    complete: true,
    service: 'web',
    environment: 'default',
    start_time_unix_nano: String(BASE_NS),
    duration_ns: '7000000',
    span_count: 3,
    error_count: 1,
    model_call_count: 2,
    models: ['b', 'gpt-5'],
    model_count: 2,
    agent: 'a',
    user_id: 'u',
    conversation_id: 'c',
    input_tokens: 20,
    cache_read_tokens: 4,
    output_tokens: 4,
    total_cost: '0.25000000',
    unpriced_count: 1,
  });
  const sums: readonly (readonly [string, number])[] = [
    ['trace.cost:>0.2', 1],
    ['trace.cost:>0.25', 0],
    ['trace.tokens:24', 1],
    ['trace.spans:>=3', 1],
    ['trace.errors:<1', 1],
    ['trace.duration:7ms', 1],
    ['trace:00000000000000000000000000000', 2],
    ['trace:000000000000000000000000000001F4', 1],
  ];
  for (const [q, count] of sums) {
    const { items } = await reading.ask(listTraces, { project: 'rows', query: { q } });
    t.equal(items.length, count, q);
  }
});

t.test('a wrong filter, range, limit or cursor is refused', async (t) => {
  const refused = async (query: Readonly<Record<string, string>>, seesContent = true) =>
    (await reading.refusal(listTraces, { query, seesContent }))?.toJSON().error;
  t.match(await refused({ q: 'modell:x' }), { code: 'filter_invalid', at: 0, hint: 'model' });
  t.match(await refused({ q: 'model:x "refund"' }, false), { code: 'filter_invalid', at: 8 });
  t.match(await refused({ from: '5', to: '5' }), { code: 'range_invalid' });
  t.match(await refused({ from: 'yesterday' }), { code: 'range_invalid' });
  t.equal(await refused({ from: '2026-11-20T14:05:09.123456789Z' }), undefined);
  for (const from of ['1969-12-31', '-99999d', '0'])
    t.equal(await refused({ from, to: '2263-01-01' }), undefined, `from ${from}`);
  for (const to of ['2263-01-02', 'now', ''])
    t.match(await refused({ from: '2263-01-01', to }), { code: 'range_invalid' });
  t.match(await refused({ limit: '0' }), { code: 'request_invalid' });
  t.match(await refused({ cursor: 'x' }), { code: 'cursor_invalid' });
  const { next } = await reading.ask(listTraces, { query: { limit: 1 } });
  t.equal(await refused({ cursor: next, limit: '2' }), undefined);
  t.match(await refused({ cursor: next, q: 'error' }), { code: 'cursor_invalid' });
});

t.test('a cursor with a time that no column can have is refused', async (t) => {
  const forged = [
    [listTraces, ['traces', 'demo', '', ''], ['NS', '0'.repeat(32)]],
    [listLogs, ['logs', 'demo', '', ''], ['NS', '0']],
    [listConversations, ['conversations', 'demo', '', ''], ['NS', '5', '']],
    [listConversations, ['conversations', 'demo', '', ''], ['5', 'NS', '']],
  ] as const;
  for (const [route, question, place] of forged)
    for (const [ns, code] of [
      ['9223372036854775807', undefined],
      ['9223372036854775808', 'cursor_invalid'],
      ['9999999999999999999', 'cursor_invalid'],
    ] as const) {
      const cursor = writeCursor(
        question,
        place.map((part) => (part === 'NS' ? ns : part)),
      );
      t.equal((await reading.refusal(route, { query: { cursor } }))?.code, code, `${route.path} ${ns}`);
    }
});
