/** Nested values of JSON bodies: the encoders' output from their source, in any spelling. */
import t from 'tap';
import {
  ENCODING_JSON,
  HEADER_BASE,
  HEADER_OUTPUT_LENGTH,
  INPUT_BASE,
  OUTPUT_BASE,
  SIGNAL_LOGS,
} from '../../../src/pdata/layout.ts';
import { loadWire } from '../../../src/pdata/load-wasm.ts';

const wire = loadWire(7n);

/** The printed body of the one log record whose AnyValue is given as JSON text. */
function printed(value: string): string {
  const body = Buffer.from(`{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":${value}}]}]}]}`);
  body.copy(wire.bytes, INPUT_BASE);
  wire.exports.index(SIGNAL_LOGS, ENCODING_JSON, body.length);
  wire.exports.encodeNdjson(0);
  const length = wire.bytes.readUInt32LE(HEADER_BASE + HEADER_OUTPUT_LENGTH);
  const line = wire.bytes.toString('utf8', OUTPUT_BASE, OUTPUT_BASE + length);
  return /"body":(.*?),"trace_id":/.exec(line)?.[1] ?? line;
}

const map = (...entries: string[]) => `{"kvlistValue":{"values":[${entries.join(',')}]}}`;
const entry = (key: string, value: number) => `{"key":"${key}","value":{"intValue":${value}}}`;

t.test('of equal keys of a map only the last is printed', async (t) => {
  t.equal(printed(map(entry('a', 1), entry('b', 2), entry('a', 3))), '{"b":2,"a":3}');
  t.equal(printed(map(entry('a', 1), entry('a', 2))), '{"a":2}', 'neighbours');
  t.equal(printed(map(entry('a', 1), entry('b', 2), entry('\\u0061', 3))), '{"b":2,"a":3}', 'spelled with an escape');
  t.equal(printed(map('{}', entry('b', 2), '{"value":{"intValue":3}}')), '{"b":2,"":3}', 'without a key');
  const many = Array.from({ length: 40 }, (_, i) => entry(`k${i % 20}`, i));
  const expected = Array.from({ length: 20 }, (_, i) => `"k${i}":${i + 20}`).join(',');
  t.equal(printed(map(...many)), `{${expected}}`, 'by the table of a larger map');
});

t.test('superseded entries of a map behind an escaped member name are left out too', async (t) => {
  const entries = [entry('a', 1), entry('b', 2), entry('a', 3)].join(',');
  t.equal(printed(`{"kvlistValue":{"v\\u0061lues":[${entries}]}}`), '{"b":2,"a":3}');
});

t.test('a value may precede its key', async (t) => {
  t.equal(printed(map('{"value":{"arrayValue":{"values":[{}]}},"key":"a\\"b"}')), '{"a\\"b":[null]}');
});

t.test('unknown members are printed as their values', async (t) => {
  const values =
    '{"doubleValue":"NaN"},{"intValue":"-0"},{"boolValue":false},{"bytesValue":"_w"},{"stringValue":"\\ud800\\u0000"}';
  t.equal(printed(`{"arrayValue":{"values":[${values}]}}`), '["NaN",0,false,"/w==","\ufffd\ufffd"]');
});
