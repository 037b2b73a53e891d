// Many records that report one call: one of them counts, and the work grows with their number, not with its square.
import t from 'tap';
import { Partitions } from '../../../src/exporters/postgres/partitions.ts';
import { Random } from '../../support/generators-random.ts';
import { openMigrated } from '../../support/migrated.ts';
import { DAY_MS } from '../../../src/pdata/time-units.ts';
import '../../support/long-file.ts';

t.setTimeout(300_000);

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

/** How many times the steps of a plan scanned a table or a part of one. */
function scansOf(plan: Plan): number {
  const own = plan['Relation Name'] === undefined ? 0 : Number(plan['Actual Loops']);
  return (plan.Plans ?? []).reduce((sum, part) => sum + scansOf(part), own);
}

t.test('of many records of one call one counts, with work in proportion to their number', async (t) => {
  const client = await (await openMigrated(t)).connect();
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
  const client = await (await openMigrated(t)).connect();
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

const CLAIM = `INSERT INTO sluice.traces (trace_id, project, environment, first_ns, last_ns)
  SELECT trace_id, project, 'default', min(start_time_unix_nano), max(start_time_unix_nano) FROM sluice.spans GROUP BY 1, 2
  UNION SELECT trace_id, project, 'default', NULL::int8, NULL::int8 FROM sluice.logs l WHERE trace_id IS NOT NULL
    AND NOT EXISTS (SELECT FROM sluice.spans s WHERE s.trace_id = l.trace_id)`;
/** Keys that many records share. Each puts its records into the empty tables. */
const SHARED: Readonly<Record<string, readonly string[]>> = {
  'a response id of log records of a trace each': [REPORTS['log records of a trace each']?.('i') ?? ''],
  'the beginning of response ids, of spans and log records': [
    `INSERT INTO sluice.spans (${COLUMNS}, category, name, trace_id, span_id, start_time_unix_nano, received_at)
     SELECT 'demo', 'default', 'own', repeat('p', 128) || 'span' || i, 1, 1, '{}', '{}', 'model_call', 'chat', ${TRACE},
       decode(lpad(to_hex(i), 16, '0'), 'hex'), ${NOW_NS} + i, now() FROM generate_series(1, ${RECORDS}) i`,
    `INSERT INTO sluice.logs (${COLUMNS}, trace_id, time_unix_nano, received_at)
     SELECT 'demo', 'default', 'own', repeat('p', 128) || 'log' || i, 1, 1, '{}', '{}', ${TRACE}, ${NOW_NS} + i, now()
     FROM generate_series(1, ${RECORDS}) i`,
  ],
  'a trace whose log records name a span each, of a sender that reports calls on spans': [
    `INSERT INTO sluice.spans (project, environment, dialect, attributes, category, name, trace_id, span_id, start_time_unix_nano, received_at)
     SELECT 'demo', 'default', 'codex', '{}', 'agent', 'turn', ${TRACE}, decode(lpad(to_hex(i), 16, '0'), 'hex'), ${NOW_NS} + i, now()
     FROM generate_series(1, ${RECORDS}) i`,
    `INSERT INTO sluice.logs (project, environment, usage_scope, dialect, input_tokens, attributes, trace_id, span_id, time_unix_nano, received_at)
     SELECT 'demo', 'default', 'own', 'codex', i, '{}', ${TRACE}, decode(lpad(to_hex(i), 16, '0'), 'hex'), ${NOW_NS} + i, now()
     FROM generate_series(1, ${RECORDS}) i`,
  ],
};
const MOST_BLOCKS_PER_RECORD = 30;
const OF_ALL = "SELECT * FROM trace_usage_of('demo', ARRAY(SELECT trace_id FROM sluice.traces))";

t.test('the usage of all traces reads blocks in proportion to the records, whatever key they share', async (t) => {
  const client = await (await openMigrated(t)).connect();
  for (const [what, inserts] of Object.entries(SHARED)) {
    await client.query('TRUNCATE sluice.spans, sluice.logs, sluice.traces');
    for (const insert of [...inserts, CLAIM, 'ANALYZE']) await client.query(insert);
    const { rows } = await client.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${OF_ALL}`);
    const plan = rows[0]['QUERY PLAN'][0].Plan;
    const blocks = Number(plan['Shared Hit Blocks']) + Number(plan['Shared Read Blocks']);
    t.ok(blocks < MOST_BLOCKS_PER_RECORD * RECORDS, `${what}: ${blocks} blocks`);
    const different = 'SELECT * FROM counted_usage EXCEPT ALL ';
    t.strictSame((await client.query(different + OF_ALL)).rows, [], what);
  }
});

t.test('the call above a call of the Anthropic client is searched in the days around it, not in all', async (t) => {
  const { database, connect } = await openMigrated(t);
  const partitions = new Partitions(database);
  for (const weeks of [0, 2, 4, 6])
    await partitions.open(
      { name: 'spans', key: 'nanoseconds', retentionMs: 60 * DAY_MS },
      Date.now() - weeks * 7 * DAY_MS,
    );
  const client = await connect();
  await client.query(`INSERT INTO sluice.spans (project, environment, usage_scope, category, resource, attributes, dialect, name, trace_id,
      span_id, parent_span_id, start_time_unix_nano, received_at)
    SELECT 'demo', 'default', 'own', 'model_call', '{}', '{}', CASE WHEN half = 1 THEN 'anthropic-native' END, 'chat', decode(md5(i::text), 'hex'),
      decode(lpad(to_hex(half), 16, '0'), 'hex'), CASE WHEN half = 1 THEN decode(lpad('0', 16, '0'), 'hex') END, ${NOW_NS} + i * 1000 + half, now()
    FROM generate_series(1, ${RECORDS}) i, generate_series(0, 1) half`);
  await client.query('ANALYZE sluice.spans');
  const { rows } = await client.query('EXPLAIN (ANALYZE, FORMAT JSON) SELECT call_key FROM usage_spans');
  const scans = scansOf(rows[0]['QUERY PLAN'][0].Plan);
  t.ok(scans < 3 * RECORDS, `${scans} scans of tables for ${RECORDS} calls`);
  const counted = await client.query('SELECT count(*)::int AS calls FROM counted_usage');
  t.strictSame(counted.rows, [{ calls: RECORDS }]);
});

/** As the function computes it, level by level. */
const BY_LEVELS = `WITH RECURSIVE node AS MATERIALIZED (
    SELECT * FROM unnest($1::bytea[], $2::bytea[], $3::text[]) AS n (id, parent, role)
  ), covered AS (
    SELECT parent AS id FROM node WHERE role IN ('call', 'model call') UNION SELECT n.parent FROM covered c JOIN node n ON n.id = c.id
  ), blocked AS (
    SELECT n.id FROM node above JOIN node n ON n.parent = above.id
    WHERE above.role = 'model call' OR above.role = 'rollup' AND above.id NOT IN (SELECT id FROM covered WHERE id IS NOT NULL)
    UNION SELECT n.id FROM blocked b JOIN node n ON n.parent = b.id
  )
  SELECT id FROM node WHERE role = 'rollup' AND id NOT IN (SELECT id FROM covered WHERE id IS NOT NULL)
    AND id NOT IN (SELECT id FROM blocked WHERE id IS NOT NULL) ORDER BY id`;

t.test('roll-ups of random traces, with repeated ids, missing parents and circles', async (t) => {
  const client = await (await openMigrated(t)).connect();
  const random = new Random(7);
  const roles = ['rollup', 'rollup', 'call', 'model call', null];
  let found = 0;
  for (let trace = 0; trace < 200; trace += 1) {
    const size = 1 + random.below(24);
    const idOf = (): Buffer => Buffer.from([random.below(size + 3)]);
    const spans = Array.from({ length: size }, () => ({
      id: random.below(12) === 0 ? null : idOf(),
      parent: random.below(6) === 0 ? null : idOf(),
      role: roles[random.below(roles.length)] ?? null,
    })).map((span) => (span.id === null ? { ...span, role: 'call' } : span));
    const values = [spans.map(({ id }) => id), spans.map(({ parent }) => parent), spans.map(({ role }) => role)];
    const computed = 'SELECT unnest(counting_rollups($1::bytea[], $2::bytea[], $3::text[])) AS id ORDER BY 1';
    const expected = (await client.query(BY_LEVELS, values)).rows;
    found += expected.length;
    t.strictSame((await client.query(computed, values)).rows, expected, `trace ${trace}`);
  }
  t.ok(found > 50);
});

t.test('a chain of spans of any depth', async (t) => {
  const client = await (await openMigrated(t)).connect();
  const depth = 10_000;
  await client.query(`INSERT INTO sluice.spans (project, environment, usage_scope, total_tokens, attributes, name, trace_id, span_id, parent_span_id,
      start_time_unix_nano, received_at)
    SELECT 'demo', 'default', CASE WHEN i % 2 = 0 THEN 'rollup' END, 5, '{}', 'step', ${TRACE}, decode(lpad(to_hex(i), 16, '0'), 'hex'),
      CASE WHEN i > 1 THEN decode(lpad(to_hex(i - 1), 16, '0'), 'hex') END, ${NOW_NS} + i, now() FROM generate_series(1, ${depth}) i`);
  await client.query(CLAIM);
  // Level by level it takes half a minute, else half a second.
  await client.query("SET statement_timeout = '15s'");
  for (const question of [OF_ALL, "SELECT * FROM trace_usage WHERE project = 'demo'"])
    t.equal((await client.query(question)).rowCount, 1, question);
});
