/**
 * Values as JSON: escaping at every length, numbers as short as JavaScript prints them, nested values, dispositions.
 */
import fc from 'fast-check';
import t from 'tap';
import type { Batch } from '../../../src/pdata/batch.ts';
import {
  ATTRIBUTE_FLAGS,
  ATTRIBUTE_KIND,
  ATTRIBUTE_LENGTH,
  ATTRIBUTE_OFFSET,
  ATTRIBUTE_STRIDE,
  ATTRIBUTE_DISPOSITION,
  ATTRIBUTES_BASE,
  KIND_BASE64_TEXT,
  KIND_JSON,
  KIND_NUMBER_TEXT,
  KIND_TEXT,
  SIGNAL_TRACES,
  TEXT_JSON_ESCAPED,
  DISPOSITION_DROP,
  DISPOSITION_MOVED,
} from '../../../src/pdata/layout.ts';
import { cases } from '../../support/long.ts';
import type { Message } from '../../support/protos.ts';
import { TestTables } from '../../support/tables.ts';

const tables = new TestTables();
const SPAN = {
  traceId: Buffer.alloc(16, 1),
  spanId: Buffer.alloc(8, 2),
  startTimeUnixNano: 1n,
} as const;

function request(attributes: readonly Message[], span: Message = {}): Message {
  return { resourceSpans: [{ scopeSpans: [{ spans: [{ ...SPAN, ...span, attributes }] }] }] };
}

function attribute(key: string, value: Message): Message {
  return { key, value };
}

/** The attributes column of the batch's first line, as parsed JSON. */
function attributesOf(batch: Batch): Record<string, unknown> {
  return tables.lines(batch)[0]?.['attributes'] as Record<string, unknown>;
}

/** Sets a text of the test for attribute row 0. */
function pointAt(batch: Batch, kind: number, text: string, flags = 0): void {
  const { offset, length } = batch.tables.scratch(text) ?? { offset: 0, length: 0 };
  batch.tables.memory.u8[ATTRIBUTES_BASE + ATTRIBUTE_KIND] = kind;
  batch.tables.memory.u8[ATTRIBUTES_BASE + ATTRIBUTE_FLAGS] = flags;
  batch.tables.memory.u32[(ATTRIBUTES_BASE + ATTRIBUTE_OFFSET) >>> 2] = offset;
  batch.tables.memory.u32[(ATTRIBUTES_BASE + ATTRIBUTE_LENGTH) >>> 2] = length;
}

function setDisposition(batch: Batch, row: number, disposition: number): void {
  batch.tables.memory.u8[ATTRIBUTES_BASE + row * ATTRIBUTE_STRIDE + ATTRIBUTE_DISPOSITION] = disposition;
}

const storable = (text: string): string => text.replaceAll('\0', '\ufffd');
const unit = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('a', ' ', 'é', '\u{1f600}', '漢') },
  fc.constantFrom('"', '\\', '\n', '\t', '\r', '\b', '\f', '\0', '\u0001', '\u001f', '\u007f', '/'),
);

t.test('texts and keys of any length are read from the line as they were sent', async (t) => {
  fc.assert(
    fc.property(fc.string({ unit, maxLength: 80 }), fc.string({ unit, maxLength: 300 }), (key, text) => {
      const found = attributesOf(tables.batch(SIGNAL_TRACES, request([attribute(key, { stringValue: text })])));
      t.equal(Object.keys(found)[0], storable(key));
      t.equal(found[storable(key)], storable(text));
    }),
    { numRuns: 400 },
  );
});

t.test('a long text full of control characters is escaped piece by piece', async (t) => {
  const text = '\u0001"é\0'.repeat(50_000);
  const found = attributesOf(tables.batch(SIGNAL_TRACES, request([attribute('k', { stringValue: text })])));
  t.equal(found['k'], storable(text));
});

