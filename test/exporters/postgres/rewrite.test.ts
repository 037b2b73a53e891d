// Rows of future days, sent by clocks that were ahead, fill the default partition. Their days still open, and no
// request waits.
import t from 'tap';
import { dayOf, type PartitionedTable, Partitions } from '../../../src/exporters/postgres/partitions.ts';
import type { PostgresDatabase, Query, SessionLimits } from '../../../src/component/capabilities/postgres.ts';
import { rewriteDefault } from '../../../src/exporters/postgres/rewrite.ts';
import { Retention, type RetentionPeriods } from '../../../src/exporters/postgres/retention.ts';
import { Database } from '../../../src/extensions/postgres/database.ts';
import { longTest } from '../../support/long.ts';
import { PATIENCE_MS } from '../../support/patience.ts';
import { openMigrated } from '../../support/migrated.ts';
import { QUIET } from '../../support/quiet-logger.ts';
import type { Teardown } from '../../support/postgres.ts';
import { DAY_MS } from '../../../src/pdata/time-units.ts';

t.setTimeout(600_000);

const days = (count: number): number => count * DAY_MS;
const PERIODS: RetentionPeriods = {
  spans: days(30),
  logs: days(30),
  metrics: days(30),
  traces: days(30),
  usage: days(60),
};
const SPANS: PartitionedTable = { name: 'spans', key: 'nanoseconds', retentionMs: days(30) };
const LOGS: PartitionedTable = { name: 'logs', key: 'timestamp', retentionMs: days(30) };
/** More than are moved under a lock. */
const MANY = 30_000;

async function scene(t: Teardown) {
  const { database, connect } = await openMigrated(t);
  const warnings: unknown[] = [];
  const logger = { ...QUIET, warn: (fields: object) => void warnings.push(fields) };
  const retention = new Retention(database, PERIODS, logger);
  return { database, connect, warnings, logger, retention, partitions: new Partitions(database) };
}

/** `count` spans that begin on that day, of traces that begin with the prefix. */
const STORE = `
  INSERT INTO sluice.spans (project, environment, trace_id, span_id, name, start_time_unix_nano, resource, attributes, received_at)
  SELECT 'demo', 'default', decode(md5($1 || n), 'hex'), 'spanspan', $1, $2::int8 * 86400000000000 + n, '{}', '{}', now()
  FROM generate_series(1, $3::int4) n ON CONFLICT DO NOTHING`;

async function figures(database: Database) {
  const { rows } = await database.query(`
    SELECT count(*)::int4 AS stored, count(DISTINCT (trace_id, start_time_unix_nano))::int4 AS different,
      count(*) FILTER (WHERE tableoid = 'sluice.spans_default'::regclass)::int4 AS in_default FROM sluice.spans`);
  return rows[0];
}

t.test('the days of a large default partition open while spans are stored and deleted', async (t) => {
  const { database, connect, warnings, retention, partitions } = await scene(t);
  const today = dayOf(Date.now());
  await database.query(STORE, ['tomorrow', today + 1, MANY]);
  await database.query(STORE, ['of 2100', 47_482, 1000]);
  const started = performance.now();
  await retention.open();
  t.ok(performance.now() - started < 30_000, 'a start does not wait for it');
  const before = new Set((await partitions.list(SPANS)).map(({ day }) => day));
  t.notOk(before.has(today + 1));

  const [sender, eraser] = [await connect(), await connect()];
  let [sent, slowestMs, going] = [0, 0, true];
  const sending = (async () => {
    while (going) {
      const [at, name] = [performance.now(), `late ${sent++}`];
      await sender.query(STORE, [name, today + 1, 10]);
      // A stored span is not stored again, wherever its row is at this moment.
      await sender.query(STORE, ['tomorrow', today + 1, 10]);
      slowestMs = Math.max(slowestMs, performance.now() - at);
    }
  })();
  const erasing = (async () => {
    for (let n = 1; n <= 100; n++)
      await eraser.query("DELETE FROM sluice.spans WHERE trace_id = decode(md5('of 2100' || $1::int4), 'hex')", [n]);
  })();
  let looks = 0;
  const looking = (async () => {
    while (going) {
      const { rows } = await database.query("SELECT count(*)::int4 AS found FROM sluice.spans WHERE name = 'tomorrow'");
      if (rows[0]?.['found'] !== MANY) t.fail(`a reader found ${rows[0]?.['found']} spans`);
      looks++;
    }
  })();
  t.equal(await retention.maintain(), true, JSON.stringify(warnings));
  going = false;
  await Promise.all([sending, erasing, looking]);
  t.ok(looks > 3 && sent > 3, `${sent} requests and ${looks} looks meanwhile`);
  t.comment(`the slowest request took ${Math.round(slowestMs)} ms`);
  const total = MANY + sent * 10 + 900;
  t.strictSame(await figures(database), { stored: total, different: total, in_default: 900 });
  const open = (await partitions.list(SPANS)).map(({ day }) => day);
  t.ok(open.includes(today + 1) && open.includes(today + 7), 'the day is open, and the other days ahead');
  await database.query(STORE, ['after', today + 1, 10]);
  await database.query(STORE, ['after', 47_482, 10]);
  t.equal((await figures(database))?.['in_default'], 910);
  const { rows } = await database.query("SELECT relname FROM pg_class WHERE relname ~ '_(next|old)$'");
  t.strictSame(rows, []);
});

