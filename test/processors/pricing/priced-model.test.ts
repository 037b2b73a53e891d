// Costs from usage: buckets, tiers, dates, windows, null rules and rounding, against an independent oracle over exact
// fractions.
import fc from 'fast-check';
import t from 'tap';
import { Card, type CardDraft, EVERY_DAY, type TableDraft } from '../../../src/processors/pricing/card.ts';
import { DAY_MS } from '../../../src/pdata/time-units.ts';
import { type Cost, PricedModel } from '../../../src/processors/pricing/priced-model.ts';
import { RATE_KEYS, type Rates } from '../../../src/processors/pricing/rates.ts';
import { COST_FLAGS, namesOfFlags, type Usage } from '../../../src/processors/pricing/usage.ts';

const USD = 1_000_000_000;
const ALWAYS = { fromMs: Number.NEGATIVE_INFINITY, untilMs: Number.POSITIVE_INFINITY, windows: [] };

function draftOf(periods: CardDraft['periods']): CardDraft {
  return { origin: { source: 'test', version: '1' }, provider: 'acme', model: 'm', periods, evidence: null };
}

function modelOf(rates: Rates, tiers: TableDraft['tiers'] = []): PricedModel {
  return new PricedModel(new Card(draftOf([{ ...ALWAYS, rates, tiers }])), 'exact');
}

function usageOf(inputTokens: number | null, outputTokens: number | null, more: Partial<Usage> = {}): Usage {
  return { inputTokens, outputTokens, ...more };
}

const costs = ({ inputCost, outputCost, totalCost }: Cost) => [inputCost, outputCost, totalCost];

t.test('each bucket has its own rate and cached tokens are part of the input', (t) => {
  const model = modelOf({
    input: 3 * USD,
    cache_read: 0.3 * USD,
    cache_write: 3.75 * USD,
    cache_write_1h: 6 * USD,
    output: 15 * USD,
  });
  const cost = model.cost(
    usageOf(1_000_000, 100_000, { cacheReadTokens: 500_000, cacheWriteTokens: 200_000, cacheWrite1hTokens: 50_000 }),
    0,
  );
  // 300,000 x 3 + 500,000 x 0.3 + 150,000 x 3.75 + 50,000 x 6 = 0.9 + 0.15 + 0.5625 + 0.3
  t.same(costs(cost), [191_250_000n, 150_000_000n, 341_250_000n]);
  t.equal(cost.flags, 0);
  t.equal(cost.audit, 'test@1 acme/m tier=base match=exact');
  t.end();
});

t.test('a rate left out falls back: cache to input, one-hour writes to writes, reasoning and media to text', (t) => {
  const model = modelOf({ input: USD, output: 2 * USD });
  const cost = model.cost(
    usageOf(1_000_000, 1_000_000, {
      cacheReadTokens: 1000,
      cacheWriteTokens: 1000,
      cacheWrite1hTokens: 500,
      reasoningTokens: 7,
      inputAudioTokens: 5,
      outputAudioTokens: 3,
      inputImageTokens: 2,
    }),
    0,
  );
  t.same(costs(cost), [100_000_000n, 200_000_000n, 300_000_000n]);
  t.same(namesOfFlags(cost.flags), ['audio_at_text_rate', 'no_1h_rate', 'image_at_text_rate']);
  t.end();
});

t.test('one-hour writes reported alone are writes', (t) => {
  const cost = modelOf({ input: USD, cache_write: 2 * USD, cache_write_1h: 5 * USD }).cost(
    usageOf(1000, 0, { cacheWrite1hTokens: 400 }),
    0,
  );
  t.equal(cost.inputCost, 260_000n, '600 x 1 + 400 x 5 millionths');
  t.end();
});

t.test('reasoning is billed once, at its own rate where the card has one', (t) => {
  const cost = modelOf({ input: USD, output: 8 * USD, reasoning: 3 * USD }).cost(
    usageOf(0, 1_000_000, { reasoningTokens: 400_000 }),
    0,
  );
  t.equal(cost.outputCost, 600_000_000n, '600,000 x 8 + 400,000 x 3');
  t.end();
});

