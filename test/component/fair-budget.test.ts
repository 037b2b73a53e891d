// Shares of bytes: one project alone, many greedy ones, another small one, and the sums over any sequence.
import fc from 'fast-check';
import t from 'tap';
import { FairBudget } from '../../src/component/fair-budget.ts';
import { Rejection } from '../../src/errors.ts';

const MIB = 1048576;
const LIMIT = 256 * MIB;
const PIECE = 65536;

const budgetOf = (limitBytes = LIMIT): FairBudget => new FairBudget({ limitBytes });

function tries(budget: FairBudget, holder: string, bytes: number): Rejection | null {
  try {
    budget.reserve(holder, bytes);
    return null;
  } catch (error) {
    if (error instanceof Rejection) return error;
    throw error;
  }
}

/** Reserves pieces until it is refused. */
function takeAll(budget: FairBudget, holder: string, piece = PIECE): number {
  while (tries(budget, holder, piece) === null);
  return budget.heldBy(holder);
}

t.test('one project alone gets nearly the whole limit, and leaves room for another one', async (t) => {
  const budget = budgetOf();
  t.ok(takeAll(budget, 'greedy') >= 0.85 * LIMIT);
  t.equal(tries(budget, 'new', 4 * MIB), null);
});

t.test('one reservation may take the whole limit while nothing is held', async (t) => {
  const budget = budgetOf();
  budget.reserve('only', LIMIT);
  t.match(tries(budget, 'other', 1)?.details.hint, /all projects together/);
  budget.release('only', LIMIT);
  t.match(tries(budget, 'only', LIMIT + 1)?.details.hint, /all projects together/, 'but not more');
});

t.test('greedy projects converge to equal shares, for any share of the first one', async (t) => {
  const budget = budgetOf();
  takeAll(budget, 'project 0');
  const projects = Array.from({ length: 5 }, (_, index) => `project ${index}`);
  for (let round = 0; round < 20_000; round++) {
    const project = projects[round % projects.length] ?? '';
    if (budget.heldBy(project) > 0) budget.release(project, PIECE);
    for (const each of projects) tries(budget, each, PIECE);
  }
  const shares = projects.map((project) => budget.heldBy(project));
  t.ok(Math.max(...shares) - Math.min(...shares) <= 4 * MIB, String(shares));
  t.ok(budget.heldBytes > 0.9 * LIMIT, 'and together they use the limit');
});

t.test('after any number of greedy projects, another one has room for an ordinary request', async (t) => {
  const budget = budgetOf();
  for (let index = 0; index < 12; index++) takeAll(budget, `greedy ${index}`);
  for (let index = 0; index < 16; index++) t.equal(tries(budget, `new ${index}`, 256 * 1024), null);
});

t.test('a refusal names the exceeded limit, is retryable and reserves nothing', async (t) => {
  const budget = new FairBudget({ limitBytes: LIMIT, what: 'rows' });
  takeAll(budget, 'greedy');
  const held = budget.heldBytes;
  const refusal = tries(budget, 'greedy', PIECE);
  t.equal(refusal?.code, 'overloaded');
  t.equal(refusal?.details.hint, 'rows: the share of this project is reached');
  t.equal(refusal?.retryAfterSeconds, 1);
  t.equal(budget.heldBytes, held);
});

t.test('bytes that are not held cannot be released, and an invalid number of bytes cannot be reserved', async (t) => {
  const budget = budgetOf();
  budget.reserve('one', 10);
  t.throws(() => budget.release('one', 11), RangeError);
  t.throws(() => budget.release('other', 1), RangeError);
  for (const bytes of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY])
    t.throws(() => budget.reserve('one', bytes), RangeError);
  t.equal(budget.heldBytes, 10);
});

t.test('over any sequence the sums agree, the limit holds, and only holders with bytes are stored', async () => {
  const step = fc.record({
    holder: fc.integer({ min: 0, max: 5 }).map((index) => `project ${index}`),
    bytes: fc.oneof(fc.integer({ min: 0, max: 100 }), fc.integer({ min: 0, max: 5000 })),
    releases: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), fc.integer({ min: 1, max: 10_000 }), (steps, limitBytes) => {
      const budget = budgetOf(limitBytes);
      const held = new Map<string, number>();
      for (const { holder, bytes, releases } of steps) {
        const before = held.get(holder) ?? 0;
        if (releases) {
          const given = Math.min(bytes, before);
          budget.release(holder, given);
          held.set(holder, before - given);
        } else if (tries(budget, holder, bytes) === null) held.set(holder, before + bytes);
        const sums = [...held.values()];
        if (budget.heldBytes !== sums.reduce((sum, each) => sum + each, 0)) return false;
        if (budget.heldBytes > limitBytes || budget.heldBy(holder) !== (held.get(holder) ?? 0)) return false;
        if (budget.holders !== sums.filter((each) => each > 0).length) return false;
      }
      return true;
    }),
  );
});

t.test('a small holder is refused only when the whole limit is used', async () => {
  const requests = fc.array(fc.tuple(fc.nat({ max: 8 }), fc.integer({ min: 1, max: 4 * MIB })), { maxLength: 300 });
  fc.assert(
    fc.property(requests, fc.integer({ min: 1, max: LIMIT / 1024 }), (takes, small) => {
      const budget = budgetOf();
      for (const [holder, bytes] of takes) tries(budget, `greedy ${holder}`, bytes);
      const free = LIMIT - budget.heldBytes;
      return (tries(budget, 'small', small) === null) === small <= free;
    }),
  );
});
