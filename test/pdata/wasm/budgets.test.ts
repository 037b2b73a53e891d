/** Limits on elements without their own row: the entries of one nested map, the unknown members of one JSON object. */
import t from 'tap';
import {
  ENCODING_JSON,
  ENCODING_PROTOBUF,
  FAIL_BUDGET,
  FAIL_PAYLOAD,
  MAX_MAP_ENTRIES,
  SIGNAL_LOGS,
} from '../../../src/pdata/layout.ts';
import { ModuleRun } from '../../support/oracle-module.ts';
import * as pb from './protobuf-writer.ts';

const module = new ModuleRun();
const ACCEPTED = { accepted: true, records: 1 };
const TOO_MANY = { accepted: false, code: FAIL_BUDGET };

const keys = (count: number): string[] => Array.from({ length: count }, (_, index) => `k${index}`);

function logJson(members: string): Buffer {
  return Buffer.from(`{"resourceLogs":[{"scopeLogs":[{"logRecords":[{${members}}]}]}]}`);
}

t.test('the entries of a nested map are limited, in either encoding', (t) => {
  for (const [count, outcome] of [
    [MAX_MAP_ENTRIES, ACCEPTED],
    [MAX_MAP_ENTRIES + 1, TOO_MANY],
  ] as const) {
    const entries = keys(count).map((key) => pb.message(1, pb.text(1, key)));
    const body = pb.request(pb.message(5, pb.message(6, ...entries)));
    t.strictSame(module.index(SIGNAL_LOGS, ENCODING_PROTOBUF, body), outcome, `${count} in protobuf`);
    const values = keys(count).map((key) => `{"key":"${key}"}`);
    const json = logJson(`"body":{"kvlistValue":{"values":[${values.join(',')}]}}`);
    t.strictSame(module.index(SIGNAL_LOGS, ENCODING_JSON, json), outcome, `${count} in JSON`);
  }
  t.end();
});

t.test('a map with the most entries is printed, every key once', (t) => {
  const entries = [...keys(MAX_MAP_ENTRIES - 1), 'k0'].map((key) => pb.message(1, pb.text(1, key)));
  module.index(SIGNAL_LOGS, ENCODING_PROTOBUF, pb.request(pb.message(5, pb.message(6, ...entries))));
  const line = JSON.parse(module.encodeNdjson()) as { readonly body: object };
  t.equal(Object.keys(line.body).length, MAX_MAP_ENTRIES - 1);
  t.end();
});

t.test('the unknown members of an object are limited, and their names are unique', (t) => {
  const unknown = (names: readonly string[]): Buffer =>
    logJson(`"x":{${names.map((name) => `"${name}":0`).join(',')}}`);
  const most = keys(MAX_MAP_ENTRIES);
  t.strictSame(module.index(SIGNAL_LOGS, ENCODING_JSON, unknown(most)), ACCEPTED);
  t.strictSame(module.index(SIGNAL_LOGS, ENCODING_JSON, unknown([...most, 'more'])), TOO_MANY);
  const twin = [...most.slice(1), 'k7'];
  t.strictSame(module.index(SIGNAL_LOGS, ENCODING_JSON, unknown(twin)), { accepted: false, code: FAIL_PAYLOAD });
  t.end();
});
