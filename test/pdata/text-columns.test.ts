/** The text columns read the texts that the encoder writes, and the encoder writes a replaced text. */
import t from 'tap';
import { SIGNAL_METRICS, SIGNAL_TRACES } from '../../src/pdata/layout.ts';
import { TEXT_COLUMNS, TextCursor } from '../../src/pdata/text-columns.ts';
import { TestTables } from '../support/tables.ts';

const START = '1763720000000000000';
const ids = { traceId: '1'.repeat(32), spanId: '1'.repeat(16) };

t.test('each column reads its own text', async (t) => {
  const tables = new TestTables();
  const span = {
    ...ids,
    name: 'n\n1',
    traceState: 's=1',
    status: { message: 'm1' },
    startTimeUnixNano: START,
    events: [{ name: 'e1' }, { name: 'e2' }],
    links: [{ ...ids, traceState: 'l=1' }],
  };
  const scopeSpans = [{ scope: { name: 'sc', version: 'v1' }, spans: [span] }];
  const batch = tables.batch(SIGNAL_TRACES, { json: JSON.stringify({ resourceSpans: [{ scopeSpans }] }) });
  const texts = new TextCursor(batch.tables.memory);
  const at = (column: keyof typeof TEXT_COLUMNS, row = 0): string => texts.goto(TEXT_COLUMNS[column], row).string;
  t.equal(at('recordName'), 'n\n1');
  t.equal(at('recordState'), 's=1');
  t.equal(at('recordMessage'), 'm1');
  t.equal(at('eventName', 1), 'e2');
  t.equal(at('linkState'), 'l=1');
  t.equal(at('scopeName'), 'sc');
  t.equal(at('scopeVersion'), 'v1');
  texts.goto(TEXT_COLUMNS.recordName, 0).replace(batch.tables.constant('other'));
  texts.goto(TEXT_COLUMNS.recordMessage, 0).replace(null);
  t.equal(at('recordName'), 'other');
  t.equal(at('recordMessage'), '');
  t.match(tables.lines(batch)[0], { name: 'other' });
});

t.test('each column of a metric reads its own text', async (t) => {
  const tables = new TestTables();
  const metric = {
    name: 'm',
    description: 'd',
    unit: 'u',
    gauge: { dataPoints: [{ timeUnixNano: START, asInt: '1' }] },
  };
  const json = JSON.stringify({ resourceMetrics: [{ scopeMetrics: [{ metrics: [metric] }] }] });
  const texts = new TextCursor(tables.batch(SIGNAL_METRICS, { json }).tables.memory);
  const { metricName, metricDescription, metricUnit } = TEXT_COLUMNS;
  t.same(
    [metricName, metricDescription, metricUnit].map((column) => texts.goto(column, 0).string),
    ['m', 'd', 'u'],
  );
});
