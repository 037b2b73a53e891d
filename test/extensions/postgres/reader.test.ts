/** The read-only connections of the console: their limits, and the end of questions that are given up. */
import { getPriority } from 'node:os';
import t from 'tap';
import pg from 'pg';
import {
  ReaderFailure,
  type ReaderPool,
  type ReaderSettings,
} from '../../../src/component/capabilities/postgres-reader.ts';
import { Database } from '../../../src/extensions/postgres/database.ts';
import { waitFor } from '../../../src/extensions/postgres/embedded/wait.ts';
import { Readers } from '../../../src/extensions/postgres/reader.ts';
import { PATIENCE_MS } from '../../support/patience.ts';
import { createDatabase } from '../../support/postgres.ts';

const SETTINGS: ReaderSettings = { url: '', connections: 1, timeoutMs: 60_000, applicationName: 'sluice-console' };

t.test('the reader', async (t) => {
  const { url, address } = await createDatabase(t);
  const database = new Database().use({ connectionString: url });
  const readers = new Readers(database, 'public');
  const open = (settings: Partial<ReaderSettings> = {}) => {
    const reader = readers.open({ ...SETTINGS, ...settings });
    t.teardown(() => reader.close());
    return reader;
  };
  const observer = new pg.Client({ connectionString: url });
  await observer.connect();
  t.teardown(async () => {
    await observer.end();
    await database.close();
  });
  const active = async (): Promise<number> => {
    const { rows } = await observer.query(
      "SELECT count(*)::int4 AS n FROM pg_stat_activity WHERE application_name = 'sluice-console' AND state = 'active' AND datname = current_database()",
    );
    return rows[0].n;
  };
  const becomesActive = (count: number) =>
    waitFor(async () => ((await active()) === count ? true : undefined), { timeoutMs: PATIENCE_MS });
  const reasonOf = (promise: Promise<unknown>): Promise<string> =>
    promise.then(
      () => 'answered',
      (error) => (error instanceof ReaderFailure ? error.reason : String(error.code)),
    );

  t.test('its processes of the embedded server have a lower priority, those of another server their own', async (t) => {
    const embedded = new Database().use(address);
    const reader = new Readers(embedded, 'public').open(SETTINGS);
    t.teardown(async () => {
      await reader.close();
      await embedded.close();
    });
    const priorityOf = async (of: Pick<ReaderPool, 'query'>): Promise<number> => {
      const [{ pid } = {}] = await of.query('SELECT pg_backend_pid() AS pid');
      return getPriority(Number(pid));
    };
    t.equal(await priorityOf(reader), 10);
    const command = await embedded.connect({ yieldsToIngest: true });
    const { rows: own } = await command.query('SELECT pg_backend_pid() AS pid');
    t.equal(getPriority(own[0].pid), 10, 'that of a command');
    await command.end();
    const { rows } = await observer.query('SELECT pg_backend_pid() AS pid');
    t.equal(await priorityOf(open()), getPriority(rows[0].pid));
  });

  t.test('it cannot write, also not after a statement that switches writing on', async (t) => {
    const reader = open();
    t.equal(await reasonOf(reader.query('CREATE TABLE mine (a int4)')), '25006');
    await reader.query("SELECT set_config('default_transaction_read_only', 'off', false)");
    t.equal(await reasonOf(reader.query('CREATE TABLE mine (a int4)')), '25006');
  });

  t.test('a statement with a fixed text is planned once on its connection', async (t) => {
    const reader = open();
    for (const value of [1, 2, 3]) t.same(await reader.prepared('SELECT $1::int4 AS value', [value]), [{ value }]);
    const plans = 'SELECT generic_plans::int4, custom_plans::int4 FROM pg_prepared_statements';
    t.same(await reader.query(plans), [{ generic_plans: 3, custom_plans: 0 }]);
    t.equal(await reasonOf(reader.prepared('SELECT 1 / $1::int4', [0])), '22012');
    t.same(await reader.prepared('SELECT $1::int4 AS value', [4]), [{ value: 4 }]);
  });

  t.test('a question that takes too long is ended, and the connection is used again', async (t) => {
    const reader = open({ timeoutMs: 500 });
    t.equal(await reasonOf(reader.query('SELECT pg_sleep(60)')), 'too_long');
    t.same(await reader.query('SELECT $1::int4 + 1 AS two', [1]), [{ two: 2 }]);
  });

  t.test('an aborted question ends on the server', async (t) => {
    const reader = open();
    const leaving = new AbortController();
    const asked = reasonOf(reader.query('SELECT pg_sleep(600)', [], leaving.signal));
    await becomesActive(1);
    leaving.abort();
    t.equal(await asked, 'canceled');
    t.ok(await becomesActive(0));
    t.same(await reader.query('SELECT 1 AS one'), [{ one: 1 }]);
    t.equal(await reasonOf(reader.query('SELECT 1', [], leaving.signal)), 'canceled');
  });

  t.test('a question without a free connection is refused', async (t) => {
    const reader = open();
    const leaving = new AbortController();
    const first = reasonOf(reader.query('SELECT pg_sleep(600)', [], leaving.signal));
    await becomesActive(1);
    t.equal(await reasonOf(reader.query('SELECT 1')), 'busy');
    leaving.abort();
    t.equal(await first, 'canceled');
  });

  t.test('a stream gives all rows in batches, and frees its connection', async (t) => {
    const reader = open();
    const sizes: number[] = [];
    for await (const rows of reader.stream('SELECT generate_series(1, $1::int4) AS n', [1200])) sizes.push(rows.length);
    t.same(sizes, [25, 500, 500, 175]);
    for await (const rows of reader.stream('SELECT generate_series(1, 1000000) AS n')) {
      t.equal(rows[24]?.['n'], 25);
      break;
    }
    t.same(await reader.query('SELECT 1 AS one'), [{ one: 1 }]);
    const large = "SELECT repeat('x', 1024 * 1024) AS text FROM generate_series(1, $1::int4)";
    const counts: number[] = [];
    for await (const rows of reader.stream(large, [31])) counts.push(rows.length);
    t.equal(
      counts.reduce((sum, count) => sum + count, 0),
      31,
    );
    t.ok(Math.max(...counts) <= 3, 'a part of large rows is small');
    t.equal(await reasonOf(drain(reader.stream('SELECT 1 / $1::int4', [0]))), '22012');
    t.same(await reader.query('SELECT 1 AS one'), [{ one: 1 }]);
  });

  t.test('a stream holds one long row more than a part, also after many short rows', async (t) => {
    const MIB = 1_048_576;
    const reader = open();
    const mixed = `SELECT n, repeat('x', CASE WHEN n > 800 THEN ${4 * MIB} ELSE 10 END) AS text FROM generate_series(1, 860) n`;
    let next = 1;
    let most = 0;
    for await (const rows of reader.stream(mixed)) {
      for (const { n } of rows) t.equal(n, next++);
      most = Math.max(
        most,
        rows.reduce((sum, row) => sum + String(row['text']).length, 0),
      );
      // Further rows could arrive meanwhile.
      await new Promise((resolve) => setImmediate(resolve));
    }
    t.equal(next, 861);
    t.ok(most <= 6 * MIB, `${most} characters at a time`);
    for await (const rows of reader.stream(mixed)) if (rows.length < 25) break;
    t.same(await reader.query('SELECT 1 AS one'), [{ one: 1 }], 'a stream may end within a part');
    const failing = `SELECT n, repeat('x', 1000000) AS text, 1 / (20 - n) AS fails FROM generate_series(1, 100) n`;
    t.equal(await reasonOf(drain(reader.stream(failing))), '22012');
  });

  t.test('the time in which a part is used is not the time of the statement', async (t) => {
    const reader = open({ timeoutMs: 300, applicationName: 'slow-use' });
    const lasts = async (): Promise<true | undefined> => {
      const { rows } = await observer.query(
        `SELECT FROM pg_stat_activity WHERE application_name = 'slow-use' AND datname = current_database()
           AND state = 'active' AND now() - query_start > interval '400 milliseconds'`,
      );
      return rows.length > 0 ? true : undefined;
    };
    let count = 0;
    for await (const rows of reader.stream("SELECT repeat('x', 1048576) AS text FROM generate_series(1, 25)")) {
      if (count === 0) await waitFor(lasts, { timeoutMs: PATIENCE_MS });
      count += rows.length;
    }
    t.equal(count, 25);
    t.equal(await reasonOf(drain(reader.stream('SELECT pg_sleep(60)'))), 'too_long');
    t.same(await reader.query('SELECT 1 AS one'), [{ one: 1 }]);
  });

  t.test(
    'a stream whose connection the server ends between two parts is unavailable, and the process continues',
    async (t) => {
      const reader = open({ applicationName: 'between-parts' });
      const rows = reader.stream("SELECT repeat('x', 100000) AS text FROM generate_series(1, 1000)");
      const parts = rows[Symbol.asyncIterator]();
      t.notOk((await parts.next()).done);
      const ended = await observer.query(
        "SELECT pg_terminate_backend(pid, 60000) AS done FROM pg_stat_activity WHERE application_name = 'between-parts'",
      );
      t.same(ended.rows, [{ done: true }]);
      const rest = async (): Promise<void> => {
        while ((await parts.next()).done !== true);
      };
      t.equal(await reasonOf(rest()), 'unavailable');
      t.same(await reader.query('SELECT 1 AS one'), [{ one: 1 }]);
    },
  );

  t.test('a connection that the server ends while no statement runs does not end the process', async (t) => {
    const pool = database.createPool({
      size: 1,
      applicationName: 'leased',
      connectTimeoutMs: 10_000,
      queryTimeoutMs: 10_000,
    });
    t.teardown(() => pool.end());
    const client = await pool.connect();
    const over = new Promise<void>((resolve) => client.once('end', resolve));
    await observer.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'leased'");
    await over;
    await t.rejects(client.query('SELECT 1'));
    client.release(true);
    t.equal((await pool.query('SELECT 1 AS one')).rows[0].one, 1);
  });

  t.test('an aborted stream ends', async (t) => {
    const reader = open();
    const leaving = new AbortController();
    const asked = reasonOf(drain(reader.stream('SELECT pg_sleep(600)', [], leaving.signal)));
    await becomesActive(1);
    leaving.abort();
    t.equal(await asked, 'canceled');
    t.ok(await becomesActive(0));
  });

  t.test('without a database the reason is reported', async (t) => {
    const reader = open({ url: 'postgres://nobody@127.0.0.1:1/none' });
    t.equal(await reasonOf(reader.query('SELECT 1')), 'unavailable');
  });
});

async function drain(batches: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of batches);
}
