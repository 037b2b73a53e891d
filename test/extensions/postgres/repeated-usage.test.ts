// Many records that report one call: one of them counts, and the work grows with their number, not with its square.
import pg from 'pg';
import t from 'tap';
import { MIGRATED } from '../../support/migrated.ts';
import { createDatabase, type Teardown } from '../../support/postgres.ts';

t.setTimeout(120_000);

const RECORDS = 1_500;
const FEW_RECORDS = 100;
/** A record is read, joined and sorted some times. Compared in pairs it would be thousands of times. */
const MOST_ROWS_PER_RECORD = 60;
const TRACE = `decode(repeat('0a', 16), 'hex')`;
const NOW_NS = String(BigInt(Date.now()) * 1_000_000n);

/** The tokens of record `i`: the record that counts is the first, the last or one between. */
const ORDERS: Readonly<Record<string, string>> = {
  'the largest first': `${RECORDS} - i`,
  'the largest last': 'i',
  'no order': `(i * 7919) % ${RECORDS}`,
  'all equal': '5',
};

async function connect(t: Teardown): Promise<pg.Client> {
  const { url } = await createDatabase(t, MIGRATED);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  t.teardown(() => client.end());
  return client;
}

const COLUMNS = 'project, environment, usage_scope, response_id, input_tokens, total_tokens, resource, attributes';
const values = (tokens: string): string => `'demo', 'default', 'own', 'the same', ${tokens}, ${tokens}, '{}', '{}'`;
/** Each puts its records into the empty tables. */
const REPORTS: Readonly<Record<string, (tokens: string) => string>> = {
  'spans of a trace': (tokens) => `
    INSERT INTO sluice.spans (${COLUMNS}, category, name, trace_id, span_id, start_time_unix_nano, received_at)
    SELECT ${values(tokens)}, 'model_call', 'chat', ${TRACE}, decode(lpad(to_hex(i), 16, '0'), 'hex'), ${NOW_NS} + i, now()
    FROM generate_series(1, ${RECORDS}) i`,
  'log records without a trace': (tokens) => `
    INSERT INTO sluice.logs (${COLUMNS}, time_unix_nano, received_at)
    SELECT ${values(tokens)}, ${NOW_NS} + i, now() FROM generate_series(1, ${RECORDS}) i`,
  'log records of a trace each': (tokens) => `
    INSERT INTO sluice.logs (${COLUMNS}, trace_id, time_unix_nano, received_at)
    SELECT ${values(tokens)}, decode(md5(i::text), 'hex'), ${NOW_NS} + i, now() FROM generate_series(1, ${RECORDS}) i`,
};

interface Plan {
  readonly [key: string]: unknown;
  readonly Plans?: readonly Plan[];
}

/** The rows that all steps of a plan returned or threw away. */
function rowsOf(plan: Plan): number {
  const own = Object.entries(plan)
    .filter(([key]) => key === 'Actual Rows' || key.startsWith('Rows Removed by'))
    .reduce((sum, [, count]) => sum + Number(count), 0);
  return (plan.Plans ?? []).reduce((sum, part) => sum + rowsOf(part), own * Number(plan['Actual Loops']));
}

t.test('of many records of one call one counts, with work in proportion to their number', async (t) => {
  const client = await connect(t);
  for (const [what, insert] of Object.entries(REPORTS)) {
    for (const [order, tokens] of Object.entries(ORDERS)) {
      await client.query('TRUNCATE sluice.spans, sluice.logs');
      await client.query(insert(tokens));
      const counted =
        'SELECT sum(input_tokens)::int AS sum, count(*)::int AS calls FROM counted_usage WHERE project = $1';
      const largest = `SELECT max(${tokens})::int AS most FROM generate_series(1, ${RECORDS}) i`;
      const { most } = (await client.query(largest)).rows[0];
      t.strictSame((await client.query(counted, ['demo'])).rows, [{ sum: most, calls: 1 }], `${what}, ${order}`);
      for (const question of ["counted_usage WHERE project = 'demo'", 'usage_daily']) {
        const { rows } = await client.query(`EXPLAIN (ANALYZE, FORMAT JSON) SELECT * FROM ${question}`);
        const rowCount = rowsOf(rows[0]['QUERY PLAN'][0].Plan);
        t.ok(rowCount < MOST_ROWS_PER_RECORD * RECORDS, `${what}, ${order}, ${question}: ${rowCount} rows`);
      }
    }
  }
});

t.test('the rows of a trace are those of the whole, by response ids in other traces too', async (t) => {
  const client = await connect(t);
  for (const [what, insert] of Object.entries(REPORTS)) {
    await client.query('TRUNCATE sluice.spans, sluice.logs');
    const few = (text: string): string => text.replace(`1, ${RECORDS}`, `1, ${FEW_RECORDS}`);
    await client.query(few(insert('i')));
    await client.query(
      few(insert('i'))
        .replace('to_hex(i)', 'to_hex(i + 9999)')
        .replace("'the same'", "CASE WHEN i % 3 > 0 THEN 'id ' || i % 50 END"),
    );
    const different = 'SELECT * FROM counted_usage EXCEPT ALL SELECT * FROM trace_usage';
    t.strictSame((await client.query(different)).rows, [], what);
    const { rows } = await client.query(
      'SELECT (SELECT count(*) FROM counted_usage) = (SELECT count(*) FROM trace_usage) AS same',
    );
    t.strictSame(rows, [{ same: true }], what);
  }
});
