/** Removals reach the archive: no file has a value of what was removed, and all other records are there once. */
import { existsSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { FolderStore } from '../../src/object-store/folder-store.ts';
import { requestErasure } from '../../src/extensions/postgres/removal/archived.ts';
import { rowOf, storeRow } from '../support/archive-rows.ts';
import { linesOfLake, makeScene } from '../support/archive-scene.ts';
import { sluice } from '../support/command-line.ts';
import { postgresConfig } from '../support/postgres-daemon.ts';
import { longTest } from '../support/long.ts';

t.setTimeout(300_000);

const scene = await makeScene(t);
const { query, run } = scene;
const SIGNALS = ['spans', 'logs', 'metric_points'] as const;
const TRACE = 'c'.repeat(32);
const ask = async (text: string, values: readonly unknown[] = []) => {
  const rows = await query(text, values);
  return { rows, rowCount: rows.length };
};

writeFileSync(
  join(scene.folder, 'sluice.yaml'),
  postgresConfig({ databaseUrl: scene.url }).replace(
    'postgres: {}',
    'postgres: { archive: { to: to, memory: 256MiB } }',
  ),
);
const prune = (...args: readonly string[]) => sluice(['prune', '--yes', ...args], scene);

/** One record of each signal; the canary is in a text and in JSON. */
async function store(project: string, canary: string, trace: string): Promise<void> {
  for (const signal of SIGNALS) {
    const row: Record<string, string | null> = {
      ...rowOf(signal, 0),
      project,
      attributes: JSON.stringify({ a: canary }),
    };
    row[signal === 'metric_points' ? 'description' : 'input_content'] = `before ${canary} after`;
    if (signal !== 'metric_points') row['trace_id'] = `\\x${trace}`;
    await storeRow(scene, signal, row);
  }
  await query(
    "INSERT INTO sluice.traces (trace_id, project, environment) VALUES ($1, $2, 'default') ON CONFLICT DO NOTHING",
    [`\\x${trace}`, project],
  );
}

async function linesOf(): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const signal of SIGNALS) lines.push(...(await linesOfLake(scene, signal)));
  return lines;
}

async function requireWithout(t: Test, before: readonly string[], canary: string): Promise<void> {
  const after = await linesOf();
  t.notOk(
    after.some((line) => line.includes(canary)),
    `${canary} is in no file`,
  );
  t.same(
    after,
    before.filter((line) => !line.includes(canary)),
    'all other records are there once',
  );
  t.same(await query('SELECT FROM sluice.lake_erasures'), []);
  const keys = await query(
    "SELECT format('lake/%s/day=%s/job-%s.parquet', signal, day, lpad(id::text, 12, '0')) AS key FROM sluice.lake_jobs ORDER BY 1",
  );
  t.same(keys.map(({ key }) => key).sort(), scene.files(), 'each file is recorded, and no other is there');
}

t.test('a trace is erased in the archive, also one of which PostgreSQL has nothing', async (t) => {
  await store('demo', 'canary-1', TRACE);
  await store('demo', 'canary-2', 'd'.repeat(32));
  await store('other', 'canary-3', 'e'.repeat(32));
  await store('gone', 'canary-4', 'f'.repeat(32));
  await store('demo', 'canary-5', 'a'.repeat(32));
  await run();
  let before = await linesOf();
  const kept = before.filter((line) => line.includes('"metric"'));
  t.match(await prune('--trace', TRACE), { code: 0, out: /Erased 2 records in 2 files of the archive/u });
  before = before.filter((line) => kept.includes(line) || !line.includes('canary-1'));
  t.same(await linesOf(), before);
  await query('DELETE FROM sluice.traces');
  t.match(await prune('--trace', 'e'.repeat(32)), { code: 0, out: /Erased 2 records/u });
  t.same(
    await linesOf(),
    before.filter((line) => kept.includes(line) || !line.includes('canary-3')),
  );
});

