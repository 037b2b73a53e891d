/** Tables without statistics, as those of a new day: the view of traces reads the spans of one trace only. */
import t from 'tap';
import { hex } from '../../support/console-reading.ts';
import { SPANS, startWithoutStatistics } from '../../support/without-statistics.ts';

/** The lookups of one trace: its figures, its root, its calls and its roll-ups. */
const LOOKUPS = 8;

const { reading, entriesOf } = await startWithoutStatistics(t);

t.test('one trace by its id', async (t) => {
  const text = `SELECT * FROM public.traces WHERE trace_id = '${hex(7, 16).slice(2)}'`;
  const { rows } = await reading.client.query(`EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) ${text}`);
  t.comment(rows.map((row) => row['QUERY PLAN']).join('\n'));
  const read = await entriesOf(() => reading.client.query(text));
  t.ok(read >= SPANS && read < SPANS * LOOKUPS, `${read} entries of indexes`);
});
