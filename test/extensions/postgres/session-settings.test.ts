// Defaults of a role or a database that would break a session which relies on the server's defaults.
import pg from 'pg';
import t, { type Test } from 'tap';
import { urlOf } from '../../../src/extensions/postgres/embedded/address.ts';
import { destroyConnection } from '../../../src/extensions/postgres/connection-end.ts';
import { Database } from '../../../src/extensions/postgres/database.ts';
import { waitFor } from '../../../src/extensions/postgres/embedded/wait.ts';
import { openSession } from '../../../src/extensions/postgres/ledger/session.ts';
import { makeReady } from '../../../src/extensions/postgres/session-settings.ts';
import { FREE_KEY, OTHER_KEY } from '../../support/daemon.ts';
import { send } from '../../support/otlp-client.ts';
import { aSpan, aTraceRequest, newTraceId } from '../../support/payloads.ts';
import { PATIENCE_MS } from '../../support/patience.ts';
import { createDatabase, type TestDatabase } from '../../support/postgres.ts';
import { startPostgresDaemon } from '../../support/postgres-daemon.ts';

const HOSTILE: Readonly<Record<string, string>> = {
  default_transaction_isolation: 'serializable',
  default_transaction_deferrable: 'on',
  jit: 'on',
  statement_timeout: '1ms',
  lock_timeout: '1ms',
  // Long enough for the first statement of a session on a busy machine.
  idle_in_transaction_session_timeout: '9s',
  idle_session_timeout: '9s',
  transaction_timeout: '9s',
  synchronous_commit: 'off',
  row_security: 'off',
  search_path: 'shadow, pg_catalog',
  client_encoding: 'LATIN1',
  standard_conforming_strings: 'off',
  bytea_output: 'escape',
  DateStyle: 'German, DMY',
  IntervalStyle: 'sql_standard',
  TimeZone: 'Pacific/Kiritimati',
};
const WANTED: Readonly<Record<string, string>> = {
  jit: 'off',
  transaction_isolation: 'read committed',
  statement_timeout: '10s',
  lock_timeout: '2s',
  idle_in_transaction_session_timeout: '15s',
  idle_session_timeout: '0',
  transaction_timeout: '0',
  synchronous_commit: 'on',
  row_security: 'off',
  search_path: 'pg_catalog',
  client_encoding: 'UTF8',
  TimeZone: 'UTC',
};
/** Found first by a session without a search path. */
const SHADOW = `
  CREATE SCHEMA shadow;
  CREATE FUNCTION shadow.now() RETURNS timestamptz LANGUAGE sql AS $$ SELECT '1999-12-31'::timestamptz $$;
  CREATE FUNCTION shadow.encode(bytea, text) RETURNS text LANGUAGE sql AS $$ SELECT 'nothing' $$`;

async function onDatabase({ url }: TestDatabase, task: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: url, statement_timeout: PATIENCE_MS });
  await client.connect();
  try {
    await task(client);
  } finally {
    await client.end();
  }
}

/** `owner`: the altered object, for example `DATABASE name`. */
async function preset(database: TestDatabase, owner: string): Promise<void> {
  await onDatabase(database, async (client) => {
    const { rows } = await client.query('SELECT lower(name) AS name FROM pg_settings');
    const known = new Set(rows.map(({ name }) => name));
    for (const [name, value] of Object.entries(HOSTILE).filter(([name]) => known.has(name.toLowerCase())))
      await client.query(`ALTER ${owner} SET ${name} TO ${name === 'search_path' ? value : `'${value}'`}`);
  });
}

/** Reads the state without the altered defaults. */
async function inspect(database: TestDatabase): Promise<object> {
  let found = {};
  await onDatabase(database, async (client) => {
    await makeReady(client, PATIENCE_MS);
    await client.query('SET search_path = pg_catalog');
    const { rows } = await client.query(`
      SELECT count(*)::int4 AS spans, min(attributes ->> 'text') AS text,
        (SELECT max(spans)::int4 FROM sluice.usage_months WHERE month > '2020-01-01') AS counted,
        (SELECT count(*)::int4 FROM sluice.replay_markers WHERE expires_ms > extract(epoch FROM now()) * 1000) AS markers
      FROM sluice.spans`);
    found = rows[0];
  });
  return found;
}

