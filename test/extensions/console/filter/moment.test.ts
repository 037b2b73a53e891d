/** Times in queries of the API and in options of commands. */
import t from 'tap';
import { readTime } from '../../../../src/extensions/console/filter/moment.ts';

const NOW = 1_795_000_000_000_000_000n;
const at = (text: string): bigint => BigInt(Date.parse(text)) * 1_000_000n;

t.test('a time ago, a date, a time with its zone, nanoseconds', async (t) => {
  for (const [text, wanted] of [
    ['now', NOW],
    ['-1h', NOW - 3_600_000_000_000n],
    ['1h30m', NOW - 5_400_000_000_000n],
    ['1.5h', NOW - 5_400_000_000_000n],
    ['2026-11-20', at('2026-11-20T00:00Z')],
    ['2026-11-20T14:05Z', at('2026-11-20T14:05Z')],
    ['2026-11-20 14:05+02:00', at('2026-11-20T12:05Z')],
    ['2026-11-20T14:05:09.000000001Z', at('2026-11-20T14:05:09Z') + 1n],
    ['0001-01-01', at('0001-01-01T00:00Z')],
    ['0', 0n],
    [String(NOW), NOW],
  ] as const)
    t.equal(readTime(text, NOW), wanted, text);
});

t.test('no other text is a time', async (t) => {
  const others = [
    '',
    '-',
    '--1h',
    '+1h',
    '1w',
    'soon',
    '2026-02-30',
    '2026-02-30T00:00Z',
    '2026-11-20T14:05',
    '-0',
    '1e3',
    '٣h',
  ];
  for (const text of others) t.equal(readTime(text, NOW), null, text);
});