t.test('no day is dropped while rows are copied, so that its late spans are stored', async (t) => {
  const { database, partitions } = await scene(t);
  const today = dayOf(Date.now());
  await partitions.open(SPANS, Date.now() - days(10));
  await database.query(STORE, ['tomorrow', today + 1, 100]);
  const old = today - 12;
  const oldDay = (await partitions.list(SPANS)).find(({ day }) => day === old);
  if (oldDay === undefined) throw new Error('there is no old day');
  let tried = 0;
  await database.session({ statementTimeoutMs: 60_000, lockTimeoutMs: 1_000 }, async (ask) => {
    const query: Query = async (text, values) => {
      if (/WITH batch/u.test(text) && tried++ === 0) {
        await t.rejects(partitions.drop(SPANS, oldDay), { code: '55P03' });
        await database.query(STORE, ['late', old, 1]);
      }
      return ask(text, values);
    };
    await rewriteDefault(query, SPANS, [today + 1]);
  });
  t.equal(tried > 0, true);
  await partitions.drop(SPANS, oldDay);
  await database.query(STORE, ['late', old, 1]);
  t.strictSame(await figures(database), { stored: 101, different: 101, in_default: 1 });
});

longTest(
  'the lock that blocks all use of the table is held for few changes, whatever the number of days',
  async (t) => {
    const { database, logger, partitions } = await scene(t);
    const today = dayOf(Date.now());
    // Of a day that is never opened, so that the default partition stays large.
    await database.query(STORE, ['x'.repeat(1500), 47_482, MANY / 10]);
    const statements: string[] = [];
    const observed = {
      query: (text: string, values?: unknown[]) => database.query(text, values),
      session: <T>(limits: SessionLimits, work: (query: Query) => Promise<T>) =>
        database.session(limits, (query) =>
          work((text, values) => {
            statements.push(text);
            return query(text, values);
          }),
        ),
    };
    const retention = new Retention(observed as unknown as PostgresDatabase, PERIODS, logger);
    t.equal(await retention.maintain(), true);
    const exchanges = statements.filter((text) => /LOCK TABLE sluice.spans IN ACCESS EXCLUSIVE/.test(text));
    t.equal(exchanges.length, 4, 'for fifteen days and a further one');
    for (const text of exchanges) t.ok(text.split(';').length <= 16, `${text.split(';').length} changes`);
    const open = (await partitions.list(SPANS)).map(({ day }) => day);
    t.ok(open.includes(today - 7) && open.includes(today + 8));
    const left = await database.query(
      "SELECT conrelid::regclass, conname FROM pg_constraint WHERE contype = 'c' AND conname ~ '^days?(_|$)'",
    );
    t.strictSame(left.rows, [], 'no constraint of the rewrite is left');
    await database.query(STORE, ['later', 47_483, 10]);
    const { rows } = await database.query("SELECT relname FROM pg_class WHERE relname ~ '_(next|old)$'");
    t.strictSame(rows, []);
  },
);

longTest('an interrupted run is started again by any replica', async (t) => {
  const { database, logger, retention } = await scene(t);
  const today = dayOf(Date.now());
  await database.query(STORE, ['tomorrow', today + 1, MANY]);
  const first = new Retention(database, PERIODS, logger);
  const running = first.maintain();
  for (;;) {
    const { rows } = await database.query("SELECT to_regclass('sluice.spans_next') IS NOT NULL AS begun");
    if (rows[0]?.['begun'] === true) break;
  }
  first.stop();
  await running;
  await database.query(STORE, ['between', today + 1, 100]);
  // Until the server has ended the session of the interrupted run, that session holds the lock of the maintenance.
  const limit = performance.now() + PATIENCE_MS;
  do t.equal(await retention.maintain(), true);
  while ((await figures(database))?.['in_default'] !== 0 && performance.now() < limit);
  t.strictSame(await figures(database), { stored: MANY + 100, different: MANY + 100, in_default: 0 });
});

longTest(
  'log records of days without a partition stay in the default partition, and the coming days open',
  async (t) => {
    const { database, retention, partitions, warnings } = await scene(t);
    await database.query(`
    INSERT INTO sluice.logs (project, environment, resource, attributes, received_at)
    SELECT 'demo', 'default', '{}', '{}', now() FROM generate_series(1, ${MANY}) n`);
    t.equal(await retention.maintain(), true, JSON.stringify(warnings));
    const open = (await partitions.list(LOGS)).map(({ day }) => day);
    t.ok(open.includes(dayOf(Date.now()) + 1) && open.includes(dayOf(Date.now()) + 7));
    const { rows } = await database.query('SELECT count(*)::int4 AS stored FROM sluice.logs');
    t.strictSame(rows, [{ stored: MANY }]);
    const left = await database.query("SELECT FROM pg_constraint WHERE conname = 'reserved'");
    t.equal(left.rowCount, 0);
  },
);

longTest('a day that cannot be opened is logged, and the other days and tables are opened', async (t) => {
  const { retention, partitions, warnings, connect } = await scene(t);
  const holder = await connect();
  await holder.query('BEGIN; LOCK TABLE sluice.logs_default IN ROW EXCLUSIVE MODE');
  await retention.open();
  t.equal((await partitions.list(SPANS)).length, 15);
  t.match(JSON.stringify(warnings), /opening \d{4}-\d\d-\d\d of logs/);
  await holder.query('COMMIT');
  t.equal(await retention.maintain(), true);
  t.equal((await partitions.list(LOGS)).length, 8);
});
