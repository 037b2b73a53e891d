/** Records whose names, models and ids are long. What a list shows of them is bounded. */
import t from 'tap';
import { ROUTES } from '../../../../src/extensions/console/api/routes.ts';
import { STORED_COLUMNS } from '../../../../src/pdata/stored-text.ts';
import type { Signal } from '../../../../src/pdata/context.ts';
import {
  BASE_NS,
  eventsOf,
  hex,
  logRow,
  metricRow,
  spanRow,
  startReading,
  store,
} from '../../../support/console-reading.ts';

t.setTimeout(300_000);
const ROWS = 8;
const LENGTH = 120_000;
/** The limit of an answer about all rows: some thousand characters for each. */
const MOST_CHARACTERS = 400_000;
/** With 64 Ki characters of each content column of a step. */
const MOST_WITH_CONTENT = 4_500_000;
/** Words of Sluice, the keys of partitions, and what first contact bounds. */
const CLOSED = new Set([
  ...['project', 'environment', 'kind', 'status', 'category', 'usage_scope', 'cost_source', 'dialect', 'type'],
  ...['temporality', 'trace_id', 'span_id', 'parent_span_id'],
]);

let made = 0;
/** A long text in each column of text, different in each row. */
const longTexts = (signal: Signal): Readonly<Record<string, string>> =>
  Object.fromEntries(
    STORED_COLUMNS[signal]
      .filter(({ name, type }) => type === 'text' && !CLOSED.has(name))
      .map(({ name }) => {
        made += 1;
        return [name, `${made} ${name} `.padEnd(LENGTH, 'x')];
      }),
  );
const CALL = { category: 'model_call', usage_scope: 'own', input_tokens: 8, output_tokens: 2, total_tokens: 10 };
const FAILED = { status: 'error', is_error: true };

const reading = await startReading(t);
const ONE_TRACE = 1000;
let lastSpan = '';
for (let row = 0; row < ROWS; row++) {
  const spans = [row + 1, ONE_TRACE].map((trace) =>
    spanRow({
      ...CALL,
      ...FAILED,
      ...longTexts('traces'),
      trace,
      at: row,
      conversation_id: `${trace}`.padEnd(LENGTH, 'c'),
    }),
  );
  await store(reading, spans);
  lastSpan = String((spans[1] as { readonly span_id: string }).span_id).slice(2);
  await reading.insert('logs', [
    logRow({ ...longTexts('logs'), trace_id: hex(ONE_TRACE, 16), ...CALL }),
    logRow({ ...longTexts('logs'), ...CALL }),
  ]);
  await reading.insert('metric_points', [
    metricRow({
      ...longTexts('metrics'),
      attributes: { long: 'x'.repeat(LENGTH) + row },
      type: 'gauge',
      value_double: 1,
    }),
  ]);
}

const RANGE = { from: String(BASE_NS - 1_000_000n), to: String(BASE_NS + 3_600_000_000_000n) };
/** Parameters of queries for which a route has more than one answer. */
const QUERIES: Readonly<Record<string, readonly Readonly<Record<string, string>>[]>> = {
  '/usage': ['model', 'provider', 'user', 'service', 'agent', 'conversation'].map((group) => ({ group })),
  '/traces/top': ['cost', 'tokens', 'duration', 'errors'].map((by) => ({ by })),
  '/export': [{ what: 'traces', as: 'ndjson' }],
};
const WITH_CONTENT = /\/(?:steps|turns|\{span\})$/u;
/** Whole records, as downloads and in formats of other products; and what holds no telemetry. */
const OTHERS =
  /\/(?:keys|environments|tokens)$|\/(?:otlp|markdown)$|^\/jaeger\/api\/(?:v3\/)?traces|^\/tempo\/api\/(?:v2\/)?traces\//u;
const PARAMETERS = {
  trace: hex(ONE_TRACE, 16).slice(2),
  conversation: '1000'.padEnd(LENGTH, 'c'),
  field: 'input_content',
};

for (const route of ROUTES.filter(
  ({ method, path }) => method === 'GET' && /\{project\}\/|^\/(?:tempo|jaeger)/u.test(path),
)) {
  if (OTHERS.test(route.path)) continue;
  const suffix = Object.keys(QUERIES).find((end) => route.path.endsWith(end)) ?? '';
  for (const query of QUERIES[suffix] ?? [{}])
    t.test(`${route.path} ${Object.values(query).join(' ')}`, async (t) => {
      const path = { ...PARAMETERS, span: lastSpan, service: 'unknown_service', tag: 'name' };
      const known = (name: string): boolean => route.query?.includes(name) ?? true;
      const given = Object.entries({ ...RANGE, limit: '100', ...query }).filter(([name]) => known(name));
      const asking = { path, query: Object.fromEntries(given) };
      if (route.path.endsWith('/live')) {
        const events = eventsOf(await reading.reply(route, asking));
        const { value } = await events.next();
        t.ok(value.data.length < MOST_CHARACTERS, `${value.data.length} characters`);
        await events.return?.();
        return;
      }
      const text = await reading.text(route, asking);
      t.ok(
        text.length < (WITH_CONTENT.test(route.path) ? MOST_WITH_CONTENT : MOST_CHARACTERS),
        `${text.length} characters`,
      );
    });
}

t.test('many steps share the room for content', async (t) => {
  const steps = Array.from({ length: 200 }, (_, at) =>
    spanRow({ ...CALL, trace: 2000, at, conversation_id: 'many', input_content: 'x'.repeat(60_000) }),
  );
  await store(reading, steps);
  const listed = ROUTES.find(({ path }) => path.endsWith('/steps'));
  const turns = ROUTES.find(({ path }) => path.endsWith('/turns'));
  if (listed === undefined || turns === undefined) throw new Error('the routes have other paths');
  const path = { trace: hex(2000, 16).slice(2), conversation: 'many' };
  const { items } = await reading.ask(listed, { path, query: { limit: 200 } });
  t.equal(items.length, 200);
  t.match(items[0].content.input_content, { cut: true, length: 60_000, text: 'x'.repeat(20_000) });
  t.ok((await reading.text(turns, { path })).length < 4_200_000);
});
