// The shipped supplement: well formed, sourced, dated, and each entry prices what it was written for.
import Ajv from 'ajv';
import t from 'tap';
import { PRICE_ENTRIES_SCHEMA } from '../../../src/processors/pricing/options-schema.ts';
import { PriceBook, readSupplement } from '../../../src/processors/pricing/price-book.ts';

t.test('every entry is valid, names its source and the day on which it was read, and compiles', async (t) => {
  const entries = await readSupplement();
  const validate = new Ajv.default({ allErrors: true, strict: true, allowUnionTypes: true }).compile(
    PRICE_ENTRIES_SCHEMA,
  );
  t.ok(validate(entries), JSON.stringify(validate.errors));
  for (const entry of entries) {
    t.match(entry.source, /^https:\/\//, entry.id);
    t.match(entry.checked, /^\d{4}-\d{2}-\d{2}$/, entry.id);
    t.type(entry.note, 'string', entry.id);
  }
  // As a user's list it is compiled with every problem reported.
  await t.resolves(PriceBook.load({ supplement: false, overrides: entries }));
});

t.test('each entry prices the names it was written for', async (t) => {
  const book = await PriceBook.load();
  const cases: [
    provider: string,
    model: string,
    time: string,
    inputTokens: number,
    input: bigint,
    output: bigint | null,
  ][] = [
    ['anthropic', 'claude-haiku-5-5', '2026-10-08', 100_000, 1_000_000n, 50_000_000n],
    ['anthropic', 'claude-haiku-5-5-20261007', '2026-10-08', 100_001, 5_000_050n, 250_000_000n],
    ['anthropic', 'claude-sonnet-5-5', '2026-10-08', 1_000_000, 200_000_000n, 1_000_000_000n],
    ['openai', 'gpt-6.1-sol-2026-09-29', '2026-10-08', 272_000, 54_400_000n, 1_000_000_000n],
    ['openai', 'gpt-6.1-sol', '2026-10-08', 272_001, 108_800_400n, 1_500_000_000n],
    ['deepseek', 'deepseek-flash', '2026-09-11T01:00Z', 1_000_000, 30_000_000n, 120_000_000n],
    ['deepseek', 'deepseek-v4-flash', '2026-09-12T01:00Z', 1_000_000, 15_000_000n, 60_000_000n],
    ['deepseek', 'deepseek-v4-flash', '2026-08-22T01:00Z', 1_000_000, 44_000_000n, 132_000_000n],
    ['deepseek', 'deepseek-v4-flash', '2026-08-29T01:00Z', 1_000_000, 22_000_000n, 66_000_000n],
    ['deepseek', 'deepseek-v4-flash', '2026-08-16T15:59Z', 1_000_000, 14_000_000n, 28_000_000n],
    ['deepseek', 'deepseek-v4-pro', '2026-10-07T06:00Z', 1_000_000, 132_000_000n, 396_000_000n],
    ['anthropic', 'claude-sonnet-4-5-20250929', '2026-03-12', 200_001, 120_000_600n, 2_250_000_000n],
    ['anthropic', 'claude-sonnet-4-5', '2026-03-13', 200_001, 60_000_300n, 1_500_000_000n],
    ['anthropic', 'claude-2.1', '2024-01-01', 1_000_000, 800_000_000n, 2_400_000_000n],
    ['anthropic', 'claude-2.0', '2024-01-01', 1_000_000, 800_000_000n, 2_400_000_000n],
    ['aws', 'amazon.titan-embed-text-v2:0', '2026-01-01', 1_000_000, 2_000_000n, null],
    ['mistral_ai', 'mistral-large-latest', '2026-06-01', 1_000_000, 50_000_000n, 150_000_000n],
    ['gcp.gemini', 'gemini-3.6-flash', '2026-08-01', 1_000_000, 150_000_000n, 750_000_000n],
    ['gcp.gemini', 'gemini-3.6-flash', '2026-09-01', 1_000_000, 75_000_000n, 375_000_000n],
    ['gcp.gemini', 'gemini-1.5-flash-8b-001', '2025-01-01', 100_000, 375_000n, 15_000_000n],
    ['gcp.vertex_ai', 'gemini-2.0-flash-001', '2026-01-01', 1_000_000, 15_000_000n, 60_000_000n],
    ['gcp.gemini', 'gemini-2.0-flash-001', '2026-01-01', 1_000_000, 10_000_000n, 40_000_000n],
    ['xai', 'grok-4', '2026-01-01', 127_999, 38_399_700n, 1_500_000_000n],
    ['xai', 'grok-4', '2026-01-01', 128_000, 76_800_000n, 3_000_000_000n],
    ['xai', 'grok-4-1-fast-reasoning', '2026-01-01', 128_000, 5_120_000n, 100_000_000n],
    ['azure', 'DeepSeek-R1', '2026-01-01', 1_000_000, 135_000_000n, 540_000_000n],
    ['azure', 'Phi-4', '2026-01-01', 1_000_000, 12_500_000n, 50_000_000n],
    ['mistral', 'mistral-small-2503', '2026-01-01', 1_000_000, 10_000_000n, 30_000_000n],
    ['mistral', 'pixtral-12b-2409', '2026-01-01', 1_000_000, 15_000_000n, 15_000_000n],
    ['cohere', 'embed-multilingual-light-v3.0', '2026-01-01', 1_000_000, 10_000_000n, null],
    ['openai', 'ft:gpt-4.1-2025-04-14:acme::a1', '2026-01-01', 1_000_000, 300_000_000n, 1_200_000_000n],
    ['openai', 'ft:gpt-4.1-mini-2025-04-14:acme:x:a1', '2026-01-01', 1_000_000, 80_000_000n, 320_000_000n],
    ['openai', 'ft:gpt-4.1-nano-2025-04-14:acme::a1', '2026-01-01', 1_000_000, 20_000_000n, 80_000_000n],
    ['openai', 'ft:gpt-4o-2024-08-06:acme::a1', '2026-01-01', 1_000_000, 375_000_000n, 1_500_000_000n],
    ['openai', 'ft:gpt-4o-mini-2024-07-18:acme::a1', '2026-01-01', 1_000_000, 30_000_000n, 120_000_000n],
  ];
  for (const [provider, model, time, inputTokens, input, output] of cases) {
    const cost = book.find(provider, model)?.cost({ inputTokens, outputTokens: 1_000_000 }, Date.parse(time));
    t.same([cost?.inputCost, cost?.outputCost], [input, output], `${provider} ${model} at ${time}`);
  }
  const audio = { inputTokens: 1000, outputTokens: 1000, inputAudioTokens: 1000, outputAudioTokens: 1000 };
  t.equal(book.find('openai', 'gpt-4o-audio-preview-2025-06-03')?.cost(audio, 0).totalCost, 12_000_000n);
  t.equal(book.find('openai', 'gpt-4o-audio-preview-2024-10-01')?.cost(audio, 0).totalCost, 30_000_000n);
  t.equal(book.find('openai', 'gpt-4o-mini-audio-preview')?.cost(audio, 0).totalCost, 3_000_000n);
  const cached = { inputTokens: 1_000_000, outputTokens: 0, cacheReadTokens: 1_000_000 };
  t.equal(book.find('gcp.vertex_ai', 'gemini-2.0-flash-001')?.cost(cached, 0).inputCost, 3_750_000n);
  t.equal(book.find('anthropic', 'claude-sonnet-5-5')?.cost(cached, Date.UTC(2026, 9, 6)).inputCost, 20_000_000n);
  t.equal(book.find('anthropic', 'claude-sonnet-5-5')?.cost(cached, Date.UTC(2026, 9, 7)).inputCost, 10_000_000n);
});

t.test('the supplement can be switched off', async (t) => {
  const book = await PriceBook.load({ supplement: false });
  t.equal(book.find('anthropic', 'claude-haiku-5-5'), null);
});
