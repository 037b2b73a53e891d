/** One way of counting: whether cached and reasoning tokens are part of the main count, and what the total is. */
import fc from 'fast-check';
import t from 'tap';
import { type SentUsage, type SenderAccounting, unifyUsage } from '../../../src/processors/normalization/usage.ts';

const NOT_SENT: SentUsage = {
  input: Number.NaN,
  output: Number.NaN,
  total: Number.NaN,
  cacheRead: Number.NaN,
  cacheWrite: Number.NaN,
  cacheWrite5m: Number.NaN,
  cacheWrite1h: Number.NaN,
  reasoning: Number.NaN,
  cacheProof: null,
  reasoningProof: null,
};
const sender = (cached: 'inside' | 'outside', reasoningOutside = false, writesNothing = false): SenderAccounting => ({
  ruled: () => null,
  cached: () => cached,
  reasoningOutside: () => reasoningOutside,
  writesNothing: () => writesNothing,
});
const unified = (sent: Partial<SentUsage>, habits = sender('inside')): SentUsage => {
  const usage = { ...NOT_SENT, ...sent };
  unifyUsage(usage, habits);
  return usage;
};

const CACHE_CASES: readonly (readonly [
  why: string,
  sent: Partial<SentUsage>,
  known: 'inside' | 'outside',
  input: number,
])[] = [
  ['a sender known to include them is believed', { input: 1000, output: 50, cacheRead: 600 }, 'inside', 1000],
  ['a sender known to count them apart is completed', { input: 1000, output: 50, cacheRead: 600 }, 'outside', 1600],
  [
    'an input below the cached tokens cannot include them',
    { input: 10, output: 5, cacheRead: 600, cacheWrite: 7 },
    'inside',
    617,
  ],
  [
    'a total with the cache on top shows that it is apart',
    { input: 1000, output: 50, total: 1650, cacheRead: 600 },
    'inside',
    1600,
  ],
  [
    'a total of input and output proves nothing',
    { input: 1000, output: 50, total: 1050, cacheRead: 600 },
    'outside',
    1600,
  ],
  [
    'proof that they are inside beats what is known',
    { input: 1000, cacheRead: 600, cacheProof: 'inside' },
    'outside',
    1000,
  ],
  [
    'proof that they are apart beats what is known',
    { input: 1000, cacheRead: 600, cacheProof: 'outside' },
    'inside',
    1600,
  ],
  ['no cached tokens, nothing to decide', { input: 1000, cacheRead: 0, cacheWrite: 0 }, 'outside', 1000],
  [
    'reasoning in the total does not hide the cache',
    { input: 1000, output: 50, total: 1670, cacheRead: 600, reasoning: 20 },
    'inside',
    1600,
  ],
];
for (const [why, sent, known, input] of CACHE_CASES) {
  t.test(`cached tokens: ${why}`, async (t) => t.equal(unified(sent, sender(known)).input, input));
}

t.test('cache writes by lifetime are summed only when their sum is not sent', async (t) => {
  t.equal(unified({ cacheWrite5m: 5, cacheWrite1h: 7 }).cacheWrite, 12);
  t.equal(unified({ cacheWrite1h: 7 }).cacheWrite, 7);
  t.equal(unified({ cacheWrite: 12, cacheWrite5m: 5, cacheWrite1h: 7 }).cacheWrite, 12);
});

t.test('reasoning is part of the output, or is added to it', async (t) => {
  t.equal(unified({ input: 10, output: 50, reasoning: 20 }).output, 50);
  t.equal(unified({ input: 10, output: 50, reasoning: 20 }, sender('inside', true)).output, 70);
  t.equal(unified({ input: 10, output: 50, total: 80, reasoning: 20 }).output, 70, 'the total shows that it is apart');
  t.equal(
    unified({ input: 10, output: 50, total: 60, reasoning: 20 }, sender('inside', true)).output,
    50,
    'the total shows that it is inside',
  );
  t.equal(unified({ input: 10, output: 5, reasoning: 20 }).output, 25, 'less output than reasoning');
  t.equal(unified({ input: 10, output: 50, reasoning: 20, reasoningProof: 'outside' }).output, 70);
});

t.test('the total is the sum of both sides, or a larger total of the sender', async (t) => {
  t.equal(unified({ input: 10, output: 5 }).total, 15);
  t.equal(unified({ input: 10, output: 5, total: 20 }).total, 20);
  t.equal(unified({ input: 10, output: 5, total: 12 }).total, 15, 'a total below its parts is none');
  t.same(unified({ input: 10 }).total, Number.NaN, 'one side alone makes no total');
  t.equal(unified({ total: 20 }).total, 20);
  t.equal(unified({ input: 61 }, sender('inside', false, true)).total, 61, 'an embedding writes nothing');
});

t.test('counts stay safe integers: a larger sum is unavailable', async (t) => {
  const most = Number.MAX_SAFE_INTEGER;
  t.same(unified({ input: most, cacheRead: 5 }, sender('outside')).input, Number.NaN);
  t.same(unified({ input: most, output: most }).total, Number.NaN);
});

t.test('every resulting count includes its parts and is a safe integer', async () => {
  const count = fc.oneof(fc.constant(Number.NaN), fc.nat(1_000_000));
  const usage = fc.record({
    input: count,
    output: count,
    total: count,
    cacheRead: count,
    cacheWrite: count,
    reasoning: count,
  });
  const habits = fc.tuple(fc.constantFrom('inside' as const, 'outside' as const), fc.boolean());
  fc.assert(
    fc.property(usage, habits, (sent, [cached, outside]) => {
      const result = unified(sent, sender(cached, outside));
      const part = (value: number): number => (Number.isNaN(value) ? 0 : value);
      const holds = (whole: number, parts: number): boolean =>
        Number.isNaN(whole) || (Number.isSafeInteger(whole) && whole >= parts);
      return (
        holds(result.input, part(result.cacheRead) + part(result.cacheWrite)) &&
        holds(result.output, part(result.reasoning)) &&
        holds(result.total, part(result.input) + part(result.output) === result.total ? result.total : 0)
      );
    }),
  );
});
