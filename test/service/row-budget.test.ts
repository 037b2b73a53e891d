// The limits of row bytes for one request and for all requests.
import fc from 'fast-check';
import t from 'tap';
import { Rejection } from '../../src/errors.ts';
import type { Batch } from '../../src/pdata/batch.ts';
import { type RequestRows, RowBudget } from '../../src/service/row-budget.ts';

const MIB = 1024 * 1024;

function aBatch(project: string, counts: Partial<Batch> = {}): Batch {
  const none = { recordCount: 0, metricCount: 0, eventCount: 0, linkCount: 0 };
  return { context: { project: { name: project } }, ...none, ...counts } as unknown as Batch;
}

/** Reserves the rows of a request, as a pass does. Throws `overloaded`. */
function pass(budget: RowBudget, project: string, bytes: number, bodyBytes = 16 * MIB): RequestRows {
  const rows = budget.open(aBatch(project, { recordCount: 100_000 }), bodyBytes);
  rows.cover(bytes);
  budget.note(project, bytes, bodyBytes);
  return rows;
}

/** False when it throws `overloaded`. Throws its other errors. */
function isAdmitted(work: () => void): boolean {
  try {
    work();
    return true;
  } catch (error) {
    if (error instanceof Rejection && error.code === 'overloaded') return false;
    throw error;
  }
}

t.test('the limit of a request grows with its body, records and events', async (t) => {
  const budget = new RowBudget();
  const body = budget.open(aBatch('a'), 1000);
  t.equal(body.left, 4000);
  t.equal(budget.open(aBatch('a', { recordCount: 2 }), 0).left, 2 * 8192);
  t.equal(budget.open(aBatch('a', { eventCount: 3, linkCount: 4 }), 0).left, 7 * 256);
  body.reserve(4000);
  t.throws(() => body.reserve(1), { code: 'body_too_large', details: { hint: /resource/u } });
  t.equal(budget.heldBytes, 4000);
  body.close();
  body.close();
  t.equal(budget.heldBytes, 0);
});

t.test('the limit of a request is at most 128 times its body, or a MiB', async (t) => {
  const budget = new RowBudget();
  t.equal(budget.open(aBatch('a', { recordCount: 50_000 }), 100_000).left, 128 * 100_000);
  t.equal(budget.open(aBatch('a', { recordCount: 5000 }), 10_000).left, 128 * 10_000);
  t.equal(budget.open(aBatch('a', { recordCount: 500 }), 1000).left, MIB);
});

t.test('the rows of one request have an upper limit for any number of records', async (t) => {
  const rows = new RowBudget().open(aBatch('a', { recordCount: 500_000 }), 16 * MIB);
  for (let mib = 0; mib < 128; mib++) rows.reserve(MIB);
  t.throws(() => rows.reserve(MIB), { code: 'body_too_large' });
});

t.test('a project with many reserved bytes is refused, a project with few is not', async (t) => {
  const budget = new RowBudget({ maxBytes: 32 * MIB, maxRequestBytes: 24 * MIB });
  const open = (project: string) => budget.open(aBatch(project), 16 * MIB);
  const large = open('large');
  for (let mib = 0; mib < 24; mib++) large.reserve(MIB);
  const next = open('large');
  t.throws(
    () => {
      for (let mib = 0; mib < 24; mib++) next.reserve(MIB);
    },
    { code: 'overloaded' },
  );
  next.close();
  const small = open('small');
  small.reserve(MIB);
  t.equal(budget.heldBytes, 25 * MIB);
  small.close();
  large.close();
  t.equal(budget.heldBytes, 0);
});

