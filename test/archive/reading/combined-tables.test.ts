/** The cost of reading archived rows that were copied into the session. */
import t from 'tap';
import { combined, completeTables, createTables } from '../../../src/archive/reading/combined-tables.ts';
import { readViews } from '../../../src/extensions/postgres/schema-state.ts';
import { spansOf } from '../../../src/extensions/console/filter/trace-spans.ts';
import { openMigrated } from '../../support/migrated.ts';

const SPANS = 20_000;
/** As many projects as traces, so that an index that begins with the project is read for each of them. */
const OF_A_TRACE = 10;
const FILL = `
  INSERT INTO pg_temp.lake_spans (project, environment, trace_id, span_id, name, start_time_unix_nano, received_at)
  SELECT 'p-' || g / ${OF_A_TRACE}, 'default', decode(lpad(to_hex(1 + g / ${OF_A_TRACE}), 32, '0'), 'hex'),
    decode(lpad(to_hex(1 + g), 16, '0'), 'hex'), 'step', 1700000000000000000 + g, now()
  FROM generate_series(0, ${SPANS - 1}) g`;
const ONE_TRACE = `
  SELECT FROM (SELECT * FROM sluice.traces LIMIT 1) t WHERE EXISTS (
    SELECT FROM sluice.spans s WHERE ${spansOf('s')} AND s.name = 'another' OFFSET 0)`;

t.test('the spans of one archived trace are read without those of others', async (t) => {
  const client = await (await openMigrated(t)).connect();
  const query = (text: string) => client.query(text);
  await query('BEGIN');
  await createTables(query, await readViews());
  await query(FILL);
  await completeTables(query);
  const { rows } = await query(combined(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${ONE_TRACE}`));
  const [{ Plan: plan }] = rows[0]['QUERY PLAN'];
  const pages = plan['Local Hit Blocks'] + plan['Local Read Blocks'];
  t.ok(pages > 0 && pages < 20, `${pages} pages`);
});
