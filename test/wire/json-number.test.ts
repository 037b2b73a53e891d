/** Doubles written in JSON: each is the nearest one, as `Number` reads it. */
import fc from 'fast-check';
import t from 'tap';
import {
  ENCODING_JSON,
  FAIL_BUDGET,
  INPUT_BASE,
  MAX_HARD_NUMBERS,
  NUMBERS_BASE,
  RECORD_VALUE,
  RECORDS_BASE,
  SIGNAL_METRICS,
} from '../../src/model/layout.ts';
import { loadWire } from '../../src/otlp/wire.ts';

const wire = loadWire(7n);

function index(metric: string): void {
  const length = wire.bytes.write(`{"resourceMetrics":[{"scopeMetrics":[{"metrics":[${metric}]}]}]}`, INPUT_BASE);
  wire.exports.index(SIGNAL_METRICS, ENCODING_JSON, length);
}

function read(text: string): number {
  index(`{"gauge":{"dataPoints":[{"asDouble":${text}}]}}`);
  return wire.bytes.readDoubleLE(RECORDS_BASE + RECORD_VALUE);
}

const digits = fc.bigInt({ min: 0n, max: 10n ** 20n });
const exponent = fc.integer({ min: -40, max: 40 });

t.test('digits and exponents of any size give the nearest double', async (t) => {
  fc.assert(
    fc.property(digits, exponent, fc.boolean(), (value, power, negative) => {
      const text = `${negative ? '-' : ''}${value}e${power}`;
      return Object.is(read(text), Number(text));
    }),
    { numRuns: 20_000 },
  );
  t.pass();
});

t.test('a number halfway between two doubles is rounded to the even one, and one next to it is not', async (t) => {
  fc.assert(
    fc.property(fc.bigInt({ min: 2n ** 52n, max: 2n ** 53n - 1n }), fc.integer({ min: 0, max: 9 }), (value, power) => {
      const halfway = (2n * value + 1n) * 2n ** BigInt(power);
      const quarters = (2n * value + 1n) * 5n ** BigInt(power);
      const texts = [`${halfway}`, `${halfway + 1n}`, `${halfway - 1n}`, `${quarters}e-${power}`];
      return texts.every((text) => Object.is(read(text), Number(text)));
    }),
    { numRuns: 10_000 },
  );
  t.pass();
});

t.test('every double comes back from its shortest text', async (t) => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) =>
      Object.is(read(String(value)), Number(String(value))),
    ),
    { numRuns: 10_000 },
  );
  t.pass();
});

t.test('numbers that are slow to read are bounded', async (t) => {
  const bounds = (text: string, count: number): string =>
    `{"histogram":{"dataPoints":[{"explicitBounds":[${Array<string>(count).fill(text).join(',')}]}]}}`;
  index(bounds('9e-320', MAX_HARD_NUMBERS));
  t.equal(wire.bytes.readDoubleLE(NUMBERS_BASE), 9e-320);
  t.throws(() => index(bounds('9e-320', MAX_HARD_NUMBERS + 1)), { code: FAIL_BUDGET });
  index(bounds('1.7976931348623157', MAX_HARD_NUMBERS + 1));
  t.pass('numbers as people write them are not counted');
});
