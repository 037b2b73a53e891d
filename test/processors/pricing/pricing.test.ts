// The processor over a real socket: stated costs and their alternatives, derived costs, and costs that stay null.
import t from 'tap';
import { FILE_CONFIG, startDaemon } from '../../support/daemon.ts';
import { send } from '../../support/otlp-client.ts';
import { aLogRequest, aSpan, attributes, aTraceRequest } from '../../support/payloads.ts';

const CONFIG = FILE_CONFIG.replace(
  '  environment: {}',
  '  environment: {}\n  normalization: {}\n  pricing: {}',
).replaceAll('[auth, environment]', '[auth, environment, normalization, pricing]');

const CALL = { 'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'openai', 'gen_ai.request.model': 'gpt-4o' };
const TOKENS = { 'gen_ai.usage.input_tokens': 1000, 'gen_ai.usage.output_tokens': 100 };
type Attributes = Readonly<Record<string, string | number | boolean>>;

async function rowsOf(
  t: Parameters<typeof startDaemon>[0],
  spans: readonly Attributes[],
  config = CONFIG,
): Promise<readonly Record<string, unknown>[]> {
  const daemon = await startDaemon(t, { config });
  const answer = await send(daemon.url, {
    body: JSON.stringify(aTraceRequest(spans.map((attributes) => aSpan({ attributes })))),
  });
  if (answer.status !== 200) throw new Error(`status ${answer.status}`);
  return daemon.rows();
}

t.test('a cost is computed from usage and price, with its audit text', async (t) => {
  const [row] = await rowsOf(t, [{ ...CALL, ...TOKENS }]);
  t.match(row, {
    input_cost: '0.00250000',
    output_cost: '0.00100000',
    total_cost: '0.00350000',
    cost_source: 'derived',
    price_id: /^genai-prices@.* openai\/gpt-4o /,
  });
});

t.test('a valid stated cost is used; after an invalid one the next attribute, then the price', async (t) => {
  const first = 'gen_ai.usage.cost';
  const second = 'llm.cost.total';
  const cases: readonly [Attributes, string | null, string][] = [
    [{ [first]: 0.25 }, '0.25000000', 'explicit'],
    [{ [first]: '0.25' }, '0.25000000', 'explicit'],
    [{ [first]: 0 }, '0.00000000', 'explicit'],
    [{ [first]: 1.000000005 }, '1.00000001', 'explicit'],
    [{ [first]: '1.123456789', [second]: 0.5 }, '0.50000000', 'explicit'],
    [{ [first]: -1, [second]: 0.5 }, '0.50000000', 'explicit'],
    [{ [first]: '-1' }, '0.00350000', 'derived'],
    [{ [first]: '1e-3' }, '0.00350000', 'derived'],
    [{ [first]: 1e10 }, '0.00350000', 'derived'],
    [{ [first]: '9999999999.99999999' }, '9999999999.99999999', 'explicit'],
    [{ [first]: '10000000000' }, '0.00350000', 'derived'],
    [{ [first]: 'free' }, '0.00350000', 'derived'],
    [{ [first]: true }, '0.00350000', 'derived'],
  ];
  const rows = await rowsOf(
    t,
    cases.map(([attributes]) => ({ ...CALL, ...TOKENS, ...attributes })),
  );
  for (const [index, [attributes, total, source]] of cases.entries()) {
    t.match(rows[index], { total_cost: total, cost_source: source }, JSON.stringify(attributes));
  }
});

t.test('with enabled: false, costs that spans state are kept and none is computed', async (t) => {
  const config = CONFIG.replace('pricing: {}', 'pricing: { enabled: false }');
  const rows = await rowsOf(
    t,
    [
      { ...CALL, ...TOKENS, 'gen_ai.usage.cost': 0.25 },
      { ...CALL, ...TOKENS },
    ],
    config,
  );
  t.strictSame(
    rows.map(({ total_cost: total, cost_source: source }) => [total ?? null, source ?? null]),
    [
      ['0.25000000', 'explicit'],
      [null, null],
    ],
  );
});

t.test('a call without tokens counts by the cost that it states', async (t) => {
  const cost = { 'gen_ai.usage.cost': 0.04 };
  const image = { 'gen_ai.operation.name': 'generate_content', 'gen_ai.request.model': 'an-image-model' };
  const rows = await rowsOf(t, [
    { ...image, ...cost },
    { ...image, 'gen_ai.usage.cost': 0 },
    { ...image, 'gen_ai.usage.cost': 'free' },
    { 'gen_ai.operation.name': 'invoke_agent', ...cost },
    { 'http.request.method': 'GET', ...cost },
  ]);
  t.strictSame(
    rows.map(({ usage_scope: scope, total_cost: total, total_tokens: tokens }) => [
      scope,
      total ?? null,
      tokens ?? null,
    ]),
    [
      ['own', '0.04000000', null],
      [null, '0.00000000', null],
      [null, null, null],
      [null, '0.04000000', null],
      [null, null, null],
    ],
  );
});

t.test('an unknown cost is null, never zero', async (t) => {
  const [unpriced, noUsage, half] = await rowsOf(t, [
    { ...CALL, ...TOKENS, 'gen_ai.request.model': 'nobody-sells-this' },
    CALL,
    { ...CALL, 'gen_ai.usage.input_tokens': 1000 },
  ]);
  t.match(unpriced, { input_tokens: 1000, total_cost: null, input_cost: null, cost_source: null, price_id: null });
  t.match(noUsage, { input_tokens: null, total_cost: null, cost_source: null });
  t.match(half, { input_cost: '0.00250000', output_cost: null, total_cost: null });
});

const CHANGE_NS = BigInt(Date.parse('2026-10-07T00:00:00Z')) * 1_000_000n;
const CHANGING = CONFIG.replace(
  '  pricing: {}',
  `  pricing:
    overrides:
      - id: changing
        match: { model: changing }
        prices:
          - rates: { input: "1", output: "1" }
          - { from: 2026-10-07, rates: { input: "2", output: "2" } }`,
);
const CHANGING_CALL = { ...CALL, ...TOKENS, 'gen_ai.request.model': 'changing' };
const BEFORE = '0.00110000';
const AFTER = '0.00220000';

t.test('a new price applies from its nanosecond on', async (t) => {
  const daemon = await startDaemon(t, { config: CHANGING });
  const offsets = [-1_000_000n, -300n, -100n, -1n, 0n, 1n, 1_000_000n];
  const spans = offsets.map((offset) => aSpan({ start: CHANGE_NS + offset, attributes: CHANGING_CALL }));
  const first = aSpan({ start: 1n, attributes: CHANGING_CALL });
  await send(daemon.url, { body: JSON.stringify(aTraceRequest([...spans, first])) });
  const rows = await daemon.rows();
  const costs = [BEFORE, BEFORE, BEFORE, BEFORE, AFTER, AFTER, AFTER, BEFORE];
  t.strictSame(
    rows.map((row) => row['total_cost']),
    costs,
  );
});

t.test('a log record without a time of its own is priced at the time it was observed', async (t) => {
  const daemon = await startDaemon(t, { config: CHANGING, now: () => Date.parse('2026-11-01') });
  const record = (times: object): object => ({ ...times, attributes: attributes(CHANGING_CALL) });
  const observedTimeUnixNano = String(CHANGE_NS - 1n);
  const body = aLogRequest([
    record({ observedTimeUnixNano }),
    record({ timeUnixNano: String(CHANGE_NS), observedTimeUnixNano }),
    record({}),
  ]);
  await send(daemon.url, { path: '/v1/logs', body: JSON.stringify(body) });
  const rows = await daemon.rows();
  t.strictSame(
    rows.map((row) => row['total_cost']),
    [BEFORE, AFTER, AFTER],
  );
});