t.test('a project without room for its smallest recent request is refused before its bodies are read', async (t) => {
  const budget = new RowBudget({ maxBytes: 32 * MIB });
  const keep = (project: string, bytes: number) => pass(budget, project, bytes);
  t.doesNotThrow(() => budget.admit('slow'), 'nothing is known of it');
  const kept = Array.from({ length: 6 }, () => keep('slow', 4 * MIB));
  t.throws(() => keep('slow', 4 * MIB), { code: 'overloaded' });
  t.throws(() => budget.admit('slow'), { code: 'overloaded', details: { hint: /share of this project/u } });
  t.doesNotThrow(() => budget.admit('other'));
  keep('other', 1000).close();
  t.doesNotThrow(() => budget.admit('other'));
  kept.pop()?.close();
  t.doesNotThrow(() => budget.admit('slow'));
  keep('slow', 1000).close();
  kept.push(keep('slow', 4 * MIB));
  t.doesNotThrow(() => budget.admit('slow'), 'a small request was there a moment ago');
  for (const rows of kept) rows.close();
  t.equal(budget.heldBytes, 0);
  t.doesNotThrow(() => budget.admit('slow'));
});

t.test('the smallest request is forgotten when all others are larger', async (t) => {
  const budget = new RowBudget({ maxBytes: 32 * MIB });
  const keep = (bytes: number) => pass(budget, 'a', bytes);
  keep(1000).close();
  for (let request = 0; request < 200; request++) keep(4 * MIB).close();
  const kept = Array.from({ length: 6 }, () => keep(4 * MIB));
  t.throws(() => budget.admit('a'), { code: 'overloaded' });
  for (const rows of kept) rows.close();
});

t.test('a request without rows is forgotten as well', async (t) => {
  const budget = new RowBudget({ maxBytes: 32 * MIB });
  pass(budget, 'a', 0).close();
  for (let request = 0; request < 400; request++) pass(budget, 'a', 4 * MIB).close();
  const kept = Array.from({ length: 6 }, () => pass(budget, 'a', 4 * MIB));
  t.throws(() => budget.admit('a'), { code: 'overloaded' });
  for (const rows of kept) rows.close();
});

t.test('a project whose requests become small is not refused without end while another fills the memory', async (t) => {
  let nowMs = 0;
  const budget = new RowBudget({ maxBytes: 32 * MIB, now: () => nowMs });
  pass(budget, 'import', 20 * MIB).close();
  const kept = Array.from({ length: 6 }, () => pass(budget, 'slow', 4 * MIB));
  t.throws(() => budget.admit('import'), { code: 'overloaded' });
  nowMs += 1000;
  t.doesNotThrow(() => budget.admit('import'), 'one request in a second is tried');
  t.throws(() => budget.admit('import'), { code: 'overloaded' });
  pass(budget, 'import', 1000).close();
  t.doesNotThrow(() => budget.admit('import'));
  for (const rows of kept) rows.close();
});

t.test('after any requests a project is admitted, or refused because a small request would not fit', async (t) => {
  const sizes = fc.array(fc.tuple(fc.constantFrom('a', 'b'), fc.integer({ min: 1, max: 2 * MIB }), fc.boolean()));
  fc.assert(
    fc.property(sizes, (requests) => {
      const budget = new RowBudget({ maxBytes: 8 * MIB });
      const kept: RequestRows[] = [];
      for (const [project, bytes, isKept] of requests) {
        if (!isAdmitted(() => budget.admit(project))) continue;
        isAdmitted(() => {
          const rows = pass(budget, project, bytes);
          if (isKept) kept.push(rows);
          else rows.close();
        });
      }
      for (const rows of kept) rows.close();
      return budget.heldBytes === 0 && isAdmitted(() => budget.admit('a')) && isAdmitted(() => budget.admit('b'));
    }),
  );
  t.pass();
});

t.test('a body like the recent ones finds room exactly when a pass would', async (t) => {
  const bodies = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.integer({ min: 1000, max: 200_000 })), {
    minLength: 40,
    maxLength: 120,
  });
  fc.assert(
    fc.property(bodies, fc.integer({ min: 1, max: 4 }), (requests, factor) => {
      const budget = new RowBudget({ maxBytes: 8 * MIB });
      const passBody = (project: string, bytes: number): RequestRows => pass(budget, project, bytes * factor, bytes);
      for (const project of ['a', 'b', 'c']) passBody(project, 1000).close();
      return requests.every(([project, bytes]) => {
        const hasRoom = budget.hasRoom(project, bytes);
        return hasRoom === isAdmitted(() => passBody(project, bytes));
      });
    }),
  );
  t.pass();
});

