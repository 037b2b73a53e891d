// The project of the first start is created once, also when many replicas start together, and only in an empty
// database.
import t, { type Test } from 'tap';
import { Administration } from '../../src/extensions/postgres/administration.ts';
import { Database } from '../../src/extensions/postgres/database.ts';
import { migrate } from '../../src/extensions/postgres/migrate.ts';
import { hashApiKey, publicIdOf } from '../../src/pdata/api-key.ts';
import { createDatabase } from '../support/postgres.ts';

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
