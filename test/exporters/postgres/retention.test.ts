// Retention in a real database: days, rows outside of all days, claims on traces, months of usage.
import t from 'tap';
import { cutoffOf } from '../../../src/component/observed-time.ts';
import { type PartitionedTable, Partitions } from '../../../src/exporters/postgres/partitions.ts';
import { Retention, type RetentionPeriods } from '../../../src/exporters/postgres/retention.ts';
import { Database } from '../../../src/extensions/postgres/database.ts';
import { waitFor } from '../../../src/extensions/postgres/embedded/wait.ts';
import { longTest } from '../../support/long.ts';
import { openMigrated } from '../../support/migrated.ts';
import type { Teardown } from '../../support/postgres.ts';
import { PATIENCE_MS } from '../../support/patience.ts';
import { QUIET } from '../../support/quiet-logger.ts';
import { DAY_MS } from '../../../src/pdata/time-units.ts';

t.setTimeout(300_000);

const days = (count: number): number => count * DAY_MS;
const PERIODS: RetentionPeriods = {
  spans: days(3),
  logs: days(3),
  metrics: days(5),
  traces: days(10),
  usage: days(60),
};
const SPANS: PartitionedTable = { name: 'spans', key: 'nanoseconds', retentionMs: days(1000) };

async function scene(t: Teardown) {
  const { database, connect } = await openMigrated(t);
  const names = async (text: string): Promise<readonly string[]> =>
    (await database.query(text)).rows.map((row) => String(Object.values(row)[0]));
  return { database, connect, names, partitions: new Partitions(database) };
}

type Scene = Awaited<ReturnType<typeof scene>>;

/** Its trace has the same name, 16 letters long. */
async function store(database: Database, name: string, startMs: number, receivedMs = startMs): Promise<void> {
  await database.query(
    `INSERT INTO sluice.spans (project, environment, trace_id, span_id, name, start_time_unix_nano, resource, attributes, received_at)
     VALUES ('demo', 'default', convert_to(rpad($1, 16, '.'), 'UTF8'), 'spanspan', $1, $2, '{}', '{}', to_timestamp($3::float8 / 1000))`,
    [name, String(BigInt(startMs) * 1_000_000n), receivedMs],
  );
}

async function claim(database: Database, name: string, createdMs: number, lastMs: number | null): Promise<void> {
  const ns = lastMs === null ? null : String(BigInt(lastMs) * 1_000_000n);
  await database.query(
    `INSERT INTO sluice.traces (trace_id, project, environment, first_ns, last_ns, created_at)
     VALUES (convert_to(rpad($1, 16, '.'), 'UTF8'), 'demo', 'default', $2, $2, to_timestamp($3::float8 / 1000))`,
    [name, ns, createdMs],
  );
}

const storedSpans = ({ names }: Scene) => names('SELECT name FROM sluice.spans ORDER BY name');
const storedTraces = ({ names }: Scene) =>
  names("SELECT rtrim(convert_from(trace_id, 'UTF8'), '.') FROM sluice.traces ORDER BY 1");

t.test('a day is dropped when all of it is past, and the days around now are open', async (t) => {
  const here = await scene(t);
  const { database, partitions } = here;
  const now = Date.now();
  for (const back of [0, 8, 16]) await partitions.open(SPANS, now - days(back));
  for (const back of [0, 1, 2, 4, 5, 20]) await store(database, `${back} days`, now - days(back));
  const retention = new Retention(database, PERIODS, QUIET);
  await retention.open();
  await retention.expire();
  t.strictSame(await storedSpans(here), ['0 days', '1 days', '2 days']);
  const left = (await partitions.list(SPANS)).map(({ day }) => day).sort((a, b) => a - b);
  const today = Math.floor(now / DAY_MS);
  t.strictSame(
    left,
    Array.from({ length: 3 + 1 + 7 }, (_, index) => today - 3 + index),
    'from the day that is not wholly past to a week ahead, and no day that would be dropped at once',
  );
});

