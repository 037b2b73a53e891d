/**
 * A database that was restored from a backup, to a time before its days were archived and dropped: no record of the
 * lake is lost, and none is there twice, for a reader that only lists it.
 */
import { writeFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { dropDays, linesOfLake, makeScene, type Scene, TABLES } from '../support/archive-scene.ts';
import { sluice } from '../support/command-line.ts';
import { longTest } from '../support/long.ts';
import { postgresConfig } from '../support/postgres-daemon.ts';
import { storeLog, storeSpan, storeStory, traceIdOf } from '../support/usage-rows.ts';
import '../support/long-file.ts';

t.setTimeout(300_000);

const SIGNALS = TABLES.map(([name]) => name);
const linesOf = async (scene: Scene): Promise<readonly (readonly string[])[]> => {
  const lines = [];
  for (const signal of SIGNALS) lines.push(await linesOfLake(scene, signal));
  return lines;
};

/** What arrives after the backup: late records of archived days, and a further day. */
async function storeMore(scene: Scene): Promise<void> {
  const more = { id: traceIdOf(900), project: 'shop', at: 3 * 86_400_000 };
  await storeSpan(scene, more, { number: 900, name: 'after the backup' });
  await storeLog(scene, { ...more, at: 1000 }, { event_name: 'after the backup' });
}

/** Another database with the rows and jobs of the time of the backup, and the lake of today. */
async function restored(t: Test, today: Scene, fill: (scene: Scene) => Promise<unknown>): Promise<Scene> {
  const scene = await makeScene(t);
  await fill(scene);
  await cp(today.lake, scene.lake, { recursive: true });
  writeFileSync(join(scene.folder, 'sluice.yaml'), postgresConfig({ databaseUrl: scene.url }));
  return scene;
}

t.test('a backup of a time before anything was archived', async (t) => {
  const today = await makeScene(t);
  await storeStory(today);
  await today.run();
  await storeMore(today);
  await today.run();
  await dropDays(today);
  const wanted = await linesOf(today);
  const scene = await restored(t, today, storeStory);
  const files = scene.files();
  const call = (...args: readonly string[]) => sluice(['archive', '--to', 'to', '--older-than', '2d', ...args], scene);
  const refused = await call();
  t.match(refused, { code: 1, err: /has files that this database does not know: \d+, of \d{4}-.* to \d{4}-/u });
  t.match(refused.err, /run `sluice archive --adopt` once/u);
  t.same(await call('--dry-run'), refused, 'a dry run refuses as the run does');
  const plan = await call('--dry-run', '--adopt');
  t.equal(plan.code, 0);
  for (const file of files) t.match(plan.err, `${file}: the database does not know it`);
  t.same(scene.files(), files, 'nothing is written');
  t.same(await scene.query('SELECT FROM sluice.lake_jobs'), [], 'nothing is planned');
  t.match(await call('--adopt'), { code: 0, err: new RegExp(files[0] ?? '', 'u') });
  t.same(await linesOf(scene), wanted, 'each record once');
  t.same(scene.files(), files);
  const trace = await sluice(['trace', traceIdOf(900), '--json'], scene);
  t.match(trace, { code: 0, out: /after the backup/u }, 'a record that only the lake has is read');
  await storeMore(scene);
  t.match(await call(), { code: 0 });
  await dropDays(scene);
  t.match(await call(), { code: 0, out: 'All days are archived.\n' });
  t.equal((await linesOf(scene)).flat().length, wanted.flat().length, 'what is sent again is there once');
});

longTest('a backup of a time between two runs: its own files stay known', async (t) => {
  const today = await makeScene(t);
  await storeStory(today);
  await today.run();
  const jobs = await today.query('SELECT to_json(j)::text AS job FROM sluice.lake_jobs j');
  await storeMore(today);
  await today.run();
  const wanted = await linesOf(today);
  const scene = await restored(t, today, async (each) => {
    await storeStory(each);
    for (const { job } of jobs)
      await each.query(
        'INSERT INTO sluice.lake_jobs OVERRIDING SYSTEM VALUE SELECT * FROM json_populate_record(NULL::sluice.lake_jobs, $1)',
        [job],
      );
    await each.query(`SELECT setval(pg_get_serial_sequence('sluice.lake_jobs', 'id'), ${jobs.length})`);
  });
  await t.rejects(scene.run(), /does not know: 2, /u);
  t.match(await sluice(['archive', '--to', 'to', '--adopt'], scene), { code: 0 });
  t.same(await linesOf(scene), wanted);
  await storeSpan(scene, { id: traceIdOf(901), project: 'shop', at: 0 }, { number: 901 });
  t.equal((await scene.run()).length, 1, 'a new file has a number of its own');
  t.equal((await linesOf(scene)).flat().length, wanted.flat().length + 1);
});

longTest('a file that is no file of the archive is not adopted', async (t) => {
  const scene = await makeScene(t);
  await storeStory(scene);
  await scene.run();
  const [own = ''] = scene.files();
  await cp(join(scene.lake, own), join(scene.lake, own.replace(/job-\d+/u, 'job-000000000999')));
  writeFileSync(join(scene.folder, 'sluice.yaml'), postgresConfig({ databaseUrl: scene.url }));
  t.match(await sluice(['archive', '--to', 'to', '--adopt'], scene), {
    code: 1,
    err: /job-000000000999\.parquet is no file of/u,
  });
  t.same(await scene.query('SELECT FROM sluice.lake_jobs WHERE id = 999'), []);
});
