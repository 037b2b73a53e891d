// Own prices: what a user may write, their order, and mistakes that are reported with their path.
import Ajv from 'ajv';
import t from 'tap';
import type { PriceEntry } from '../../../src/processors/pricing/options.ts';
import { PRICE_ENTRIES_SCHEMA, PRICING_OPTIONS_SCHEMA } from '../../../src/processors/pricing/options-schema.ts';
import { PriceBook } from '../../../src/processors/pricing/price-book.ts';
import { PricingOptionsError } from '../../../src/processors/pricing/price-entry.ts';
import { formatMoney } from '../../../src/pdata/money.ts';
import { explainPrice } from '../../../src/processors/pricing/explanation.ts';
import { pricing } from '../../../src/processors/pricing/pricing.ts';
import type { Usage } from '../../../src/processors/pricing/usage.ts';
import { isPrompt } from '../../support/promptness.ts';

const USAGE = { inputTokens: 1_000_000, outputTokens: 1_000_000 };
const one = { input: '1', output: '1' };

async function problemsOf(...overrides: unknown[]): Promise<string[]> {
  try {
    await PriceBook.load({ overrides: overrides as PriceEntry[] });
    return [];
  } catch (error) {
    if (error instanceof PricingOptionsError) return error.problems.map(({ path, message }) => `${path}: ${message}`);
    throw error;
  }
}

t.test('own entries come before every list, in the order of the file', async (t) => {
  const book = await PriceBook.load({
    overrides: [
      { id: 'first', match: { provider: 'openai', model: 'GPT-4o' }, prices: [{ rates: { input: '7', output: '8' } }] },
      { id: 'second', match: { model: { prefix: 'gpt-4' } }, prices: [{ rates: { input: 1.5, output: '2' } }] },
      {
        id: 'local',
        match: { provider: 'ollama', model: { prefix: 'llama3' } },
        prices: [{ rates: { input: '0', output: '0' } }],
      },
      { id: 'arn', match: { model: { regex: '.*application-inference-profile/a1.*' } }, prices: [{ rates: one }] },
    ],
  });
  t.match(book.find('openai', 'gpt-4o')?.cost(USAGE, 0), { inputCost: 700_000_000n, outputCost: 800_000_000n });
  t.match(
    book.find('openai', 'gpt-4o')?.cost(USAGE, 0).audit,
    /^user@[0-9a-f]{16} openai\/first tier=base match=exact$/,
  );
  t.equal(book.find('azure.ai.openai', 'gpt-4o')?.card.draft.model, 'second', 'azure is not openai');
  t.equal(book.find('nobody-knows-it', 'gpt-4-custom')?.cost(USAGE, 0).inputCost, 150_000_000n);
  t.equal(book.find('openai', 'gpt-4o-2024-11-20')?.card.draft.model, 'second', 'an exact name is exact');
  t.equal(book.find('ollama', 'llama3:8b')?.cost(USAGE, 0).totalCost, 0n, 'a stated zero is a price');
  t.equal(book.find('aws', 'arn:aws:bedrock:us-east-1:1:application-inference-profile/a1b2')?.card.draft.model, 'arn');
  t.equal(book.find('anthropic', 'claude-opus-4-5')?.card.draft.origin.source, 'genai-prices');
});

t.test('a provider matches all of its spellings and, for Google, its routes', async (t) => {
  const book = await PriceBook.load({
    overrides: [
      { id: 'bedrock', match: { provider: 'aws.bedrock', model: 'x' }, prices: [{ rates: one }] },
      { id: 'google', match: { provider: ['google', 'mistral'], model: ['y', 'z'] }, prices: [{ rates: one }] },
      { id: 'vertex', match: { provider: 'vertex', model: 'v' }, prices: [{ rates: one }] },
    ],
  });
  for (const provider of ['AWS', 'bedrock', 'amazon-bedrock']) t.ok(book.find(provider, 'x'), provider);
  for (const provider of ['gcp.vertex_ai', 'gcp.gemini', 'google', 'mistral_ai'])
    t.ok(book.find(provider, 'Z'), provider);
  t.ok(book.find('google.vertex.chat', 'v'));
  t.equal(book.find('gcp.gemini', 'v'), null);
});

