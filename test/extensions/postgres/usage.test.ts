// The counter of a project's month is one row that every commit changes. It must stay cheap while a snapshot keeps old
// versions.
import type pg from 'pg';
import t from 'tap';
import { openMigrated } from '../../support/migrated.ts';

t.setTimeout(300_000);

/** A row of a small table needs a few pages, and a new version sometimes some more. */
const FEW_PAGES = 60;
const COMMITS = 6000;

const add = (client: pg.Client, project: string, spans = 1) =>
  client.query({
    name: 'add',
    text: 'SELECT sluice.add_usage($1, $2, $3, $4)',
    values: [[project], [spans], [1], [2]],
  });

async function pagesOf(client: pg.Client, statement: string): Promise<number> {
  const { rows } = await client.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${statement}`);
  return rows[0]['QUERY PLAN'][0].Plan['Shared Hit Blocks'] + rows[0]['QUERY PLAN'][0].Plan['Shared Read Blocks'];
}

t.test('an open snapshot does not make the counter more expensive with each commit', async (t) => {
  const { connect } = await openMigrated(t);
  const [writer, other, dump] = [await connect(), await connect(), await connect()];
  await add(writer, 'alpha');
  await dump.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM sluice.projects');
  const burst = async (client: pg.Client) => {
    for (let commit = 0; commit < COMMITS / 2; commit++) await add(client, 'alpha');
  };
  await Promise.all([burst(writer), burst(other)]);
  t.ok((await pagesOf(writer, "SELECT sluice.add_usage('{alpha}', '{1}', '{0}', '{0}')")) < FEW_PAGES, 'adding');
  t.ok((await pagesOf(writer, "SELECT * FROM sluice.lock_usage('{alpha}')")) < FEW_PAGES, 'locking');
  const { rows } = await writer.query(
    'SELECT project, spans::int, logs::int, metric_points::int FROM sluice.usage_months',
  );
  t.strictSame(rows, [{ project: 'alpha', spans: COMMITS + 2, logs: COMMITS + 1, metric_points: 2 * (COMMITS + 1) }]);
  await dump.query('COMMIT');
});

t.test('counters are found among those of other projects and months, created when missing, and locked', async (t) => {
  const { connect } = await openMigrated(t);
  const [first, second] = [await connect(), await connect()];
  await first.query(`
    INSERT INTO sluice.usage_months (project, month, spans)
    SELECT project, (date_trunc('month', now() AT TIME ZONE 'UTC') + months * interval '1 month')::date, 100
    FROM unnest('{a,b,c}'::text[]) project, unnest('{-1,1}'::int[]) months`);
  await first.query('BEGIN');
  const locked = (await first.query("SELECT project, spans::int FROM sluice.lock_usage('{c,b}')")).rows;
  t.strictSame(locked, [
    { project: 'b', spans: 0 },
    { project: 'c', spans: 0 },
  ]);
  await add(first, 'b', 5);
  const waiting = second.query("SELECT spans::int FROM sluice.lock_usage('{b}')");
  await first.query('COMMIT');
  t.strictSame((await waiting).rows, [{ spans: 5 }], 'a waiting transaction reads the latest count');
  await add(second, 'a', 7);
  const { rows } = await first.query(`
    SELECT project, spans::int FROM sluice.usage_months
    WHERE month = date_trunc('month', now() AT TIME ZONE 'UTC')::date ORDER BY project`);
  t.strictSame(rows, [
    { project: 'a', spans: 7 },
    { project: 'b', spans: 5 },
    { project: 'c', spans: 0 },
  ]);
});
