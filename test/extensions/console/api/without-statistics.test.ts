/** Tables without statistics, as those of a new day: the spans of traces are read, and not those at the same time. */
import t from 'tap';
import type { Route } from '../../../../src/extensions/console/server/route.ts';
import { listSpans } from '../../../../src/extensions/console/api/spans.ts';
import { listTraces } from '../../../../src/extensions/console/api/traces.ts';
import { type Asking, hex, spanRow, startReading, store } from '../../../support/console-reading.ts';

const TRACES = 400;
const SPANS = 8;
const HOUR_MS = 3_600_000;
const ENTRIES = `SELECT sum(idx_tup_read)::int4 AS entries FROM pg_stat_user_indexes WHERE relname LIKE 'spans%'`;

const reading = await startReading(t);
await reading.client.query('ALTER TABLE sluice.spans_default SET (autovacuum_enabled = off)');
const spans = Array.from({ length: TRACES * SPANS }, (_, at) =>
  spanRow({ trace: 1 + (at % TRACES), at: (at * HOUR_MS) / (TRACES * SPANS), request_model: 'gpt-5' }),
);
await store(reading, spans);

/** The statistics of a connection are written at its end, or by this statement; the pool has one connection in use. */
async function entriesRead(): Promise<number> {
  await reading.reader.query('SELECT pg_stat_force_next_flush()');
  await reading.client.query('SELECT pg_stat_clear_snapshot()');
  const { rows } = await reading.client.query(ENTRIES);
  return rows[0].entries;
}

async function entriesOf(route: Route, asking: Asking): Promise<number> {
  const before = await entriesRead();
  await reading.text(route, asking);
  return (await entriesRead()) - before;
}

t.test('a search that finds nothing', async (t) => {
  const read = await entriesOf(listTraces, { query: { q: 'model:none' } });
  t.ok(read >= TRACES * SPANS && read < TRACES * SPANS * 2, `${read} entries of indexes`);
});

t.test('the spans of one trace', async (t) => {
  const read = await entriesOf(listSpans, { path: { trace: hex(7, 16).slice(2) } });
  t.ok(read >= SPANS && read < TRACES, `${read} entries of indexes`);
});