t.test('a borrowed card is scaled exactly, with its dates and tiers', async (t) => {
  const book = await PriceBook.load({
    overrides: [
      {
        id: 'prod',
        match: { provider: 'azure', model: 'my-gpt4o' },
        use: { provider: 'azure', model: 'gpt-4o' },
        multiplier: '1.1',
      },
      { id: 'long', match: { provider: 'azure', model: 'my-gpt54' }, use: { provider: 'openai', model: 'gpt-5.4' } },
      { id: 'free', match: { model: 'gift' }, use: { provider: 'openai', model: 'gpt-4o' }, multiplier: 0 },
    ],
  });
  const cost = book.find('azure', 'my-gpt4o')?.cost({ ...USAGE, cacheReadTokens: 1_000_000 }, 0);
  t.match(cost, { inputCost: 137_500_000n, outputCost: 1_100_000_000n });
  t.match(cost?.audit, /openai\/gpt-4o tier=base match=use:prod\*1\.1$/);
  t.equal(book.find('azure', 'my-gpt54')?.cost({ inputTokens: 272_001, outputTokens: 0 }, 0).inputCost, 136_000_500n);
  t.equal(book.find('any', 'gift')?.cost(USAGE, 0).totalCost, 0n);
});

t.test('periods, tiers and windows as written in a file', async (t) => {
  const book = await PriceBook.load({
    overrides: [
      {
        id: 'm',
        match: { model: 'm' },
        prices: [
          {
            from: '2026-10-07',
            rates: { input: '2', output: '4' },
            windows: [{ days: ['mon'], utc: '22:00-02:00', rates: { input: '3' } }],
          },
          { rates: { input: '1', output: '2' }, tiers: [{ above_input_tokens: 100, rates: { input: '1.5' } }] },
          { from: '2026-12-01T00:00:00+01:00', until: '2027-01-01', rates: { input: '5' } },
        ],
      },
    ],
  });
  const cost = (time: string, inputTokens = 100) =>
    book.find(null, 'm')?.cost({ inputTokens, outputTokens: 100 }, Date.parse(time));
  t.equal(cost('2020-01-01T00:00Z')?.totalCost, 30_000n);
  t.equal(cost('2020-01-01T00:00Z', 200)?.totalCost, 50_000n);
  t.equal(cost('2026-10-07T00:00Z')?.totalCost, 60_000n, 'a period without until ends where the next begins');
  t.equal(cost('2026-10-13T01:59Z')?.totalCost, 70_000n, 'in the window, output falls back to the base rate');
  t.equal(cost('2026-11-30T22:59Z')?.inputCost, 30_000n, 'a Monday, the last window');
  t.equal(cost('2026-11-30T23:00Z')?.inputCost, 50_000n, 'times with an offset');
  t.equal(cost('2027-01-01T00:00Z')?.totalCost, null, 'after until there is no price');
});

