/** Derived columns in both formats: slots as references, dropped content, numbers, costs, words. */
import fc from 'fast-check';
import t from 'tap';
import type { Batch } from '../../../src/pdata/batch.ts';
import {
  CATEGORIES,
  COST_SOURCES,
  DERIVED_COLUMNS,
  METRIC_TYPES,
  SPAN_KINDS,
  SPAN_STATUSES,
  TEMPORALITIES,
  USAGE_SCOPES,
} from '../../../src/pdata/columns.ts';
import type { DerivedCursor } from '../../../src/pdata/derived.ts';
import {
  COST_INPUT,
  COST_TOTAL,
  DERIVED_CATEGORY,
  DERIVED_COST_SOURCE,
  DERIVED_IS_ERROR,
  DERIVED_USAGE_SCOPE,
  NUMBER_INPUT_TOKENS,
  NUMBER_LATENCY_MS,
  RECORD_KIND,
  RECORD_STATUS,
  RECORDS_BASE,
  SIGNAL_LOGS,
  SIGNAL_METRICS,
  SIGNAL_TRACES,
  SLOT_FINISH_REASONS,
  SLOT_INPUT_CONTENT,
  SLOT_OPERATION,
  SLOT_OUTPUT_CONTENT,
  SLOT_PRICE_ID,
  SLOT_TOOL_ARGUMENTS,
  DISPOSITION_DROP,
  DISPOSITION_MOVED,
} from '../../../src/pdata/layout.ts';
import { formatMoney } from '../../../src/pdata/money.ts';
import type { Message } from '../../support/protos.ts';
import { TestTables } from '../../support/tables.ts';

const tables = new TestTables();
const SPAN = { traceId: Buffer.alloc(16, 1), spanId: Buffer.alloc(8, 2), startTimeUnixNano: 1n };

const ATTRIBUTES: readonly Message[] = [
  { key: 'prompt', value: { stringValue: 'say "hi"\n' } },
  { key: 'arguments', value: { kvlistValue: { values: [{ key: 'q', value: { stringValue: 'a"b' } }] } } },
  { key: 'count', value: { intValue: 5n } },
  { key: 'nothing', value: {} },
];

/** A batch of one span with a derived row, filled by `fill`. */
function derivedBatch(fill: (derived: DerivedCursor, batch: Batch) => void): Batch {
  const batch = tables.batch(SIGNAL_TRACES, {
    resourceSpans: [{ scopeSpans: [{ spans: [{ ...SPAN, attributes: ATTRIBUTES }] }] }],
  });
  batch.records.goto(0).derived = batch.derived.create();
  fill(batch.derived, batch);
  return batch;
}

interface Asserter {
  same(found: unknown, wanted: unknown, message: string): boolean;
}

/** A column of the first row; checks that both formats have the same value. */
function column(t: Asserter, batch: Batch, name: string): unknown {
  const line = tables.lines(batch)[0]?.[name];
  t.same(tables.tuples(batch)[0]?.[name], line, `${name} is the same in both forms`);
  return line;
}

t.test('a record without derived fields has them all null', async (t) => {
  for (const [signal, message] of [
    [SIGNAL_TRACES, { resourceSpans: [{ scopeSpans: [{ spans: [SPAN] }] }] }],
    [SIGNAL_LOGS, { resourceLogs: [{ scopeLogs: [{ logRecords: [{}] }] }] }],
  ] as const) {
    const batch = tables.batch(signal, message);
    for (const { name } of DERIVED_COLUMNS) t.equal(column(t, batch, name), null, name);
  }
});

t.test('all fields of an empty derived row are null', async (t) => {
  const batch = derivedBatch(() => undefined);
  for (const { name } of DERIVED_COLUMNS) t.equal(column(t, batch, name), null, name);
});

t.test('slots contain attributes, texts and references', async (t) => {
  const batch = derivedBatch((derived, batch) => {
    const word = batch.tables.constant('chat');
    derived.setText(SLOT_OPERATION, word.offset, word.length, word.flags);
    derived.setAttribute(SLOT_INPUT_CONTENT, 0);
    derived.setAttribute(SLOT_TOOL_ARGUMENTS, 1);
    derived.setAttribute(SLOT_PRICE_ID, 2);
    derived.setReferences(SLOT_OUTPUT_CONTENT, [0, 2]);
    const reasons = batch.tables.constant('["stop","le\\"ngth"]');
    derived.setText(SLOT_FINISH_REASONS, reasons.offset, reasons.length, reasons.flags);
  });
  batch.attributes.goto(0).disposition = DISPOSITION_MOVED;
  t.equal(column(t, batch, 'operation'), 'chat');
  t.equal(column(t, batch, 'input_content'), 'say "hi"\n');
  t.equal(column(t, batch, 'tool_arguments'), '{"q":"a\\"b"}');
  t.equal(column(t, batch, 'price_id'), '5');
  t.same(JSON.parse(column(t, batch, 'output_content') as string), { prompt: 'say "hi"\n', count: 5 });
  t.same(column(t, batch, 'finish_reasons'), ['stop', 'le"ngth']);
  t.notMatch(tables.text(batch), '"prompt":"say', 'an attribute with its own column is not among the attributes');
});

