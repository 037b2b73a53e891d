/** The databases of other tests are fresh, identical, independent of each other, and removed afterwards. */
import t from 'tap';
import { ask } from '../../../support/connection.ts';
import { createDatabase, type Template } from '../../../support/postgres.ts';
import { query } from './scene.ts';

t.test('databases from one template are prepared once, independent, and dropped in the end', async (t) => {
  let prepared = 0;
  const template: Template = {
    name: `databases.test ${process.pid}`,
    prepare: async (url) => {
      prepared++;
      await ask(url, 'CREATE TABLE things (name text)');
    },
  };
  const names: string[] = [];
  await t.test('copies of one template are independent', async (t) => {
    const [first, second] = await Promise.all([createDatabase(t, template), createDatabase(t, template)]);
    names.push(first.name, second.name);
    await ask(first.url, "INSERT INTO things VALUES ('one')");
    t.strictSame(await query(first.address, 'SELECT name FROM things'), [{ name: 'one' }]);
    t.strictSame(await query(second.address, 'SELECT name FROM things'), []);
  });
  t.equal(prepared, 1);
  const { address } = await createDatabase(t);
  const left = (await query(address, 'SELECT datname FROM pg_database')).map(({ datname }) => datname);
  for (const name of names) t.notOk(left.includes(name), `${name} is gone`);
});