t.test('a project is erased in the archive', async (t) => {
  const before = await linesOf();
  t.match(await prune('--project', 'gone'), { code: 0, out: /Erased 3 records in 3 files/u });
  await requireWithout(t, before, 'canary-4');
});

t.test('a run that is interrupted is repeated by the next run of the archive', async (t) => {
  const before = await linesOf();
  for (const table of ['spans', 'logs'])
    await query(`DELETE FROM sluice.${table} WHERE trace_id = $1`, [`\\x${'d'.repeat(32)}`]);
  for (const step of ['put', 'delete'] as const) {
    await requestErasure(ask, { project: 'demo', traceId: 'd'.repeat(32) });
    const store = new FolderStore(scene.lake);
    const work = store[step].bind(store) as (...args: unknown[]) => Promise<void>;
    Object.assign(store, {
      [step]: async (...args: unknown[]) => {
        if (step === 'put') await work(...args);
        throw new Error('interrupted');
      },
    });
    await t.rejects(run({ store }), /interrupted/u);
  }
  t.same(await run(), []);
  const left = before.filter((line) => !line.includes('canary-2') || line.includes('"metric"'));
  t.same(await linesOf(), left);
  t.same(await query("SELECT FROM sluice.lake_jobs WHERE state <> 'published'"), []);
});

longTest('what interrupted runs left is erased too', async (t) => {
  const left = 'left';
  const interruptPut = (): FolderStore => {
    const store = new FolderStore(scene.lake);
    const put = store.put.bind(store);
    store.put = async (key, body, options) => {
      await put(key, body, options);
      throw new Error('interrupted');
    };
    return store;
  };
  // A file of a day that is not recorded, and of which PostgreSQL has nothing any more.
  await storeRow(scene, 'spans', { ...rowOf('spans', 5), project: left, input_content: 'canary-6' });
  await query("INSERT INTO sluice.traces (trace_id, project, environment) VALUES ($1, $2, 'default')", [
    `\\x${'b'.repeat(32)}`,
    left,
  ]);
  await t.rejects(run({ store: interruptPut() }), /interrupted/u);
  const before = (await linesOf()).filter((line) => !line.includes('canary-6'));
  t.match(await prune('--project', left), { code: 0, out: /of the archive/u });
  t.same(await linesOf(), before);
  t.same(await run(), []);
  // A replacement that a later erasure does not need.
  await store('twice', 'canary-7', `${'a'.repeat(31)}1`);
  await store('twice', 'canary-8', `${'a'.repeat(31)}2`);
  await run();
  const others = (await linesOf()).filter((line) => !/canary-[78]/u.test(line));
  await requestErasure(ask, { project: 'twice', traceId: `${'a'.repeat(31)}1` });
  await t.rejects(run({ store: interruptPut() }), /interrupted/u);
  const [file = ''] = scene.files();
  const temporary = join(scene.lake, dirname(file), `.${basename(file)}.${'0'.repeat(16)}.tmp`);
  writeFileSync(temporary, 'canary-8');
  t.match(await prune('--project', 'twice'), { code: 0 });
  t.same(await linesOf(), others);
  t.notOk(existsSync(temporary));
  t.same(await query("SELECT FROM sluice.lake_jobs WHERE state <> 'published'"), []);
});

longTest('an erasure that was interrupted at its end is finished by the same command', async (t) => {
  await query("INSERT INTO sluice.lake_erasures (project) VALUES ('away')");
  t.match(await prune('--project', 'away'), { code: 0, out: /Erased 0 records/u });
  await query("INSERT INTO sluice.lake_erasures (project, trace_id) VALUES ('away', $1)", ['9'.repeat(32)]);
  t.match(await prune('--trace', '9'.repeat(32), '--project', 'away'), { code: 0, out: /Erased 0 records/u });
  t.same(await query('SELECT FROM sluice.lake_erasures'), []);
});
