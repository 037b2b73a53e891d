/** Compares the two encoders: for every request, the tuples of COPY BINARY have the values of the NDJSON lines. */
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import t from 'tap';
import { DERIVED_IS_ERROR, ENCODING_PROTOBUF, SIGNAL_METRICS, SIGNAL_TRACES } from '../../../src/pdata/layout.ts';
import { requests } from '../../support/generators.ts';
import { Oracle } from '../../support/oracle.ts';
import { encodeProtobuf, loadProtos, type Message, SIGNAL_NAMES, SIGNALS } from '../../support/protos.ts';
import { COLUMNS, type Line, TestTables } from '../../support/tables.ts';

const RUNS = 150;
const tables = new TestTables();
const protos = loadProtos();
const oracle = new Oracle(protos);

/** The first column whose value differs between a tuple and its line; null when there is none. */
function difference(line: Line, tuple: Readonly<Record<string, unknown>>): string | null {
  for (const [name, value] of Object.entries(tuple)) {
    const shown = name === 'value_int' || name === 'value_double' ? line['value'] : line[name];
    if (name.startsWith('value_') && value === null) continue;
    const same = name === 'value_int' ? String(value) === String(shown) : isDeepStrictEqual(value, shown);
    if (!same && !(name === 'value_int' && Number(value) === shown)) {
      return `${name}: ${JSON.stringify(value)} instead of ${JSON.stringify(shown)}`;
    }
  }
  return null;
}

for (const signal of SIGNALS) {
  t.test(`${SIGNAL_NAMES[signal]} have the same values as tuples and as lines`, async (t) => {
    let compared = 0;
    fc.assert(
      fc.property(requests(signal), (message) => {
        const verdict = oracle.judge(signal, ENCODING_PROTOBUF, encodeProtobuf(protos.requests[signal], message));
        if (!verdict.accepted || verdict.records === 0) return;
        const batch = tables.batch(signal, message);
        if (batch.recordCount === 0) return;
        const lines = tables.lines(batch);
        const tuples = tables.tuples(batch);
        if (tuples.length !== lines.length) throw new Error(`${tuples.length} tuples, ${lines.length} lines`);
        for (const [index, line] of lines.entries()) {
          const found = difference(line, tuples[index] ?? {});
          if (found !== null) throw new Error(found);
          compared++;
        }
      }),
      { numRuns: RUNS },
    );
    t.ok(compared > 0, 'records were compared');
  });
}

/** One of the things that no plain span has. */
const DETAILS: readonly Message[] = [
  { droppedAttributesCount: 1 },
  { droppedEventsCount: 1 },
  { droppedLinksCount: 4294967295 },
  { events: [{ name: 'e', timeUnixNano: '1' }] },
  { links: [{ traceId: Buffer.alloc(16, 1), spanId: Buffer.alloc(8, 1) }] },
];

const spanOf = (number: number, more: Message): Message => ({
  traceId: Buffer.alloc(16, 7),
  spanId: Buffer.alloc(8, number + 1),
  name: `span ${number}`,
  startTimeUnixNano: '1767225600000000001',
  attributes: [
    { key: 'b', value: { intValue: number } },
    { key: 'a', value: { stringValue: 'x' } },
  ],
  ...more,
});

t.test('spans leave columns out only when no span of the request has anything in them', async (t) => {
  const anyDetail = fc.option(fc.record({ at: fc.nat(29), detail: fc.constantFrom(...DETAILS, 'derived' as const) }));
  const seen = { plain: 0, full: 0 };
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 30 }), anyDetail, (count, chosen) => {
      const at = chosen === null ? -1 : chosen.at % count;
      const more = chosen === null || chosen.detail === 'derived' ? {} : chosen.detail;
      const spans = Array.from({ length: count }, (_, number) => spanOf(number, number === at ? more : {}));
      const batch = tables.batch(SIGNAL_TRACES, { resourceSpans: [{ scopeSpans: [{ spans }] }] });
      if (chosen?.detail === 'derived') {
        batch.records.goto(at).derived = batch.derived.create();
        batch.derived.setByte(DERIVED_IS_ERROR, 1);
      }
      const { isPlain, release } = tables.copy(batch);
      release();
      if (isPlain !== (chosen === null)) throw new Error(`isPlain is ${isPlain}`);
      seen[isPlain ? 'plain' : 'full'] += 1;
      const tuples = tables.tuples(batch);
      for (const [index, line] of tables.lines(batch).entries()) {
        const found = difference(line, tuples[index] ?? {});
        if (found !== null) throw new Error(found);
      }
    }),
    { numRuns: RUNS },
  );
  t.ok(seen.plain > 0 && seen.full > 0, 'both forms were compared');
});

/** The order in which the server stores the keys of an object. */
const inOrder = (keys: readonly string[]): readonly string[] =>
  [...keys].sort(
    (a, b) => Buffer.byteLength(a) - Buffer.byteLength(b) || Buffer.compare(Buffer.from(a), Buffer.from(b)),
  );

t.test('attribute keys of a tuple are in the order of jsonb', async (t) => {
  const keysOf = (count: number) =>
    fc.uniqueArray(fc.string({ minLength: 1, maxLength: 12 }), { minLength: count, maxLength: count });
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 64 }).chain(keysOf), { minLength: 1, maxLength: 4 }), (lists) => {
      const spans = lists.flatMap((keys, number) => {
        const attributes = keys.map((key, index) => ({ key: `_${key}`, value: { intValue: index } }));
        // Adjacent spans with the same keys, and with the same number of other keys.
        return [0, 1].map((copy) => spanOf(number * 2 + copy, { attributes }));
      });
      const batch = tables.batch(SIGNAL_TRACES, { resourceSpans: [{ scopeSpans: [{ spans }] }] });
      for (const [index, { attributes }] of tables.tuples(batch).entries()) {
        const keys = Object.keys(attributes as object);
        if (keys.join() !== inOrder(keys).join()) throw new Error(`span ${index}: ${keys.join()}`);
        if (keys.length !== lists[index >> 1]?.length) throw new Error('keys are missing');
      }
    }),
    { numRuns: RUNS },
  );
  t.pass();
});

t.test('a line has the columns in their order, a signal first', async (t) => {
  for (const signal of SIGNALS) {
    const message = fc
      .sample(requests(signal), { numRuns: 200, seed: 7 })
      .find((message) => oracle.rows(signal, message).length > 0);
    if (message === undefined) throw new Error('no request has a record');
    const [line] = tables.lines(tables.batch(signal, message));
    const names = COLUMNS[SIGNAL_NAMES[signal]].map(({ name }) => name);
    const expected =
      signal === SIGNAL_METRICS
        ? names.flatMap((name) => (name === 'value_int' ? ['value'] : name === 'value_double' ? [] : [name]))
        : names;
    t.same(Object.keys(line ?? {}), ['signal', ...expected]);
  }
});
