// An upgrade beside running daemons: the new version migrates, the previous one continues to write, and no request
// queues behind a lock.
import { createHash } from 'node:crypto';
import type pg from 'pg';
import t from 'tap';
import { versionOf } from '../../../src/component/version.ts';
import { Database } from '../../../src/extensions/postgres/database.ts';
import { migrate } from '../../../src/extensions/postgres/migrate.ts';
import { readMigrations } from '../../../src/extensions/postgres/schema-state.ts';
import { connectTo } from '../../support/connection.ts';
import { KEY, startDaemon } from '../../support/daemon.ts';
import { postgresConfig } from '../../support/postgres-daemon.ts';
import { createDatabase } from '../../support/postgres.ts';

t.setTimeout(300_000);

const MONTH = `date_trunc('month', now() AT TIME ZONE 'UTC')::date`;
const SPAN_COLUMNS =
  'project, environment, trace_id, span_id, name, start_time_unix_nano, resource, attributes, received_at';
/** The writes of a daemon of migration level 0004 in one transaction, and its maintenance. */
const PREVIOUS = {
  markers: `
    INSERT INTO sluice.replay_markers AS r (project, key, expires_ms)
    SELECT project, key, (extract(epoch FROM now()) * 1000)::int8 + 3600000 FROM unnest($1::text[], $2::bytea[]) AS u (project, key)
    ON CONFLICT (project, key) DO UPDATE SET expires_ms = excluded.expires_ms WHERE r.expires_ms <= excluded.expires_ms - 3600000`,
  traces: `
    INSERT INTO sluice.traces AS t (trace_id, project, environment, first_ns, last_ns) VALUES ($1, $2, 'default', $3, $3)
    ON CONFLICT (trace_id) DO UPDATE SET first_ns = least(t.first_ns, excluded.first_ns), last_ns = greatest(t.last_ns, excluded.last_ns)`,
  openUsage: `INSERT INTO sluice.usage_months (project, month) VALUES ($1, ${MONTH}) ON CONFLICT DO NOTHING`,
  lockUsage: `SELECT spans FROM sluice.usage_months WHERE month = ${MONTH} AND project = $1 FOR UPDATE`,
  addUsage: `
    INSERT INTO sluice.usage_months AS m (project, month, spans, logs, metric_points) VALUES ($1, ${MONTH}, 1, 0, 0)
    ON CONFLICT (project, month) DO UPDATE SET spans = m.spans + excluded.spans`,
  expire: "SELECT sluice.expire_traces(now() - interval '30 days', 2000) AS found",
};

async function writeAsBefore(client: pg.Client, name: string): Promise<void> {
  const id = createHash('md5').update(name).digest();
  const startNs = String(BigInt(Date.now()) * 1_000_000n);
  await client.query('BEGIN');
  await client.query(PREVIOUS.markers, [['demo'], [id]]);
  await client.query(PREVIOUS.traces, [id, 'demo', startNs]);
  await client.query(PREVIOUS.openUsage, ['demo']);
  await client.query(PREVIOUS.lockUsage, ['demo']);
  await client.query(
    `INSERT INTO sluice.spans (${SPAN_COLUMNS}) VALUES ('demo', 'default', $1, 'spanspan', $2, $3, '{}', '{}', now())`,
    [id, name, startNs],
  );
  await client.query(PREVIOUS.addUsage, ['demo']);
  await client.query('COMMIT');
}

t.test('a session of the previous version continues to write beside a daemon of this one', async (t) => {
  const { url } = await createDatabase(t);
  const daemon = await startDaemon(t, { config: postgresConfig({ databaseUrl: url }) });
  const previous = await connectTo(t, url);
  for (let n = 0; n < 20; n++) {
    const request = fetch(`${daemon.url}/v1/traces`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        resourceSpans: [{ scopeSpans: [{ spans: [{ ...SPAN, traceId: traceIdOf(n), spanId: '00000000000000aa' }] }] }],
      }),
    });
    await writeAsBefore(previous, `previous ${n}`);
    t.equal((await request).status, 200);
  }
  await previous.query(PREVIOUS.expire);
  const { rows } = await previous.query(`
    SELECT (SELECT count(*)::int4 FROM spans) AS spans, (SELECT count(*)::int4 FROM traces) AS traces,
      (SELECT spans::int4 FROM sluice.usage_months) AS counted`);
  t.strictSame(rows, [{ spans: 40, traces: 40, counted: 40 }]);
});

const SPAN = { name: 'x', startTimeUnixNano: String(BigInt(Date.now()) * 1_000_000n) };
const traceIdOf = (n: number): string => createHash('md5').update(`new ${n}`).digest('hex');

