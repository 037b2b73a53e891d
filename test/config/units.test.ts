import fc from 'fast-check';
import t from 'tap';
import { formatByteSize, formatDuration, parseByteSize, parseDuration } from '../../src/config/units.ts';

t.test('durations have the form of Go, plus days', async (t) => {
  const known = {
    '0': 0,
    '0s': 0,
    '300ms': 300,
    '1.5h': 5_400_000,
    '2h45m': 9_900_000,
    '1m30s': 90_000,
    '30d': 2_592_000_000,
    '1us': 0.001,
    '5µs': 0.005,
  };
  for (const [text, ms] of Object.entries(known)) t.equal(parseDuration(text), ms, text);
  for (const text of [
    '',
    '5',
    '-5s',
    '5 s',
    's',
    '5sec',
    '1h 5m',
    '1e3s',
    '.5s',
    '5S',
    '999999999d',
    `${'1'.repeat(70)}s`,
  ]) {
    t.equal(parseDuration(text), null, text);
  }
});

t.test('sizes are bytes, or have a binary or decimal unit', async (t) => {
  const known = {
    '0': 0,
    '4194304': 4194304,
    '4MiB': 4194304,
    '4 MiB': 4194304,
    '1.5KiB': 1536,
    '1GB': 1e9,
    '10B': 10,
    '2kB': 2000,
  };
  for (const [text, bytes] of Object.entries(known)) t.equal(parseByteSize(text), bytes, text);
  for (const text of ['', '4M', '4mib', '-1', '1.5', '0.3KiB', 'MiB', '1e6', '99999999TiB'])
    t.equal(parseByteSize(text), null, text);
  t.equal(parseByteSize(1.5), null);
  t.equal(parseByteSize(-1), null);
});

t.test('a formatted value parses to the same value', async () => {
  fc.assert(fc.property(fc.nat({ max: 10 ** 12 }), (ms) => parseDuration(formatDuration(ms)) === ms));
  fc.assert(fc.property(fc.nat({ max: 2 ** 50 }), (bytes) => parseByteSize(formatByteSize(bytes)) === bytes));
});
