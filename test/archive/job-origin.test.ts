/** A file of objects in the lake does not mean that a day of the tables is archived, for any reader of the jobs. */
import t from 'tap';
import { plan, publishedJobs } from '../../src/archive/lake-jobs.ts';
import { openDays } from '../../src/archive/open-days.ts';
import { tableOf } from '../../src/archive/lake-table.ts';
import { archivedFiles } from '../../src/archive/reading/archived-files.ts';
import { dropUnlessKept, unarchivedDays } from '../../src/exporters/postgres/archived-days.ts';
import { dayOf, partitionName, type PartitionedTable } from '../../src/exporters/postgres/partitions.ts';
import { END_NS } from '../../src/extensions/console/api/question.ts';
import { reachOf } from '../../src/extensions/console/api/completeness.ts';
import { ArchiveReaders } from '../../src/extensions/console/server/archive-readers.ts';
import { storeRow, storeRows, rowOf } from '../support/archive-rows.ts';
import { archivedTables } from '../support/archived-tables.ts';
import { CLOSED_MS, linesOfLake, linesOfView, makeScene, TABLES } from '../support/archive-scene.ts';
import { QUIET } from '../support/quiet-logger.ts';
import '../support/long-file.ts';

t.setTimeout(300_000);

const scene = await makeScene(t);
const { query, client } = scene;
const { expire, close } = archivedTables(scene.url);
t.teardown(close);
const DATE = new Date(CLOSED_MS).toISOString().slice(0, 10);
const SPANS: PartitionedTable = { name: 'spans', key: 'nanoseconds', retentionMs: 0 };
const LOGS: PartitionedTable = { name: 'logs', key: 'timestamp', retentionMs: 0 };
const ARCHIVED = { archived: true, notRestored: true };
const pgQuery = (text: string, values: readonly unknown[] = []) => client.query(text, [...values]);

/** As a published file of objects with records of this day. */
const jobOfParts = (signal: string, date = DATE): Promise<unknown> =>
  query(
    `INSERT INTO sluice.lake_jobs (signal, day, origin, state, published_at, records, bytes, input_tokens, output_tokens, total_cost,
       ids_sum, min_ns, max_ns, projects)
     VALUES ($1, $2, 'parts', 'published', now(), 2, 100, 0, 0, 0, 0, 0, 9000000000000000000, '{project-0,project-1,project-2}')`,
    [signal, date],
  );

t.test('a day of the tables with files of objects', async (t) => {
  for (const [signal] of TABLES) {
    await storeRows(scene, signal, 3);
    await jobOfParts(signal);
  }
  const partition = { day: dayOf(CLOSED_MS), name: partitionName(SPANS, dayOf(CLOSED_MS)) };
  t.equal(await dropUnlessKept(pgQuery, SPANS, partition, ARCHIVED), 'it is not archived yet', 'retention keeps it');
  await storeRow(scene, 'logs', { ...rowOf('logs', 0), received_at: '1999-12-31T23:59:59Z' });
  await jobOfParts('logs', '1999-12-31');
  t.same(await unarchivedDays(pgQuery, LOGS, Date.now()), ['1999-12-31'], 'also in the default partition');
  t.match(
    await openDays(pgQuery, tableOf('spans'), Date.now()),
    [{ day: DATE, late: null }],
    'the archive has to do it',
  );
  t.same(await publishedJobs(pgQuery, { table: tableOf('spans'), day: DATE }, 'tables'), []);
  t.equal((await publishedJobs(pgQuery, { table: tableOf('spans'), day: DATE }, 'parts')).length, 1);
  t.equal((await publishedJobs(pgQuery, { table: tableOf('spans'), day: DATE }, null)).length, 1);
});

