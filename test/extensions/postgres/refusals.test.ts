// Requests that the stored state refuses: they are found by reading, so that a flood of them writes nothing.
import t from 'tap';
import { FREE_KEY, OTHER_KEY } from '../../support/daemon.ts';
import { send } from '../../support/otlp-client.ts';
import { aSpan, aTraceRequest, newSpanId, newTraceId } from '../../support/payloads.ts';
import { startPostgresDaemon } from '../../support/postgres-daemon.ts';

const FLOOD = 64;
/** The first group is tried with its rows, and another one after a pause of a second. */
const MOST_ROWS = 40;
const headersOf = (key: string) => ({ authorization: `Bearer ${key}`, 'content-type': 'application/json' });
const [other, free] = [headersOf(OTHER_KEY), headersOf(FREE_KEY)];
const spans = (traceId: string, count = 1): string =>
  JSON.stringify(aTraceRequest(Array.from({ length: count }, () => aSpan({ traceId, spanId: newSpanId() }))));

t.test('a flood of requests that are refused writes nothing', async (t) => {
  const daemon = await startPostgresDaemon(t);
  const owned = newTraceId();
  const first = spans(owned);
  t.equal((await send(daemon.url, { body: first })).status, 200);
  // Rows that were rolled back take places in the table as well.
  const places = async (): Promise<number> => {
    const rows = await daemon.query(
      "SELECT split_part(trim(ctid::text, '()'), ',', 2)::int4 AS place FROM sluice.replay_markers ORDER BY ctid DESC LIMIT 1",
    );
    return Number(rows[0]?.['place']);
  };
  // On a busy machine some are answered 503 first. A sender repeats these.
  const answered = async (headers: Record<string, string>, body: string): Promise<number> => {
    const { status } = await send(daemon.url, { headers, body });
    return status === 503 ? answered(headers, body) : status;
  };
  const flood = async (headers: Record<string, string>, body: () => string): Promise<readonly number[]> => {
    const statuses = await Promise.all(Array.from({ length: FLOOD }, () => answered(headers, body())));
    return [...new Set(statuses)];
  };
  t.same(await flood(other, () => spans(owned)), [409]);
  t.equal((await send(daemon.url, { headers: free, body: spans(newTraceId(), 8) })).status, 200);
  const used = await places();
  t.ok(used <= MOST_ROWS, `${used} rows for two stored requests`);
  t.same(await flood(free, () => spans(newTraceId(), 3)), [429]);
  t.equal((await send(daemon.url, { body: spans(newTraceId()) })).status, 200);
  const more = (await places()) - used;
  t.ok(more <= MOST_ROWS, `${more} rows for one stored request`);
  t.equal((await send(daemon.url, { body: first })).status, 200, 'a stored body is still a replay');
  t.equal((await send(daemon.url, { headers: other, body: spans(newTraceId()) })).status, 200);
});