t.test('the views of earlier records stay the same, and sessions of the earlier version continue', async (t) => {
  const { url } = await createDatabase(t);
  const database = new Database().use({ connectionString: url });
  t.teardown(() => database.close());
  const previous = await connectTo(t, url);
  await migrateBefore(previous, '0006');
  const resource = { 'service.name': 'old', nested: { a: [1, null] } };
  const store = async (name: string): Promise<void> => {
    const source = [JSON.stringify(resource), 'scope', '1.0', '{"s": 1}', '{"a": 1}'];
    await previous.query(
      `INSERT INTO sluice.spans (project, environment, trace_id, span_id, name, start_time_unix_nano,
         resource, scope_name, scope_version, scope_attributes, attributes, received_at)
       VALUES ('demo', 'default', $1, 'spanspan', $2, $3, $4, $5, $6, $7, $8, now())`,
      [createHash('md5').update(name).digest(), name, String(BigInt(Date.now()) * 1_000_000n), ...source],
    );
    const values = "('demo', 'default', $1, $2, $3, $4, $5, now())";
    await previous.query(
      `INSERT INTO sluice.logs (project, environment, resource, scope_name, scope_version, scope_attributes, attributes, received_at) VALUES ${values}`,
      source,
    );
    await previous.query(
      `INSERT INTO sluice.metric_points (project, environment, name, type, resource, scope_name, scope_version, scope_attributes, attributes, received_at)
       VALUES ('demo', 'default', 'load', 'gauge', $1, $2, $3, $4, $5, now())`,
      source,
    );
  };
  await store('before');
  const columns = 'signal, project, resource, scope_name, scope_version, scope_attributes, attributes';
  const expected = ['span', 'log', 'metric'].map((signal) => ({
    signal,
    project: 'demo',
    resource,
    scope_name: 'scope',
    scope_version: '1.0',
    scope_attributes: { s: 1 },
    attributes: { a: 1 },
  }));
  const shown = async () =>
    (
      await previous.query(
        `SELECT ${columns} FROM public.spans UNION ALL SELECT ${columns} FROM public.logs UNION ALL SELECT ${columns} FROM public.metric_points`,
      )
    ).rows;
  const applied = await migrate(database, 'public');
  t.ok(applied.includes('0006-shared-contents.sql'));
  t.strictSame(await shown(), expected);
  await store('after');
  t.equal((await shown()).length, 6, 'later records of the earlier version are shown in the same way');
});

/** The schema of the migrations before a number. */
async function migrateBefore(client: pg.Client, number: string): Promise<void> {
  await client.query(`
    CREATE SCHEMA sluice;
    CREATE TABLE sluice.migrations (name text PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now(), min_writer int4)`);
  for (const { name, text } of (await readMigrations()).filter((one) => one.name < number)) {
    await client.query(text);
    await client.query('INSERT INTO sluice.migrations (name, min_writer) VALUES ($1, 0)', [name]);
  }
}

t.test('an older version that starts again keeps the views of a newer one', async (t) => {
  const { url } = await createDatabase(t);
  const database = new Database().use({ connectionString: url });
  t.teardown(() => database.close());
  const client = await connectTo(t, url);
  await migrate(database, 'public');
  for (const [version, applied] of [
    ['100.20.3', []],
    ['0.0.9', ['views']],
    ['', ['views']],
    [`${versionOf()}-rc.1`, ['views']],
  ] as const) {
    await client.query("UPDATE sluice.migrations SET name = trim('views public 0 ' || $1) WHERE name LIKE 'views %'", [
      version,
    ]);
    t.strictSame(await migrate(database, 'public'), applied, `version ${version}`);
  }
  t.strictSame(await migrate(database, 'public'), [], 'views of this version');
});

t.test('a migration that waits for a long transaction does not block ingest', async (t) => {
  const { url } = await createDatabase(t);
  const database = new Database().use({ connectionString: url });
  t.teardown(() => database.close());
  await migrate(database, 'public');
  const [dump, ingest] = [await connectTo(t, url), await connectTo(t, url)];
  // Marks the last migration as not applied. It needs locks that the reader below prevents.
  await ingest.query("DELETE FROM sluice.migrations WHERE name LIKE 'views %'");
  await dump.query('BEGIN; SELECT count(*) FROM spans');
  let migrated = false;
  const migrating = migrate(database, 'public').then(() => (migrated = true));
  let slowestMs = 0;
  for (let n = 0; n < 30; n++) {
    const started = performance.now();
    await ingest.query('BEGIN; LOCK TABLE sluice.spans IN ROW EXCLUSIVE MODE; SELECT count(*) FROM spans; COMMIT');
    slowestMs = Math.max(slowestMs, performance.now() - started);
  }
  t.notOk(migrated, 'the migration waits for the reader');
  await dump.query('COMMIT');
  await migrating;
  t.ok(migrated);
  t.comment(`the longest wait was ${Math.round(slowestMs)} ms`);
});
