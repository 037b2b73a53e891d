/**
 * The archive against a real database and a folder: every value is restored, each record is in exactly one file
 * whatever step a run is interrupted at, and a file that differs from the database is not recorded.
 */
import { copyFileSync, existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { type Session, STEPS } from '../../src/archive/archive-day.ts';
import { FolderStore } from '../../src/object-store/folder-store.ts';
import { StoreError } from '../../src/object-store/object-store.ts';
import { UserError } from '../../src/errors.ts';
import { sluice } from '../support/command-line.ts';
import { longTest } from '../support/long.ts';
import { canMount, mount } from '../support/mounts.ts';
import { postgresConfig } from '../support/postgres-daemon.ts';
import { rowOf, storeRow, storeRows } from '../support/archive-rows.ts';
import { linesOfLake, linesOfView, makeScene, sessionOf, TABLES } from '../support/archive-scene.ts';
import { DAY_MS } from '../../src/pdata/time-units.ts';

t.setTimeout(300_000);

const scene = await makeScene(t);
const { query, run } = scene;
const SIGNALS = TABLES.map(([signal]) => signal);

/** Columns that are different for each row of the scene, except for rows that are stored twice. */
const IDS = ['project', 'trace_id', 'span_id', 'start_time_unix_nano', 'name', 'received_at'];

type Signal = (typeof SIGNALS)[number];

/** Each record of the database is in the lake exactly once, and no other is. */
async function requireOnce(t: Test, signals: readonly Signal[] = SIGNALS, names: readonly string[] = IDS) {
  for (const signal of signals) {
    const [lake, view] = [await linesOfLake(scene, signal, names), await linesOfView(scene, signal, names)];
    const at = lake.findIndex((line, index) => line !== view[index]);
    t.equal(lake.length, view.length, `${signal}: the number of records`);
    if (at >= 0) t.equal(lake[at], view[at], `${signal}: the values`);
  }
}

/** With every value. */
const requireComplete = (t: Test, signals: readonly Signal[] = SIGNALS) => requireOnce(t, signals, []);

const jobs = () => query('SELECT state, count(*)::int4 AS count FROM sluice.lake_jobs GROUP BY state ORDER BY state');

t.test('every column is restored with its value and type', async (t) => {
  for (const signal of SIGNALS) {
    await storeRows(scene, signal, 40);
    await storeRows(scene, signal, 3, 1);
  }
  // Neither a partition of their own nor the clock of today.
  await storeRow(scene, 'spans', { ...rowOf('spans', 0), start_time_unix_nano: '1' });
  await storeRow(scene, 'logs', { ...rowOf('logs', 0), received_at: '1999-12-31T23:59:59.999999Z' });
  const files = await run();
  t.equal(files.length, 8);
  t.same(scene.files(), files.map(({ key }) => key).sort());
  await requireComplete(t);
  t.same(await jobs(), [{ state: 'published', count: 8 }]);
  t.same(await query('SELECT FROM sluice.lake_late'), []);
});

t.test('a file is sorted, compressed by zstd, and names its job', async (t) => {
  const [file] = scene.files().filter((name) => name.startsWith('lake/spans/'));
  const path = join(scene.lake, file ?? '');
  const types = await scene.duck.rows(`SELECT DISTINCT compression FROM parquet_metadata('${path}')`);
  t.same(types, [{ compression: 'ZSTD' }]);
  const described = await scene.duck.rows(`DESCRIBE SELECT * FROM '${join(scene.lake, 'lake/spans/*/*.parquet')}'`);
  const typeOf = new Map(described.map(({ column_name: name, column_type: type }) => [name, type]));
  t.match(Object.fromEntries(typeOf), {
    trace_id: 'VARCHAR',
    attributes: 'VARCHAR',
    start_time_unix_nano: 'BIGINT',
    input_tokens: 'BIGINT',
    total_cost: 'DECIMAL(18,8)',
    latency_ms: 'DOUBLE',
    is_error: 'BOOLEAN',
    received_at: 'TIMESTAMP WITH TIME ZONE',
    day: 'DATE',
  });
  const logical = await scene.duck.rows(
    `SELECT DISTINCT converted_type, logical_type FROM parquet_schema('${path}') WHERE name IN ('attributes', 'resource', 'events')`,
  );
  t.same(logical, [{ converted_type: 'UTF8', logical_type: null }], 'JSON is a plain string');
  const keys = (await scene.duck.rows(`SELECT project, trace_id, start_time_unix_nano FROM '${path}'`)).map(
    ({ project, trace_id: trace, start_time_unix_nano: start }) =>
      `${project}/${trace}/${String(start).padStart(20, '0')}`,
  );
  t.same(keys, [...keys].sort());
});

t.test('a run without new records writes nothing', async (t) => {
  const before = scene.files();
  t.same(await run(), []);
  t.same(scene.files(), before);
});

t.test('late records become a further file, also those that equal an archived one', async (t) => {
  await storeRows(scene, 'spans', 5);
  const log = rowOf('logs', 1);
  await storeRow(scene, 'logs', log);
  t.equal((await run()).length, 2);
  await storeRow(scene, 'logs', log);
  await storeRow(scene, 'logs', log);
  await storeRow(scene, 'spans', { ...rowOf('spans', 0), start_time_unix_nano: '2' });
  const files = await run();
  t.same(
    files.map(({ signal, records }) => [signal, records]),
    [
      ['spans', 1],
      ['logs', 2],
    ],
  );
  await requireOnce(t);
});

t.test('records that are stored during a job are in the next file', async (t) => {
  await storeRows(scene, 'spans', 2);
  await run({
    report: (step) => {
      if (step === 'write') during = storeRows(other, 'spans', 3);
    },
  });
  await during;
  t.match(await run(), [{ signal: 'spans', records: 3 }]);
  await requireOnce(t, ['spans']);
});
const otherClient = await scene.connect();
const other = {
  query: async (text: string, values: readonly unknown[] = []) => (await otherClient.query(text, [...values])).rows,
};
let during: Promise<void> = Promise.resolve();

longTest('a transaction that has written before the day is sealed is waited for', async (t) => {
  await otherClient.query('BEGIN');
  await storeRows(other, 'spans', 2, 3);
  await storeRows(scene, 'spans', 1, 3);
  const session = sessionOf(await scene.connect());
  let refused = 0;
  const patient: Session = {
    ...session,
    query: async (text, values) => {
      try {
        return await session.query(text, values);
      } catch (error) {
        if (refused++ === 0) await otherClient.query('COMMIT');
        throw error;
      }
    },
  };
  t.match(await run({ session: patient }), [{ signal: 'spans', records: 3 }]);
  t.equal(refused, 1, 'the seal was refused its lock');
  await requireOnce(t, ['spans']);
});

for (const step of STEPS) {
  const test = step === 'publish' ? t.test.bind(t) : longTest;
  void test(`a run that fails before ${step} is repeated`, async (t: Test) => {
    await storeRows(scene, 'spans', 2);
    const fail = (at: string): void => {
      if (at === step) throw new Error('interrupted');
    };
    await t.rejects(run({ report: fail }), /interrupted/u);
    // The rest of the file, if there is one, has other rows than the repeated job.
    await storeRows(scene, 'spans', 1);
    const planned = await query("SELECT id::text FROM sluice.lake_jobs WHERE state = 'planned'");
    const files = await run();
    t.match(files, [{ signal: 'spans', records: 3 }]);
    if (planned.length > 0) t.match(files[0]?.key, new RegExp(`job-0*${planned[0]?.['id']}\\.parquet$`, 'u'));
    t.same(await jobs().then((rows) => rows.map(({ state }) => state)), ['published']);
    await requireOnce(t, ['spans']);
  });
}

longTest('a lost answer to a put leaves a file that is kept', async (t) => {
  await storeRows(scene, 'metric_points', 2);
  const store = new FolderStore(scene.lake);
  const put = store.put.bind(store);
  store.put = async (...args) => {
    await put(...args);
    throw new StoreError('unavailable', 'the answer was lost');
  };
  await t.rejects(run({ store }), /lost/u);
  const before = scene.files();
  t.match(await run(), [{ signal: 'metric_points', records: 2 }]);
  t.same(scene.files(), before);
  await requireOnce(t);
});

longTest('a put that arrives after the repeated job does not replace its file', async (t) => {
  await storeRows(scene, 'logs', 2);
  const store = new FolderStore(scene.lake);
  const put = store.put.bind(store);
  let late: () => Promise<void> = async () => undefined;
  store.put = async (key, body, options) => {
    const bytes = 'path' in body ? readFileSync(body.path) : body;
    late = () => put(key, bytes, options);
    throw new StoreError('unavailable', 'the request is still on its way');
  };
  await t.rejects(run({ store }), /on its way/u);
  await storeRows(scene, 'logs', 1);
  t.match(await run(), [{ records: 3 }]);
  const fault = await late().catch((error: unknown) => (error as StoreError).fault);
  t.equal(fault, 'exists');
  await requireOnce(t, ['logs']);
});

longTest('of two runs at once, one is refused or both succeed, and every record is archived once', async (t) => {
  await storeRows(scene, 'spans', 2);
  const outcomes = await Promise.allSettled([run(), run()]);
  const refused = outcomes.filter(({ status }) => status === 'rejected');
  for (const { reason } of refused as PromiseRejectedResult[]) t.ok(reason instanceof UserError, String(reason));
  t.ok(refused.length < 2);
  await requireOnce(t, ['spans']);
});

t.test('a file that the store damages is not recorded', async (t) => {
  const published = await jobs();
  await storeRows(scene, 'spans', 4);
  const other = join(scene.folder, 'other.parquet');
  const change = async (path: string): Promise<void> => {
    const list = "SELECT * REPLACE (coalesce(tool_result, '') || 'x' AS tool_result)";
    await scene.duck.run(
      `COPY (${list} FROM read_parquet('${path}', hive_partitioning = false)) TO '${other}' (FORMAT parquet)`,
    );
  };
  const truncate = async (path: string): Promise<void> => writeFileSync(other, readFileSync(path).subarray(0, -100));
  for (const damage of [change, truncate]) {
    const store = new FolderStore(scene.lake);
    const put = store.put.bind(store);
    store.put = async (key, body, options) => {
      if ('path' in body) await damage(body.path);
      await put(key, { path: other }, options);
    };
    const before = scene.files();
    await t.rejects(run({ store }), /has other values|cannot be read/u);
    t.same(scene.files(), before);
    t.same(
      (await jobs()).filter(({ state }) => state === 'published'),
      published,
    );
  }
  t.match(await run(), [{ records: 4 }]);
  await requireOnce(t, ['spans']);
});

longTest('an earlier file that was changed, and one that is missing, stop the archive of late records', async (t) => {
  const [name = ''] = scene.files().filter((each) => each.startsWith('lake/metric_points/'));
  const [file, copy] = [join(scene.lake, name), join(scene.folder, 'copy.parquet')];
  copyFileSync(file, copy);
  await storeRows(scene, 'metric_points', 1);
  await scene.duck.run(`COPY (SELECT * FROM '${copy}' LIMIT 1) TO '${file}' (FORMAT parquet)`);
  await t.rejects(run(), /written earlier, differ/u);
  const elsewhere = new FolderStore(join(scene.folder, 'elsewhere'));
  await t.rejects(run({ store: elsewhere }), /is not in/u);
  copyFileSync(copy, file);
  t.match(await run(), [{ records: 1 }]);
  await requireOnce(t);
});

longTest('a file of another database is not replaced', async (t) => {
  await storeRows(scene, 'logs', 1);
  await t.rejects(
    run({
      report: (step) => {
        if (step === 'copy') throw new Error('interrupted');
      },
    }),
    /interrupted/u,
  );
  const [{ key = '' } = {}] = (await query(
    `SELECT format('lake/%s/day=%s/job-%s.parquet', signal, day, lpad(id::text, 12, '0')) AS key FROM sluice.lake_jobs WHERE state = 'planned'`,
  )) as { key?: string }[];
  const path = join(scene.lake, key);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, 'foreign');
  await t.rejects(run(), /not a file of this database/u);
  t.equal(readFileSync(path, 'utf8'), 'foreign');
  await new FolderStore(scene.lake).delete([key]);
  t.match(await run(), [{ records: 1 }]);
  await requireOnce(t);
});

