// Random rows: each list read page by page has every row once.
import fc from 'fast-check';
import t from 'tap';
import { listConversations } from '../../../../src/extensions/console/api/conversations.ts';
import { listLogs } from '../../../../src/extensions/console/api/logs.ts';
import { listTraces } from '../../../../src/extensions/console/api/traces.ts';
import type { Route } from '../../../../src/extensions/console/server/route.ts';
import { BASE_NS, logRow, spanRow, startReading, store } from '../../../support/console-reading.ts';
import { Random } from '../../../support/generators-random.ts';
import { cases } from '../../../support/long.ts';

t.setTimeout(300_000);
const WALKS = cases(200);
const TRACES = 120;
const LOGS = 150;
const SEED = 20_261_124;
const reading = await startReading(t);
const random = new Random(SEED);
const one = <T>(list: readonly T[]): T => list[random.below(list.length)] as T;

// Few times for many rows, so that pages end among rows of one time.
const spans = Array.from({ length: TRACES }, (_, at) =>
  Array.from({ length: 1 + random.below(4) }, () => {
    const isCall = random.below(2) === 0;
    const tokens = random.below(500);
    return spanRow({
      trace: at + 1,
      at: random.below(12),
      status: one(['ok', 'error']),
      conversation_id: one(['c-1', 'c-2', 'c-3', 'c-4', null]),
      user_id: one(['u-1', 'u-2', null]),
      service_name: one(['web', 'worker', null]),
      ...(isCall
        ? {
            category: 'model_call',
            usage_scope: 'own',
            provider: 'p',
            response_model: one(['m-1', 'm-2', null]),
            input_tokens: tokens,
            output_tokens: 3,
            total_tokens: tokens + 3,
            total_cost: one(['0.01', '0.00000123', null]),
          }
        : {}),
    });
  }),
).flat();
await store(reading, spans);
const logs = Array.from({ length: LOGS }, (_, at) => {
  const micros = random.below(9);
  const ns = String(BASE_NS + BigInt(micros) * 1000n);
  const arrived = `2026-11-20T00:00:00.00000${micros}Z`;
  const times = one([
    { time_unix_nano: ns },
    { time_unix_nano: null, observed_time_unix_nano: ns },
    { time_unix_nano: null, received_at: arrived },
  ]);
  return logRow({ ...times, body: `record ${at}` });
});
await reading.insert('logs', logs);
await reading.client.query('ANALYZE');

interface Answer {
  readonly items: readonly Record<string, unknown>[];
  readonly next: string | null;
}

/** Pages of different sizes. */
async function walk(route: Route, sizes: readonly number[]): Promise<readonly Record<string, unknown>[]> {
  const rows: Record<string, unknown>[] = [];
  let cursor: string | null = '';
  for (let at = 0; cursor !== null; at++) {
    const limit = sizes[at % sizes.length] ?? 1;
    const page: Answer = await reading.ask(route, { query: { limit, cursor } });
    rows.push(...page.items);
    cursor = page.next;
  }
  return rows;
}

const stored = async (text: string): Promise<readonly unknown[]> =>
  (await reading.client.query(text)).rows.map(({ id }) => id);

const LISTS: readonly (readonly [
  name: string,
  route: Route,
  idOf: (row: never) => unknown,
  all: readonly unknown[],
])[] = [
  [
    'traces',
    listTraces,
    (row: { trace_id: string }) => row.trace_id,
    await stored("SELECT encode(trace_id, 'hex') AS id FROM sluice.traces"),
  ],
  [
    'logs',
    listLogs,
    (row: { body: { text: string } }) => /\d+/u.exec(row.body.text)?.[0],
    await stored("SELECT substring(body::text FROM '[0-9]+') AS id FROM sluice.logs"),
  ],
  [
    'conversations',
    listConversations,
    (row: { conversation_id: string }) => row.conversation_id,
    await stored('SELECT DISTINCT conversation_id AS id FROM sluice.spans WHERE conversation_id IS NOT NULL'),
  ],
];

t.test('a list read in pages of any sizes has each row once', async (t) => {
  const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 });
  for (const [name, route, idOf, all] of LISTS) {
    const expected = all.map(String).sort();
    t.ok(expected.length > 3, `there are ${name}`);
    await fc.assert(
      fc.asyncProperty(sizes, async (chosen) => {
        const found = (await walk(route, chosen)).map((row) => String(idOf(row as never))).sort();
        t.strictSame(found, expected, `${name} in pages of ${chosen}`);
      }),
      { seed: SEED, numRuns: WALKS },
    );
  }
});
