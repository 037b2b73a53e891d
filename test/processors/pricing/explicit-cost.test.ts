// Explicit costs: the number rule (round, then check the range) and the string rule (must already fit), edge by edge.
import fc from 'fast-check';
import t from 'tap';
import { formatMoney, MONEY_LIMIT } from '../../../src/pdata/money.ts';
import type { CostCandidate } from '../../../src/processors/pricing/explicit-cost-keys.ts';
import { chooseStatedCost, parseExplicitCost } from '../../../src/processors/pricing/explicit-cost.ts';

const show = (value: number | string | bigint): string | null => {
  const money = parseExplicitCost(value);
  return money === null ? null : formatMoney(money);
};

const NO_COSTS = { total: [], input: [], output: [] };
const stated = (attribute: string, value: number | string, more: Partial<CostCandidate> = {}): CostCandidate => ({
  attribute,
  value,
  aggregate: false,
  unpriced: false,
  ...more,
});

t.test('numbers are taken at their shortest decimal and rounded half away from zero to 8 digits', (t) => {
  const cases: [number, string][] = [
    [0, '0.00000000'],
    [-0, '0.00000000'],
    [0.1, '0.10000000'],
    [1, '1.00000000'],
    [1.000000005, '1.00000001'],
    [1.000000004, '1.00000000'],
    [0.000000005, '0.00000001'],
    [4.9e-9, '0.00000000'],
    [1e-300, '0.00000000'],
    [1e-7, '0.00000010'],
    [1.5e3, '1500.00000000'],
    [0.123456785, '0.12345679'],
    [9999999999.999998, '9999999999.99999800'],
    [1e9, '1000000000.00000000'],
  ];
  for (const [value, expected] of cases) t.equal(show(value), expected, String(value));
  t.end();
});

t.test('numbers that are negative, not finite, or 10^10 and more after rounding are no costs', (t) => {
  const beyond = Number('9999999999.99999999');
  t.equal(beyond, 10_000_000_000, 'as a double the largest storable cost is already out of range');
  for (const value of [
    -1,
    -1e-9,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    1e10,
    1e300,
    beyond,
  ]) {
    t.equal(show(value), null, String(value));
  }
  t.end();
});

t.test('strings are plain decimals of at most ten integer and eight fractional digits', (t) => {
  const cases: [string, string][] = [
    ['0', '0.00000000'],
    ['0.00000000', '0.00000000'],
    ['1.5', '1.50000000'],
    [' 1.5\n', '1.50000000'],
    ['9999999999.99999999', '9999999999.99999999'],
    ['0000000000001.5', '1.50000000'],
    ['00', '0.00000000'],
  ];
  for (const [value, expected] of cases) t.equal(show(value), expected, JSON.stringify(value));
  const refused = [
    '',
    ' ',
    '1.',
    '.5',
    '-1',
    '+1',
    '1e3',
    '1E-3',
    '0x10',
    '1,5',
    '1 5',
    '$1',
    'NaN',
    'Infinity',
    '1.000000000',
    '1.123456789',
    '10000000000',
    '١',
  ];
  for (const value of refused) t.equal(show(value), null, JSON.stringify(value));
  t.equal(show(`${'0'.repeat(100_000)}1`), null, 'a string too long to be a cost is not read');
  t.end();
});

t.test('whole numbers as bigint count dollars', (t) => {
  t.equal(show(3n), '3.00000000');
  t.equal(show(-1n), null);
  t.equal(show(9_999_999_999n), '9999999999.00000000');
  t.equal(show(10_000_000_000n), null);
  t.end();
});

t.test('every storable cost reads back from its own text', (t) => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: MONEY_LIMIT - 1n }),
      (money) => parseExplicitCost(formatMoney(money)) === money,
    ),
  );
  t.end();
});

t.test('any finite number is rounded to the nearest unit, whatever its exponent', (t) => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 1e10, maxExcluded: true, noNaN: true }), (value) => {
      const money = parseExplicitCost(value);
      // Compared over the integers: the shortest decimal may differ from the double by less than half its own last
      // digit.
      if (money === null) return value >= 9_999_999_999.999998;
      return Math.abs(Number(money) - value * 1e8) <= 0.5 + value * 1e8 * 2 ** -50;
    }),
  );
  t.end();
});

t.test('the first valid cost of a side counts, and two sides are a total', async (t) => {
  const costs = {
    total: [],
    input: [stated('a', 'free'), stated('b', 0.25), stated('c', 1)],
    output: [stated('d', 0.5)],
  };
  const chosen = chooseStatedCost(costs, true);
  t.match(chosen, { input: parseExplicitCost(0.25), output: parseExplicitCost(0.5), total: parseExplicitCost(0.75) });
  t.equal(chosen?.attribute, 'b');
  t.match(chooseStatedCost({ ...costs, output: [] }, true), { total: null, attribute: 'b' });
  t.match(chooseStatedCost({ ...costs, total: [stated('e', 3)] }, true), {
    total: parseExplicitCost(3),
    attribute: 'e',
  });
});

t.test('a sum over other records is no cost of a record with usage of its own', async (t) => {
  const costs = { ...NO_COSTS, total: [stated('sum', 2, { aggregate: true }), stated('own', 1)] };
  t.equal(chooseStatedCost(costs, true)?.attribute, 'own');
  t.equal(chooseStatedCost(costs, false)?.attribute, 'sum');
});

t.test('the cost of a sender without a price for the model is left out', async (t) => {
  const costs = { ...NO_COSTS, total: [stated('zero', 0, { unpriced: true })] };
  t.equal(chooseStatedCost(costs, true), null);
  t.equal(chooseStatedCost(costs, false), null);
});
