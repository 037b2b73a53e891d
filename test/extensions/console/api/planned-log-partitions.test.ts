/**
 * With many stored days, a question about recent traces opens the partitions of log records since these traces only,
 * and a filter without a range those of spans of the traces that it reads.
 */
import t from 'tap';
import type { PostgresReader } from '../../../../src/component/capabilities/postgres-reader.ts';
import type { Values } from '../../../../src/cli/options.ts';
import { readTraces } from '../../../../src/cli/traces-query.ts';
import type { Reader } from '../../../../src/cli/reader.ts';
import { searchSpan } from '../../../../src/cli/view/span-record.ts';
import { readTrace } from '../../../../src/cli/view/trace-record.ts';
import { Partitions } from '../../../../src/exporters/postgres/partitions.ts';
import { listTraceLogs } from '../../../../src/extensions/console/api/logs.ts';
import { showTrace } from '../../../../src/extensions/console/api/trace.ts';
import { listTraces } from '../../../../src/extensions/console/api/traces.ts';
import type { Route } from '../../../../src/extensions/console/server/route.ts';
import { Database } from '../../../../src/extensions/postgres/database.ts';
import { DAY_MS, MS_NS } from '../../../../src/pdata/time-units.ts';
import { type Asking, hex, logRow, spanRow, startReading, store } from '../../../support/console-reading.ts';
import { openedBy } from '../../../support/opened-partitions.ts';

const DAYS = 40;
/** Yesterday to a week ahead, and the default partition. */
const MOST_LOGS = 11;
/** The day of the traces, one beside it, and the default partition. */
const MOST_SPANS = 3;
const nowMs = Date.now();
const at = (daysAgo: number): string => String(BigInt(nowMs - daysAgo * DAY_MS) * MS_NS);

const reading = await startReading(t);
const database = new Database().use({ connectionString: reading.url });
const partitions = new Partitions(database);
const kept = { retentionMs: 2 * DAYS * DAY_MS };
for (let day = 0; day < DAYS; day += 8) {
  await partitions.open({ name: 'spans', key: 'nanoseconds', ...kept }, nowMs - day * DAY_MS);
  await partitions.open({ name: 'logs', key: 'timestamp', ...kept }, nowMs - day * DAY_MS);
}
await database.close();

const call = {
  category: 'model_call',
  usage_scope: 'own',
  input_tokens: 5,
  output_tokens: 1,
  start_time_unix_nano: at(0),
};
await store(reading, [
  spanRow({ ...call, trace: 1, span_id: hex(90, 8), agent_name: 'a', request_model: 'm' }),
  spanRow({ ...call, trace: 2, span_id: hex(91, 8), status: 'error' }),
]);
const said = { project: 'demo', environment: 'default', time_unix_nano: at(0), usage_scope: 'own', input_tokens: 7 };
await reading.insert('logs', [
  logRow({ ...said, trace_id: hex(1, 16), received_at: new Date(nowMs).toISOString() }),
  logRow({ ...said, trace_id: hex(2, 16), received_at: new Date(nowMs).toISOString() }),
]);
await reading.client.query('ANALYZE sluice.spans');
await reading.client.query('ANALYZE sluice.logs');

const path = { trace: hex(1, 16).slice(2), span: hex(90, 8).slice(2) };

const QUESTIONS: readonly (readonly [what: string, route: Route, asking: Asking, spans: number])[] = [
  ['the list', listTraces, {}, MOST_SPANS],
  ['the list with a filter', listTraces, { query: { q: 'model:m' } }, MOST_SPANS],
  ['the list with an inherited value', listTraces, { query: { q: 'user:u error' } }, MOST_SPANS],
  ['the list with a filter of whole traces', listTraces, { query: { q: 'trace.spans:>0 trace.cost:>1' } }, MOST_SPANS],
  ['a trace', showTrace, { path }, MOST_SPANS],
  ['its log records', listTraceLogs, { path }, 0],
];

for (const [what, route, asking, most] of QUESTIONS)
  t.test(what, async (t) => {
    const { spans, logs } = await openedBy(reading.url, (reader: PostgresReader) =>
      reading.text(route, { ...asking, reader }),
    );
    t.ok(spans <= most, `${spans} partitions of spans`);
    t.ok(logs <= MOST_LOGS, `${logs} partitions of log records`);
  });

const values = (given: Readonly<Record<string, string>>): Values =>
  ({
    text: (name: string) => given[name],
    flag: (name: string) => name in given,
    texts: () => [],
  }) as unknown as Values;
const key = { project: 'demo', environment: 'default', traceId: path.trace };
const range = { since: null, limit: 9 };

for (const [what, work] of [
  ['sluice trace', async (reader: Reader) => (await readTrace(reader, key, 9)).logs.length === 1],
  [
    'sluice span --trace',
    async (reader: Reader) => (await searchSpan(reader, path.span, { project: null, trace: key })) !== null,
  ],
  ['sluice traces', async (reader: Reader) => (await readTraces(reader, values({}), range)).length === 2],
  [
    'sluice traces --agent',
    async (reader: Reader) => (await readTraces(reader, values({ agent: 'a' }), range)).length === 1,
  ],
  [
    'sluice traces --filter',
    async (reader: Reader) => (await readTraces(reader, values({ filter: 'trace.errors:>0' }), range)).length === 1,
  ],
] as const)
  t.test(what, async (t) => {
    let isFound = false;
    const { spans, logs } = await openedBy(reading.url, async (reader) => {
      isFound = await work(reader as unknown as Reader);
    });
    t.ok(isFound);
    t.ok(spans <= MOST_SPANS, `${spans} partitions of spans`);
    t.ok(logs <= MOST_LOGS, `${logs} partitions of log records`);
  });
