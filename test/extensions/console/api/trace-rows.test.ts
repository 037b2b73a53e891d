// The work for the rows of a list grows with its traces and their calls, not with their product.
import t from 'tap';
import { readTraceRows } from '../../../../src/extensions/console/api/trace-rows.ts';
import type { RequestReader } from '../../../../src/extensions/console/server/route.ts';
import { spanRow, startReading, store } from '../../../support/console-reading.ts';

t.setTimeout(300_000);
const TRACES = 40;
const CALLS = 25;
const reading = await startReading(t);
const call = { category: 'model_call', usage_scope: 'own', input_tokens: 2, total_tokens: 2, total_cost: '0.01' };
await store(
  reading,
  Array.from({ length: TRACES * CALLS }, (_, at) => spanRow({ ...call, trace: 1 + (at % TRACES), at })),
);
await reading.client.query('ANALYZE');

interface Plan {
  readonly [key: string]: unknown;
  readonly Plans?: readonly Plan[];
}

/** The rows that were read from common table expressions and functions. */
function rowsOf(plan: Plan): number {
  const each = Number(plan['Actual Rows']) + Number(plan['Rows Removed by Filter'] ?? 0);
  const own = /^(?:CTE|Function) Scan$/u.test(String(plan['Node Type'])) ? each * Number(plan['Actual Loops']) : 0;
  return (plan.Plans ?? []).reduce((sum, part) => sum + rowsOf(part), own);
}

t.test('the sums of each trace are computed once', async (t) => {
  const { rows } = await reading.client.query(
    'SELECT trace_id FROM sluice.traces ORDER BY first_ns DESC, trace_id DESC',
  );
  const ids = rows.map(({ trace_id: id }) => id as Buffer);
  const plans: Plan[] = [];
  const explaining: RequestReader = {
    ...reading.reader,
    views: reading.reader.views,
    query: async (text, values = []) => {
      const explained = await reading.client.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, [...values]);
      plans.push(explained.rows[0]['QUERY PLAN'][0].Plan);
      return reading.reader.query(text, values);
    },
  };
  const items = await readTraceRows(explaining, 'demo', ids);
  t.strictSame(
    items
      .map((item) => JSON.parse(item))
      .map((row) => [row.trace_id, row.input_tokens, row.total_cost, row.unpriced_count]),
    ids.map((id) => [id.toString('hex'), 2 * CALLS, '0.25000000', 0]),
  );
  const read = plans.reduce((sum, plan) => sum + rowsOf(plan), 0);
  t.ok(read < 5 * TRACES * (CALLS + TRACES), `${read} rows for ${TRACES} traces of ${CALLS} calls`);
});