t.test('doubles are printed as JavaScript prints them', async (t) => {
  const double = fc.oneof(
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc
      .tuple(fc.integer({ min: -(10 ** 9), max: 10 ** 9 }), fc.integer({ min: 0, max: 9 }))
      .map(([k, e]) => k / 10 ** e),
    fc.integer({ min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER }),
    // Every number of digits, from below the range that is printed without the host to above it.
    fc
      .tuple(
        fc.double({ min: -1, max: 1, noNaN: true }),
        fc.integer({ min: -9, max: 18 }),
        fc.integer({ min: 1, max: 18 }),
      )
      .map(([k, e, digits]) => Number((k * 10 ** e).toPrecision(digits))),
    fc.integer({ min: -30, max: 60 }).map((e) => 2 ** e * (1 - 2 ** -53)),
    fc.integer({ min: -30, max: 60 }).map((e) => 2 ** e),
    fc.constantFrom(5e-324, 1e21, 1e300, 0.1, 1 / 3, 999999999999999, 1e15, 1e-7, 0.000001, 123456.789012),
  );
  fc.assert(
    fc.property(double, (value) => {
      const batch = tables.batch(SIGNAL_TRACES, request([attribute('k', { doubleValue: value })]));
      t.match(tables.text(batch), `"attributes":{"k":${Object.is(value, -0) ? '-0' : String(value)}}`);
    }),
    { numRuns: cases(1500) },
  );
});

t.test('integers keep every digit', async (t) => {
  const values = [
    0n,
    7n,
    99999999n,
    100000000n,
    9999999999999999n,
    10000000000000000n,
    2n ** 63n - 1n,
    -(2n ** 63n),
    -1n,
  ];
  const random = fc.sample(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), { numRuns: 200, seed: 5 });
  for (const value of [...values, ...random]) {
    const batch = tables.batch(SIGNAL_TRACES, request([attribute('k', { intValue: value })]));
    t.match(tables.text(batch), `"attributes":{"k":${value}}`);
  }
});

t.test('NaN and infinities are strings, an empty value is null, bytes are base64', async (t) => {
  const attributes = [
    attribute('nan', { doubleValue: Number.NaN }),
    attribute('up', { doubleValue: Number.POSITIVE_INFINITY }),
    attribute('down', { doubleValue: Number.NEGATIVE_INFINITY }),
    attribute('none', {}),
    attribute('yes', { boolValue: true }),
    attribute('no', { boolValue: false }),
    ...['', 'a', 'ab', 'abc', '\u00ff\u00fe>?'].map((text) =>
      attribute(`bytes ${text}`, { bytesValue: Buffer.from(text, 'latin1') }),
    ),
  ];
  t.same(attributesOf(tables.batch(SIGNAL_TRACES, request(attributes))), {
    nan: 'NaN',
    up: 'Infinity',
    down: '-Infinity',
    none: null,
    yes: true,
    no: false,
    'bytes ': '',
    'bytes a': 'YQ==',
    'bytes ab': 'YWI=',
    'bytes abc': 'YWJj',
    'bytes \u00ff\u00fe>?': '//4+Pw==',
  });
});

t.test('of equal keys in a nested map the last is printed, in small maps and in large ones', async (t) => {
  for (const size of [0, 1, 3, 8, 9, 40, 3000]) {
    const values = Array.from({ length: size }, (_, i) =>
      attribute(`key ${i % Math.ceil(size / 2)}`, {
        kvlistValue: { values: [attribute('n', { intValue: BigInt(i) })] },
      }),
    );
    const batch = tables.batch(SIGNAL_TRACES, request([attribute('map', { kvlistValue: { values } })]));
    const text = tables.text(batch);
    const expected = Object.fromEntries(values.map(({ key }, i) => [key, { n: i }]));
    t.same((JSON.parse(text) as { attributes: unknown }).attributes, { map: expected });
    t.equal(text.split('"key ').length - 1, Object.keys(expected).length, 'no key is printed twice');
  }
});

t.test('attributes that were dropped, moved or superseded are not printed', async (t) => {
  const batch = tables.batch(
    SIGNAL_TRACES,
    request([
      attribute('kept', { intValue: 1n }),
      attribute('dropped', { stringValue: 'secret' }),
      attribute('moved', { stringValue: 'elsewhere' }),
      attribute('twice', { intValue: 1n }),
      attribute('twice', { intValue: 2n }),
    ]),
  );
  setDisposition(batch, 1, DISPOSITION_DROP);
  setDisposition(batch, 2, DISPOSITION_MOVED);
  t.same(attributesOf(batch), { kept: 1, twice: 2 });
});

t.test('JSON texts are copied into lines and decoded for COPY', async (t) => {
  const batch = tables.batch(SIGNAL_TRACES, request([attribute('k', { stringValue: 'x' })]));
  const literal = String.raw`a\"b\\c\u00e9\ud83d\ude00\n\t\/\ud800x 0123456789abcdef`;
  pointAt(batch, KIND_TEXT, literal, TEXT_JSON_ESCAPED);
  t.match(tables.text(batch), `{"k":"${literal}"}`);
  const derived = batch.derived;
  batch.records.goto(0).derived = derived.create();
  derived.setAttribute(0, 0);
  t.equal(tables.tuples(batch)[0]?.['operation'], 'a"b\\cé\u{1f600}\n\t/\ufffdx 0123456789abcdef');
});