t.test('clocks that are years wrong create no partition, and their rows expire by the day they arrived', async (t) => {
  const here = await scene(t);
  const { database, partitions } = here;
  const now = Date.now();
  const retention = new Retention(database, PERIODS, QUIET);
  await retention.open();
  const before = (await partitions.list(SPANS)).length;
  for (const [name, start] of [
    ['1970', 1],
    ['2100', Date.UTC(2100, 0, 1)],
  ] as const) {
    await store(database, `${name} new`, start, now);
    await store(database, `${name} old`, start, now - days(4));
  }
  await retention.open();
  await retention.expire();
  t.strictSame(await storedSpans(here), ['1970 new', '2100 new']);
  t.equal((await partitions.list(SPANS)).length, before);
});

t.test('resources and scopes are removed when no row can refer to them any more', async (t) => {
  const { database, names, connect } = await scene(t);
  const put = async (name: string, daysAgo: number): Promise<void> => {
    const id = `decode(md5('${name}'), 'hex')`;
    const usedOn = `(now() AT TIME ZONE 'UTC')::date - ${daysAgo}`;
    await database.query(`INSERT INTO sluice.resources VALUES (${id}, 'demo', '"${name}"', ${usedOn})`);
    await database.query(`INSERT INTO sluice.scopes VALUES (${id}, 'demo', '${name}', null, null, ${usedOn})`);
  };
  // Twice the longest retention of records, five days, and eighteen more.
  for (const [name, daysAgo] of [
    ['today', 0],
    ['kept', 28],
    ['locked', 30],
    ['old', 30],
    ['older', 400],
  ] as const)
    await put(name, daysAgo);
  const left = async () => [
    await names("SELECT body #>> '{}' FROM sluice.resources ORDER BY 1"),
    await names('SELECT name FROM sluice.scopes ORDER BY 1'),
  ];
  const retention = new Retention(database, PERIODS, QUIET);
  await retention.open();
  const user = await connect();
  await user.query(`BEGIN; UPDATE sluice.resources SET used_on = now() WHERE body = '"locked"'`);
  await user.query("UPDATE sluice.scopes SET used_on = now() WHERE name = 'locked'");
  await retention.expire();
  await user.query('COMMIT');
  t.strictSame(await left(), [
    ['kept', 'locked', 'today'],
    ['kept', 'locked', 'today'],
  ]);
  await retention.expire();
  t.strictSame(await left(), [
    ['kept', 'locked', 'today'],
    ['kept', 'locked', 'today'],
  ]);
});

longTest('resources stay while expired rows cannot be removed', async (t) => {
  const { database, names, partitions } = await scene(t);
  const now = Date.now();
  await partitions.open(SPANS, now - days(20));
  await database.query("INSERT INTO sluice.resources VALUES ('x', 'demo', '{}', '2020-01-01')");
  const retention = new Retention(database, PERIODS, QUIET);
  const [day] = await partitions.past(SPANS, now - days(10));
  if (day === undefined) throw new Error('there is no old day');
  // A view of another application depends on the day, so it cannot be dropped.
  await database.query(`CREATE VIEW public.held AS SELECT name FROM sluice.${day.name}`);
  await retention.expire();
  t.strictSame(await names('SELECT count(*) FROM sluice.resources'), ['1']);
  await database.query('DROP VIEW public.held');
  await retention.expire();
  t.strictSame(await names('SELECT count(*) FROM sluice.resources'), ['0']);
});

