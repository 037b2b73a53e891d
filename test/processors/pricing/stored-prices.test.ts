// Stored prices over a real database: set, listed, used by a running daemon and removed again, and a broken row that is
// ignored.
import t from 'tap';
import { folderOf } from '../../support/config-files.ts';
import { type Outcome, sluice as call } from '../../support/command-line.ts';
import { connectTo } from '../../support/connection.ts';
import { startDaemon } from '../../support/daemon.ts';
import { OTHER_KEY, KEY } from '../../support/daemon.ts';
import { send } from '../../support/otlp-client.ts';
import { aSpan, aTraceRequest } from '../../support/payloads.ts';
import { createDatabase } from '../../support/postgres.ts';
import { postgresConfig, SERVED } from '../../support/postgres-daemon.ts';
import { waitFor } from '../../../src/extensions/postgres/embedded/wait.ts';

t.setTimeout(300_000);

const { url: databaseUrl } = await createDatabase(t, SERVED);
const config = postgresConfig({
  databaseUrl,
  processors: 'auth, environment, normalization, pricing',
  exporters: 'postgres, file',
}).replace(
  '  normalization: {}',
  '  normalization: {}\n  pricing: { overrides: [{ id: file, match: { model: ours }, prices: [{ rates: { input: 5, output: 5 } }] }] }',
);
const daemon = await startDaemon(t, { config });
const folder = folderOf({
  'twice.yaml': ['1', '2']
    .map((input) => `- { id: bad, match: { model: ours }, prices: [{ rates: { input: "${input}" } }] }\n`)
    .join(''),
  'a.yaml': config,
  'prices.yaml':
    '- { id: a, match: { model: ours }, prices: [{ rates: { input: "3" } }] }\n- { id: b, match: { model: ours }, prices: [{ rates: { input: "4" } }] }\n',
});
const sluice = (...args: string[]): Promise<Outcome> => call([...args, '-c', 'a.yaml'], { folder });

let count = 0;

/** The present cost of a million tokens of the model, for the project of a key. */
async function price(key = KEY): Promise<string> {
  const attributes = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': 'ours',
    'gen_ai.usage.input_tokens': 1_000_000,
    'gen_ai.usage.output_tokens': 0,
  };
  const name = `call ${count++}`;
  const body = JSON.stringify(aTraceRequest([aSpan({ name, attributes })]));
  const answer = await send(daemon.url, { body, authorization: `Bearer ${key}` });
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.body}`);
  const row = (await daemon.rows()).find((one) => one['name'] === name);
  return `${String(row?.['input_cost'])} ${String(row?.['price_id']).split('@')[0]}`;
}

/** The daemon is notified of a change; the test waits for its effect. */
async function becomes(expected: string, key = KEY): Promise<string> {
  let last = '';
  await waitFor(async () => ((last = await price(key)) === expected ? true : undefined), { timeoutMs: 30_000 });
  return last;
}

t.test('a stored price is used by the running daemon, a project’s own before all others', async (t) => {
  t.equal(await price(), '5.00000000 user');
  t.match(await sluice('prices', 'list'), { code: 0, out: /^No prices are stored/u });
  t.match(await sluice('prices', 'set', 'own', '--model', 'ours', '--rates', 'input=2.50,output=10'), {
    code: 0,
    out: /Stored the price own for every project/u,
  });
  t.equal(await becomes('2.50000000 stored'), '2.50000000 stored');
  t.match(await sluice('project', 'create', 'other'), { code: 0 });
  t.match(await sluice('prices', 'set', '--file', 'prices.yaml', '--project', 'other'), { code: 0, err: '' });
  t.equal(await becomes('3.00000000 stored', OTHER_KEY), '3.00000000 stored', 'the first of the file counts first');
  t.equal(await price(), '2.50000000 stored');
});

t.test('stored prices are listed and explained', async (t) => {
  const { out } = await sluice('prices', 'list', '--json');
  t.match(JSON.parse(out), [
    { id: 'a', project: 'other' },
    { id: 'b', project: 'other' },
    { id: 'own', project: null, entry: { prices: [{ rates: { input: '2.50', output: '10' } }] } },
  ]);
  t.match(await sluice('prices', 'list'), { out: /own +every +\{"model":"ours"\}/u });
  t.match(await sluice('prices', 'check', 'ours', '--project', 'other'), { code: 0, out: /of stored / });
  t.match(await sluice('prices', 'check', 'ours'), { code: 0, out: /of user / });
});

t.test('a mistake is refused before it is stored, with its path', async (t) => {
  const set = (...args: string[]): Promise<Outcome> => sluice('prices', 'set', 'bad', '--model', 'ours', ...args);
  t.match(await set('--rates', 'input=cheap'), { code: 1, err: /prices\[0\]\.rates\.input must be a decimal number/u });
  t.match(await set('--rates', 'in=1'), { code: 1, err: /rates has the unknown option "in"/u });
  t.match(await set('--rates', 'input=1,output=2,input=3'), { code: 2, err: /--rates has "input" twice/u });
  t.match(await set('--rates', 'input=1=2'), { code: 2, err: /--rates takes NAME=VALUE, .*, not "input=1=2"/u });
  t.match(await sluice('prices', 'set', '--file', 'twice.yaml'), { code: 1, err: /two entries have the id "bad"/u });
  t.match(await set('--rates', 'input=1', '--project', 'nobody'), { code: 1, err: /no project "nobody"/u });
  t.match(await set(), { code: 2, err: /--rates are needed/u });
  t.match(await sluice('prices', 'remove', 'bad'), { code: 1, err: /no price "bad" is stored/u });
});

t.test('a broken row is ignored, and a removed price is no longer used', async (t) => {
  const client = await connectTo(t, databaseUrl);
  await client.query(`INSERT INTO sluice.prices (id, entry) VALUES ('broken', '{"id": "broken", "match": 7}')`);
  t.match(await sluice('prices', 'list'), { code: 0, out: /broken +every +mistaken: match must be object/u });
  t.match(await sluice('prices', 'remove', 'own'), { code: 0 });
  t.equal(await becomes('5.00000000 user'), '5.00000000 user');
});
