// Durations, ages, counts, sizes and costs in few characters.
import t from 'tap';
import { shortAge, shortBytes, shortCount, shortDuration, smallCost } from '../../src/pdata/short-numbers.ts';

t.test('a number that is rounded to a whole unit is shown in that unit', async (t) => {
  const counts = [0, 950, 999, 1000, 9960, 999_400, 999_700, 1_000_000, 999_600_000].map(shortCount);
  t.same(counts, ['0', '950', '999', '1k', '10k', '999k', '1M', '1M', '1G']);
  t.same([1023, 1024, 1023 * 1024, 2 ** 20 - 1].map(shortBytes), ['1023 B', '1 KiB', '1023 KiB', '1 MiB']);
  const durations = [0, 0.000001, 0.0001, 0.0009996, 0.9996, 1, 9.97, 999.4, 999.7, 1500, 125_000].map(shortDuration);
  t.same(durations, ['0', '1ns', '100ns', '1µs', '1ms', '1ms', '10ms', '999ms', '1s', '1.5s', '2m05s']);
});

t.test('an age has its largest unit, a small cost three digits', async (t) => {
  const hour = 3_600_000;
  t.same(
    [0, 1000, 60_000, 47 * hour, 48 * hour].map((ms) => shortAge(ms)),
    ['now', '1s', '1m', '47h', '2d'],
  );
  t.same([0.00999, 0.000123456].map(smallCost), ['$0.00999', '$0.000123']);
  t.same([1e-8, 1.239e-8, 1e-9].map(smallCost), ['$0.00000001', '$0.0000000124', '$0.000000001']);
});
