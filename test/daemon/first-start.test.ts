// The project of the first start is created once, also when many replicas start together, and only in an empty
// database.
import t, { type Test } from 'tap';
import { Administration } from '../../src/extensions/postgres/administration.ts';
import { Database } from '../../src/extensions/postgres/database.ts';
import { migrate } from '../../src/extensions/postgres/migrate.ts';
import { hashApiKey, publicIdOf } from '../../src/pdata/api-key.ts';
import { CONSOLE } from '../../src/component/capabilities/console.ts';
import { Capabilities } from '../../src/component/capabilities/capability.ts';
import { PEOPLE, type People } from '../../src/component/capabilities/people.ts';
import { POSTGRES_DATABASE } from '../../src/component/capabilities/postgres.ts';
import type { Logger } from '../../src/component/logger.ts';
import { COMPONENTS } from '../../src/components.ts';
import type { DaemonHost, Greeting } from '../../src/daemon/daemon-host.ts';
import { greet } from '../../src/daemon/first-start.ts';
import { load } from '../support/config-files.ts';
import { createDatabase } from '../support/postgres.ts';

const CONFIG = `
receivers: { otlp: { protocols: { http: { endpoint: "127.0.0.1:1" } } } }
processors: { auth: {}, environment: {} }
exporters: { file: { path: out.ndjson } }
service: { ledger: memory, pipelines: { traces: { receivers: [otlp], processors: [auth, environment], exporters: [file] } } }
`;

/** Replicas during their start, each with its own connections. */
async function replicas(t: Test, count: number): Promise<readonly Database[]> {
  const { url } = await createDatabase(t);
  const databases = Array.from({ length: count }, () => new Database().use({ connectionString: url }));
  t.teardown(async () => {
    for (const database of databases) await database.close();
  });
  for (const database of databases.slice(0, 1)) await migrate(database, 'public');
  return databases;
}

t.test('of many replicas that start at once, one creates the project and returns its key', async (t) => {
  const databases = await replicas(t, 6);
  const made = await Promise.all(
    databases.map((each) => new Administration(each).createFirstProject('default', 'first')),
  );
  const keys = made.flatMap((each) => (each === null ? [] : [each.text]));
  t.equal(keys.length, 1);
  const [database] = databases;
  const { rows = [] } =
    (await database?.query('SELECT public_id, project, environment, hash FROM sluice.api_keys')) ?? {};
  const key = keys[0] ?? '';
  t.strictSame(rows, [
    { public_id: publicIdOf(key), project: 'default', environment: null, hash: Buffer.from(hashApiKey(key)) },
  ]);
});

t.test('no project is created when one exists, with any name', async (t) => {
  const [database = new Database()] = await replicas(t, 1);
  const administration = new Administration(database);
  await administration.createProject('shop', 'paid', null);
  t.equal(await administration.createFirstProject('default', 'first'), null);
  t.strictSame(
    (await administration.listProjects()).map(({ name }) => name),
    ['shop'],
  );
  t.strictSame(await administration.listKeys(null), []);
});

t.test('without a console link the key of the first start is shown nevertheless, or not created', async (t) => {
  const [database = new Database()] = await replicas(t, 1);
  const capabilities = new Capabilities();
  capabilities.offer(POSTGRES_DATABASE, database);
  capabilities.offer(CONSOLE, { address: () => ({ endpoint: '127.0.0.1:1', url: 'http://127.0.0.1:1', login: true }) });
  const list = async (): Promise<never> => Promise.reject(new Error('the database is not open'));
  capabilities.offer(PEOPLE, { list } as unknown as People);
  const greetings: Greeting[] = [];
  const config = await load({ 'a.yaml': CONFIG }, { definitions: COMPONENTS });
  let warnings = 0;
  const logger = { warn: () => (warnings += 1) } as unknown as Logger;
  const host = { process, greet: (greeting: Greeting) => greetings.push(greeting) } as unknown as DaemonHost;
  let stopping = false;
  const greeter = { host, logger, bound: () => null, isStopping: () => stopping };
  await greet(config, capabilities, greeter);
  const { rows } = await database.query('SELECT 1 FROM sluice.api_keys');
  t.equal(rows.length, greetings.filter(({ key }) => key !== null).length);
  t.equal(warnings, 1);
  stopping = true;
  await greet(config, capabilities, greeter);
  t.equal(warnings, 1, 'a stop is no reason for a warning');
});
