/** Spans that are copied without the columns in which they have nothing: they are stored like any other span. */
import t from 'tap';
import { PLAIN_SPAN_COLUMNS, SPAN_COLUMNS } from '../../../src/pdata/columns.ts';
import { send } from '../../support/otlp-client.ts';
import { aSpan, aTraceRequest, newTraceId } from '../../support/payloads.ts';
import { type PostgresDaemon, startPostgresDaemon } from '../../support/postgres-daemon.ts';

const PLAIN = [
  { name: 'bare' },
  { name: 'child', parentSpanId: 'eee19b7ec3c1b174', attributes: { 'http.route': '/items', 'a.b': 1, a: true } },
  { name: 'long', attributes: { text: 'x'.repeat(20_000), other: 'ü'.repeat(3000) } },
  { name: 'n'.repeat(9000), attributes: { text: 'x'.repeat(1500) } },
];
const EVENTS = { name: 'with events', events: [{ name: 'e', timeUnixNano: '1700000000000000000' }] };

/** Every column of the stored spans of a trace except ids, by name. */
async function stored({ query }: PostgresDaemon, traceId: string): Promise<readonly object[]> {
  const columns = SPAN_COLUMNS.map(({ name }) => name).filter((name) => !OWN.includes(name));
  return query(
    `SELECT ${columns.join(', ')} FROM spans WHERE trace_id = '${traceId}' AND name <> '${EVENTS.name}' ORDER BY name`,
  );
}
const OWN = ['trace_id', 'span_id', 'received_at'];

t.test('plain spans', async (t) => {
  const daemon = await startPostgresDaemon(t);
  const store = async (spans: readonly object[]): Promise<void> => {
    const headers = { 'content-type': 'application/json' };
    t.equal((await send(daemon.url, { headers, body: JSON.stringify(aTraceRequest(spans)) })).status, 200);
  };
  const spansOf = (traceId: string): readonly object[] => PLAIN.map((sketch) => aSpan({ ...sketch, traceId }));
  const withEvents = (traceId: string): object => ({ ...aSpan({ traceId }), ...EVENTS });
  const counts = async (): Promise<object> => {
    const [row] = await daemon.query(
      'SELECT (SELECT count(*)::int FROM sluice.spans) AS rows, (SELECT sum(spans)::int FROM sluice.usage_months) AS counted',
    );
    return row ?? {};
  };
  const [alone, beside] = [newTraceId(), newTraceId()];
  const spans = spansOf(alone);
  let expected = 0;

  await t.test('have the same columns as beside a span that has events', async (t) => {
    await store(spans);
    await store([...spansOf(beside), withEvents(beside)]);
    expected += 2 * PLAIN.length + 1;
    t.same(await stored(daemon, alone), await stored(daemon, beside));
    const [row] = await daemon.query(`SELECT * FROM sluice.spans WHERE name = 'bare' LIMIT 1`);
    const plain = new Set(PLAIN_SPAN_COLUMNS.map(({ name }) => name));
    const rest = Object.entries(row ?? {}).filter(([name, value]) => !plain.has(name) && value !== null);
    t.same(Object.fromEntries(rest), {
      dropped_attributes_count: '0',
      dropped_events_count: '0',
      dropped_links_count: '0',
      events: [],
      links: [],
    });
    t.same(await counts(), { rows: expected, counted: expected });
  });

  await t.test('are stored once when they are sent again, in groups with other spans', async (t) => {
    const again = newTraceId();
    const more = spansOf(again);
    await Promise.all([
      store([...spans, ...more.slice(0, 2)]),
      store([...spans, withEvents(again)]),
      store(more.slice(2)),
    ]);
    expected += PLAIN.length + 1;
    t.same(await stored(daemon, again), await stored(daemon, beside));
    // The project's spans pass through the temporary table now.
    const next = newTraceId();
    const last = spansOf(next);
    await Promise.all([store(last.slice(0, 2)), store([...last.slice(2), withEvents(next)]), store(more)]);
    expected += PLAIN.length + 1;
    t.same(await stored(daemon, next), await stored(daemon, beside));
    t.same(await counts(), { rows: expected, counted: expected });
  });
});