t.test('every mistake is reported at once, with its path', async (t) => {
  const entry = (more: object) => ({ id: 'm', match: { model: 'm' }, ...more });
  const price = (more: object) => entry({ prices: [{ rates: one, ...more }] });
  const cases: [unknown, string][] = [
    [price({ rates: { input: '0.1234567891' } }), 'overrides[0].prices[0].rates.input: at most 9 decimals'],
    [price({ rates: { input: 1e-10, output: 1 } }), 'overrides[0].prices[0].rates.input: at most 9 decimals'],
    [
      price({ rates: { output: '-1' } }),
      'overrides[0].prices[0].rates.output: must be a decimal number of USD per million tokens',
    ],
    [
      price({ rates: { output: '1e3' } }),
      'overrides[0].prices[0].rates.output: must be a decimal number of USD per million tokens',
    ],
    [
      price({ rates: { output: Number.NaN } }),
      'overrides[0].prices[0].rates.output: must be a decimal number of USD per million tokens',
    ],
    [
      price({ rates: { output: '1000000.000000001' } }),
      'overrides[0].prices[0].rates.output: must be from 0 to 1000000',
    ],
    [price({ rates: { reasoning: '1' } }), 'overrides[0].prices[0].rates: needs input or output'],
    [
      price({ from: 'yesterday' }),
      'overrides[0].prices[0].from: must be a date or an RFC 3339 time with Z or an offset',
    ],
    [
      price({ from: '2026-10-07T00:00:00' }),
      'overrides[0].prices[0].from: must be a date or an RFC 3339 time with Z or an offset',
    ],
    [
      price({ from: '2026-13-01' }),
      'overrides[0].prices[0].from: must be a date or an RFC 3339 time with Z or an offset',
    ],
    [price({ from: '2026-10-07', until: '2026-10-07' }), 'overrides[0].prices[0].until: must be after from'],
    [
      price({
        tiers: [
          { above_input_tokens: 5, rates: one },
          { above_input_tokens: 5, rates: one },
        ],
      }),
      'overrides[0].prices[0].tiers: 5 appears twice',
    ],
    [
      price({ tiers: [{ above_input_tokens: 5, rates: { input: 'x' } }] }),
      'overrides[0].prices[0].tiers[0].rates.input: must be a decimal number of USD per million tokens',
    ],
    [
      price({ windows: [{ utc: '1-2', rates: one }] }),
      'overrides[0].prices[0].windows[0].utc: must look like 01:00-04:00',
    ],
    [
      price({ windows: [{ utc: '25:00-26:00', rates: one }] }),
      'overrides[0].prices[0].windows[0].utc: is no time of day',
    ],
    [
      price({ windows: [{ utc: '03:00-03:00', rates: one }] }),
      'overrides[0].prices[0].windows[0].utc: opens and closes at the same time',
    ],
    [
      price({ tiers: [{ above_input_tokens: 5, rates: one }], windows: [{ utc: '01:00-02:00', rates: one }] }),
      'overrides[0].prices[0].windows[0]: needs tiers of its own (an empty list for none), because the period has tiers',
    ],
    [entry({ prices: [{ rates: one }, { rates: one }] }), 'overrides[0].prices[1]: overlaps the period without from'],
    [
      entry({
        prices: [
          { from: '2026-01-01', until: '2026-03-01', rates: one },
          { from: '2026-02-01', rates: one },
        ],
      }),
      'overrides[0].prices[1]: overlaps the period from 2026-01-01',
    ],
    [entry({}), 'overrides[0]: needs prices or use'],
    [
      entry({ prices: [{ rates: one }], use: { provider: 'openai', model: 'gpt-4o' } }),
      'overrides[0]: has both prices and use; keep one of them',
    ],
    [price({}) && { ...price({}), multiplier: '2' }, 'overrides[0].multiplier: only with use'],
    [entry({ use: { provider: 'openai', model: 'gpt-99' } }), 'overrides[0].use: no price list has openai/gpt-99'],
    [
      entry({ use: { provider: 'openai', model: 'gpt-4o' }, multiplier: '-1' }),
      'overrides[0].multiplier: must be a decimal number, not negative',
    ],
    [
      entry({ use: { provider: 'openai', model: 'gpt-4o' }, multiplier: '1000000' }),
      'overrides[0].multiplier: makes a rate too large',
    ],
    [
      { ...price({}), match: { model: { regex: 'a'.repeat(201) } } },
      'overrides[0].match.model.regex: at most 200 characters',
    ],
  ];
  for (const [override, expected] of cases) t.same(await problemsOf(override), [expected]);
  t.match(await problemsOf({ ...price({}), match: { model: { regex: '(?=x)' } } }), [
    /^overrides\[0\]\.match\.model\.regex: not an RE2 expression: /,
  ]);
  t.same(await problemsOf(price({}), price({ rates: { input: '-1' } })), [
    'overrides[1].id: "m" is used twice',
    'overrides[1].prices[0].rates.input: must be a decimal number of USD per million tokens',
  ]);
});

t.test('an expression must match the whole name and runs in linear time', async (t) => {
  const book = await PriceBook.load({
    overrides: [{ id: 'm', match: { model: { regex: '(a+)+b' } }, prices: [{ rates: one }] }],
  });
  t.ok(book.find(null, 'AAAB'));
  t.equal(book.find(null, 'xaaab'), null);
  t.equal(book.find(null, 'aaabx'), null);
  t.ok(await isPrompt(500, () => t.equal(book.find(null, 'a'.repeat(256)), null)), 'no backtracking');
});

t.test('the schema describes every option and knows no others', async (t) => {
  const validate = new Ajv.default({ allErrors: true, strict: true, allowUnionTypes: true }).compile(
    PRICING_OPTIONS_SCHEMA,
  );
  t.ok(
    validate({
      enabled: true,
      catalogue: 'bundled',
      supplement: true,
      inclusive_rules: [{ scope: '@acme/bedrock', inclusive: false }],
      overrides: [],
    }),
    JSON.stringify(validate.errors),
  );
  t.ok(
    validate({
      overrides: [
        {
          id: 'm',
          match: { provider: ['a'], model: { regex: 'x' } },
          source: 's',
          prices: [
            {
              from: '2026-01-01',
              rates: { input: '1', output: 2 },
              windows: [{ days: ['mon'], utc: '22:00-24:00', rates: { input: '1' } }],
            },
          ],
        },
      ],
    }),
    JSON.stringify(validate.errors),
  );
  const bad = [
    { overrides: [{ id: 'm', match: { model: 'm' }, price: [] }] },
    { overrides: [{ id: 'm', match: { model: 'm' }, prices: [{ rates: { inputs: '1' } }] }] },
    { overrides: [{ match: { model: 'm' } }] },
    { overrides: [{ id: 'm', match: { model: { prefix: 'a', regex: 'b' } } }] },
    { inclusive_rules: [{ inclusive: true }] },
    { unknown: 1 },
  ];
  for (const options of bad) t.notOk(validate(options), JSON.stringify(options));
  const undescribed: string[] = [];
  const visit = (schema: unknown, path: string): void => {
    const node = schema as { description?: string; properties?: Record<string, unknown>; items?: unknown };
    if (node.description === undefined && !path.endsWith('days[]')) undescribed.push(path);
    for (const [key, child] of Object.entries(node.properties ?? {})) visit(child, `${path}.${key}`);
    if (node.items !== undefined) visit(node.items, `${path}[]`);
  };
  visit(PRICING_OPTIONS_SCHEMA, 'pricing');
  t.same(undescribed, []);
  t.equal(PRICING_OPTIONS_SCHEMA.properties.overrides, PRICE_ENTRIES_SCHEMA);
});