t.test('numbers as text, base64 text and finished JSON are printed verbatim', async (t) => {
  for (const [kind, text, json] of [
    [KIND_NUMBER_TEXT, '1.50e+3', '1.50e+3'],
    [KIND_BASE64_TEXT, 'YWI=', '"YWI="'],
    [KIND_JSON, '{"a":["[email]",1]}', '{"a":["[email]",1]}'],
  ] as const) {
    const batch = tables.batch(SIGNAL_TRACES, request([attribute('k', { stringValue: 'x' })]));
    pointAt(batch, kind, text);
    t.match(tables.text(batch), `"attributes":{"k":${json}}`);
  }
});

t.test('a value is rendered as JSON for processors', async (t) => {
  const nested = { arrayValue: { values: [{ stringValue: 'a"b' }, { kvlistValue: { values: [] } }, {}] } };
  const batch = tables.batch(SIGNAL_TRACES, request([attribute('k', nested)]));
  t.equal(batch.jsonOf(0), '["a\\"b",{},null]');
});

t.test('a resource is rendered once and is in every line', async (t) => {
  const resource = {
    attributes: [attribute('service.name', { stringValue: 'shop' }), attribute('n', { intValue: 1n })],
  };
  const spans = Array.from({ length: 3 }, () => ({ ...SPAN }));
  const batch = tables.batch(SIGNAL_TRACES, { resourceSpans: [{ resource, scopeSpans: [{ spans }] }] });
  for (const line of tables.lines(batch)) {
    t.same(line['resource'], { 'service.name': 'shop', n: 1 });
    t.equal(line['service_name'], 'shop');
  }
  t.same(
    tables.tuples(batch).map((tuple) => tuple['resource']),
    spans.map(() => ({ 'service.name': 'shop', n: 1 })),
    'the rendered text is used for the other format too',
  );
});

t.test('keys beyond the permanently interned ones are printed too', async (t) => {
  const long = 'k'.repeat(5000);
  const attributes = [attribute(long, { intValue: 1n }), attribute('q"'.repeat(100), { intValue: 2n })];
  for (let round = 0; round < 2; round++) {
    t.same(attributesOf(tables.batch(SIGNAL_TRACES, request(attributes))), { [long]: 1, ['q"'.repeat(100)]: 2 });
  }
});

/** The attributes column as text, since parsing hides duplicate names. */
function printedAttributes(batch: Batch): string {
  return /"attributes":(\{.*\}),"received_at"/.exec(tables.text(batch))?.[1] ?? '';
}

t.test('keys that differ only in U+0000 and U+FFFD are one key, and its last attribute is used', async (t) => {
  const keys = ['a\0', 'b', 'a\ufffd', '\0a', '\ufffda'];
  const entries = keys.map((key, index) => attribute(key, { intValue: BigInt(index) }));
  t.equal(
    printedAttributes(tables.batch(SIGNAL_TRACES, request(entries))),
    '{"b":1,"a\ufffd":2,"\ufffda":4}',
    'attributes',
  );
  const padding = Array.from({ length: 20 }, (_, index) => attribute(`k${index}`, { boolValue: true }));
  for (const more of [[], padding]) {
    const nested = { kvlistValue: { values: [...more, ...entries] } };
    const printed = printedAttributes(tables.batch(SIGNAL_TRACES, request([attribute('m', nested)])));
    const rest = more.map(({ key }) => `"${key}":true,`).join('');
    t.equal(printed, `{"m":{${rest}"b":1,"a\ufffd":2,"\ufffda":4}}`, `a map of ${more.length + keys.length} entries`);
  }
});

t.test('an attribute renamed to the key of another leaves one of the two', async (t) => {
  const entries = ['a', 'b', 'c'].map((key, index) => attribute(key, { intValue: BigInt(index) }));
  const batch = tables.batch(SIGNAL_TRACES, request(entries));
  const name = batch.tables.scratch('b') ?? { offset: 0, length: 0 };
  batch.attributes.goto(2).rename(batch.tables.kernels.intern(name.offset, name.length));
  t.equal(printedAttributes(batch), '{"a":0,"b":2}');
  t.equal(printedAttributes(batch), '{"a":0,"b":2}', 'and again when it is encoded again');
});
