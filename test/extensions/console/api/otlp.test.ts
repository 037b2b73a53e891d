/** A downloaded trace, sent to another project, is stored with the same derived columns, in both encodings. */
import { readdirSync, readFileSync } from 'node:fs';
import t from 'tap';
import { DERIVED_COLUMNS } from '../../../../src/pdata/columns.ts';
import { startConsole } from '../../../support/console.ts';
import { send } from '../../../support/otlp-client.ts';

/** One of each family of conventions. */
const SENDERS = [
  'otel-openai-py',
  'openinference-openai-js',
  'openllmetry-openai-py',
  'ai-sdk-v5-openai',
  'langfuse-js',
];
const CAPTURES = new URL('../../../../../test/fixtures/genai/', import.meta.url);
const COLUMNS = [...DERIVED_COLUMNS.map(({ name }) => name), 'name', 'status', 'status_message', 'events', 'links'];
const PROTOBUF = { 'content-type': 'application/x-protobuf' };
const JSON_TYPE = { 'content-type': 'application/json' };

t.test('the rows are the same, and a foreign trace is not found', async (t) => {
  const console = await startConsole(t, { processors: 'auth, environment, normalization' });
  const { database, administration } = console;
  const keys = {
    shop: (await administration.createKey('shop', null, null)).text,
    blog: (await administration.createKey('blog', null, null)).text,
  };
  const token = { authorization: `Bearer ${await console.token('shop', { seesContent: true })}` };
  const blind = { authorization: `Bearer ${await console.token('shop')}` };

  const rowsOf = async (project: string): Promise<readonly Record<string, unknown>[]> =>
    (
      await database.query(
        `SELECT encode(span_id, 'hex') AS id, ${COLUMNS.map((name) => `${name}::text`).join(', ')}
       FROM sluice.spans WHERE project = $1 ORDER BY trace_id, span_id`,
        [project],
      )
    ).rows;

  const post = async (project: keyof typeof keys, body: Buffer, headers: Readonly<Record<string, string>>) => {
    const answer = await send(console.daemon.url, { authorization: `Bearer ${keys[project]}`, body, headers });
    t.equal(answer.status, 200, `${project}: ${answer.body.toString()}`);
  };

  for (const sender of SENDERS) {
    const folder = new URL(`${sender}/`, CAPTURES);
    const file = readdirSync(folder).find((name) => /\.traces(?:\.\d+)?\.(?:pb|json)$/u.test(name));
    t.ok(file, sender);
    await post(
      'shop',
      readFileSync(new URL(file ?? '', folder)),
      file?.endsWith('.pb') === true ? PROTOBUF : JSON_TYPE,
    );
  }
  const before = await rowsOf('shop');
  const { rows: traces } = await database.query(`SELECT DISTINCT encode(trace_id, 'hex') AS id FROM sluice.spans`, []);

  t.ok(before.length >= 2 * SENDERS.length, `${before.length} spans`);
  t.ok(before.filter(({ input_tokens: tokens }) => tokens !== null).length >= SENDERS.length);
  const forms = { json: new Map<string, Buffer>(), protobuf: new Map<string, Buffer>() };
  for (const { id } of traces) {
    for (const as of ['json', 'protobuf'] as const) {
      const path = `/api/v1/projects/shop/traces/${String(id)}/otlp?as=${as}`;
      const { status, headers, bytes } = await console.ask(path, { headers: token });
      t.equal(status, 200);
      t.match(headers['content-disposition'], /^attachment; filename="trace-[0-9a-f]{32}\.(?:json|pb)"$/u);
      forms[as].set(String(id), bytes);
    }
  }
  for (const as of ['json', 'protobuf'] as const) {
    // A trace belongs to one project only.
    await database.query('DELETE FROM sluice.spans', []);
    await database.query('DELETE FROM sluice.traces', []);
    await database.query('DELETE FROM sluice.replay_markers', []);
    const headers = as === 'json' ? JSON_TYPE : PROTOBUF;
    for (const body of forms[as].values()) await post('blog', body, headers);
    t.same(await rowsOf('blog'), before, as);
  }

  const ask = (id: string, query: string) =>
    console.ask(`/api/v1/projects/shop/traces/${id}/otlp${query}`, { headers: blind });
  t.match(await ask('ab'.repeat(16), ''), { status: 404, json: { error: { code: 'not_found' } } });
  t.match(await ask(String(traces[0]?.['id']), ''), { status: 404 }, 'now of another project');
});