t.test('a body of a project without requests before, and one of any size beside little, find room', async (t) => {
  const budget = new RowBudget({ maxBytes: 32 * MIB });
  const keep = (project: string, bytes: number) => pass(budget, project, bytes);
  const kept = Array.from({ length: 6 }, () => keep('slow', 4 * MIB));
  t.equal(budget.hasRoom('slow', 16 * MIB), false);
  t.equal(budget.hasRoom('new', 16 * MIB), true);
  keep('new', MIB).close();
  t.equal(budget.hasRoom('new', 1024 * MIB), true, 'a small part is enough for a body of any size');
  for (const rows of kept.splice(3)) rows.close();
  t.equal(budget.hasRoom('slow', 1024 * MIB), true);
});

t.test('requests of few bytes and many rows do not make large bodies wait that have room', async (t) => {
  const budget = new RowBudget({ maxBytes: 32 * MIB });
  const [tinyBody, largeBody] = [500, 900_000];
  pass(budget, 'mixed', 2 * largeBody, largeBody).close();
  for (let request = 0; request < 10; request++) pass(budget, 'mixed', 100 * tinyBody, tinyBody).close();
  while (isAdmitted(() => pass(budget, 'slow', MIB)));
  t.equal(budget.hasRoom('mixed', largeBody), true);
  t.ok(
    isAdmitted(() => pass(budget, 'mixed', 2 * largeBody, largeBody)),
    'the rows have room',
  );
});

t.test('the requests of 1024 projects are remembered', async (t) => {
  const budget = new RowBudget({ maxBytes: 32 * MIB });
  for (let project = 0; project < 1024; project++) pass(budget, `${project}`, 100_000, 1000).close();
  while (isAdmitted(() => pass(budget, '0', MIB)));
  t.equal(budget.hasRoom('1', MIB), false);
  pass(budget, 'new', 1000).close();
  t.equal(budget.hasRoom('1', MIB), true, 'nothing is known of it');
});

t.test('the ratio of rows to bodies is that of the latest requests', async (t) => {
  const budget = new RowBudget({ maxBytes: 32 * MIB });
  const sendTo = (ratio: number): void => pass(budget, 'a', ratio * 1000, 1000).close();
  while (isAdmitted(() => pass(budget, 'slow', MIB)));
  const left = MIB;
  for (const [ratio, hasRoom] of [
    [100, false],
    [2, true],
    [100, false],
  ] as const) {
    for (let request = 0; request < 200; request++) sendTo(ratio);
    t.equal(budget.hasRoom('a', left), hasRoom, `${ratio}`);
  }
});

t.test('a body without bytes has room, also where no earlier one had any', async (t) => {
  const budget = new RowBudget({ maxBytes: 32 * MIB });
  budget.note('empty', 0, 0);
  while (isAdmitted(() => pass(budget, 'slow', MIB)));
  t.equal(budget.hasRoom('empty', 0), true);
  t.equal(budget.hasRoom('empty', MIB), true);
});

t.test('a release of rows is reported once', async (t) => {
  let released = 0;
  const budget = new RowBudget({ released: () => void released++ });
  const rows = budget.open(aBatch('a'), MIB);
  rows.close();
  t.equal(released, 0, 'there were none');
  rows.reserve(1000);
  rows.close();
  rows.close();
  t.equal(released, 1);
});

t.test('rows of an exporter that reserved nothing are counted afterwards', async (t) => {
  const budget = new RowBudget();
  const rows = budget.open(aBatch('a'), MIB);
  rows.reserve(1000);
  rows.cover(1500);
  t.equal(budget.heldBytes, 1500);
  rows.cover(10);
  t.equal(budget.heldBytes, 1500);
  rows.close();
  t.equal(budget.heldBytes, 0);
});
