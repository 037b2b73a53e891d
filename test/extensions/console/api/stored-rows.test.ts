/** Rows are handed on in parts that take few milliseconds to write, by number and by size. */
import t from 'tap';
import { HIDDEN, storedRows } from '../../../../src/extensions/console/api/stored-rows.ts';
import type { RequestContext } from '../../../../src/extensions/console/server/route.ts';

/** The lengths of the parts for rows with texts of these lengths, which the database gives at once. */
async function partsOf(lengths: readonly number[]): Promise<readonly number[]> {
  async function* stream(): AsyncGenerator<readonly object[]> {
    yield lengths.map((length) => ({ name: 'x'.repeat(length), missing: null }));
  }
  const context = { caller: { seesContent: true }, reader: { stream } } as unknown as RequestContext;
  const parts: number[] = [];
  for await (const rows of storedRows(context, { text: '', values: [] }, HIDDEN)) parts.push(rows.length);
  return parts;
}

t.test('short rows are handed on 25 at a time, and long ones singly', async (t) => {
  t.same(await partsOf([]), []);
  t.same(await partsOf(Array(60).fill(10)), [25, 25, 10]);
  t.same(await partsOf([1_000_000, 1_000_000, 10, 10]), [1, 1, 2]);
  t.same(await partsOf([10, 300_000, 10]), [2, 1]);
});
