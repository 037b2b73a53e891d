/** What a list of many traces reads. */
import { join } from 'node:path';
import t from 'tap';
import { sluice } from '../support/command-line.ts';
import { folderOf } from '../support/config-files.ts';
import { connectTo } from '../support/connection.ts';
import { eventually } from '../support/eventually.ts';
import { MIGRATED } from '../support/migrated.ts';
import { createDatabase } from '../support/postgres.ts';
import { postgresConfig } from '../support/postgres-daemon.ts';
import pg from 'pg';

t.setTimeout(300_000);
const TRACES = 400;
const LIMIT = 3;

t.test('a filter reads traces until the list is full', async (t) => {
  const { url } = await createDatabase(t, MIGRATED);
  const client = await connectTo(t, url);
  const { rows } = await client.query('SELECT current_database() AS name');
  await client.query(`ALTER DATABASE ${pg.escapeIdentifier(rows[0].name)} SET track_functions = 'all'`);
  await client.query(`INSERT INTO sluice.spans (project, environment, usage_scope, category, name, trace_id, span_id, start_time_unix_nano,
      total_tokens, total_cost, resource, attributes, received_at)
    SELECT 'demo', 'default', 'own', 'model_call', 'chat', decode(md5(i::text), 'hex'), decode(lpad(to_hex(i), 16, '0'), 'hex'),
      1795000000000000000 + i, 5, 1, '{}', '{}', now() FROM generate_series(1, ${TRACES}) i`);
  await client.query(`INSERT INTO sluice.traces (trace_id, project, environment, first_ns, last_ns)
    SELECT trace_id, project, environment, start_time_unix_nano, start_time_unix_nano FROM sluice.spans`);
  await client.query('ANALYZE');
  const folder = folderOf({ 'a.yaml': postgresConfig({ databaseUrl: url }) });
  const { out, err } = await sluice(
    ['traces', '--json', '--min-cost', '0.5', '--limit', String(LIMIT), '-c', join(folder, 'a.yaml')],
    { folder },
  );
  t.equal(err, '');
  t.strictSame(
    (JSON.parse(out) as readonly { readonly start_time_unix_nano: string }[]).map((row) => row.start_time_unix_nano),
    [TRACES, TRACES - 1, TRACES - 2].map((at) => String(1_795_000_000_000_000_000n + BigInt(at))),
  );
  const calls = async (name: string): Promise<number> => {
    const found = await client.query('SELECT calls FROM pg_stat_user_functions WHERE funcname = $1', [name]);
    return Number(found.rows[0]?.calls ?? 0);
  };
  await eventually('the calls are counted', async () => (await calls('trace_usage_of')) > 0);
  t.ok((await calls('trace_usage_of')) < 5 * LIMIT, `usage of traces: ${await calls('trace_usage_of')} calls`);

  // The oldest trace has an agent above its call; the others name none, so nothing above their calls is searched.
  await client.query(`INSERT INTO sluice.spans (project, environment, agent_name, category, name, trace_id, span_id, start_time_unix_nano,
      resource, attributes, received_at)
    SELECT project, environment, 'clerk', 'agent', 'invoke', trace_id, '\\x0100000000000000', start_time_unix_nano, '{}', '{}', now()
    FROM sluice.spans ORDER BY start_time_unix_nano LIMIT 1`);
  await client.query(`UPDATE sluice.spans SET parent_span_id = '\\x0100000000000000'
    WHERE category = 'model_call' AND trace_id = (SELECT trace_id FROM sluice.spans WHERE category = 'agent')`);
  const filtered = await sluice(
    ['traces', '--json', '--filter', 'agent:clerk category:model_call', '-c', join(folder, 'a.yaml')],
    { folder },
  );
  t.equal(JSON.parse(filtered.out).length, 1, filtered.err);
  await eventually('the calls are counted', async () => (await calls('owners_of')) > 0);
  t.ok((await calls('owners_of')) < 5, `spans above: ${await calls('owners_of')} calls`);
});
