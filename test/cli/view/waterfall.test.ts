// A trace as lines: every span once for any parents, every line within the terminal, hostile names harmless.
import fc from 'fast-check';
import t from 'tap';
import { widthOf } from '../../../src/cli/view/screen-text.ts';
import { growTree } from '../../../src/cli/view/span-tree.ts';
import { makeStyle } from '../../../src/cli/terminal.ts';
import type { LogRow, SpanRow, TraceRecord } from '../../../src/cli/view/trace-record.ts';
import { drawTrace } from '../../../src/cli/view/waterfall.ts';

const PLAIN = makeStyle(false);
const START = 1_763_720_000_000_000_000n;

function aSpan(id: string, parent: string | null, changes: Partial<SpanRow> = {}): SpanRow {
  return {
    span_id: id,
    parent_span_id: parent,
    name: `span ${id}`,
    service_name: null,
    start_time_unix_nano: String(START),
    duration_ns: '1000000',
    status: 'unset',
    status_message: null,
    is_error: null,
    error_type: null,
    category: null,
    provider: null,
    model: null,
    tool_name: null,
    agent_name: null,
    input_tokens: null,
    output_tokens: null,
    cache_read_tokens: null,
    time_to_first_token_ms: null,
    total_cost: null,
    event_count: 0,
    ...changes,
  };
}

const aLog = (changes: Partial<LogRow>): LogRow => ({
  span_id: null,
  time_unix_nano: String(START),
  severity_number: 9,
  severity_text: 'INFO',
  event_name: null,
  body: 'hello',
  row_id: '1 (0,1)',
  ...changes,
});

function aTrace(spans: readonly SpanRow[], logs: readonly LogRow[] = []): TraceRecord {
  return {
    key: { traceId: 'ab'.repeat(16), project: 'shop', environment: 'default' },
    totals: {
      span_count: spans.length,
      log_count: logs.length,
      error_count: spans.filter(({ status }) => status === 'error').length,
      model_call_count: 0,
      start_time_unix_nano: String(START),
      duration_ns: '10000000',
      input_tokens: null,
      output_tokens: null,
      cache_read_tokens: null,
      total_cost: null,
      unpriced_count: 0,
    },
    spans,
    logs,
  };
}

const outline = (spans: readonly SpanRow[], logs: readonly LogRow[] = []): readonly string[] =>
  growTree(spans, logs).map(
    (line) => '.'.repeat(line.depth) + (line.kind === 'span' ? line.span.span_id : `log ${line.log.body}`),
  );

t.test('children are below their parent by time, with log records among them', async (t) => {
  const at = (ms: number) => ({ start_time_unix_nano: String(START + BigInt(ms) * 1_000_000n) });
  const spans = [aSpan('late', 'root', at(5)), aSpan('early', 'root', at(1)), aSpan('root', null)];
  const logs = [
    aLog({ span_id: 'root', body: 'between', time_unix_nano: String(START + 3_000_000n) }),
    aLog({ body: 'lost', span_id: 'gone' }),
  ];
  t.strictSame(outline(spans, logs), ['root', '.early', '.log between', '.late', 'log lost']);
});

t.test('a span with a missing parent, in a cycle, or with itself as parent is drawn as a root', async (t) => {
  t.strictSame(outline([aSpan('a', 'gone'), aSpan('b', 'a')]), ['a', '.b']);
  t.strictSame(outline([aSpan('a', 'c'), aSpan('b', 'a'), aSpan('c', 'b')]), ['a', '.b', '..c']);
  t.strictSame(outline([aSpan('self', 'self')]), ['self']);
  const [line] = growTree([aSpan('a', 'gone')], []);
  t.match(line, { parentMissing: true });
});

t.test('every span and every log record is drawn exactly once, for any parents', async () => {
  const id = fc.constantFrom('1', '2', '3', '4', '5', '6');
  const spans = fc.array(fc.record({ id, parent: fc.option(id) }).map(({ id, parent }) => aSpan(id, parent)));
  fc.assert(
    fc.property(spans, fc.array(fc.option(id)), (spans, owners) => {
      const logs = owners.map((span_id) => aLog({ span_id }));
      const lines = growTree(spans, logs);
      const drawn = lines.flatMap((line) => (line.kind === 'span' ? [line.span] : []));
      const told = lines.flatMap((line) => (line.kind === 'log' ? [line.log] : []));
      return (
        drawn.length === spans.length &&
        new Set(drawn).size === spans.length &&
        told.length === logs.length &&
        new Set(told).size === logs.length
      );
    }),
  );
});