t.test('a claim on a trace ends when it is old and nothing of the trace is stored', async (t) => {
  const here = await scene(t);
  const { database, connect } = here;
  const now = Date.now();
  const [old, young] = [now - days(11), now - days(9)];
  const retention = new Retention(database, PERIODS, QUIET);
  await retention.open();
  await claim(database, 'empty', old, old);
  await claim(database, 'of 2100', old, Date.UTC(2100, 0, 1));
  await claim(database, 'only logs', old, null);
  await claim(database, 'young', young, young);
  await claim(database, 'late span', old, now);
  await store(database, 'late span', now);
  await claim(database, 'late log', old, null);
  await database.query(
    `INSERT INTO sluice.logs (project, environment, trace_id, resource, attributes, received_at)
     VALUES ('demo', 'default', 'late log........', '{}', '{}', now())`,
  );
  await claim(database, 'in use', old, old);
  const request = await connect();
  await request.query("BEGIN; UPDATE sluice.traces SET project = project WHERE trace_id = 'in use..........'");
  await retention.expire();
  await request.query('COMMIT');
  t.strictSame(await storedTraces(here), ['in use', 'late log', 'late span', 'young']);
  await retention.expire();
  t.strictSame(await storedTraces(here), ['late log', 'late span', 'young']);
});

longTest('claims whose records are still kept do not delay the others', async (t) => {
  const here = await scene(t);
  const { database, connect } = here;
  const old = Date.now() - days(20);
  await here.partitions.open({ ...SPANS, retentionMs: days(1000) }, old);
  await database.query(
    `INSERT INTO sluice.traces (trace_id, project, environment, first_ns, last_ns, created_at)
     SELECT convert_to(lpad(n::text, 16, '0'), 'UTF8'), 'demo', 'default', $1::int8, $1::int8, to_timestamp($2::float8 / 1000)
     FROM generate_series(1, 3000) n`,
    [String(BigInt(old) * 1_000_000n), old],
  );
  await database.query(
    `INSERT INTO sluice.spans (project, environment, trace_id, span_id, name, start_time_unix_nano, resource, attributes, received_at)
     SELECT project, environment, trace_id, 'spanspan', 'x', first_ns, '{}', '{}', created_at FROM sluice.traces WHERE trace_id NOT LIKE '%7'`,
  );
  await claim(database, 'behind', old + 1, old);
  const step = async () => (await database.query('SELECT * FROM sluice.expire_traces_for(now(), 0, 100000)')).rows[0];
  const steps = [await step()];
  while (steps.at(-1)?.['done'] !== true && steps.length < 100) steps.push(await step());
  t.ok(steps.length > 2, 'with a budget of 0 ms each call removes one batch');
  t.equal(
    steps.reduce((sum, row) => sum + Number(row?.['removed']), 0),
    301,
  );
  t.equal((await storedTraces(here)).length, 2700);
  const other = await connect();
  await other.query("BEGIN; SELECT FROM sluice.maintenance_state WHERE name = 'expire_traces' FOR UPDATE");
  t.strictSame(await step(), { removed: 0, done: true }, 'another session runs the maintenance');
  await other.query('COMMIT');
});

t.test('old months of usage are removed, never the current one', async (t) => {
  const { database, names } = await scene(t);
  await database.query(
    `INSERT INTO sluice.usage_months (project, month, spans)
     SELECT 'demo', (date_trunc('month', now() AT TIME ZONE 'UTC') - n * interval '1 month')::date, 1 FROM generate_series(0, 6) n`,
  );
  await new Retention(database, { ...PERIODS, usage: days(31) }, QUIET).expire();
  const left = await names("SELECT to_char(month, 'YYYY-MM') FROM sluice.usage_months ORDER BY month DESC");
  t.equal(left[0], new Date().toISOString().slice(0, 7));
  t.ok(left.length === 2 || left.length === 3, left.join());
});

longTest('ingest does not queue behind a day that another session still reads', async (t) => {
  const here = await scene(t);
  const { database, partitions, connect } = here;
  const past = Date.now() - days(8);
  await partitions.open(SPANS, past);
  await store(database, 'past', past);
  const retention = new Retention(database, PERIODS, QUIET);
  await retention.open();
  const reader = await connect();
  await reader.query('BEGIN; SELECT count(*) FROM sluice.spans');
  const expired = retention.expire();
  const watcher = await connect();
  const waiting = async (): Promise<true | undefined> => {
    const { rows } = await watcher.query("SELECT FROM pg_locks WHERE NOT granted AND mode = 'AccessExclusiveLock'");
    return rows.length > 0 ? true : undefined;
  };
  t.ok(await waitFor(waiting, { timeoutMs: PATIENCE_MS }), 'the drop waits for the reader');
  await store(database, 'new', Date.now());
  t.pass('while a row is stored before the reader is done');
  await reader.query('COMMIT');
  await expired;
  t.strictSame(await storedSpans(here), ['new']);
});

