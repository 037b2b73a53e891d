/** The costs that a record states: their attributes, order and unit. */
import { processAtOnce } from '../../support/process-at-once.ts';
import t from 'tap';
import { ExplicitCosts, type StatedCosts } from '../../../src/processors/pricing/explicit-cost-keys.ts';
import { Normalized, jsonBody, type PlainRecord } from '../normalization/normalized.ts';

const normalized = new Normalized();
const costs = new ExplicitCosts();

function stated(record: PlainRecord, signal: 'traces' | 'logs' = 'traces', found = costs): StatedCosts | null {
  const batch = normalized.batch(signal, 'json', jsonBody(signal, [record]));
  processAtOnce(normalized.processor, batch);
  return found.find(batch, 0);
}
const totals = (record: PlainRecord, signal?: 'traces' | 'logs'): unknown[] =>
  (stated(record, signal)?.total ?? []).map(({ value }) => value);

t.test('a record without a cost has no candidate', async (t) => {
  t.equal(stated({ attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.usage.input_tokens': 5n } }), null);
});

t.test('costs of the record’s dialect come before those of others, and all are candidates', async (t) => {
  const attributes = { 'gen_ai.usage.cost': 1, 'llm.cost.total': 2, 'gen_ai.usage.total_cost': 3 };
  t.strictSame(totals({ attributes: { ...attributes, 'openinference.span.kind': 'LLM' } }), [2, 1, 3]);
  t.strictSame(
    totals({ attributes }),
    totals({ attributes: Object.fromEntries(Object.entries(attributes).reverse()) }),
  );
});

t.test('costs of no dialect in particular have an order of their own', async (t) => {
  t.strictSame(totals({ attributes: { 'llm.cost.total': 0.2, 'gen_ai.usage.cost': 0.1 } }), [0.1, 0.2]);
  t.strictSame(totals({ attributes: { 'llm.cost.total': 0.1, 'gen_ai.usage.total_cost': 0.3 } }), [0.3, 0.1]);
  t.strictSame(totals({ attributes: { 'gen_ai.usage.cost': 0.1, 'operation.cost': 0.4 } }), [0.4, 0.1]);
  const sides = stated({
    attributes: {
      'llm.cost.prompt': 1,
      'gen_ai.usage.input_cost': 2,
      'gen_ai.cost.output_cost': 3,
      'llm.cost.completion': 4,
    },
  });
  t.match(sides, { input: [{ value: 2 }, { value: 1 }], output: [{ value: 4 }, { value: 3 }] });
});

t.test('input and output costs are found', async (t) => {
  const found = stated({
    attributes: { 'llm.cost.prompt': 0.25, 'llm.cost.completion': '0.5', 'llm.cost.total': 0.75 },
  });
  t.match(found, { input: [{ value: 0.25 }], output: [{ value: '0.5' }], total: [{ value: 0.75 }] });
});

t.test('millionths of a dollar are converted exactly', async (t) => {
  const scope = 'com.anthropic.claude_code.events';
  const log = (attributes: PlainRecord['attributes']): unknown[] =>
    totals({ name: 'claude_code.api_request', scope, attributes: { model: 'm', ...attributes } }, 'logs');
  t.strictSame(log({ cost_usd_micros: 1_234_567n }), ['1.234567']);
  t.strictSame(log({ cost_usd_micros: 5n }), ['0.000005']);
  t.strictSame(log({ cost_usd: 0.01, cost_usd_micros: 10_000n }), [0.01, '0.01']);
  t.strictSame(log({ cost_usd_micros: 1_656_915.785 }), ['1.65691579'], 'half of the last digit, away from zero');
  t.strictSame(log({ cost_usd_micros: 0.005 }), ['0.00000001']);
  t.strictSame(log({ cost_usd_micros: '12.34' }), ['0.00001234']);
  t.strictSame(log({ cost_usd_micros: ' 12 ' }), ['0.000012']);
  t.strictSame(log({ cost_usd_micros: 1e21 }), ['1000000000000000']);
  t.strictSame(log({ cost_usd_micros: '12.345' }), ['0.000012345'], 'more digits than a text may have: no cost');
  for (const none of [-0.5, Number.NaN, Number.POSITIVE_INFINITY, '1e3', '-5', 'free'])
    t.strictSame(
      log({ cost_usd_micros: none }),
      [none],
      'what is no amount stays as it was sent, and is refused later',
    );
});

t.test('names that resemble costs in dollars are never candidates', async (t) => {
  t.strictSame(totals({ attributes: { 'github.copilot.cost': 5, 'gen_ai.operation.name': 'chat' } }), []);
  t.match(stated({ attributes: { 'gen_ai.cost.input_tokens': 0.5, 'sentry.op': 'gen_ai.chat' } }), {
    input: [{ value: 0.5 }],
  });
});

t.test('general names are costs in their dialect only', async (t) => {
  t.strictSame(totals({ attributes: { cost_usd: 5, 'gen_ai.operation.name': 'chat' } }), []);
});

t.test('costs inside documents are found', async (t) => {
  const attributes = {
    'langfuse.observation.type': 'generation',
    'langfuse.observation.cost_details': '{"total":0.5,"input":0.25}',
  };
  t.match(stated({ attributes }), { total: [{ value: 0.5 }], input: [{ value: 0.25 }], output: [] });
});

t.test('the amount is before its unit, and one in another unit is no cost', async (t) => {
  const cost = (text: string): unknown[] => totals({ attributes: { 'gen_ai.client.estimated_cost': text } });
  t.strictSame(cost('0.00029175USD'), [0.00029175]);
  t.strictSame(cost('9.75E-7USD'), [9.75e-7]);
  t.strictSame(cost('0.000001125USD'), [0.000001125]);
  t.strictSame(cost('USD'), []);
  t.strictSame(cost('-1USD'), []);
  t.strictSame(cost('0.00029175EUR'), []);
  t.strictSame(cost('0.00029175'), []);
});

t.test('the amount of a mapped sender may be after its unit', async (t) => {
  const mapped = new ExplicitCosts([{ id: 'acme', fields: { cost_total: [{ attribute: 'acme.cost', after: '$' }] } }]);
  const cost = (text: string): unknown =>
    stated({ attributes: { 'acme.cost': text } }, 'traces', mapped)?.total[0]?.value;
  t.equal(cost('$0.25'), 0.25);
  t.equal(cost('US$1.5e-7'), 1.5e-7);
  t.equal(cost('€0.25'), undefined);
});

t.test('sums over other records are marked', async (t) => {
  const found = stated({ attributes: { 'coding_agent.session.cost_usd': 5, 'gen_ai.operation.name': 'chat' } });
  t.match(found?.total, [{ value: 5, aggregate: true }]);
});

t.test('integers beyond the exact range of doubles keep all digits', async (t) => {
  t.strictSame(totals({ attributes: { 'gen_ai.usage.cost': 9007199254740993n } }), [9007199254740993n]);
});

t.test('a cost of 0 of a sender that writes it for a model without a price is no cost', async (t) => {
  const cost = (value: number, scope: string): unknown =>
    stated({ scope, attributes: { 'gen_ai.operation.name': 'chat', 'gen_ai.usage.cost': value } })?.total[0]?.unpriced;
  t.equal(cost(0, 'openlit.otel.tracing'), true);
  t.equal(cost(0.1, 'openlit.otel.tracing'), false);
  t.equal(cost(0, 'acme'), false, 'a call that is free of charge');
});