t.test('audio and images are parts of the input and output, cached audio a part of the cached tokens', (t) => {
  const rates = {
    input: USD,
    cache_read: USD / 10,
    cache_audio_read: USD / 5,
    input_audio: 10 * USD,
    input_image: 5 * USD,
    output: 2 * USD,
    output_audio: 20 * USD,
    output_image: 30 * USD,
  };
  const cost = modelOf(rates).cost(
    usageOf(1000, 1000, {
      cacheReadTokens: 400,
      cacheReadAudioTokens: 100,
      inputAudioTokens: 200,
      inputImageTokens: 100,
      outputAudioTokens: 300,
      outputImageTokens: 200,
    }),
    0,
  );
  // input: 300 + 300 x 0.1 + 100 x 0.2 + 200 x 10 + 100 x 5 = 2,850 millionths; output: 500 x 2 + 300 x 20 + 200 x 30 =
  // 13,000
  t.same(costs(cost), [285_000n, 1_300_000n, 1_585_000n]);
  t.end();
});

t.test('more cached than input tokens means that input does not include them', (t) => {
  const model = modelOf({ input: USD, cache_read: USD / 10, output: USD }, [
    { above: 100_000, rates: { input: 2 * USD } },
  ]);
  const cost = model.cost(usageOf(50, 0, { cacheReadTokens: 100_000 }), 0);
  t.equal(
    cost.inputCost,
    1_010_000n,
    'the fresh 50 tokens are billed at the tier of the whole prompt: 50 x 2 + 100,000 x 0.1 millionths',
  );
  t.equal(cost.flags, COST_FLAGS.cache_outside_input);
  t.match(cost.audit, /tier=>100000/);
  t.same(model.cost(usageOf(100_000, 0, { cacheReadTokens: 100_000 }), 0).flags, 0, 'all tokens cached is possible');
  t.end();
});

t.test('more reasoning than output tokens means that output does not include them', (t) => {
  const cost = modelOf({ input: USD, output: USD }).cost(usageOf(0, 10, { reasoningTokens: 90 }), 0);
  t.equal(cost.outputCost, 10_000n);
  t.equal(cost.flags, COST_FLAGS.parts_outside_output);
  t.end();
});

t.test('a count that is negative, fractional, not finite or not safe is unknown, never zero', (t) => {
  const model = modelOf({ input: USD, output: USD });
  for (const bad of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, null]) {
    t.same(costs(model.cost(usageOf(bad, 5), 0)), [null, 500n, null], `input ${bad}`);
    t.same(costs(model.cost(usageOf(5, bad), 0)), [500n, null, null], `output ${bad}`);
  }
  const text = '12' as unknown as number;
  t.same(
    costs(model.cost(usageOf(text, 5), 0)),
    [null, 500n, null],
    'text is no count here; normalization turns it into one',
  );
  t.same(costs(model.cost(usageOf(null, null), 0)), [null, null, null]);
  t.equal(model.cost(usageOf(null, null), 0).audit, null, 'no cost, no audit');
  t.same(costs(model.cost(usageOf(0, 0), 0)), [0n, 0n, 0n], 'zero tokens have a price');
  t.same(
    costs(model.cost(usageOf(10, 0, { cacheReadTokens: Number.NaN }), 0)),
    [1000n, 0n, 1000n],
    'an unknown part is no part',
  );
  t.end();
});

t.test('the total needs every side that the card prices, and only those', (t) => {
  t.same(
    costs(modelOf({ input: USD }).cost(usageOf(10, null), 0)),
    [1000n, null, 1000n],
    'embeddings have no output side',
  );
  t.same(costs(modelOf({ input: USD }).cost(usageOf(10, 10), 0)), [1000n, null, 1000n]);
  t.same(costs(modelOf({ output: USD }).cost(usageOf(null, 10), 0)), [null, 1000n, 1000n]);
  t.end();
});

t.test('a tier applies strictly above its threshold, to the whole request', (t) => {
  const model = modelOf({ input: USD, cache_read: USD / 10, output: USD }, [
    { above: 100, rates: { input: 2 * USD, output: 3 * USD } },
    { above: 1000, rates: { input: 4 * USD } },
  ]);
  t.equal(model.cost(usageOf(100, 1), 0).inputCost, 10_000n);
  t.equal(model.cost(usageOf(101, 1), 0).inputCost, 20_200n);
  t.equal(model.cost(usageOf(101, 1), 0).outputCost, 300n);
  t.equal(
    model.cost(usageOf(101, 1, { cacheReadTokens: 100 }), 0).inputCost,
    1_200n,
    'cached tokens count; their rate falls back to the base',
  );
  t.same(
    costs(model.cost(usageOf(1001, 1), 0)),
    [400_400n, 100n, 400_500n],
    'the highest tier that holds; its missing rates are the base rates',
  );
  t.match(model.cost(usageOf(1001, 1), 0).audit, /tier=>1000 /);
  t.end();
});

