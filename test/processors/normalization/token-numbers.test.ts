/** Which values are token counts: every edge of the rule, as an attribute of every kind, in both encodings. */
import t from 'tap';
import { amountOfValue, countOfValue } from '../../../src/processors/normalization/numbers.ts';
import { Normalized, type PlainValue } from './normalized.ts';

const normalized = new Normalized();
const MOST = 9007199254740991n;

const CASES: readonly (readonly [what: string, value: PlainValue, count: number | null])[] = [
  ['zero', 0n, 0],
  ['a whole number', 42n, 42],
  ['the largest safe integer', MOST, Number(MOST)],
  ['one more than the largest safe integer', MOST + 1n, null],
  ['the largest 64-bit integer', 9223372036854775807n, null],
  ['a negative number', -1n, null],
  ['the smallest 64-bit integer', -9223372036854775808n, null],
  ['a whole double', 12, 12],
  ['the negative zero of doubles', -0, 0],
  ['a fraction', 12.5, null],
  ['a negative double', -3, null],
  ['NaN', Number.NaN, null],
  ['infinity', Number.POSITIVE_INFINITY, null],
  ['negative infinity', Number.NEGATIVE_INFINITY, null],
  ['a double beyond the safe integers', 1e300, null],
  ['digits in a string', '123', 123],
  ['digits with spaces around', ' 123 ', 123],
  ['an unsafe integer in a string', '9007199254740992', null],
  ['a fraction in a string', '12.5', null],
  ['a negative number in a string', '-5', null],
  ['an exponent in a string', '1e3', null],
  ['a number in another base', '0x10', null],
  ['NaN in a string', 'NaN', null],
  ['an empty string', '', null],
  ['words', 'many', null],
  ['digits without end', '1'.repeat(400), null],
  ['true', true, null],
  ['a list', [5n], null],
  ['an object', { count: 5n }, null],
];

for (const [what, value, count] of CASES) {
  t.test(
    `${what} as a token count is ${count === null ? 'left out' : `${count}`}, and the rest of the span is kept`,
    async (t) => {
      const attributes = {
        'gen_ai.operation.name': 'chat',
        'gen_ai.usage.input_tokens': value,
        'gen_ai.usage.output_tokens': 7n,
      };
      for (const [row] of [
        normalized.plain('traces', [{ attributes }]),
        normalized.viaProtobuf('traces', [{ attributes }]),
      ]) {
        t.equal(row?.['input_tokens'], count);
        t.equal(row?.['output_tokens'], 7);
        t.equal(row?.['operation'], 'chat');
        t.hasProp(row?.['attributes'] as object, 'gen_ai.usage.input_tokens');
      }
    },
  );
}

t.test('a JSON double counts by its value, however it is spelled', async (t) => {
  const spellings: readonly (readonly [string, number | null])[] = [
    ['12', 12],
    ['12.0', 12],
    ['"12.0"', 12],
    ['1.2e1', 12],
    ['"1.2E+1"', 12],
    ['120e-1', 12],
    ['-0.0', 0],
    ['9007199254740991.0', Number(MOST)],
    ['9007199254740992.0', null],
    ['12.5', null],
    ['-12.0', null],
    ['1e300', null],
    [`12.${'0'.repeat(36)}`, 12],
    ['"NaN"', null],
  ];
  for (const [spelling, count] of spellings) {
    const value = `{"key":"gen_ai.usage.input_tokens","value":{"doubleValue":${spelling}}}`;
    const span = `{"traceId":"${'1'.repeat(32)}","spanId":"${'2'.repeat(16)}","startTimeUnixNano":"1","attributes":[${value}]}`;
    const body = Buffer.from(`{"resourceSpans":[{"scopeSpans":[{"spans":[${span}]}]}]}`);
    t.equal(normalized.rows('traces', 'json', body)[0]?.['input_tokens'], count, spelling);
  }
});

t.test('an invalid count is skipped, and the next name is read', async (t) => {
  const row = normalized.span({
    'gen_ai.usage.input_tokens': -1n,
    'gen_ai.usage.prompt_tokens': 30n,
    'gen_ai.operation.name': 'chat',
  });
  t.equal(row['input_tokens'], 30);
});

t.test('names of the same count are never added up', async (t) => {
  const row = normalized.span({
    'gen_ai.operation.name': 'chat',
    'gen_ai.usage.input_tokens': 30n,
    'gen_ai.usage.prompt_tokens': 30n,
    'llm.usage.prompt_tokens': 30n,
  });
  t.equal(row['input_tokens'], 30);
});

t.test('values in documents follow the same rule', async (t) => {
  t.equal(countOfValue(5), 5);
  t.equal(countOfValue('5'), 5);
  for (const value of [5.5, -5, Number.NaN, '5.5', null, undefined, true, [5], {}])
    t.same(countOfValue(value), Number.NaN);
});

t.test('durations may be fractions, but not negative or infinite', async (t) => {
  t.equal(amountOfValue(1.5), 1.5);
  t.equal(amountOfValue('1.5e-3'), 0.0015);
  for (const value of [-1, Number.NaN, Number.POSITIVE_INFINITY, 'soon', '', true])
    t.same(amountOfValue(value), Number.NaN);
});

t.test('a JSON double is the same duration as its binary value', async (t) => {
  const first = (value: string): unknown => {
    const attribute = `{"key":"gen_ai.response.time_to_first_chunk","value":{"doubleValue":${value}}}`;
    const span = `{"traceId":"${'1'.repeat(32)}","spanId":"${'2'.repeat(16)}","startTimeUnixNano":"1","attributes":[${attribute}]}`;
    const body = Buffer.from(`{"resourceSpans":[{"scopeSpans":[{"spans":[${span}]}]}]}`);
    return normalized.rows('traces', 'json', body)[0]?.['time_to_first_token_ms'];
  };
  const [row] = normalized.viaProtobuf('traces', [{ attributes: { 'gen_ai.response.time_to_first_chunk': -0 } }]);
  t.equal(row?.['time_to_first_token_ms'], 0);
  t.equal(first('-0.0'), 0);
  t.equal(first(`0.5${'0'.repeat(36)}`), 500);
  t.equal(first('-0.5'), null);
});

t.test('a double is no name and no document, in both encodings', async (t) => {
  const attributes = { 'mlflow.llm.model': 3.5, 'mlflow.trace.user': 1e21, 'mlflow.spanType': 5 };
  const [json] = normalized.plain('traces', [{ attributes }]);
  const [protobuf] = normalized.viaProtobuf('traces', [{ attributes }]);
  for (const column of ['request_model', 'user_id', 'operation']) {
    t.equal(protobuf?.[column], null, column);
    t.equal(json?.[column], null, column);
  }
});
