// Which commands may change a schema, the errors of the others for a missing, older or newer schema, and refused names.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { folderOf } from '../support/config-files.ts';
import { type Outcome, sluice as call } from '../support/command-line.ts';
import { connectTo } from '../support/connection.ts';
import { startDaemon } from '../support/daemon.ts';
import { send } from '../support/otlp-client.ts';
import { aSpan, aTraceRequest } from '../support/payloads.ts';
import { createDatabase } from '../support/postgres.ts';
import { postgresConfig } from '../support/postgres-daemon.ts';

t.setTimeout(300_000);

const READING = [
  ['project', 'list'],
  ['key', 'list'],
  ['environment', 'list'],
  ['prices', 'list'],
  ['outbox', 'list'],
  ['traces'],
  ['usage'],
];
const WRITING = [
  ['project', 'create', 'shop'],
  ['key', 'create', '--project', 'shop'],
  ['environment', 'set', 'shop', 'production', '--capture-content', 'off'],
];

const { url } = await createDatabase(t);
const folder = folderOf({ 'a.yaml': postgresConfig({ databaseUrl: url }) });
const sluice = (...args: readonly string[]): Promise<Outcome> => call([...args, '-c', 'a.yaml'], { folder });
const admin = await connectTo(t, url);

t.test('without a schema every command except migrate fails and creates none', async (t) => {
  for (const command of [...READING, ...WRITING])
    t.match(
      await sluice(...command),
      { code: 1, out: '', err: /no tables of Sluice yet\n {2}hint: .*sluice migrate/ },
      command.join(' '),
    );
  t.strictSame((await admin.query("SELECT to_regnamespace('sluice') AS schema")).rows, [{ schema: null }]);
});

t.test('migrate creates the schema, and the other commands then work', async (t) => {
  t.match(await sluice('migrate'), { code: 0, out: /^Applied: 0001-tables\.sql/ });
  t.match(await sluice('migrate'), { code: 0, out: 'The schema is current.\n' });
  for (const command of [...WRITING, ...READING]) t.match(await sluice(...command), { code: 0 }, command.join(' '));
});

t.test('an older schema is refused and not changed', async (t) => {
  const { rows } = await admin.query(
    "DELETE FROM sluice.migrations WHERE name = (SELECT max(name) FROM sluice.migrations WHERE name ~ '^0') RETURNING *",
  );
  for (const command of [...READING, ...WRITING])
    t.match(
      await sluice(...command),
      { code: 1, err: new RegExp(`older than this version: ${rows[0]?.name}`) },
      command.join(' '),
    );
  await admin.query('INSERT INTO sluice.migrations SELECT * FROM jsonb_populate_record(NULL::sluice.migrations, $1)', [
    JSON.stringify(rows[0]),
  ]);
});

t.test('a newer schema can be read, and written to if it allows that', async (t) => {
  await admin.query("INSERT INTO sluice.migrations (name, min_writer) VALUES ('9998-additive.sql', 1)");
  for (const command of READING)
    t.match(await sluice(...command), { code: 0, err: /A newer version has migrated.*9998/ }, command.join(' '));
  t.match(await sluice('project', 'create', 'second'), { code: 0 });
  await admin.query("INSERT INTO sluice.migrations (name) VALUES ('9999-other.sql')");
  for (const command of READING) t.match(await sluice(...command), { code: 0 }, command.join(' '));
  t.match(await sluice('project', 'create', 'third'), { code: 1, err: /migrated by a newer version/ });
  t.match(await sluice('migrate'), { code: 1, err: /migrated by a newer version/ });
  await admin.query("DELETE FROM sluice.migrations WHERE name LIKE '999%'");
});

t.test('views in another schema than the configured one are reported as a mistake of the configuration', async (t) => {
  const config = postgresConfig({ databaseUrl: url }).replace(
    'allow_unsafe: true',
    'allow_unsafe: true, views_schema: elsewhere',
  );
  const other = folderOf({ 'a.yaml': config });
  t.match(await call(['traces', '-c', 'a.yaml'], { folder: other }), {
    code: 1,
    err: /^error: the schema of the database is not as .*views_schema.*\n {2}hint: .*\n$/,
  });
});

t.test('only migrate creates an embedded database', async (t) => {
  const config = postgresConfig({ databaseUrl: '' });
  const empty = folderOf({ 'a.yaml': config });
  for (const command of [...READING, ...WRITING])
    t.match(
      await call([...command, '-c', 'a.yaml'], { folder: empty }),
      { code: 1, err: /there is no database in \.\/data yet/ },
      command.join(' '),
    );
  t.notOk(existsSync(join(empty, 'data')));
});

t.test('empty names and names with control characters are refused', async (t) => {
  for (const name of ['', '  ', 'a\u0007b', 'a\u001b[2J', 'x'.repeat(300), 'two\nlines', '\ud800']) {
    for (const command of [
      ['environment', 'set', 'shop', name, '--capture-content', 'off'],
      ['key', 'create', '--project', 'shop', '--environment', name],
      ['key', 'create', '--project', 'shop', '--label', name],
      ['project', 'create', name],
    ])
      if (!(command.includes('--label') && name === '  '))
        t.match(await sluice(...command), { code: /[12]/ }, JSON.stringify(command));
  }
  const set = await sluice('environment', 'set', 'shop', ' Größe ', '--capture-content', 'off');
  t.match(set, { code: 0, out: 'Content of shop, größe: not stored.\n' });
  const key = await sluice('key', 'create', '--project', 'shop', '--environment', ' Größe ', '--json');
  t.match(JSON.parse(key.out), { environment: 'größe' });
  t.match(await sluice('environment', 'list'), { out: /größe/ });
});

t.test('a setting that SQL has written in another spelling applies', async (t) => {
  await admin.query(`DELETE FROM sluice.environments; INSERT INTO sluice.environments VALUES
    ('shop', ' Production', '{"capture_content": false}'), ('shop', 'production', '{"capture_content": true}')`);
  const { out } = await sluice('key', 'create', '--project', 'shop', '--environment', 'production');
  await admin.query("UPDATE sluice.api_keys SET environment = ' PRODUCTION '");
  const config = postgresConfig({ databaseUrl: url, processors: 'auth, environment, privacy, normalization' }).replace(
    '  environment: {}',
    '  environment: {}\n  privacy: {}',
  );
  const daemon = await startDaemon(t, { config });
  const attributes = { 'gen_ai.operation.name': 'chat', 'gen_ai.input.messages': 'secret words' };
  const body = JSON.stringify(aTraceRequest([aSpan({ attributes })], { 'deployment.environment.name': 'PRODUCTION' }));
  t.equal(
    (await send(daemon.url, { body, authorization: `Bearer ${out.trim()}` })).status,
    200,
    'the key is of this environment',
  );
  const stored = async () =>
    (await admin.query("SELECT count(*)::int AS n FROM public.spans WHERE attributes::text LIKE '%secret%'")).rows[0]
      ?.n;
  t.equal(await stored(), 0, 'the one that forbids counts');
  t.match(await sluice('environment', 'set', 'shop', 'production', '--capture-content', 'on'), { code: 0 });
  t.equal((await admin.query('SELECT FROM sluice.environments')).rowCount, 1, 'one spelling is left');
});
