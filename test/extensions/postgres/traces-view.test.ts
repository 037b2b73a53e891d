// The view `traces` read whole: the work for a trace does not grow with the number of days that are kept.
import t from 'tap';
import { openMigrated } from '../../support/migrated.ts';
import { DAY_NS } from '../../../src/pdata/time-units.ts';

t.setTimeout(300_000);

const DAYS = 40;
const TRACES = 80;
const START_NS = (BigInt(Date.now()) * 1_000_000n) / DAY_NS;
/** Searches for the spans, the root, the calls and the roll-ups of a trace, with some to spare. */
const MOST_SEARCHES = 12;

/** Every trace is an agent with usage of its own above a plain span and a call. The agents of some count. */
const FILL = `
  INSERT INTO sluice.spans (project, environment, usage_scope, category, total_tokens, trace_id, span_id, parent_span_id, name,
    start_time_unix_nano, received_at, resource, attributes)
  SELECT 'demo', 'default', CASE WHEN i = 0 THEN 'rollup' WHEN i = 2 AND n % 4 > 0 THEN 'own' END, CASE i WHEN 2 THEN 'model_call' END, 100 - i,
    decode(md5(n::text), 'hex'), decode(lpad(to_hex(n * 4 + i), 16, '0'), 'hex'),
    CASE WHEN i > 0 THEN decode(lpad(to_hex(n * 4 + i - 1), 16, '0'), 'hex') END, 'span', $1::int8 + n * (${DAYS * Number(DAY_NS / 1000n)}000 / ${TRACES}) + i,
    now(), '{}', '{}'
  FROM generate_series(0, ${TRACES - 1}) n, generate_series(0, 2) i`;
const CLAIM = `
  INSERT INTO sluice.traces (trace_id, project, environment, first_ns, last_ns)
  SELECT trace_id, project, 'default', min(start_time_unix_nano), max(start_time_unix_nano) FROM sluice.spans GROUP BY 1, 2`;

interface Plan {
  readonly 'Relation Name'?: string;
  readonly 'Actual Loops': number;
  readonly Plans?: readonly Plan[];
}

/** How often spans were looked for, over all partitions. */
function searchesOf(plan: Plan): number {
  const own = plan['Relation Name']?.startsWith('spans_') === true ? plan['Actual Loops'] : 0;
  return (plan.Plans ?? []).reduce((sum, part) => sum + searchesOf(part), own);
}

t.test('a trace costs a search in the partitions of its days', async (t) => {
  const client = await (await openMigrated(t)).connect();
  const begin = (START_NS - BigInt(DAYS)) * DAY_NS;
  for (let day = 0n; day < DAYS; day++) {
    const [from, until] = [begin + day * DAY_NS, begin + (day + 1n) * DAY_NS];
    await client.query(
      `CREATE TABLE sluice.spans_day_${day} PARTITION OF sluice.spans FOR VALUES FROM (${from}) TO (${until})`,
    );
  }
  await client.query(FILL, [String(begin)]);
  await client.query(CLAIM);
  await client.query('ANALYZE');
  const { rows: sums } = await client.query('SELECT sum(total_tokens)::int AS sum FROM public.traces');
  t.strictSame(sums, [{ sum: 98 * TRACES * 0.75 + 100 * TRACES * 0.25 }]);
  const { rows } = await client.query(
    'EXPLAIN (ANALYZE, FORMAT JSON) SELECT * FROM public.traces ORDER BY start_time_unix_nano DESC LIMIT 20',
  );
  const searches = searchesOf(rows[0]['QUERY PLAN'][0].Plan);
  t.ok(searches < MOST_SEARCHES * TRACES, `${searches} searches for ${TRACES} traces beside ${DAYS} days`);
});
