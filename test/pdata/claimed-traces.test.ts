/** Compares the traces in typed arrays with objects in a Map. */
import fc from 'fast-check';
import t from 'tap';
import { mergeTraces, shareTrace } from '../../src/pdata/claimed-traces.ts';
import { finish } from '../../src/pdata/steps.ts';
import { claimedTraces, listed, type TraceClaim } from '../support/claimed-traces.ts';

const owner = { project: 'p', environment: 'default' };
/** Ids that repeat, and that differ in one word only, with the highest bit or without it. */
const word = fc.constantFrom('00000000', '00000001', '7fffffff', '80000000', 'ffffffff', '01020304');
const traceId = fc.tuple(word, word, word, word).map((words) => words.join(''));
const time = fc.bigInt({ min: 0n, max: 2n ** 63n - 1n });
const times = fc.tuple(time, time).map(([a, b]) => (a < b ? { firstNs: a, lastNs: b } : { firstNs: b, lastNs: a }));
const claim = fc
  .tuple(traceId, fc.option(times))
  .map(([id, range]): TraceClaim => ({ traceId: id, ...owner, ...range }));
const claims = fc.array(claim, { maxLength: 300, size: 'max' });

/** The reference implementation. */
function merged(all: readonly TraceClaim[]): readonly TraceClaim[] {
  const byId = new Map<string, TraceClaim>();
  for (const one of all) {
    const known = byId.get(one.traceId);
    const ranges = [known, one].filter((each) => each?.firstNs !== undefined) as Required<TraceClaim>[];
    const firsts = ranges.map(({ firstNs }) => firstNs).sort((a, b) => (a < b ? -1 : 1));
    const lasts = ranges.map(({ lastNs }) => lastNs).sort((a, b) => (a < b ? 1 : -1));
    const [firstNs, lastNs] = [firsts[0], lasts[0]];
    const range = firstNs === undefined || lastNs === undefined ? {} : { firstNs, lastNs };
    byId.set(one.traceId, { traceId: one.traceId, ...owner, ...range });
  }
  return [...byId.values()].sort((a, b) => (a.traceId < b.traceId ? -1 : 1));
}

t.test('the traces of a request are unique, in order of their ids, with the widest times', async (t) => {
  fc.assert(
    fc.property(claims, (all) => {
      t.strictSame(listed(claimedTraces(all)), merged(all));
    }),
    { numRuns: 200 },
  );
});

t.test('the traces of several requests are merged', async (t) => {
  fc.assert(
    fc.property(fc.array(claims, { maxLength: 5 }), (requests) => {
      const list = mergeTraces(requests.map(claimedTraces));
      t.strictSame(listed(finish(list.sorted())), merged(requests.flat()));
      t.equal(list.inOrderOfClaims().count, list.count);
    }),
    { numRuns: 100 },
  );
});

t.test('two requests share a trace, whatever their sizes are', async (t) => {
  const id = fc.integer({ min: 0, max: 4000 }).map((number) => ({ traceId: number.toString(16) }));
  const request = fc.oneof(fc.array(id, { maxLength: 4 }), fc.array(id, { maxLength: 900, size: 'max' }));
  fc.assert(
    fc.property(request, request, (left, right) => {
      const ids = new Set(left.map(({ traceId: one }) => one));
      const expected = right.some(({ traceId: one }) => ids.has(one));
      t.equal(shareTrace(claimedTraces(left), claimedTraces(right)), expected);
    }),
    { numRuns: 500 },
  );
});
