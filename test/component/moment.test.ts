/** Dates and times that people write. */
import t from 'tap';
import { parseInstant, parseMoment, withinStorable } from '../../src/component/moment.ts';

t.test('dates that the calendar has', async (t) => {
  for (const text of ['2026-02-28', '2024-02-29', '2026-12-31T23:59:59Z', '2026-03-01T00:30:00+14:00', '2026-11'])
    t.equal(parseMoment(text), Date.parse(text), text);
});

t.test('other texts are no time', async (t) => {
  for (const text of ['2026-02-29', '2026-02-30T00:00:00Z', '2026-04-31', '2026-13-01', '2026-11-32', '', 'soon'])
    t.ok(Number.isNaN(parseMoment(text)), text);
  // `Date.parse` reads these as 2 March.
  for (const text of ['2026-02-30 00:00', '2026-2-30', '2026/02/30', 'Feb 30 2026', '30 Feb 2026'])
    t.ok(Number.isNaN(parseMoment(text)), text);
});

t.test('a time of a day needs its zone: that of this process may be another one', async (t) => {
  for (const text of [
    '2026-11-20T14:05',
    '2026-11-20 14:05',
    '2026-11-20T14:05:09.5',
    '2026-11-20T14',
    '2026-11-20 14:05 EST',
  ])
    t.ok(Number.isNaN(parseMoment(text)), text);
  for (const text of ['2026-11-20T14:05Z', '2026-11-20 14:05z', '2026-11-20T14:05:09.5-05:00'])
    t.equal(parseMoment(text), Date.parse(text), text);
});

t.test('RFC 3339 to the nanosecond', async (t) => {
  const second = BigInt(Date.parse('2026-11-20T14:05:09Z')) * 1_000_000n;
  for (const [text, wanted] of [
    ['2026-11-20T14:05:09Z', second],
    ['2026-11-20t14:05:09.5z', second + 500_000_000n],
    ['2026-11-20T14:05:09.123456789Z', second + 123_456_789n],
    ['2026-11-20T16:05:09.000001+02:00', second + 1000n],
    ['1969-12-31T23:59:59.5Z', -500_000_000n],
    ['2026-11-20T14:05:09.1234567890Z', null],
    ['2026-11-20T14:05:09', null],
    ['2026-02-30T00:00:00Z', null],
    ['2026-11-20T14:05Z', null],
    ['', null],
  ] as const)
    t.equal(parseInstant(text), wanted, text);
});

t.test('times as columns hold them', async (t) => {
  t.equal(withinStorable(5n), 5n);
  t.equal(withinStorable(-1n), 0n);
  t.equal(withinStorable(2n ** 63n), 2n ** 63n - 1n);
});
