// The removal of one trace: all of it and nothing else, with its claim; requests for it meanwhile wait.
import t from 'tap';
import { Database } from '../../../../src/extensions/postgres/database.ts';
import { removeTrace } from '../../../../src/extensions/postgres/removal/trace.ts';
import { removeUnsent } from '../../../../src/extensions/postgres/removal/unsent.ts';
import { waitFor } from '../../../../src/extensions/postgres/embedded/wait.ts';
import { tracesProtobuf } from '../../../../src/pdata/otlp-protobuf.ts';
import { KEY, OTHER_KEY } from '../../../support/daemon.ts';
import { send } from '../../../support/otlp-client.ts';
import { PATIENCE_MS } from '../../../support/patience.ts';
import { aLogRequest, aSpan, aTraceRequest, newTraceId, START_NS } from '../../../support/payloads.ts';
import { startPostgresDaemon } from '../../../support/postgres-daemon.ts';

t.setTimeout(300_000);

const FAR_NS = 4_102_444_800_000_000_000n;
const LIMITS = { statementTimeoutMs: 30_000, lockTimeoutMs: 30_000 };
const daemon = await startPostgresDaemon(t);
const database = new Database().use({ connectionString: daemon.databaseUrl });
t.teardown(() => database.close());

const traces = (...spans: object[]): string => JSON.stringify(aTraceRequest(spans));
const logOf = (traceId: string): string =>
  JSON.stringify(aLogRequest([{ timeUnixNano: String(START_NS), body: { stringValue: 'a' }, traceId }]));
const post = async (body: string, path = '/v1/traces', key = KEY): Promise<number> =>
  (await send(daemon.url, { path, body, authorization: `Bearer ${key}` })).status;
const count = async (table: string, traceId: string): Promise<number> => {
  const [row] = await daemon.query(
    `SELECT count(*)::int4 AS n FROM sluice.${table} WHERE trace_id = decode($1, 'hex')`,
    [traceId],
  );
  return Number(row?.['n']);
};
const counts = async (traceId: string): Promise<readonly number[]> =>
  Promise.all(['spans', 'logs', 'traces'].map((table) => count(table, traceId)));
const remove = (project: string | null, traceId: string) =>
  database.session(LIMITS, async (query) => {
    await query('BEGIN');
    const removed = await removeTrace(query, { project, traceId });
    await query('COMMIT');
    return removed;
  });

t.test('spans of every day, log records and the claim are removed; other traces and markers stay', async (t) => {
  const [gone, kept] = [newTraceId(), newTraceId()];
  const now = BigInt(Date.now()) * 1_000_000n;
  const body = traces(
    aSpan({ traceId: gone }),
    aSpan({ traceId: gone, start: now }),
    aSpan({ traceId: gone, start: FAR_NS }),
    aSpan({ traceId: kept }),
  );
  t.equal(await post(body), 200);
  t.equal(await post(logOf(gone), '/v1/logs'), 200);
  t.equal(await remove('other', gone), null, 'not for another project');
  t.equal(await remove('demo', 'not an id'), null);
  t.same(await counts(gone), [3, 1, 1]);
  t.same(await remove('demo', gone), { project: 'demo', spans: 3, logs: 1 });
  t.same(await counts(gone), [0, 0, 0]);
  t.same(await counts(kept), [1, 0, 1]);
  t.equal(await remove('demo', gone), null, 'the second time there is none');
  t.equal(await post(body), 200, 'the same bytes are a replay');
  t.same(await counts(gone), [0, 0, 0]);
  const [month] = await daemon.query("SELECT spans FROM sluice.usage_months WHERE project = 'demo'");
  t.same(month, { spans: '4' }, 'what was accepted stays counted');
});

t.test('the id is free for another project afterwards', async (t) => {
  const traceId = newTraceId();
  t.equal(await post(traces(aSpan({ traceId }))), 200);
  t.equal(await post(traces(aSpan({ traceId })), '/v1/traces', OTHER_KEY), 409);
  t.match(await remove(null, traceId), { project: 'demo', spans: 1 });
  t.equal(await post(traces(aSpan({ traceId })), '/v1/traces', OTHER_KEY), 200);
});

t.test('a trace that only log records name is removed too', async (t) => {
  const traceId = newTraceId();
  t.equal(await post(logOf(traceId), '/v1/logs'), 200);
  t.match(await remove('demo', traceId), { spans: 0, logs: 1 });
  t.same(await counts(traceId), [0, 0, 0]);
});

t.test('a request for the trace waits for the removal and is stored after it', async (t) => {
  const traceId = newTraceId();
  t.equal(await post(traces(aSpan({ traceId }))), 200);
  const waiting = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()";
  const late = await database.session(LIMITS, async (query) => {
    await query('BEGIN');
    t.match(await removeTrace(query, { project: 'demo', traceId }), { spans: 1 });
    const answer = post(traces(aSpan({ traceId })));
    const waits = async () => ((await daemon.query(waiting)).length > 0 ? true : undefined);
    t.ok(await waitFor(waits, { timeoutMs: PATIENCE_MS }));
    await query('COMMIT');
    return answer;
  });
  t.equal(late, 200);
  t.same(await counts(traceId), [1, 0, 1]);
});

t.test('the records of the trace leave the outbox, and nothing else does', async (t) => {
  const [traceId, other] = [newTraceId(), newTraceId()];
  const spans = (...ids: readonly string[]): object =>
    aTraceRequest(ids.map((id) => aSpan({ traceId: id, name: `of ${id}` })));
  const enqueue = async (json: object, project = 'demo', state = 'waiting'): Promise<string> => {
    const body = Buffer.from(tracesProtobuf(JSON.stringify(json)));
    const [row] = await daemon.query(
      `INSERT INTO sluice.outbox (destination, signal, project, records, bytes, body, state)
       VALUES ('d', 'traces', $1, 2, $2, $3, $4) RETURNING sequence::text`,
      [project, body.length, body, state],
    );
    return String(row?.['sequence']);
  };
  const alone = await enqueue(spans(traceId, traceId));
  const mixed = await enqueue(spans(other, traceId), 'demo', 'dead');
  const kept = await enqueue(spans(other, other));
  const ofOther = await enqueue(spans(traceId), 'other');
  const broken = `INSERT INTO sluice.outbox (destination, signal, project, records, bytes, body) VALUES ('d', 'traces', 'demo', 1, 1, decode($1, 'hex'))`;
  await daemon.query(broken, [`0a12${traceId}ff`]);
  const query = database.query.bind(database);
  t.equal(await removeUnsent(query, { project: 'demo', traceId: 'x' }), 0);
  t.equal(await removeUnsent(query, { project: 'demo', traceId }), 3);
  const rows = await daemon.query('SELECT sequence::text, records, bytes, body FROM sluice.outbox ORDER BY sequence');
  t.same(
    rows.map(({ sequence }) => sequence),
    [mixed, kept, ofOther],
    `without ${alone}`,
  );
  const [rest] = rows;
  const expected = Buffer.from(tracesProtobuf(JSON.stringify(spans(other))));
  t.match(rest, { records: 1, bytes: expected.length });
  const text = String(rest?.['body']);
  t.notMatch(text, `of ${traceId}`);
  t.match(text, `of ${other}`);
  t.equal(await removeUnsent(query, { project: null, traceId }), 1, 'of any project');
});
