/** With many stored days, a question about some traces opens the partitions of their days only, also to be planned. */
import t from 'tap';
import { readTraces } from '../../../../src/cli/traces-query.ts';
import type { Values } from '../../../../src/cli/options.ts';
import type { Reader } from '../../../../src/cli/reader.ts';
import { readTrace } from '../../../../src/cli/view/trace-record.ts';
import { Partitions } from '../../../../src/exporters/postgres/partitions.ts';
import { showHistogram } from '../../../../src/extensions/console/api/histogram.ts';
import { showMarkdown } from '../../../../src/extensions/console/api/markdown.ts';
import { showSpan } from '../../../../src/extensions/console/api/span.ts';
import { listSpans } from '../../../../src/extensions/console/api/spans.ts';
import { listSteps } from '../../../../src/extensions/console/api/steps.ts';
import { listTop } from '../../../../src/extensions/console/api/top.ts';
import { showTrace } from '../../../../src/extensions/console/api/trace.ts';
import { listTraces } from '../../../../src/extensions/console/api/traces.ts';
import { showUsage } from '../../../../src/extensions/console/api/usage.ts';
import type { Route } from '../../../../src/extensions/console/server/route.ts';
import { Database } from '../../../../src/extensions/postgres/database.ts';
import { DAY_MS, MS_NS } from '../../../../src/pdata/time-units.ts';
import { openedBy } from '../../../support/opened-partitions.ts';
import { type Asking, BASE_NS, hex, spanRow, startReading, store } from '../../../support/console-reading.ts';

const WEEKS = 8;
/** The day of the traces, one beside it, and the default partition. */
const MOST = 3;
/** With a beginning only: also the days after it. */
const MOST_SINCE = 10;
const reading = await startReading(t);
const database = new Database().use({ connectionString: reading.url });
const partitions = new Partitions(database);
const spansTable = { name: 'spans', key: 'nanoseconds', retentionMs: WEEKS * 14 * DAY_MS } as const;
const baseMs = Number(BASE_NS / MS_NS);
for (let week = 0; week < WEEKS; week += 2) await partitions.open(spansTable, baseMs - week * 7 * DAY_MS);
await database.close();

const call = { category: 'model_call', usage_scope: 'own', input_tokens: 5, output_tokens: 1 };
const ids = { root: hex(90, 8), call: hex(91, 8), repeated: hex(92, 8) };
await store(reading, [
  spanRow({ trace: 1, span_id: ids.root, usage_scope: 'rollup', conversation_id: 'c-1' }),
  spanRow({ ...call, trace: 1, at: 1, span_id: ids.call, parent_span_id: ids.root, request_model: 'm' }),
  spanRow({ ...call, trace: 1, at: 2, span_id: ids.repeated, parent_span_id: ids.call, dialect: 'anthropic-native' }),
  spanRow({ ...call, trace: 2, at: 3, conversation_id: 'c-1' }),
]);
await reading.client.query('ANALYZE sluice.spans');

const day = { from: String(BASE_NS - 1n), to: String(BASE_NS + 60_000_000_000n) };
const path = { trace: hex(1, 16).slice(2), span: ids.call.slice(2) };

const QUESTIONS: readonly (readonly [what: string, route: Route, asking: Asking, most?: number])[] = [
  ['the list', listTraces, {}],
  ['the list with a filter and a range', listTraces, { query: { ...day, q: 'model:m' } }, MOST_SINCE],
  ['a trace', showTrace, { path }],
  ['its spans', listSpans, { path }],
  ['its span', showSpan, { path }],
  ['its steps', listSteps, { path }],
  ['its text', showMarkdown, { path }],
  ['the most expensive', listTop, { query: { ...day, by: 'tokens' } }],
  ['the longest', listTop, { query: { ...day, by: 'duration' } }],
  ['errors over time', showHistogram, { query: { ...day, by: 'error' } }, MOST_SINCE],
  ['durations over time', showHistogram, { query: { ...day, by: 'duration' } }, MOST_SINCE],
  ['usage', showUsage, { query: { ...day, group: 'none' } }],
];

for (const [what, route, asking, most = MOST] of QUESTIONS)
  t.test(what, async (t) => {
    const { spans: opened } = await openedBy(reading.url, (reader) => reading.text(route, { ...asking, reader }));
    t.ok(opened > 0 && opened <= most, `${opened} partitions of spans`);
  });

const values = { text: () => undefined, flag: () => false, texts: () => [] } as unknown as Values;

for (const [what, work] of [
  [
    'sluice trace',
    (reader: Reader) => readTrace(reader, { project: 'demo', environment: 'default', traceId: path.trace }, 9),
  ],
  ['sluice traces --since', (reader: Reader) => readTraces(reader, values, { since: day.from, limit: 9 })],
] as const)
  t.test(what, async (t) => {
    let rows = 0;
    const { spans: opened } = await openedBy(reading.url, async (reader) => {
      const found = await work(reader as unknown as Reader);
      rows = Array.isArray(found) ? found.length : 'spans' in found ? found.spans.length : 0;
    });
    t.ok(rows > 1, `${rows} rows`);
    t.ok(opened > 0 && opened <= (what === 'sluice trace' ? MOST : MOST_SINCE), `${opened} partitions of spans`);
  });
