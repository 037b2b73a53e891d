/** The statements of "Uninstall" leave nothing of Sluice in the database, and nothing else is removed. */
import t from 'tap';
import { connectTo } from '../support/connection.ts';
import { createDatabase } from '../support/postgres.ts';
import { SERVED } from '../support/postgres-daemon.ts';
import { codeBlocks, read, section } from './markdown.ts';
import '../support/long-file.ts';

const LEFT = `
  SELECT nspname AS name FROM pg_namespace WHERE nspname = 'sluice'
  UNION ALL SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace
  UNION ALL SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace`;

t.test('nothing of Sluice is left', async (t) => {
  const [statements = ''] = codeBlocks(section(read('docs/operations.md'), '## Uninstall'), 'sql');
  const { url } = await createDatabase(t, SERVED);
  const client = await connectTo(t, url);
  await client.query('CREATE VIEW public.own AS SELECT 1 AS one');
  t.ok((await client.query(LEFT)).rows.length > 20);
  await client.query(statements);
  t.same((await client.query(LEFT)).rows, [{ name: 'own' }]);
});
