// Spans that are stored already and come again in new requests: every request is answered 200, and each span is stored once.
import pg from 'pg';
import t, { type Test } from 'tap';
import { gzip, send } from '../../support/otlp-client.ts';
import { aSpan, aTraceRequest } from '../../support/payloads.ts';
import { createDatabase } from '../../support/postgres.ts';
import { type PostgresDaemon, startPostgresDaemon } from '../../support/postgres-daemon.ts';

/** Rows of this size make a group by themselves, so a second lane settles them. */
const LARGE_TEXT = 'x'.repeat(9 * 1024 * 1024);

const store = async ({ url }: PostgresDaemon, spans: readonly object[], settings = {}): Promise<number> => {
  const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
  return (await send(url, { headers, body: gzip(JSON.stringify(aTraceRequest(spans))), ...settings })).status;
};

const countOf = async ({ query }: PostgresDaemon): Promise<{ rows: number; counted: number }> => {
  const [rows] = await query('SELECT count(*) AS n FROM sluice.spans');
  const [usage] = await query('SELECT sum(spans) AS n FROM sluice.usage_months');
  return { rows: Number(rows?.['n']), counted: Number(usage?.['n']) };
};

/** Keeps every writer out of the table of spans, until it is released. */
async function holdSpans(t: Test, { databaseUrl, query }: PostgresDaemon) {
  const holder = new pg.Client({ connectionString: databaseUrl });
  await holder.connect();
  t.teardown(() => holder.end());
  await holder.query('BEGIN; LOCK TABLE sluice.spans IN EXCLUSIVE MODE');
  const waiting = async (): Promise<number> => {
    const text = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
    return (await query(text)).length;
  };
  return {
    blocked: async (count: number): Promise<void> => {
      while ((await waiting()) < count) await new Promise((resolve) => setImmediate(resolve));
    },
    release: () => holder.query('ROLLBACK'),
  };
}

t.test('two groups that both hold a stored span fail at once: nobody is refused', async (t) => {
  const daemon = await startPostgresDaemon(t);
  const [first, second] = [aSpan(), aSpan()];
  t.equal(await store(daemon, [first, second]), 200);
  const spans = await holdSpans(t, daemon);
  const small = store(daemon, [aSpan(), first]);
  await spans.blocked(1);
  const large = store(daemon, [aSpan({ attributes: { text: LARGE_TEXT } }), second]);
  await spans.blocked(2);
  await spans.release();
  t.same(await Promise.all([small, large]), [200, 200]);
  t.same(await countOf(daemon), { rows: 4, counted: 4 });
});
