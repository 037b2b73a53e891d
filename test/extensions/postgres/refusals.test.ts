// Requests that the stored state refuses: they are found by reading, so that a flood of them writes nothing.
import t from 'tap';
import { FREE_KEY, OTHER_KEY } from '../../support/daemon.ts';
import { send } from '../../support/otlp-client.ts';
import { aSpan, aTraceRequest, newSpanId, newTraceId } from '../../support/payloads.ts';
import { startPostgresDaemon } from '../../support/postgres-daemon.ts';

/** After a pause of a second, one group is tried with its rows again. */
const MOST_BYTES = 2 * 8192;
const ROUNDS = 6;
const PER_ROUND = 100;
const headersOf = (key: string) => ({ authorization: `Bearer ${key}`, 'content-type': 'application/json' });
const [other, free] = [headersOf(OTHER_KEY), headersOf(FREE_KEY)];
const spans = (traceId: string, count = 1): string =>
  JSON.stringify(aTraceRequest(Array.from({ length: count }, () => aSpan({ traceId, spanId: newSpanId() }))));

t.test('a flood of requests that are refused writes nothing', async (t) => {
  const daemon = await startPostgresDaemon(t);
  const owned = newTraceId();
  const first = spans(owned);
  t.equal((await send(daemon.url, { body: first })).status, 200);
  const size = async (): Promise<number> => {
    const tables = "pg_relation_size('sluice.replay_markers') + pg_relation_size('sluice.traces')";
    return Number((await daemon.query(`SELECT ${tables} AS bytes`))[0]?.['bytes']);
  };
  const flood = async (headers: Record<string, string>, body: () => string): Promise<readonly number[]> => {
    const statuses = new Set<number>();
    for (let round = 0; round < ROUNDS; round++) {
      const answers = Array.from({ length: PER_ROUND }, () => send(daemon.url, { headers, body: body() }));
      for (const { status } of await Promise.all(answers)) statuses.add(status);
    }
    return [...statuses];
  };
  const before = await size();
  t.same(await flood(other, () => spans(owned)), [409]);
  t.ok((await size()) - before <= MOST_BYTES, 'not even rows that are rolled back');
  t.equal((await send(daemon.url, { headers: free, body: spans(newTraceId(), 8) })).status, 200);
  const used = await size();
  t.same(await flood(free, () => spans(newTraceId(), 3)), [429]);
  t.ok((await size()) - used <= MOST_BYTES);
  t.equal((await send(daemon.url, { body: first })).status, 200, 'a stored body is still a replay');
  t.equal((await send(daemon.url, { headers: other, body: spans(newTraceId()) })).status, 200);
});
