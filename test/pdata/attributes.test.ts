/**
 * Attribute rows by cursor and by key sequence: both leave out attributes that a later one of the same key supersedes.
 */
import * as fc from 'fast-check';
import t from 'tap';
import { MAX_SYMBOLS, SIGNAL_TRACES } from '../../src/pdata/layout.ts';
import { hasKeys, readKeys } from '../../src/pdata/row-keys.ts';
import { TestTables } from '../support/tables.ts';

const tables = new TestTables();
const requestWith = (keys: readonly string[]): { readonly json: string } => {
  const attributes = keys.map((key, index) => ({ key, value: { intValue: String(index) } }));
  const ids = { traceId: '1'.repeat(32), spanId: '1'.repeat(16) };
  const span = { ...ids, name: 'n', startTimeUnixNano: '1763720000000000000', attributes };
  return { json: JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] }) };
};
const keys = fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { maxLength: 8 });

t.test('nextWith visits the rows of next whose key has the bits, and those of keys beyond the list', async (t) => {
  fc.assert(
    fc.property(keys, fc.integer({ min: 0, max: 31 }), fc.boolean(), (list, chosen, isShort) => {
      const batch = tables.batch(SIGNAL_TRACES, requestWith(list));
      const bits = new Uint8Array(isShort ? 1 : MAX_SYMBOLS);
      const isWanted = (key: string): boolean => ((chosen >>> (key.charCodeAt(0) - 97)) & 1) === 1;
      for (const key of ['a', 'b', 'c', 'd', 'e']) bits[batch.tables.symbol(key)] = isWanted(key) ? 2 : 1;
      const expected: number[] = [];
      for (const rows = batch.recordAttributes(0); rows.next(); )
        if (isShort || isWanted(batch.tables.keyOf(rows.symbol))) expected.push(rows.row);
      const found: number[] = [];
      for (const rows = batch.recordAttributes(0); rows.nextWith(bits, 2); ) found.push(rows.row);
      t.strictSame(found, expected);
    }),
    { numRuns: 300 },
  );
});

t.test('a key sequence matches exactly the same keys in the same order', async (t) => {
  const read = (list: readonly string[]): string => {
    const batch = tables.batch(SIGNAL_TRACES, requestWith(list));
    const { attributesFirst, attributesCount } = batch.records.goto(0);
    const sequence = new Uint32Array(attributesCount);
    t.ok(readKeys(batch.tables.memory, attributesFirst, attributesCount, sequence));
    t.ok(hasKeys(batch.tables.memory, attributesFirst, sequence));
    return sequence.join();
  };
  t.equal(read(['a', 'b']), read(['a', 'b']));
  t.not(read(['a', 'b']), read(['b', 'a']));
  t.not(read(['a', 'b', 'a']), read(['a', 'b', 'b']));
  const batch = tables.batch(SIGNAL_TRACES, requestWith(['a', 'b']));
  const { attributesFirst } = batch.records.goto(0);
  t.notOk(hasKeys(batch.tables.memory, attributesFirst, Uint32Array.of(batch.tables.symbol('b'))));
});
