/** Doubles in JSON: each is the nearest one, as `Number` reads it. */
import fc from 'fast-check';
import t from 'tap';
import {
  ENCODING_JSON,
  FAIL_BUDGET,
  FAIL_JSON,
  INPUT_BASE,
  MAX_HARD_NUMBERS,
  NUMBERS_BASE,
  RECORD_VALUE,
  RECORDS_BASE,
  SIGNAL_METRICS,
} from '../../../src/pdata/layout.ts';
import { loadWire } from '../../../src/pdata/load-wasm.ts';
import { cases } from '../../support/long.ts';

const wire = loadWire(7n, { pauses: true });

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
    { numRuns: cases(20_000) },
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
    { numRuns: cases(10_000) },
  );
  t.pass();
});

t.test('every double comes back from its shortest text', async (t) => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) =>
      Object.is(read(String(value)), Number(String(value))),
    ),
    { numRuns: cases(10_000) },
  );
  t.pass();
});

/** Halfway between two doubles but for a digit far behind: 128 bits do not suffice. */
const HARD = `9007199254740993.${'0'.repeat(30)}1`;

t.test('numbers that are slow to read are limited', async (t) => {
  const bounds = (text: string, count: number): string =>
    `{"histogram":{"dataPoints":[{"explicitBounds":[${Array<string>(count).fill(text).join(',')}]}]}}`;
  const count = Math.floor(MAX_HARD_NUMBERS / (1 + Math.floor(HARD.length / 8)));
  index(bounds(HARD, count));
  t.equal(wire.bytes.readDoubleLE(NUMBERS_BASE), Number(HARD));
  t.throws(() => index(bounds(HARD, count + 1)), { code: FAIL_BUDGET });
  for (const text of ['1.7976931348623157', '9e-320', `0.${'7'.repeat(60)}`, '1e-400'])
    index(bounds(text, MAX_HARD_NUMBERS + 1));
  t.pass('numbers of any size and length are read here');
});

t.test('numbers of many digits and of any exponent are the nearest doubles', async (t) => {
  const long = fc.stringMatching(/^[1-9][0-9]{18,60}$/);
  const point = fc.integer({ min: 0, max: 60 });
  fc.assert(
    fc.property(long, point, fc.integer({ min: -400, max: 240 }), (digits, place, power) => {
      const text = place === 0 || place >= digits.length ? digits : `${digits.slice(0, place)}.${digits.slice(place)}`;
      const written = `${text}e${power}`;
      return !Number.isFinite(Number(written)) || Object.is(read(written), Number(written));
    }),
    { numRuns: cases(20_000) },
  );
  fc.assert(
    fc.property(
      fc.double({ noNaN: true, noDefaultInfinity: true, min: 0, max: 1e307 }),
      fc.integer({ min: 1, max: 100 }),
      (value, length) => {
        const text = value.toPrecision(length);
        return Object.is(read(text), Number(text));
      },
    ),
    { numRuns: cases(10_000) },
  );
  t.pass();
});

t.test('a number beyond all doubles is refused in any spelling and at any place', async (t) => {
  const spellings = [
    '1e309',
    '99999999999e300',
    `${'9'.repeat(309)}`,
    `${'9'.repeat(30)}e290`,
    '0.1e310',
    '-1e309',
    '"1e309"',
    '1e99999999999',
    '1.8e308',
    `0.${'0'.repeat(20)}9e330`,
  ];
  const places = [
    (text: string) => `{"gauge":{"dataPoints":[{"asDouble":${text}}]}}`,
    (text: string) =>
      `{"gauge":{"dataPoints":[{"asInt":"1","attributes":[{"key":"k","value":{"doubleValue":${text}}}]}]}}`,
    (text: string) =>
      `{"gauge":{"dataPoints":[{"asInt":"1","attributes":[{"key":"k","value":{"arrayValue":{"values":[{"doubleValue":${text}}]}}}]}]}}`,
    (text: string) =>
      `{"gauge":{"dataPoints":[{"asInt":"1","attributes":[{"key":"k","value":{"kvlistValue":{"values":[{"key":"k","value":{"doubleValue":${text}}}]}}}]}]}}`,
    (text: string) => `{"gauge":{"dataPoints":[{"asInt":"1","exemplars":[{"asDouble":${text}}]}]}}`,
    (text: string) => `{"histogram":{"dataPoints":[{"explicitBounds":[${text}]}]}}`,
    (text: string) => `{"histogram":{"dataPoints":[{"sum":${text}}]}}`,
    (text: string) => `{"summary":{"dataPoints":[{"quantileValues":[{"value":${text}}]}]}}`,
  ];
  for (const place of places)
    for (const spelling of spellings) t.throws(() => index(place(spelling)), { code: FAIL_JSON }, place(spelling));
  for (const place of places) for (const tiny of ['1e-400', '-1e-400', `0.${'0'.repeat(30)}1e-300`]) index(place(tiny));
  t.equal(read(`0.${'0'.repeat(30)}1e-300`), 0);
});
