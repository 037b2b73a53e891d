/** Tables without statistics, as those of a new day: the view of traces reads the spans of one trace only. */
import t from 'tap';
import { hex, spanRow, startReading, store } from '../../support/console-reading.ts';

const TRACES = 400;
const SPANS = 8;
const HOUR_MS = 3_600_000;
const ENTRIES = `SELECT sum(idx_tup_read)::int4 AS entries FROM pg_stat_user_indexes WHERE relname LIKE 'spans%'`;
/** The lookups of one trace: its figures, its root, its calls and its roll-ups. */
const LOOKUPS = 8;

const reading = await startReading(t);
await reading.client.query('ALTER TABLE sluice.spans_default SET (autovacuum_enabled = off)');
const spans = Array.from({ length: TRACES * SPANS }, (_, at) =>
  spanRow({ trace: 1 + (at % TRACES), at: (at * HOUR_MS) / (TRACES * SPANS), request_model: 'gpt-5' }),
);
await store(reading, spans);

async function entriesRead(): Promise<number> {
  await reading.client.query('SELECT pg_stat_force_next_flush()');
  await reading.client.query('SELECT pg_stat_clear_snapshot()');
  const { rows } = await reading.client.query(ENTRIES);
  return rows[0].entries;
}

async function entriesOf(text: string): Promise<number> {
  const before = await entriesRead();
  await reading.client.query(text);
  return (await entriesRead()) - before;
}

t.test('one trace by its id', async (t) => {
  const text = `SELECT * FROM public.traces WHERE trace_id = '${hex(7, 16).slice(2)}'`;
  const { rows } = await reading.client.query(`EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) ${text}`);
  t.comment(rows.map((row) => row['QUERY PLAN']).join('\n'));
  const read = await entriesOf(text);
  t.ok(read >= SPANS && read < SPANS * LOOKUPS, `${read} entries of indexes`);
});