t.test('every value is in the lake after all of this', (t) => requireComplete(t));

t.test('removed records stay archived, and the rest of the day is not archived again', async (t) => {
  const archived = await linesOfLake(scene, 'spans');
  await query("DELETE FROM sluice.spans WHERE project = 'project-1'");
  await storeRow(scene, 'spans', { ...rowOf('spans', 0), project: 'project-2' });
  t.match(await run(), [{ records: 1 }]);
  t.equal((await linesOfLake(scene, 'spans')).length, archived.length + 1);
});

longTest('a partition that a backup brought back is sealed again', async (t) => {
  const [{ name = '' } = {}] = (await query(
    `SELECT tgrelid::regclass::text AS name FROM pg_trigger WHERE tgname = 'sluice_archive' AND tgrelid::regclass::text LIKE '%metric_points_2%' LIMIT 1`,
  )) as { name?: string }[];
  await query(`DROP TRIGGER sluice_archive ON ${name}`);
  const before = scene.files();
  t.same(await run(), []);
  t.same(scene.files(), before);
  t.equal(
    (await query(`SELECT FROM pg_trigger WHERE tgname = 'sluice_archive' AND tgrelid = '${name}'::regclass`)).length,
    1,
  );
});

t.test('days that ended too recently are not archived', async (t) => {
  const today = new Date(Date.now() - DAY_MS / 2).toISOString();
  await storeRow(scene, 'logs', { ...rowOf('logs', 0), received_at: today });
  t.same(await run(), []);
  await query('DELETE FROM sluice.logs WHERE received_at = $1', [today]);
});

