/** Filters by a user with other terms: the spans above a span are looked for in traces only that name the user. */
import t from 'tap';
import { listConversations } from '../../../../src/extensions/console/api/conversations.ts';
import { exportRows } from '../../../../src/extensions/console/api/export.ts';
import { listFacets } from '../../../../src/extensions/console/api/facets.ts';
import { showHistogram } from '../../../../src/extensions/console/api/histogram.ts';
import { listTools } from '../../../../src/extensions/console/api/tools.ts';
import { listTraces } from '../../../../src/extensions/console/api/traces.ts';
import type { Route } from '../../../../src/extensions/console/server/route.ts';
import { BASE_NS, hex, spanRow, startReading, store } from '../../../support/console-reading.ts';

const reading = await startReading(t);
const [root, tool] = [hex(80, 8), hex(81, 8)];
await store(
  reading,
  [1, 2, 3].flatMap((trace) => [
    spanRow({ trace, span_id: root, user_id: trace === 1 ? 'ada' : 'bob' }),
    spanRow({
      trace,
      span_id: tool,
      parent_span_id: root,
      category: 'tool_step',
      tool_name: 'search',
      status: 'error',
      conversation_id: `c-${trace}`,
    }),
  ]),
);
await reading.client.query('ANALYZE sluice.spans');
const { rows } = await reading.client.query("SELECT pg_get_functiondef('public.owners_of'::regproc) AS text");
const definition = String(rows[0].text);
const failing = definition.replace(
  /\$function\$[\s\S]*\$function\$/u,
  "'BEGIN RAISE EXCEPTION USING MESSAGE = $message$looked above$message$; END'",
);

const range = { from: String(BASE_NS - 1n), to: String(BASE_NS + 60_000_000_000n) };
const ROUTES: readonly (readonly [
  name: string,
  route: Route,
  query: Readonly<Record<string, string>>,
  found: RegExp,
])[] = [
  ['traces', listTraces, {}, /"trace_id" ?: ?"0*1"/u],
  ['conversations', listConversations, {}, /"conversation_id" ?: ?"c-1"/u],
  ['the histogram', showHistogram, range, /"trace_count":1/u],
  ['tools', listTools, range, /"call_count" ?: ?1,/u],
  ['facets', listFacets, { fields: 'tool' }, /"value" ?: ?"search", ?"count" ?: ?1\}/u],
  ['an export of spans', exportRows, { what: 'spans' }, /"tool_name":"search"/u],
  ['an export of traces', exportRows, { what: 'traces' }, /"trace_id" ?: ?"0*1"/u],
];

for (const [name, route, query, found] of ROUTES)
  t.test(name, async (t) => {
    const text = (user: string): Promise<string> =>
      reading.text(route, { query: { ...query, q: `user:${user} status:error` } });
    t.match(await text('ada'), found, 'a span has the user of the span above it');
    await reading.client.query(failing);
    try {
      await t.rejects(text('bob'), /looked above/u);
      t.notMatch(await text('unknown-user'), found);
    } finally {
      await reading.client.query(definition);
    }
  });
