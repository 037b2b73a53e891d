/** JSON with exact numbers: parsed, written again and compacted without a changed value, in linear time. */
import t from 'tap';
import {
  compactJson,
  exactText,
  type Json,
  jsonText,
  longNumber,
  parseDocument,
  parseExact,
  parseJson,
} from '../../src/pdata/exact-json.ts';

t.test('numbers keep every digit', async (t) => {
  for (const text of [
    '{"a":9223372036854775807,"b":-9223372036854775808}',
    '[12345678901234567890,0.30000000000000004,1e-7]',
    '{"text":"12345678901234567890 and \\"12345678901234567890\\\\"}',
    '9223372036854775807',
  ])
    t.equal(jsonText(parseJson(text) as Json), text);
  t.equal(longNumber(parseJson('9223372036854775807') as Json), '9223372036854775807');
  t.equal(longNumber('9223372036854775807'), null);
});

t.test('an integer of an answer is a number, or a bigint where that has more digits', async (t) => {
  const text =
    '{"safe":9007199254740991,"low":-9007199254740993,"list":[12345678901234567890,0.1234567890123457,1e20],"text":"9007199254740993"}';
  const value = {
    safe: 9007199254740991,
    low: -9007199254740993n,
    list: [12345678901234567890n, 0.1234567890123457, 1e20],
    text: '9007199254740993',
  };
  t.same(parseExact(text), value);
  t.same(parseExact(exactText(value)), value);
  t.equal(exactText({ a: [1n, 9007199254740993n] }, 1), '{\n "a": [\n  1,\n  9007199254740993\n ]\n}');
  t.same(parseExact('{"a":[1,"b",null]}'), { a: [1, 'b', null] });
  for (const wrong of ['', '{', '[9007199254740993,']) t.throws(() => parseExact(wrong), SyntaxError);
});

t.test('only the spaces between tokens are removed', async (t) => {
  const value = { 'a b': [' " ', '\\', 'c\\" d', { e: null }], f: 1.5 };
  const spaced = JSON.stringify(value, null, 1).replaceAll('\n', ' ');
  t.equal(compactJson(spaced), JSON.stringify(value));
});

t.test('what is not JSON is undefined', async (t) => {
  for (const text of ['', '{', '[1,', 'text', '[9223372036854775807,"']) t.equal(parseJson(text), undefined);
  t.equal(parseDocument('1'), undefined);
});

t.test('hostile text takes linear time', async (t) => {
  const long = 500_000;
  const started = process.cpuUsage();
  for (const text of [
    `[1234567890123456789,"${'a'.repeat(long)}`,
    `[1234567890123456789,"${'\\'.repeat(long)}`,
    `[1234567890123456789,${'"\\\\",'.repeat(long / 5)}`,
    `[${'1234567890123456789,'.repeat(long / 20)}`,
    `{"a":"${'\\\\"'.repeat(long / 3)}`,
  ]) {
    t.equal(parseJson(text), undefined);
    compactJson(text);
  }
  const { user, system } = process.cpuUsage(started);
  t.ok(user + system < 5_000_000, `${user + system} µs`);
});