t.test('when rates depend on an unknown prompt size, the output side stays unpriced', (t) => {
  const cost = modelOf({ input: USD, output: USD }, [{ above: 100, rates: { output: 2 * USD } }]).cost(
    usageOf(null, 10),
    0,
  );
  t.same(costs(cost), [null, null, null]);
  t.same(namesOfFlags(cost.flags), ['tier_unknown']);
  t.end();
});

t.test('the start time decides between dated prices, to the millisecond', (t) => {
  const change = Date.UTC(2026, 9, 7);
  const model = new PricedModel(
    new Card(
      draftOf([
        { ...ALWAYS, fromMs: Date.UTC(2026, 0, 1), untilMs: change, rates: { input: USD }, tiers: [] },
        { ...ALWAYS, fromMs: change, untilMs: change + DAY_MS, rates: { input: 2 * USD }, tiers: [] },
      ]),
    ),
    'exact',
  );
  const at = (timeMs: number) => model.cost(usageOf(10, 0), timeMs).inputCost;
  t.equal(at(change - 1), 1000n);
  t.equal(at(change), 2000n);
  t.equal(at(change + DAY_MS - 1), 2000n);
  t.equal(at(change + DAY_MS), null, 'until is exclusive');
  t.equal(at(Date.UTC(2025, 11, 31)), null, 'before the first period there is no price');
  t.equal(at(Number.NaN), null);
  t.equal(model.cost(usageOf(10, 0), change).audit, 'test@1 acme/m from=2026-10-07 tier=base match=exact');
  t.end();
});

t.test('a window applies from its opening to before its closing, past midnight, on the days on which it opens', (t) => {
  const HOUR = DAY_MS / 24;
  const MONDAY = Date.UTC(2026, 9, 5);
  const night = {
    rates: { input: 2 * USD },
    tiers: [],
    days: 0b10,
    opensMs: 22 * HOUR,
    closesMs: 2 * HOUR,
    label: 'night',
  };
  const noon = {
    rates: { input: 3 * USD },
    tiers: [],
    days: EVERY_DAY,
    opensMs: 12 * HOUR,
    closesMs: 13 * HOUR,
    label: 'noon',
  };
  const model = new PricedModel(
    new Card(draftOf([{ ...ALWAYS, rates: { input: USD }, tiers: [], windows: [night, noon] }])),
    'exact',
  );
  const at = (timeMs: number) => model.cost(usageOf(10, 0), timeMs).inputCost;
  t.equal(new Date(MONDAY).getUTCDay(), 1);
  t.equal(at(MONDAY + 22 * HOUR - 1), 1000n);
  t.equal(at(MONDAY + 22 * HOUR), 2000n);
  t.equal(at(MONDAY + 24 * HOUR), 2000n, 'Tuesday before two belongs to Monday');
  t.equal(at(MONDAY + 26 * HOUR), 1000n);
  t.equal(at(MONDAY), 1000n, 'Monday before two belongs to Sunday');
  t.equal(at(MONDAY + 46 * HOUR), 1000n, 'Tuesday evening is no Monday');
  t.equal(at(MONDAY + 36 * HOUR), 3000n);
  t.equal(at(MONDAY + 37 * HOUR - 1), 3000n);
  t.equal(at(MONDAY + 37 * HOUR), 1000n, 'the closing moment is outside');
  t.equal(at(-DAY_MS / 2), 3000n, 'hours before 1970 count the same');
  t.match(model.cost(usageOf(10, 0), MONDAY + 22 * HOUR).audit, /window=night/);
  t.end();
});

