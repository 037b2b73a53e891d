// The option --project of the commands that read: a project that does not exist is named, with a similar name.
import { readdirSync } from 'node:fs';
import t from 'tap';
import { sluice as call, type Outcome } from '../support/command-line.ts';
import { folderOf } from '../support/config-files.ts';
import { createDatabase } from '../support/postgres.ts';
import { postgresConfig, SERVED } from '../support/postgres-daemon.ts';

t.setTimeout(300_000);

const { url } = await createDatabase(t, SERVED);
const folder = folderOf({ 'a.yaml': postgresConfig({ databaseUrl: url }) });
const sluice = (...args: readonly string[]): Promise<Outcome> => call([...args, '-c', 'a.yaml'], { folder });
await sluice('project', 'create', 'shop');

const READING = [
  ['traces'],
  ['usage'],
  ['export'],
  ['export', '--what', 'traces'],
  ['trace', '9f0ae0f1066a16d83d0dd5c76ba1f57b'],
  ['span', '9f0ae0f1066a16d8'],
  ['conversation', 'c-1'],
  ['key', 'list'],
  ['environment', 'list'],
  ['prices', 'list'],
];

t.test('a project that does not exist is an error, and a similar one is named', async (t) => {
  const err = /^error: there is no project "shopp"\n {2}hint: Did you mean "shop"\? See `sluice project list`\.\n$/u;
  for (const command of READING)
    t.match(await sluice(...command, '--project', 'shopp'), { code: 1, out: '', err }, command.join(' '));
  t.match(await sluice('traces', '--project', 'käse'), {
    err: /no project "käse"\n {2}hint: See `sluice project list`/u,
  });
});

t.test('an export to a file leaves no file', async (t) => {
  t.match(await sluice('export', '--project', 'shopp', '--output', 'rows.ndjson'), { code: 1 });
  t.same(readdirSync(folder), ['a.yaml']);
});

t.test('a project without records, and one of a key in the configuration, exist', async (t) => {
  for (const project of ['shop', 'demo'])
    t.match(await sluice('traces', '--project', project), { code: 0, out: /^No traces match/u }, project);
});

t.test('nothing is removed of a project that does not exist', async (t) => {
  const command = ['prune', '--project', 'shopp', '--yes'];
  for (const more of [[], ['--environment', 'staging'], ['--before', '7d']])
    t.match(await sluice(...command, ...more), { code: 1, err: /no project "shopp"/u }, more.join(' '));
});