t.test('no slot shows dropped content', async (t) => {
  const batch = derivedBatch((derived, batch) => {
    derived.setAttribute(SLOT_INPUT_CONTENT, 0);
    derived.setReferences(SLOT_OUTPUT_CONTENT, [0, 2]);
    derived.setReferences(SLOT_TOOL_ARGUMENTS, [0]);
    const part = batch.tables.constant('say again');
    derived.setText(SLOT_OPERATION, part.offset, part.length, part.flags, 0);
  });
  batch.attributes.goto(0).disposition = DISPOSITION_DROP;
  t.equal(column(t, batch, 'input_content'), null);
  t.equal(column(t, batch, 'operation'), null);
  t.equal(column(t, batch, 'tool_arguments'), null);
  t.equal(column(t, batch, 'output_content'), '{"count":5}');
  t.notMatch(tables.text(batch), 'say');
  t.notOk(tables.copyBytes(batch).includes('say'));
});

t.test('an attribute without a value leaves its slot null', async (t) => {
  const batch = derivedBatch((derived) => derived.setAttribute(SLOT_INPUT_CONTENT, 3));
  t.equal(column(t, batch, 'input_content'), null);
});

t.test('numbers are exact, costs keep eight digits, and both formats agree', async (t) => {
  const limit = 10n ** 18n - 1n;
  const money = fc.oneof(fc.bigInt({ min: -limit, max: limit }), fc.constantFrom(0n, 1n, 10n ** 8n, 10n ** 12n, -1n));
  fc.assert(
    fc.property(money, fc.maxSafeNat(), fc.double({ noNaN: true, min: 0, max: 1e9 }), (cost, tokens, latency) => {
      const batch = derivedBatch((derived) => {
        derived.setCost(COST_INPUT, cost);
        derived.setCost(COST_TOTAL, cost);
        derived.setNumber(NUMBER_INPUT_TOKENS, tokens);
        derived.setNumber(NUMBER_LATENCY_MS, latency);
      });
      const text = cost < 0n ? `-${formatMoney(-cost)}` : formatMoney(cost);
      t.equal(column(t, batch, 'input_cost'), text);
      t.equal(column(t, batch, 'output_cost'), null);
      t.equal(column(t, batch, 'total_cost'), text);
      t.equal(column(t, batch, 'input_tokens'), tokens);
      t.equal(column(t, batch, 'latency_ms'), latency);
    }),
    { numRuns: 150 },
  );
});

t.test('small numbers become the words of the column lists', async (t) => {
  for (const [number, category] of CATEGORIES.entries()) {
    const batch = derivedBatch((derived) => {
      derived.setByte(DERIVED_CATEGORY, number);
      derived.setByte(DERIVED_USAGE_SCOPE, number % USAGE_SCOPES.length);
      derived.setByte(DERIVED_COST_SOURCE, number % COST_SOURCES.length);
      derived.setByte(DERIVED_IS_ERROR, number % 3);
    });
    batch.tables.memory.u8[RECORDS_BASE + RECORD_KIND] = number % SPAN_KINDS.length;
    batch.tables.memory.u8[RECORDS_BASE + RECORD_STATUS] = number % SPAN_STATUSES.length;
    t.equal(column(t, batch, 'category'), category);
    t.equal(column(t, batch, 'usage_scope'), USAGE_SCOPES[number % USAGE_SCOPES.length]);
    t.equal(column(t, batch, 'cost_source'), COST_SOURCES[number % COST_SOURCES.length]);
    t.equal(column(t, batch, 'is_error'), [null, false, true][number % 3]);
    t.equal(column(t, batch, 'kind'), SPAN_KINDS[number % SPAN_KINDS.length]);
    t.equal(column(t, batch, 'status'), SPAN_STATUSES[number % SPAN_STATUSES.length]);
  }
});

t.test('metric types and temporalities are the words of the column lists', async (t) => {
  const members = ['gauge', 'sum', 'histogram', 'exponentialHistogram', 'summary'];
  for (const [index, member] of members.entries()) {
    for (const [temporality, word] of TEMPORALITIES.entries()) {
      const takesTemporality = member !== 'gauge' && member !== 'summary';
      const data = { dataPoints: [{}], ...(takesTemporality ? { aggregationTemporality: temporality } : {}) };
      const batch = tables.batch(SIGNAL_METRICS, {
        resourceMetrics: [{ scopeMetrics: [{ metrics: [{ name: 'm', [member]: data }] }] }],
      });
      t.equal(column(t, batch, 'type'), METRIC_TYPES[index + 1]);
      t.equal(column(t, batch, 'temporality'), takesTemporality ? word : null);
      t.equal(column(t, batch, 'is_monotonic'), member === 'sum' ? false : null);
    }
  }
});

t.test('of referenced attributes with equal keys the last is stored', async (t) => {
  const value = (text: string): Message => ({ key: 'message', value: { stringValue: text } });
  const event = (text: string): Message => ({ name: 'e', attributes: [value(text)] });
  const batch = tables.batch(SIGNAL_TRACES, {
    resourceSpans: [
      { scopeSpans: [{ spans: [{ ...SPAN, attributes: [value('0')], events: [event('1'), event('2')] }] }] },
    ],
  });
  batch.records.goto(0).derived = batch.derived.create();
  batch.derived.setReferences(SLOT_INPUT_CONTENT, [0, 1, 2]);
  t.equal(column(t, batch, 'input_content'), '{"message":"2"}');
  batch.attributes.goto(2).disposition = DISPOSITION_DROP;
  t.equal(column(t, batch, 'input_content'), '{"message":"1"}', 'of those that may be stored');
});