t.test('the check of a configuration finds mistakes in own prices, with their place', async (t) => {
  const place = { name: 'processors.pricing/eu', resolvePath: (path: string) => `/none/${path}`, now: Date.now };
  const match = { model: 'm' };
  const faults = await pricing.check?.(
    {
      overrides: [
        { id: 'a', match, prices: [{ rates: { input: '5kg' } }] },
        { id: 'b', match, use: { provider: 'openai', model: 'no-such-model' } },
      ],
    },
    place,
  );
  t.match(faults, [
    {
      option: ['overrides', 0, 'prices', 0, 'rates', 'input'],
      severity: 'error',
      message: /^processors\.pricing\/eu\.overrides\[0\]\.prices/u,
    },
    { option: ['overrides', 1, 'use'], severity: 'error', message: /openai\/no-such-model/u },
  ]);
  t.match(await pricing.check?.({ catalogue: 'prices.json' }, place), [
    { option: ['catalogue'], message: /prices\.json/u },
  ]);
  t.same(await pricing.check?.({}, place), []);
  t.same(await pricing.check?.({ enabled: false, catalogue: 'prices.json' }, place), []);
});

t.test('outside of its periods an entry does not apply: the next entry decides, then the lists', async (t) => {
  const rates = (input: string) => ({ input, output: '0' });
  const book = await PriceBook.load({
    overrides: [
      { id: 'next-year', match: { model: 'gpt-4o' }, prices: [{ from: '2027-01-01', rates: rates('1') }] },
      {
        id: 'discount',
        match: { model: { prefix: 'gpt-4' } },
        prices: [{ from: '2026-03-01', until: '2026-06-01', rates: rates('2') }],
        service_tiers: { batch: { multiplier: '0.5' } },
      },
      { id: 'own', match: { model: 'own' }, prices: [{ from: '2026-03-01', rates: rates('4') }] },
    ],
  });
  const stored = book.withStored(
    [
      {
        id: 'june',
        match: { model: 'gpt-4o' },
        prices: [{ from: '2026-05-31', until: '2026-07-01', rates: rates('3') }],
      },
    ],
    () => t.fail('no mistakes'),
  );
  const usage = { inputTokens: 1_000_000, outputTokens: 0 };
  const priced = (from: PriceBook, model: string, time: string, more: Partial<Usage> = {}): unknown[] => {
    const found = from.find('openai', model)?.cost({ ...usage, ...more }, Date.parse(time));
    const explained = explainPrice(from, 'openai', model, { ...usage, ...more }, Date.parse(time));
    const cost = found?.inputCost ?? null;
    t.equal(explained.inputCost, cost === null ? null : formatMoney(cost), 'the explanation agrees');
    t.equal(explained.card?.priceId ?? null, found?.audit ?? null);
    return [explained.inputCost, /\/(\S+) /.exec(found?.audit ?? '')?.[1] ?? null];
  };
  t.strictSame(priced(book, 'gpt-4o', '2026-02-28T23:59:59.999Z'), ['2.50000000', 'gpt-4o']);
  t.strictSame(priced(book, 'gpt-4o', '2026-03-01'), ['2.00000000', 'discount']);
  t.strictSame(priced(book, 'gpt-4o', '2026-03-01', { serviceTier: 'batch' }), ['1.00000000', 'discount']);
  t.strictSame(priced(book, 'gpt-4o', '2026-06-01', { serviceTier: 'batch' }), ['2.50000000', 'gpt-4o']);
  t.strictSame(priced(book, 'gpt-4o', '2027-01-01'), ['1.00000000', 'next-year']);
  t.strictSame(priced(book, 'gpt-4.1', '2026-06-01'), ['2.00000000', 'gpt-4.1']);
  t.strictSame(priced(book, 'own', '2026-02-28'), [null, null]);
  t.strictSame(priced(stored, 'gpt-4o', '2026-05-30'), ['2.00000000', 'discount']);
  t.strictSame(priced(stored, 'gpt-4o', '2026-05-31'), ['3.00000000', 'june']);
  t.strictSame(priced(stored, 'gpt-4o', '2026-07-01'), ['2.50000000', 'gpt-4o']);
  t.strictSame(priced(stored, 'gpt-4o', '2028-07-01'), ['1.00000000', 'next-year']);
});
