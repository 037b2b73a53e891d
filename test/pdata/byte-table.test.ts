/** The table of values by bytes behaves like a map of strings. */
import fc from 'fast-check';
import t from 'tap';
import { ByteTable } from '../../src/pdata/byte-table.ts';

const LIMIT = 8;

t.test('finds what was added, by all bytes and the form, until it is full', async (t) => {
  const key = fc.record({ form: fc.nat(2), bytes: fc.uint8Array({ maxLength: 3 }), offset: fc.nat(5) });
  fc.assert(
    fc.property(fc.array(key, { maxLength: 40 }), (keys) => {
      const table = new ByteTable<number>(LIMIT);
      const expected = new Map<string, number>();
      for (const [value, { form, bytes, offset }] of keys.entries()) {
        const memory = new Uint8Array([...new Uint8Array(offset).fill(7), ...bytes, 9, 9]);
        const name = `${form} ${bytes}`;
        t.equal(table.get(form, memory, offset, bytes.length), expected.get(name));
        if (expected.has(name)) continue;
        t.equal(table.isFull, expected.size === LIMIT);
        table.add(form, memory, offset, bytes.length, value);
        // The table keeps a copy.
        memory.fill(0);
        if (expected.size < LIMIT) expected.set(name, value);
      }
    }),
  );
});

t.test('a cleared table is empty and accepts entries again', async (t) => {
  const table = new ByteTable<number>(2);
  const bytes = new Uint8Array([1, 2, 3]);
  for (const at of [0, 1]) table.add(0, bytes, at, 1, at);
  t.ok(table.isFull);
  table.clear();
  t.equal(table.get(0, bytes, 0, 1), undefined);
  table.add(0, bytes, 2, 1, 5);
  t.equal(table.get(0, bytes, 2, 1), 5);
  t.notOk(table.isFull);
});

t.test('refuses a size whose slots have no mask or no number', async (t) => {
  for (const limit of [3, 65_536]) t.throws(() => new ByteTable(limit), RangeError);
});
