/** Tables without statistics, as those of a new day: the spans of traces are read, and not those at the same time. */
import t from 'tap';
import { listSpans } from '../../../../src/extensions/console/api/spans.ts';
import { listTraces } from '../../../../src/extensions/console/api/traces.ts';
import { hex } from '../../../support/console-reading.ts';
import { SPANS, startWithoutStatistics, TRACES } from '../../../support/without-statistics.ts';

const { reading, entriesOf } = await startWithoutStatistics(t);

t.test('a search that finds nothing', async (t) => {
  const read = await entriesOf(() => reading.text(listTraces, { query: { q: 'model:none' } }));
  t.ok(read >= TRACES * SPANS && read < TRACES * SPANS * 2, `${read} entries of indexes`);
});

t.test('the spans of one trace', async (t) => {
  const read = await entriesOf(() => reading.text(listSpans, { path: { trace: hex(7, 16).slice(2) } }));
  t.ok(read >= SPANS && read < TRACES, `${read} entries of indexes`);
});
