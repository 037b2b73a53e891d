// The formats of numbers for people.
import t from 'tap';
import { formatAge, formatCost, formatCount, formatTook, plural } from '../../../src/cli/view/format.ts';

t.test('durations are written in the unit that fits', async (t) => {
  const cases: readonly [string | null, string][] = [
    [null, '-'],
    ['0', '0'],
    ['1', '1ns'],
    ['40', '40ns'],
    ['1500', '2µs'],
    ['1200000', '1.2ms'],
    ['340000000', '340ms'],
    ['1820000000', '1.82s'],
    ['31000000000', '31s'],
    ['123000000000', '2m03s'],
    ['3900000000000', '1h05m'],
    ['180000000000000', '2d02h'],
  ];
  for (const [ns, text] of cases) t.equal(formatTook(ns), text);
});

t.test('ages, counts and costs are short; an unknown value is never a zero', async (t) => {
  t.strictSame([-5, 999, 12_000, 3_600_000, 100 * 3_600_000, 200 * 3_600_000].map(formatAge), [
    'now',
    'now',
    '12s',
    '1h',
    '4d',
    '8d',
  ]);
  t.strictSame([null, 0, 950, 1_000, 1_250, 15_400, 3_400_000, 2e9].map(formatCount), [
    '-',
    '0',
    '950',
    '1k',
    '1.3k',
    '15k',
    '3.4M',
    '2G',
  ]);
  const costs = [null, '0.00000000', '0.00000002', '0.00709280', '0.01', '1.5', '99.99999', '1234.5'];
  t.strictSame(costs.map(formatCost), [
    '-',
    '$0',
    '$0.00000002',
    '$0.00709',
    '$0.0100',
    '$1.5000',
    '$100.0000',
    '$1234.50',
  ]);
  t.equal(plural(1, 'span'), '1 span');
  t.equal(plural(0, 'span'), '0 spans');
});
