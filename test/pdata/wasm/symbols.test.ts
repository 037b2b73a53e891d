import t from 'tap';
import {
  HEADER_LOCAL_SYMBOLS,
  HEADER_SYMBOLS,
  INPUT_BASE,
  MAX_SYMBOL_BYTES,
  MAX_SYMBOLS,
  SIGNAL_TRACES,
  SYMBOL_ENVIRONMENT,
  SYMBOL_ENVIRONMENT_NAME,
  SYMBOL_SERVICE_NAME,
} from '../../../src/pdata/layout.ts';
import { IndexedBody } from './indexed-body.ts';
import { attribute, request, span, varint } from './protobuf-writer.ts';

function intern(body: IndexedBody, key: string): number {
  const length = body.wire.bytes.write(key, INPUT_BASE);
  return body.wire.exports.intern(INPUT_BASE, length);
}

t.test('the well-known keys have the numbers of the layout', (t) => {
  const body = new IndexedBody();
  t.equal(intern(body, 'service.name'), SYMBOL_SERVICE_NAME);
  t.equal(intern(body, 'deployment.environment.name'), SYMBOL_ENVIRONMENT_NAME);
  t.equal(intern(body, 'deployment.environment'), SYMBOL_ENVIRONMENT);
  t.equal(body.header(HEADER_SYMBOLS), 3);
  t.end();
});

t.test('a key has one symbol for the life of the process', (t) => {
  const body = new IndexedBody();
  const lengths = [0, 1, 7, 8, 9, 15, 16, 17, 31, 32, 33, MAX_SYMBOL_BYTES];
  const keys = lengths.map((length) => 'k'.repeat(length));
  const symbols = keys.map((key) => intern(body, key));
  t.equal(new Set(symbols).size, keys.length);
  body.wire.exports.resetTables();
  t.strictSame(
    keys.map((key) => intern(body, key)),
    symbols,
  );
  t.strictSame(
    symbols.map((symbol) => body.key(symbol)),
    keys,
  );
  t.end();
});

t.test('keys that differ in one byte anywhere have different symbols', (t) => {
  const body = new IndexedBody();
  const symbols = new Set<number>();
  for (let place = 0; place < 100; place++) symbols.add(intern(body, `${'a'.repeat(place)}b${'a'.repeat(99 - place)}`));
  t.equal(symbols.size, 100);
  t.end();
});

t.test('a long key is valid for one request, and its bucket does not keep it', (t) => {
  const body = new IndexedBody();
  const long = 'x'.repeat(MAX_SYMBOL_BYTES + 1);
  t.equal(intern(body, long), MAX_SYMBOLS);
  t.equal(intern(body, long), MAX_SYMBOLS, 'known within the request');
  t.equal(intern(body, `${long}y`), MAX_SYMBOLS + 1);
  body.wire.exports.resetTables();
  t.equal(body.header(HEADER_LOCAL_SYMBOLS), 0);
  t.equal(intern(body, `${long}y`), MAX_SYMBOLS, 'numbers start again');
  t.equal(body.header(HEADER_LOCAL_SYMBOLS), 1);
  t.end();
});

t.test('when the table is full, new keys are valid for one request and old ones stay', (t) => {
  const body = new IndexedBody();
  const keys = Array.from({ length: 3 * MAX_SYMBOLS }, (_, i) => `key.${i}`);
  const spans = Array.from({ length: 64 }, (_, part) =>
    span(...keys.filter((_, i) => i % 64 === part).map((key) => attribute(9, key, varint(3, 1)))),
  );
  for (let round = 0; round < 3; round++) {
    t.equal(body.index(SIGNAL_TRACES, request(...spans)), undefined);
    t.equal(body.header(HEADER_SYMBOLS), MAX_SYMBOLS - 1, 'symbol 0 is never used');
    t.equal(body.header(HEADER_LOCAL_SYMBOLS), keys.length - (MAX_SYMBOLS - 1 - 3));
    const seen = new Set(keys.map((_, i) => body.attribute(i).key));
    t.equal(seen.size, keys.length, 'every row has its own key');
  }
  t.equal(intern(body, 'service.name'), SYMBOL_SERVICE_NAME);
  t.end();
});

t.test('a key with U+0000 equals the key as which it is stored, permanent or not', (t) => {
  const body = new IndexedBody();
  for (const key of ['a\0b', `\0${'k'.repeat(MAX_SYMBOL_BYTES)}`]) {
    const symbol = intern(body, key);
    t.equal(body.key(symbol), key.replace('\0', '\ufffd'));
    t.equal(intern(body, key), symbol);
    t.equal(intern(body, key.replace('\0', '\ufffd')), symbol);
  }
  t.equal(body.header(HEADER_LOCAL_SYMBOLS), 1);
  t.end();
});