t.test('the command archives what is older than the limit, and refuses wrong options', async (t) => {
  await storeRows(scene, 'logs', 2);
  await storeRows(scene, 'metric_points', 1, 4);
  writeFileSync(join(scene.folder, 'sluice.yaml'), postgresConfig({ databaseUrl: scene.url }));
  const call = (...args: readonly string[]) => sluice(['archive', ...args], scene);
  t.match(await call(), { code: 2, err: /name where to/u });
  t.match(await call('--to', 'to', '--older-than', 'soon'), { code: 2, err: /takes a duration/u });
  t.match(await call('--to', 'to', '--memory', '1MiB'), { code: 2, err: /at least/u });
  t.match(await call('--to', 'ftp://there'), { code: 1, err: /names no object store/u });
  const before = scene.files();
  const plan = await call('--to', 'to', '--dry-run');
  t.match(plan, { code: 0, out: /logs +2 late/u });
  t.match(plan.out, /metric_points +1 +~/u);
  t.match(JSON.parse((await call('--to', 'to', '--dry-run', '--json')).out), [
    { signal: 'logs', records: 2, late: true },
    { signal: 'metric_points', records: 1, late: false },
  ]);
  t.same(scene.files(), before);
  const done = await call('--to', 'to');
  t.match(done, { code: 0, out: /^Archived 3 records in 2 files/u, err: /lake\/logs/u });
  t.match(await call('--to', 'to'), { code: 0, out: 'All days are archived.\n' });
  t.same(JSON.parse((await call('--to', 'to', '--json')).out), []);
  t.equal(scene.files().length, before.length + 2);
  await requireOnce(t, ['logs', 'metric_points']);
});

