// The explanation of a price: the same facts as the cost, and a text that can be checked by hand.
import t from 'tap';
import { InclusiveRules } from '../../../src/processors/pricing/inclusive-rules.ts';
import { describePrice, explainPrice } from '../../../src/processors/pricing/explanation.ts';
import { PriceBook } from '../../../src/processors/pricing/price-book.ts';

const TIME = Date.UTC(2026, 8, 20, 12);

t.test('each bucket, its rate and its part of the cost are stated', async (t) => {
  const book = await PriceBook.load();
  const usage = {
    inputTokens: 1000,
    outputTokens: 50,
    cacheReadTokens: 200,
    cacheWriteTokens: 100,
    reasoningTokens: 20,
  };
  const explanation = explainPrice(book, 'anthropic', 'claude-opus-4-5', usage, TIME);
  t.match(explanation, {
    route: 'anthropic',
    unpriced: null,
    startedAt: '2026-09-20T12:00:00Z',
    tried: ['supplement: claude-opus-4-5', 'anthropic: claude-opus-4-5'],
    card: {
      source: 'genai-prices',
      provider: 'anthropic',
      model: 'claude-opus-4-5',
      tier: 'base',
      rates: { input: '5', output: '25' },
    },
    buckets: [
      { bucket: 'input', tokens: 700, rate: '5', cost: '0.0035' },
      { bucket: 'cache_read', tokens: 200, rate: '0.5', cost: '0.0001' },
      { bucket: 'cache_write', tokens: 100, rate: '6.25', cost: '0.000625' },
      { bucket: 'output', tokens: 30, rate: '25', cost: '0.00075' },
      { bucket: 'reasoning', tokens: 20, rate: '25', cost: '0.0005' },
    ],
    inputCost: '0.00422500',
    outputCost: '0.00125000',
    totalCost: '0.00547500',
    flags: [],
  });
  t.equal(explanation.card?.priceId, book.find('anthropic', 'claude-opus-4-5')?.cost(usage, TIME).audit);
  const text = describePrice(explanation);
  t.match(text, 'cache_write: 100 tokens x 6.25 / 1,000,000 = 0.000625');
  t.match(text, 'Input 0.00422500, output 0.00125000, total 0.00547500 USD.');
  t.equal(JSON.stringify(explanation).includes('undefined'), false, 'the facts can be printed as JSON');
});

t.test('the explanation of a missing price has the steps and a hint', async (t) => {
  const book = await PriceBook.load();
  const explanation = explainPrice(book, 'anthropic', 'claude-opus-4-10', { inputTokens: 1, outputTokens: 1 }, TIME);
  t.match(explanation, { card: null, unpriced: 'no price list has the model', totalCost: null });
  const text = describePrice(explanation);
  t.match(text, 'No price: no price list has the model.');
  t.match(text, '  anthropic: claude-opus-4-10');
  t.match(text, 'pricing.overrides');
  const reasons: [string | null, string, RegExp][] = [
    ['ollama', 'llama3', /local or private server/],
    ['my-proxy', 'gpt-4o', /knows the provider "my-proxy"/],
    [null, 'my-model', /no provider is named/],
    ['openrouter', 'x:free', /free route/],
    ['aws', 'arn:aws:bedrock:us-east-1:1:custom-model/a', /custom-model names a private deployment/],
    ['openai', 'whisper-1', /whisper-1 has no price per token/],
    ['openai', 'x'.repeat(300), /more than 256/],
    ['openai', ' ', /has no name/],
  ];
  for (const [provider, model, reason] of reasons) {
    t.match(explainPrice(book, provider, model, { inputTokens: 1, outputTokens: 1 }, TIME).unpriced, reason);
  }
});

t.test('a price not in force, an unknown side and every note are in the text', async (t) => {
  const book = await PriceBook.load({
    overrides: [
      {
        id: 'old',
        match: { model: 'old' },
        source: 'a letter',
        prices: [{ until: '2026-01-01', rates: { input: '1', output: '1' } }],
      },
    ],
  });
  t.match(
    explainPrice(book, null, 'old', { inputTokens: 1, outputTokens: 1 }, TIME).unpriced,
    /has no price of old at that time/,
  );
  const earlier = explainPrice(book, null, 'old', { inputTokens: 5, outputTokens: null, cacheReadTokens: 10 }, 0);
  t.match(earlier, { inputCost: '0.00001500', outputCost: null, totalCost: null, flags: ['cache_outside_input'] });
  const text = describePrice(earlier);
  t.match(text, 'Source: a letter');
  t.match(text, 'output unknown, total unknown');
  t.match(text, 'Note: more cached than input tokens');
});

t.test('rules on how a producer counts: the first that matches, null where none does', (t) => {
  const counting = new InclusiveRules([
    { scope: '@acme/bedrock', provider: 'aws_bedrock', inclusive: true },
    { scope: '@acme/bedrock', inclusive: false },
    { provider: 'X AI', inclusive: false },
  ]);
  t.equal(counting.inclusive('@acme/bedrock', 'AWS-Bedrock'), true);
  t.equal(counting.inclusive('@acme/bedrock', 'openai'), false);
  t.equal(counting.inclusive('other', 'x_ai'), false);
  t.equal(counting.inclusive('other', null), null);
  t.equal(new InclusiveRules().inclusive('a', 'b'), null);
  t.end();
});