t.test('no reader searches the files of objects for a day that the tables have', async (t) => {
  t.equal((await archivedFiles(pgQuery)).length, 4, 'the tables do not have their records');
  await query("UPDATE sluice.lake_jobs SET in_tables = true WHERE origin = 'parts'");
  t.match(await archivedFiles(pgQuery), [{ signal: 'logs', day: '1999-12-31' }], 'the tables do not have the day');
  await query("UPDATE sluice.lake_jobs SET day = $1 WHERE day = '1999-12-31'", [DATE]);
  t.same(await archivedFiles(pgQuery), []);
  const reader = { prepared: async (text: string, values: readonly unknown[]) => query(text, values) };
  const parameters = new URLSearchParams();
  const context = { project: 'project-0', reader, query: parameters, now: Date.now, archivedFrom: null } as never;
  const everything = { of: 'traces', from: 0n, until: END_NS, isDetailed: false, isEnough: () => false } as const;
  t.same(await reachOf(context, everything), { reply: null, completeness: {} });
  const readers = new ArchiveReaders({} as never, QUIET);
  t.equal(await readers.mayHave(reader as never, 'ab'.repeat(16), null), false);
  await query("UPDATE sluice.lake_jobs SET day = '1999-12-31' WHERE id = (SELECT max(id) FROM sluice.lake_jobs)");
});

t.test('archived days are read for a trace only if a project of the caller may have it there', async (t) => {
  const reader = { prepared: async (text: string, values: readonly unknown[]) => query(text, values) };
  const readers = new ArchiveReaders({} as never, QUIET);
  const mayHave = (trace: string, projects: readonly string[] | null): Promise<boolean> =>
    readers.mayHave(reader as never, trace, projects);
  const [unknown, recent] = ['ab'.repeat(16), 'cd'.repeat(16)];
  await query(
    "INSERT INTO sluice.traces (trace_id, project, environment, first_ns, last_ns) VALUES (decode($1, 'hex'), 'project-0', 'default', $2, $2)",
    [recent, String(BigInt(CLOSED_MS) * 1_000_000n)],
  );
  await query('UPDATE sluice.lake_jobs SET min_ns = 0, max_ns = 1');
  t.equal(await mayHave(unknown, null), true, 'any of 1999');
  t.equal(await mayHave(unknown, ['project-1', 'other']), true);
  t.equal(await mayHave(unknown, ['other']), false, 'no file has records of the project');
  t.equal(await mayHave(unknown, []), false);
  t.equal(await mayHave(recent, null), false, 'it is of another day');
  t.equal(await mayHave(recent, ['project-0', 'other']), false);
  t.equal(await mayHave(recent, ['project-1']), true, 'for others like a trace that no one has');
});

t.test(
  'jobs of both origins are planned beside each other, and a replacement keeps what the tables have',
  async (t) => {
    const day = { table: tableOf('metric_points'), day: '2001-01-01' };
    const [ofTables, ofParts] = [await plan(pgQuery, day, 'tables'), await plan(pgQuery, day, 'parts')];
    t.not(ofTables.id, ofParts.id);
    t.equal((await plan(pgQuery, day, 'tables')).id, ofTables.id);
    t.equal((await plan(pgQuery, day, 'parts')).id, ofParts.id);
    await query('UPDATE sluice.lake_jobs SET in_tables = true WHERE id = $1', [ofParts.id]);
    const replacement = await plan(pgQuery, day, ofParts);
    t.equal((await plan(pgQuery, day, ofParts)).id, replacement.id);
    t.same(await query('SELECT origin, in_tables FROM sluice.lake_jobs WHERE id = $1', [replacement.id]), [
      { origin: 'parts', in_tables: true },
    ]);
    const partition = { day: dayOf(CLOSED_MS), name: partitionName(SPANS, dayOf(CLOSED_MS)) };
    await query('DELETE FROM sluice.lake_jobs WHERE day = $1', [day.day]);
    t.equal(await dropUnlessKept(pgQuery, SPANS, partition, ARCHIVED), 'it is not archived yet');
  },
);

t.test(
  'the archive refuses a lake of objects; without their files it writes the day, and then retention drops it',
  async (t) => {
    await query("UPDATE sluice.lake_jobs SET in_tables = true WHERE origin = 'parts'");
    await t.rejects(scene.run(), /has the records of its objects/u, 'not while there are some');
    await query("DELETE FROM sluice.lake_jobs WHERE origin = 'parts'");
    const files = await scene.run();
    t.equal(files.length, 4);
    for (const [signal] of TABLES) t.same(await linesOfLake(scene, signal), await linesOfView(scene, signal));
    const planned = await plan(pgQuery, { table: tableOf('spans'), day: DATE }, 'parts');
    await expire();
    t.same(await query('SELECT FROM sluice.spans'), [], 'a planned job of objects does not hold the day');
    t.equal((await archivedFiles(pgQuery)).length, 4);
    await query('DELETE FROM sluice.lake_jobs WHERE id = $1', [planned.id]);
  },
);