t.test('a store that cannot be written is reported without a stack trace', async (t) => {
  const fresh = await makeScene(t);
  await storeRows(fresh, 'logs', 1);
  writeFileSync(join(fresh.folder, 'sluice.yaml'), postgresConfig({ databaseUrl: fresh.url }));
  const env = { AWS_EC2_METADATA_DISABLED: 'true', HOME: fresh.folder };
  for (const [to, cause] of [
    ['sluice.yaml', /^error: \/.*\/sluice\.yaml\/lake.*: not a directory$/mu],
    ['s3://bucket', /^error: no AWS credentials: .*$/mu],
  ] as const) {
    const { code, err } = await sluice(['archive', '--to', to], { folder: fresh.folder, env });
    t.equal(code, 1);
    t.match(err, cause);
    t.notMatch(err, /fault of Sluice| at /u);
  }
});

t.test('a full or read-only store is reported with its path and the remedy', { skip: !canMount }, async (t) => {
  const fresh = await makeScene(t);
  await storeRows(fresh, 'logs', 1);
  writeFileSync(join(fresh.folder, 'sluice.yaml'), postgresConfig({ databaseUrl: fresh.url }));
  for (const [options, message] of [
    ['size=4k', /^error: \/.*\/disk\/.*: no space left on device\n {2}hint: Free some disk space/mu],
    ['ro', /^error: \/.*\/disk\/.*: read-only file system\n {2}hint: Check the disk, and mount/mu],
  ] as const)
    await t.test(options, async (t) => {
      const disk = join(fresh.folder, 'disk');
      mkdirSync(disk, { recursive: true });
      mount(t, disk, options);
      const { code, err } = await sluice(['archive', '--to', 'disk'], { folder: fresh.folder });
      t.equal(code, 1);
      t.match(err, message);
    });
});

t.test('a run removes what interrupted puts left in the lake a day ago', async (t) => {
  const path = join(scene.lake, 'lake/spans', '.job-000000000001.parquet.0123456789abcdef.tmp');
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, 'part');
  const old = new Date(Date.now() - 2 * DAY_MS);
  utimesSync(path, old, old);
  await run();
  t.notOk(existsSync(path));
});

t.test('DuckDB reads a file again that was replaced within a second', async (t) => {
  const nameOf = (number: number): string => join(scene.folder, `variant-${number}.parquet`);
  const sumOf = (path: string) =>
    scene.duck.rows(`SELECT count(sparse) AS sparse, min(text) AS text FROM '${path}'`).catch(String);
  const values = (number: number): string =>
    `CASE WHEN i % 3 = ${number} THEN 'abc' END AS sparse, md5((i + ${number})::text) AS text`;
  for (const number of [0, 1])
    await scene.duck.run(`COPY (SELECT ${values(number)} FROM range(10) t(i)) TO '${nameOf(number)}' (FORMAT parquet)`);
  const wanted = [await sumOf(nameOf(0)), await sumOf(nameOf(1))];
  const path = join(scene.folder, 'replaced.parquet');
  for (let turn = 0; turn < 20; turn++) {
    copyFileSync(nameOf(turn % 2), path);
    t.same(await sumOf(path), wanted[turn % 2]);
  }
});
