/** The cost of reading archived rows that were copied into the session. */
import t, { type Test } from 'tap';
import { combined, completeTables, createTables } from '../../../src/archive/reading/combined-tables.ts';
import type { Query } from '../../../src/component/capabilities/postgres.ts';
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

const CALLS = 500;
/** Each call of a framework is reported by the client library below it too. */
const FILL_CALLS = `
  INSERT INTO pg_temp.lake_spans (project, environment, trace_id, span_id, parent_span_id, name, start_time_unix_nano, received_at,
    usage_scope, category, dialect, response_id, total_tokens)
  SELECT 'p', 'default', decode(lpad('1', 32, '0'), 'hex'), decode(lpad(to_hex(g), 16, '0'), 'hex'),
    CASE WHEN g % 2 = 0 THEN decode(lpad(to_hex(g - 1), 16, '0'), 'hex') END, 'call', 1700000000000000000 + g, now(),
    'own', 'model_call', 'openinference', CASE WHEN g % 2 = 0 THEN 'r' || g END, 5
  FROM generate_series(1, ${2 * CALLS}) g`;
const USAGE =
  "SELECT count(*)::int AS calls FROM pg_temp.counted_spans WHERE project = 'p' AND trace_id = decode(lpad('1', 32, '0'), 'hex')";

t.test('the spans of one archived trace are read without those of others', async (t) => {
  const query = await withTables(t, FILL);
  const pages = await pagesOf(query, ONE_TRACE);
  t.ok(pages > 0 && pages < 20, `${pages} pages`);
});

t.test('the call above each archived call is found without reading the calls between them', async (t) => {
  const query = await withTables(t, FILL_CALLS);
  t.strictSame((await query(USAGE)).rows, [{ calls: CALLS }]);
  const pages = await pagesOf(query, USAGE);
  t.ok(pages > 0 && pages < 6 * CALLS, `${pages} pages`);
});

/** A session with the temporary tables, filled by a statement. */
async function withTables(t: Test, fill: string): Promise<Query> {
  const client = await (await openMigrated(t)).connect();
  const query = (text: string) => client.query(text);
  await query('BEGIN');
  await createTables(query, await readViews());
  await query(fill);
  await completeTables(query);
  return query;
}

async function pagesOf(query: Query, statement: string): Promise<number> {
  const { rows } = await query(combined(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${statement}`));
  const [row = {}] = rows;
  const [found] = row['QUERY PLAN'] as readonly { readonly Plan: Readonly<Record<string, number>> }[];
  return (found?.Plan['Local Hit Blocks'] ?? 0) + (found?.Plan['Local Read Blocks'] ?? 0);
}