const statuses = (daemon: { readonly url: string }, bodies: readonly [string, object][]): Promise<readonly number[]> =>
  Promise.all(
    bodies.map(async ([key, body]) => {
      return (await send(daemon.url, { authorization: `Bearer ${key}`, body: JSON.stringify(body) })).status;
    }),
  );

t.test('defaults of the database have no effect', async (t) => {
  const database = await createDatabase(t);
  await onDatabase(database, (client) => client.query(SHADOW));
  await preset(database, `DATABASE ${database.name}`);
  await exercise(t, database, database.url);
});

t.test('defaults of the role have no effect', async (t) => {
  const database = await createDatabase(t);
  await onDatabase(database, (client) => client.query(SHADOW));
  const role = `role_${database.name}`;
  await onDatabase(database, (client) =>
    client.query(`
      CREATE ROLE ${role} LOGIN PASSWORD 'x'; GRANT ALL ON DATABASE ${database.name} TO ${role};
      GRANT ALL ON SCHEMA public, shadow TO ${role}`),
  );
  t.teardown(() => onDatabase(database, (client) => client.query(`DROP OWNED BY ${role} CASCADE; DROP ROLE ${role}`)));
  await preset(database, `ROLE ${role}`);
  await exercise(t, database, urlOf({ ...database.address, user: role, password: 'x' }));
});

t.test('a limit that cancels its own replacement is replaced by another attempt', async (t) => {
  const sent: string[] = [];
  const clientThatFails = (times: number, code: string): pg.ClientBase => {
    sent.length = 0;
    return {
      query: async (text: string) => {
        sent.push(text);
        if (sent.length <= times) throw Object.assign(new Error('failed'), { code });
        return { rows: [] };
      },
    } as unknown as pg.ClientBase;
  };
  await makeReady(clientThatFails(2, '57014'), 1000);
  t.match(sent, Array(3).fill('SET statement_timeout = 1000'));
  t.equal(sent.length, 5);
  await t.rejects(makeReady(clientThatFails(1, '57P01'), 1000), { code: '57P01' });
  t.equal(sent.length, 1);
  await t.rejects(makeReady(clientThatFails(1000, '57014'), 1000), { code: '57014' });
});

t.test('a statement ends when its client is gone', async (t) => {
  const { url } = await createDatabase(t);
  const database = new Database().use({ connectionString: url });
  t.teardown(() => database.close());
  const client = await database.connect();
  const [{ pid } = {}] = (await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows;
  const asked = client.query('SELECT pg_sleep(600)').catch(() => undefined);
  const isThere = async (state: string): Promise<boolean> => {
    const { rows } = await database.query('SELECT FROM pg_stat_activity WHERE pid = $1 AND state = $2', [pid, state]);
    return rows.length > 0;
  };
  const waitUntil = (condition: () => Promise<boolean>): Promise<true | undefined> =>
    waitFor(async () => ((await condition()) ? true : undefined), { timeoutMs: PATIENCE_MS });
  t.ok(await waitUntil(() => isThere('active')));
  destroyConnection(client);
  await asked;
  t.ok(await waitUntil(async () => !(await isThere('active'))));
});

async function exercise(t: Test, database: TestDatabase, databaseUrl: string): Promise<void> {
  const daemon = await startPostgresDaemon(t, { databaseUrl });
  const traceId = newTraceId();
  const span = aSpan({ traceId, attributes: { text: 'ü\\ 漢' } });
  t.same(await statuses(daemon, [[OTHER_KEY, aTraceRequest([span])]]), [200]);
  const several: [string, object][] = [
    [OTHER_KEY, aTraceRequest([span])],
    [OTHER_KEY, aTraceRequest([span, aSpan({ traceId })])],
    [FREE_KEY, aTraceRequest([aSpan({ traceId })])],
    [FREE_KEY, aTraceRequest([aSpan()])],
    [FREE_KEY, aTraceRequest(Array.from({ length: 11 }, () => aSpan()))],
  ];
  t.same(await statuses(daemon, several), [200, 200, 409, 200, 429]);
  const ledger = new Database().use({ connectionString: databaseUrl });
  const session = await openSession(ledger);
  for (const [name, wanted] of Object.entries(WANTED)) {
    const { rows } = await session.query('SELECT current_setting($1, true) AS value', [name]);
    t.ok([wanted, null].includes(rows[0]?.value), `${name} is ${rows[0]?.value}`);
  }
  await session.end();
  await ledger.close();
  t.match(await inspect(database), { spans: 3, text: 'ü\\ 漢', counted: 2, markers: 3 });
}