t.test('ten thousand spans in one chain are drawn up to the limit, with a note', async (t) => {
  const spans = Array.from({ length: 10_000 }, (_, at) => aSpan(String(at), at === 0 ? null : String(at - 1)));
  const lines = drawTrace(aTrace(spans), { width: 100, style: PLAIN, lineLimit: 500 }).split('\n');
  t.equal(lines.length, 2 + 500 + 1 + 2);
  t.match(lines.at(-3), '… 9500 more lines');
  t.match(lines.at(-1), '10000 spans');
  t.ok(lines.every((line) => widthOf(line) <= 100));
});

t.test('a failed span shows its message, a hostile name is harmless, and all lines fit', async (t) => {
  const hostile = '\u001b[2J\u001b]0;x\u0007日本語の名前'.repeat(20);
  const spans = [
    aSpan('1', null, {
      name: hostile,
      model: hostile,
      total_cost: '0.5',
      input_tokens: 1,
      cache_read_tokens: 1,
      event_count: 2,
    }),
    aSpan('2', '1', {
      status: 'error',
      error_type: 'timeout',
      status_message: hostile,
      category: 'tool_step',
      tool_name: hostile,
    }),
    aSpan('3', '2', { duration_ns: null, start_time_unix_nano: '1' }),
  ];
  for (const width of [20, 60, 100, 237]) {
    const text = drawTrace(
      aTrace(spans, [aLog({ span_id: '2', body: hostile, event_name: hostile, severity_text: hostile })]),
      { width, style: PLAIN, lineLimit: 50 },
    );
    t.notMatch(text, '\u001b');
    t.match(text, '! timeout: ');
    t.ok(
      text.split('\n').every((line) => widthOf(line) <= Math.max(width, 60)),
      `width ${width}`,
    );
  }
});

t.test('failures are red when colours are on', async (t) => {
  const text = drawTrace(aTrace([aSpan('1', null, { status: 'error' })]), {
    width: 100,
    style: makeStyle(true),
    lineLimit: 50,
  });
  t.match(text, '\u001b[31m! failed');
});

t.test('figures add up to the totals: sums are marked, repeated figures are in parentheses', async (t) => {
  const usage = (scope: string, counted: boolean, input: number, cost: string): Partial<SpanRow> => ({
    usage_scope: scope,
    is_counted: counted,
    input_tokens: input,
    output_tokens: 10,
    cost_source: 'derived',
    total_cost: cost,
  });
  const spans = [
    aSpan('agent', null, usage('rollup', false, 2000, '0.00070000')),
    aSpan('one', 'agent', usage('own', true, 1000, '0.00026000')),
    aSpan('two', 'agent', usage('own', true, 1000, '0.00026000')),
    aSpan('again', 'two', usage('own', false, 1000, '0.00026000')),
    aSpan('alone', null, usage('rollup', true, 500, '0.00010000')),
  ];
  const logs = [aLog({ span_id: 'two', input_tokens: 70, output_tokens: 7, usage_scope: 'own', is_counted: true })];
  const drawn = drawTrace(aTrace(spans, logs), { width: 160, style: PLAIN, lineLimit: 100 });
  t.match(drawn, /span agent .*\(Σ 2k → 10 · \$0\.00052\)/u, 'the cost of the calls, not that of the sum');
  t.match(drawn, /span one .* 1k → 10 · \$0\.00026$/mu);
  t.match(drawn, /span again .*\(1k → 10 · \$0\.00026\)/u);
  t.match(drawn, /span alone .* Σ 500 → 10 · \$0\.0001$/mu);
  t.match(drawn, /INFO 70 → 7 · hello/u);
  t.match(drawn, /\nΣ: the sum of the spans below · \( \): counted on another line/u);
  t.notMatch(drawTrace(aTrace([aSpan('plain', null)]), { width: 160, style: PLAIN, lineLimit: 100 }), /Σ/u);
});