t.test('a cost of 10^10 USD or more is refused, the other side kept', (t) => {
  const dear = 1_000_000 * USD;
  const tokens = 10_000_000_000;
  const cost = modelOf({ input: dear, output: 1 }).cost(usageOf(tokens, 5_000_000), 0);
  t.same(costs(cost), [null, 1n, null]);
  t.same(namesOfFlags(cost.flags), ['over_limit']);
  t.equal(modelOf({ input: dear }).cost(usageOf(tokens - 1, 0), 0).inputCost, 999_999_999_900_000_000n);
  t.end();
});

t.test('nothing of a cost stays in the next one', (t) => {
  const model = modelOf({ input: USD, output: USD });
  model.cost(usageOf(10, 10), 0);
  t.same(costs(model.cost(usageOf(null, null), 0)), [null, null, null]);
  t.end();
});

// The oracle: fractions with one denominator (10^15), rounded by doubling; no code of the engine.
function expected(counts: readonly number[], rates: readonly number[]): bigint {
  const exact = counts.reduce((sum, count, index) => sum + BigInt(count) * BigInt(rates[index] ?? 0), 0n);
  const [whole, rest] = [exact / 10_000_000n, exact % 10_000_000n];
  return rest * 2n >= 10_000_000n ? whole + 1n : whole;
}

t.test('costs equal exact fractions rounded half up once, for small and for huge counts', (t) => {
  const rate = fc.oneof(
    fc.integer({ min: 0, max: 100 * USD }),
    fc.constantFrom(75_000_000, 150_000_000, 37_500_000, 1, 1e15),
  );
  const count = fc.oneof(fc.nat({ max: 200_000 }), fc.nat({ max: 10_000_000 }), fc.integer({ min: 0, max: 2 ** 40 }));
  fc.assert(
    fc.property(
      fc.array(rate, { minLength: 6, maxLength: 6 }),
      fc.array(count, { minLength: 6, maxLength: 6 }),
      (rates, counts) => {
        const [input = 0, cache_read = 0, cache_write = 0, cache_write_1h = 0, output = 0, reasoning = 0] = rates;
        const [plain = 0, read = 0, write = 0, hour = 0, text = 0, thought = 0] = counts;
        const cost = modelOf({ input, cache_read, cache_write, cache_write_1h, output, reasoning }).cost(
          {
            inputTokens: plain + read + write + hour,
            cacheReadTokens: read,
            cacheWriteTokens: write + hour,
            cacheWrite1hTokens: hour,
            outputTokens: text + thought,
            reasoningTokens: thought,
          },
          0,
        );
        const want = (money: bigint) => (money < 10n ** 18n ? money : null);
        t.equal(cost.inputCost, want(expected(counts.slice(0, 4), rates.slice(0, 4))));
        t.equal(cost.outputCost, want(expected(counts.slice(4), rates.slice(4))));
        t.equal(cost.totalCost, want(expected(counts, rates)));
      },
    ),
    { numRuns: 500 },
  );
  t.end();
});

t.test('half units round away from zero on the fast path at every magnitude', (t) => {
  fc.assert(
    fc.property(fc.nat({ max: 2 ** 29 }), fc.constantFrom(-1, 0, 1), (units, offset) => {
      const sum = units * 10_000_000 + 5_000_000 + offset;
      const cost = modelOf({ input: 1 }).cost(usageOf(sum, 0), 0);
      return cost.inputCost === BigInt(units) + (offset < 0 ? 0n : 1n);
    }),
  );
  t.end();
});

t.test('every kind of rate reaches the arithmetic', (t) => {
  for (const key of RATE_KEYS) {
    const all: Usage = {
      ...{
        inputTokens: 10_000,
        outputTokens: 10_000,
        cacheReadTokens: 2000,
        cacheReadAudioTokens: 1000,
        cacheWriteTokens: 2000,
        cacheWrite1hTokens: 1000,
      },
      ...{
        inputAudioTokens: 1000,
        inputImageTokens: 1000,
        reasoningTokens: 1000,
        outputAudioTokens: 1000,
        outputImageTokens: 1000,
      },
    };
    const base = Object.fromEntries(RATE_KEYS.map((name) => [name, USD]));
    const before = modelOf(base).cost(all, 0).totalCost ?? 0n;
    const after = modelOf({ ...base, [key]: 2 * USD }).cost(all, 0).totalCost ?? 0n;
    t.ok(after > before, key);
  }
  t.end();
});
