// The limits of row bytes for one request and for all requests.
import t from 'tap';
import type { Batch } from '../../src/pdata/batch.ts';
import { RowBudget } from '../../src/service/row-budget.ts';

const MIB = 1024 * 1024;

function aBatch(project: string, counts: Partial<Batch> = {}): Batch {
  const none = { recordCount: 0, metricCount: 0, eventCount: 0, linkCount: 0 };
  return { context: { project: { name: project } }, ...none, ...counts } as unknown as Batch;
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