longTest('time that no clock measured does not count', async (t) => {
  const day = (n: number): number => n * DAY_MS;
  t.equal(cutoffOf(day(100), day(30), []), day(70));
  t.equal(cutoffOf(day(100), day(30), [[day(40), day(90)]]), day(20), 'ten days after the step, twenty before it');
  t.equal(cutoffOf(day(100), day(5), [[day(40), day(90)]]), day(95), 'the step is longer ago than the period');
  t.equal(
    cutoffOf(day(100), day(30), [
      [day(10), day(50)],
      [day(60), day(90)],
    ]),
    day(0),
    'over both',
  );
  t.equal(cutoffOf(day(100), day(30), [[day(100), day(140)]]), day(70), 'a clock that was ahead and is corrected');
});

longTest('a clock step drops no earlier record', async (t) => {
  const here = await scene(t);
  const { database, partitions } = here;
  const now = Date.now();
  const retention = new Retention(database, PERIODS, QUIET);
  await partitions.open(SPANS, now - days(40));
  await store(database, 'before the step', now - days(40));
  await retention.expire();
  t.strictSame(await storedSpans(here), [], 'without a step it is removed');
  await partitions.open(SPANS, now - days(40));
  await store(database, 'before the step', now - days(40));
  // The clock was forty days back at the last reading.
  await database.query(
    "UPDATE sluice.maintenance_state SET state = jsonb_build_object('seenMs', $1::float8) WHERE name = 'clock'",
    [now - days(40) + 1000],
  );
  const restarted = new Retention(database, PERIODS, QUIET);
  await restarted.expire();
  await restarted.expire();
  t.strictSame(await storedSpans(here), ['before the step']);
});

longTest(
  'the retention of rows that an older replica stores with a late clock starts when they are found',
  async (t) => {
    const here = await scene(t);
    const { database, names } = here;
    const retention = new Retention(database, PERIODS, QUIET);
    await retention.open();
    await retention.expire();
    const behind = Date.now() - days(40);
    await store(database, 'behind', behind);
    await database.query(
      `INSERT INTO sluice.logs (project, environment, resource, attributes, received_at)
     VALUES ('demo', 'default', '{}', '{}', to_timestamp($1::float8 / 1000))`,
      [behind],
    );
    await retention.expire();
    await retention.expire();
    t.strictSame(await storedSpans(here), ['behind']);
    t.strictSame(await names("SELECT count(*) FROM sluice.logs WHERE received_at > now() - interval '1 hour'"), ['1']);
    t.strictSame(await names("SELECT count(*) FROM sluice.spans WHERE received_at > now() - interval '1 hour'"), ['1']);
  },
);

longTest('indexes that a migration left out on large tables are built beside ingest', async (t) => {
  const { database, names, partitions } = await scene(t);
  const now = Date.now();
  await partitions.open(SPANS, now);
  const definition = (await names("SELECT pg_get_indexdef('sluice.spans_usage'::regclass)"))[0] ?? '';
  // As the migration leaves a large table, with an interrupted build in addition.
  await database.query(`DROP INDEX sluice.spans_usage; ${definition}`);
  const built = () =>
    names(`SELECT c.relname FROM pg_inherits h JOIN pg_index i ON i.indexrelid = h.inhrelid AND i.indisvalid
           JOIN pg_class c ON c.oid = i.indrelid WHERE h.inhparent = 'sluice.spans_usage'::regclass ORDER BY 1`);
  t.strictSame(await built(), []);
  await database.query(
    `CREATE INDEX spans_default_usage ON sluice.spans_default ${definition.replace(/^.*? USING /u, 'USING ')}`,
  );
  await database.query(
    "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'sluice.spans_default_usage'::regclass",
  );
  t.equal(await new Retention(database, PERIODS, QUIET).maintain(), true);
  const all = await names(
    "SELECT c.relname FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid WHERE inhparent = 'sluice.spans'::regclass ORDER BY 1",
  );
  t.strictSame(await built(), all);
  t.strictSame(await names("SELECT indisvalid FROM pg_index WHERE indexrelid = 'sluice.spans_usage'::regclass"), [
    'true',
  ]);
});

