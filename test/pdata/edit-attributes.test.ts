/** Attributes that a processor drops, changes and adds are stored accordingly, in every format of the rows. */
import * as fc from 'fast-check';
import t from 'tap';
import type { Batch } from '../../src/pdata/batch.ts';
import { type AttributeOwner, type AttributeValue, setAttribute, setValue } from '../../src/pdata/edit-attributes.ts';
import { SIGNAL_LOGS, SIGNAL_METRICS, SIGNAL_TRACES } from '../../src/pdata/layout.ts';
import { TestTables } from '../support/tables.ts';

const tables = new TestTables();
const attributes = (values: Readonly<Record<string, string>>): object[] =>
  Object.entries(values).map(([key, value]) => ({ key, value: { stringValue: value } }));
const ids = { traceId: '1'.repeat(32), spanId: '1'.repeat(16) };

function spans(count: number, values: Readonly<Record<string, string>> = { a: '1', b: '2' }): Batch {
  const times = { startTimeUnixNano: '1763720000000000000', endTimeUnixNano: '1763720001000000000' };
  const events = [{ timeUnixNano: '1763720000500000000', name: 'e', attributes: attributes(values) }];
  const links = [{ ...ids, attributes: attributes(values) }];
  const all = Array.from({ length: count }, (_, index) => ({
    ...ids,
    ...times,
    spanId: (index + 1).toString(16).padStart(16, '0'),
    name: `span ${index}`,
    attributes: attributes(values),
    events,
    links,
  }));
  const resource = { attributes: attributes({ 'service.name': 'shop', ...values }) };
  const scope = { name: 'test', attributes: attributes(values) };
  const json = JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ scope, spans: all }] }] });
  return tables.batch(SIGNAL_TRACES, { json });
}

const set = (batch: Batch, owner: readonly [AttributeOwner, number], key: string, value: AttributeValue): void =>
  setAttribute(batch, owner, batch.tables.symbol(key), value);

t.test('a dropped attribute is in no format of the rows', async (t) => {
  const batch = spans(3);
  const symbol = batch.tables.symbol('b');
  for (const rows of batch.attributeSlices()) while (rows.next()) if (rows.symbol === symbol) rows.drop();
  for (const line of tables.lines(batch)) {
    t.same(line['attributes'], { a: '1' });
    t.same(line['resource'], { 'service.name': 'shop', a: '1' });
    t.same(line['scope_attributes'], { a: '1' });
    t.match(line['events'], [{ attributes: { a: '1', b: undefined } }]);
    t.match(line['links'], [{ attributes: { a: '1', b: undefined } }]);
  }
  t.notOk(tables.copyBytes(batch).includes('"b"'));
});

t.test('an attribute is added to every kind of owner, and set again', async (t) => {
  const batch = spans(2);
  for (const owner of ['record', 'resource', 'scope', 'event', 'link'] as const)
    for (const value of ['first', `of the ${owner}`]) set(batch, [owner, 0], 'added', value);
  set(batch, ['record', 1], 'a', 'new');
  const [first, second] = tables.lines(batch);
  t.same(first?.['attributes'], { a: '1', b: '2', added: 'of the record' });
  t.same(second?.['attributes'], { a: 'new', b: '2' }, 'the other record has only its own change');
  t.same(first?.['resource'], { 'service.name': 'shop', a: '1', b: '2', added: 'of the resource' });
  t.same(first?.['scope_attributes'], { a: '1', b: '2', added: 'of the scope' });
  t.match(first?.['events'], [{ attributes: { a: '1', b: '2', added: 'of the event' } }]);
  t.match(first?.['links'], [{ attributes: { a: '1', b: '2', added: 'of the link' } }]);
  t.equal(first?.['service_name'], 'shop', 'the name of the service is found in the moved list');
});

t.test('metric metadata and log records take attributes too; the body of a log record stays', async (t) => {
  const points = [{ timeUnixNano: '1763720000000000000', asInt: '1' }];
  const metrics = [{ name: 'm', gauge: { dataPoints: points } }];
  const metric = tables.batch(SIGNAL_METRICS, {
    json: JSON.stringify({ resourceMetrics: [{ scopeMetrics: [{ metrics }] }] }),
  });
  set(metric, ['metric', 0], 'owner', 'team');
  set(metric, ['record', 0], 'zone', 'b');
  t.match(tables.lines(metric), [{ attributes: { zone: 'b' } }]);
  const logRecords = [
    { timeUnixNano: '1763720000000000000', body: { stringValue: 'hello' }, attributes: attributes({ a: '1' }) },
  ];
  const log = tables.batch(SIGNAL_LOGS, { json: JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] }) });
  set(log, ['record', 0], 'zone', 'b');
  t.match(tables.lines(log), [{ body: 'hello', attributes: { a: '1', zone: 'b' } }]);
});

t.test('every type of value is stored as such', async (t) => {
  const batch = spans(1, {});
  const values = {
    text: 'a "quoted" text\n',
    empty: '',
    yes: true,
    no: false,
    int: -7,
    big: 2n ** 63n - 1n,
    half: 0.5,
    large: 1e300,
  };
  for (const [key, value] of Object.entries(values)) set(batch, ['record', 0], key, value);
  const text = tables.text(batch);
  t.match(text, '"big":9223372036854775807');
  t.match(JSON.parse(text).attributes, { ...values, big: Number });
  t.throws(() => set(batch, ['record', 0], 'int', 2n ** 63n), { message: /64 bits/ });
});

t.test('setting an attribute that was dropped stores the new value', async (t) => {
  const batch = spans(1);
  for (const rows = batch.recordAttributes(0); rows.next(); ) rows.drop();
  set(batch, ['record', 0], 'a', 'public');
  t.same(tables.lines(batch)[0]?.['attributes'], { a: 'public' });
});

t.test('a loop over a shared cursor may read and change values', async (t) => {
  const batch = spans(1, { a: 'x', b: 'y', c: 'z' });
  for (const rows = batch.recordAttributes(0); rows.next(); ) setValue(batch, rows.row, `${batch.textOf(rows.row)}!`);
  t.same(tables.lines(batch)[0]?.['attributes'], { a: 'x!', b: 'y!', c: 'z!' });
});

t.test('a value that does not fit refuses the request', async (t) => {
  const batch = spans(1);
  const huge = 'x'.repeat(40_000_000);
  set(batch, ['record', 0], 'a', huge);
  t.throws(() => set(batch, ['record', 0], 'b', huge), { code: 'body_too_large' });
});

t.test('any sequence of changes has the same result as on plain maps', async (t) => {
  const step = fc.record({
    owner: fc.constantFrom<AttributeOwner>('record', 'resource'),
    index: fc.nat(2),
    key: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
    value: fc.oneof(fc.string(), fc.integer(), fc.boolean()),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const batch = spans(3);
      const records = Array.from({ length: 3 }, (): Record<string, unknown> => ({ a: '1', b: '2' }));
      const resource: Record<string, unknown> = { 'service.name': 'shop', a: '1', b: '2' };
      for (const { owner, index, key, value } of steps) {
        set(batch, [owner, owner === 'record' ? index : 0], key, value);
        (owner === 'record' ? (records[index] as Record<string, unknown>) : resource)[key] = value;
      }
      const lines = tables.lines(batch);
      t.strictSame(
        lines.map((line) => line['attributes']),
        records,
      );
      t.strictSame(lines[0]?.['resource'], resource);
    }),
    { numRuns: 200 },
  );
});
