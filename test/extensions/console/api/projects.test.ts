/** Projects that were created, and those that only keys of the configuration name. */
import t from 'tap';
import { startConsole } from '../../../support/console.ts';

t.test('a project that was not created is listed once it has data, and can be created', async (t) => {
  const scene = await startConsole(t, { projects: ['blog'] });
  const { headers } = await scene.logIn({ name: 'ada', role: 'admin', projects: null, seesContent: true });
  const listed = async (): Promise<readonly unknown[]> =>
    (await scene.ask('/api/v1/projects', { headers })).json.items.map((item: Record<string, unknown>) => [
      item['name'],
      item['created_at'] === null,
      item['spans_this_month'],
    ]);
  const path = '/api/v1/projects/shop/traces?from=1&to=2';
  t.equal((await scene.ask(path, { headers })).status, 404);
  // As a group of a project of `processors.auth.keys` does.
  await scene.database.query(`SELECT sluice.add_usage(ARRAY['shop'], ARRAY[3::int8], ARRAY[0::int8], ARRAY[0::int8])`);
  t.strictSame(await listed(), [
    ['blog', false, 0],
    ['shop', true, 3],
  ]);
  t.equal((await scene.ask(path, { headers })).status, 200);
  t.same((await scene.ask('/api/v1/me', { headers })).json.projects, ['blog', 'shop']);
  const created = { method: 'POST', headers, body: { name: 'shop' } };
  t.equal((await scene.ask('/api/v1/projects', created)).status, 201);
  t.strictSame(await listed(), [
    ['blog', false, 0],
    ['shop', false, 3],
  ]);
});
