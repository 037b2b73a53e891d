/** An archived conversation with more traces than are read says from when it is complete. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { CLOSED_MS, makeScene, TABLES } from '../support/archive-scene.ts';
import { sluice } from '../support/command-line.ts';
import { postgresConfig } from '../support/postgres-daemon.ts';
import { storeClaims } from '../support/usage-rows.ts';
import { DAY_MS, MS_NS } from '../../src/pdata/time-units.ts';
import '../support/long-file.ts';

t.setTimeout(300_000);

const MOST = 10_000;
const [OLD, NEW] = [3, MOST - 1];
const scene = await makeScene(t);
writeFileSync(join(scene.folder, 'sluice.yaml'), postgresConfig({ databaseUrl: scene.url }));

/** Model calls of a conversation at the beginning of a closed day, each a trace of its own. */
const storeCalls = (day: number, count: number): Promise<unknown> =>
  scene.query(
    `INSERT INTO sluice.spans (project, environment, trace_id, span_id, name, start_time_unix_nano, end_time_unix_nano, duration_ns,
       resource, attributes, received_at, category, conversation_id)
     SELECT 'shop', 'default', decode(lpad(to_hex(n + $3::int4 * 100000), 32, '0'), 'hex'), decode(lpad(to_hex(n), 16, '0'), 'hex'), 'chat', $1::int8 + n,
       $1::int8 + n, 0, '{}', '{}', to_timestamp($1::int8 / 1000000000), 'model_call', 'c' FROM generate_series(1, $2::int4) n`,
    [String(BigInt(CLOSED_MS + day * DAY_MS) * MS_NS), count, day],
  );

await storeCalls(1, OLD);
await storeCalls(2, NEW);
await storeClaims(scene);
await scene.run();
for (const [table] of TABLES)
  for (const { name } of await scene.query(
    `SELECT inhrelid::regclass::text AS name FROM pg_inherits
     WHERE inhparent = 'sluice.${table}'::regclass AND inhrelid::regclass::text ~ '_[0-9]{8}$'`,
  ))
    await scene.query(`DROP TABLE ${name}`);

t.test('it reads the newest traces, and says until when others are left out', async (t) => {
  const { code, out, err } = await sluice(['conversation', 'c', '--limit', '1', '--json'], scene);
  t.equal(code, 0, err);
  t.equal(JSON.parse(out).call_count, MOST);
  const until = new Date(CLOSED_MS + 2 * DAY_MS).toISOString();
  t.match(err, `Traces of the conversation until ${until} are left out: it has more than ${MOST}.`);
});

t.test('the console says it too', async (t) => {
  const path = '/api/v1/projects/shop/conversations/c/turns';
  const question = { path, headers: {}, projects: ['shop'], seesContent: true, conversation: 'c' };
  const input = [JSON.stringify(question)];
  const { out, err } = await sluice(['archived-conversation', 'shop'], { ...scene, input });
  const { reply } = JSON.parse(out);
  t.equal(reply?.status, 200, err);
  const turns = JSON.parse(reply.text);
  t.equal(turns.conversation.trace_count, MOST);
  t.equal(turns.complete_from, String(BigInt(CLOSED_MS + 2 * DAY_MS) * MS_NS));
});

t.test('with fewer traces it says nothing', async (t) => {
  const since = new Date(CLOSED_MS + 2 * DAY_MS).toISOString();
  const { out, err } = await sluice(['conversation', 'c', '--limit', '1', '--json', '--since', since], scene);
  t.equal(JSON.parse(out).call_count, NEW);
  t.notMatch(err, 'left out');
});