longTest('indexes that others replace are dropped when all partitions have the others', async (t) => {
  const { database, names, partitions } = await scene(t);
  await partitions.open(SPANS, Date.now());
  const definitions = await names(
    "SELECT pg_get_indexdef(i) FROM unnest('{sluice.spans_identity,sluice.spans_by_conversation}'::regclass[]) i",
  );
  // As the migration leaves a large table.
  await database.query(`
    DROP INDEX sluice.spans_identity, sluice.spans_by_conversation;
    ALTER TABLE sluice.spans ADD PRIMARY KEY (project, trace_id, span_id, start_time_unix_nano);
    CREATE INDEX spans_conversation ON sluice.spans (project, left(conversation_id, 128)) WHERE conversation_id IS NOT NULL;
    ${definitions.join(';')}`);
  const valid = () =>
    names(`SELECT c.relname || ' ' || i.indisunique FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
           WHERE i.indrelid = 'sluice.spans'::regclass AND i.indisvalid AND c.relname ~ '(pkey|identity|conversation)$' ORDER BY 1`);
  t.strictSame(await valid(), ['spans_conversation false', 'spans_pkey true']);
  t.equal(await new Retention(database, PERIODS, QUIET).maintain(), true);
  t.strictSame(await valid(), ['spans_by_conversation false', 'spans_identity true']);
  const shapes = await names(`
    SELECT DISTINCT string_agg(i.indisunique || ' ' || array_length(i.indkey::int2[], 1), ',' ORDER BY i.indisunique, array_length(i.indkey::int2[], 1))
    FROM pg_inherits h JOIN pg_index i ON i.indrelid = h.inhrelid AND i.indisvalid
    WHERE h.inhparent = 'sluice.spans'::regclass AND h.inhrelid <> 'sluice.spans_default'::regclass GROUP BY i.indrelid`);
  t.equal(shapes.length, 1, 'every day has the same indexes');
});

t.test('days that a long reader keeps from being dropped are counted, with the session that reads', async (t) => {
  const here = await scene(t);
  const { database, partitions, connect } = here;
  const past = Date.now() - days(8);
  for (const back of [8, 9]) await partitions.open(SPANS, Date.now() - days(back));
  await store(database, 'past', past);
  const warnings: { readonly message: string; readonly fields: Record<string, unknown> }[] = [];
  const logger = {
    ...QUIET,
    warn: (fields: object, message: string) => void warnings.push({ message, fields: { ...fields } }),
  };
  const retention = new Retention(database, PERIODS, logger);
  await retention.open();
  const old = await partitions.past(SPANS, Date.now() - days(3));
  const reader = await connect();
  await reader.query("SET application_name = 'report'; BEGIN; SELECT count(*) FROM sluice.spans");
  const { rows } = await reader.query('SELECT pg_backend_pid() AS pid');
  await retention.expire();
  t.equal(retention.blockedDays, old.length);
  t.match(warnings, [
    {
      message: new RegExp(
        `^old days of sluice\\.spans are kept, because session ${rows[0]?.['pid']} \\(report, for 0 min\\) holds a lock on it`,
      ),
      fields: { days: { length: old.length }, fix: `end it: SELECT pg_terminate_backend(${rows[0]?.['pid']})` },
    },
  ]);
  await reader.query('COMMIT');
  await retention.expire();
  t.equal(retention.blockedDays, 0);
  t.strictSame(await storedSpans(here), []);
});
