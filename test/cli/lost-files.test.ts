/** A command answers without the files of the lake that are lost or damaged, names each of them, and fails. */
import { readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { dropDays, linesOfLake, makeScene } from '../support/archive-scene.ts';
import { type Outcome, sluice as call } from '../support/command-line.ts';
import { isLong, longTest } from '../support/long.ts';
import { postgresConfig } from '../support/postgres-daemon.ts';
import { spanIdOf, storeStory } from '../support/usage-rows.ts';
import '../support/long-file.ts';

t.setTimeout(300_000);

const scene = await makeScene(t);
writeFileSync(join(scene.folder, 'sluice.yaml'), postgresConfig({ databaseUrl: scene.url }));
const traces = await storeStory(scene);
const sluice = (...args: readonly string[]): Promise<Outcome> => call(args, scene);
await scene.run();
await dropDays(scene);

const idOf = (name: string): string => traces[name]?.id ?? '';
const dayOfAgent = String(
  (
    await scene.query(`SELECT to_char(to_timestamp(first_ns / 1e9) AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day
     FROM sluice.traces WHERE encode(trace_id, 'hex') = '${idOf('agent')}'`)
  )[0]?.['day'],
);
const key = scene.files().find((name) => name.startsWith(`lake/spans/day=${dayOfAgent}`)) ?? '';
const path = join(scene.lake, key);
const whole = readFileSync(path);
const number = Number(/job-0*(\d+)/u.exec(key)?.[1]);

/** Writes a valid Parquet file with other columns in place of the file, and its size into the ledger. */
async function rewrite(columns: string): Promise<void> {
  const next = join(scene.folder, 'next.parquet');
  await scene.duck.run(
    `COPY (SELECT ${columns} FROM read_parquet('${path}')) TO '${next}' (FORMAT parquet, COMPRESSION zstd)`,
  );
  await rename(next, path);
  await scene.query('UPDATE sluice.lake_jobs SET bytes = $1 WHERE id = $2', [statSync(path).size, number]);
}

const restore = async (): Promise<void> => {
  writeFileSync(path, whole);
  await scene.query('UPDATE sluice.lake_jobs SET bytes = $1 WHERE id = $2', [whole.length, number]);
};

const DAMAGES: readonly (readonly [what: string, damage: () => unknown, reason: RegExp])[] = [
  ['missing', () => rmSync(path), /it does not exist/u],
  ['empty', () => truncateSync(path, 0), /it has 0 bytes instead of \d+/u],
  ['truncated', () => truncateSync(path, whole.length - 100), /it has \d+ bytes instead of \d+/u],
  [
    'of another format',
    () => writeFileSync(path, Buffer.concat([whole.subarray(0, -4), Buffer.from('PARX')])),
    /it is damaged: this is not a Parquet file/u,
  ],
  ['full of zeros', () => writeFileSync(path, Buffer.alloc(whole.length)), /it is damaged/u],
  [
    'with a damaged footer',
    () =>
      writeFileSync(path, Buffer.concat([whole.subarray(0, -2000), Buffer.alloc(1900, 0xff), whole.subarray(-100)])),
    /it is damaged/u,
  ],
  [
    'with damaged values',
    () => writeFileSync(path, Buffer.concat([whole.subarray(0, 4), Buffer.alloc(4000, 0xa5), whole.subarray(4004)])),
    /it is damaged/u,
  ],
  ['without a needed column', () => rewrite('* EXCLUDE trace_id'), /it is damaged: it has no column trace_id/u],
  ['a folder', () => mkdir(path), /it does not exist/u],
];

/** An ordinary run has one kind of damage for each message. */
const ORDINARY = ['missing', 'truncated', 'with damaged values', 'without a needed column'];

const USAGE = ['usage', '--since', 'all', '--json', '--by', 'day'];
const daysOf = ({ out }: Outcome): readonly string[] =>
  JSON.parse(out).usage.map(({ day }: { readonly day: string }) => day);
const allDays = daysOf(await sluice(...USAGE));

t.test('a user that may not create temporary tables gets the reason, and no folder is left', async (t) => {
  const role = `reader_${process.pid}`;
  const { pathname } = new URL(scene.url);
  await scene.query(
    `CREATE ROLE ${role} LOGIN PASSWORD 'x'; REVOKE TEMPORARY ON DATABASE ${pathname.slice(1)} FROM PUBLIC;
     GRANT USAGE ON SCHEMA sluice TO ${role}; GRANT SELECT ON ALL TABLES IN SCHEMA sluice TO ${role}`,
  );
  t.teardown(() => scene.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`));
  const url = Object.assign(new URL(scene.url), { username: role, password: 'x' });
  writeFileSync(join(scene.folder, 'role.yaml'), postgresConfig({ databaseUrl: String(url) }));
  const folders = (): readonly string[] =>
    readdirSync(tmpdir()).filter((name) => name.startsWith(`sluice-archive-${process.pid}-`));
  const before = folders();
  const { code, err } = await sluice('trace', idOf('agent'), '--lake', scene.lake, '-c', 'role.yaml');
  t.equal(code, 1);
  t.match(err, /lacks a right: .*temporary/u);
  t.same(folders(), before);
});

for (const [index, [what, damage, reason]] of DAMAGES.filter(([what]) => isLong || ORDINARY.includes(what)).entries())
  t.test(`a file that is ${what} is left out, and named once`, async (t) => {
    if (what === 'a folder') rmSync(path);
    await damage();
    t.teardown(async () => {
      rmSync(path, { recursive: true, force: true });
      await restore();
    });
    const isWhole = isLong || index === 0;
    const others = [
      ['traces', '--json', '--limit', '100'],
      ['export', '--what', 'spans'],
    ];
    for (const args of [USAGE, ...(isWhole ? others : [])]) {
      const { code, out, err } = await sluice(...args);
      t.equal(code, 1, args.join(' '));
      t.ok(out.length > 10, `${args.join(' ')} prints what it could read`);
      t.equal(err.split(`${key} in `).length, 2, `${args.join(' ')} names the file once:\n${err}`);
      t.match(err, reason);
      t.match(err, /error: the answer is incomplete: 1 file of the archive cannot be read/u);
    }
    if (!isWhole) return;
    const found = daysOf(await sluice(...USAGE));
    t.same(
      found,
      allDays.filter((day) => day !== dayOfAgent || found.includes(day)),
      'the other days',
    );
    t.match(await sluice('trace', idOf('agent')), { code: 1, err: reason });
    t.match(await sluice('span', spanIdOf(2)), { code: 1, err: reason });
    t.match(await sluice('trace', idOf('repeated'), '--json'), { code: Number, out: /"spans"/u });
  });

t.test('an export into a file has what could be read', async (t) => {
  truncateSync(path, 0);
  const file = join(scene.folder, 'out.ndjson');
  t.match(await sluice('export', '-o', file), { code: 1, err: /\d+ spans in .*out\.ndjson/u });
  t.ok(readFileSync(file, 'utf8').includes('"span_id"'));
  await restore();
  t.match(await sluice('export', '-o', file), { code: 0 });
});

t.test('columns that a file of an earlier version does not have are null, also in conditions', async (t) => {
  await rewrite('* EXCLUDE (conversation_id, usage_scope)');
  t.match(await sluice(...USAGE), { code: 0, err: /^Read \d+ archived days/u });
  t.match(await sluice('conversation', 'c-1'), { code: Number, err: /^Read \d+ archived days?/u });
  await restore();
});

t.test('a folder that is not the archive is no damage', async (t) => {
  const { code, out, err } = await sluice(...USAGE, '--lake', 'elsewhere');
  t.equal(code, 1);
  t.equal(out, '');
  t.match(err, /^error: there is no archive in .*elsewhere\n {2}hint: /u);
});

/** As docs/archive.md says. */
const giveUp = async (id: number): Promise<void> => {
  await scene.query(
    'INSERT INTO sluice.lake_late (signal, day) SELECT signal, day FROM sluice.lake_jobs WHERE id = $1',
    [id],
  );
  await scene.query("UPDATE sluice.lake_jobs SET state = 'removed' WHERE id = $1", [id]);
};

t.test('a file that is lost can be given up', async (t) => {
  rmSync(path);
  await giveUp(number);
  t.match(await sluice(...USAGE), { code: 0 });
  await scene.run();
  t.same(await scene.query('SELECT FROM sluice.lake_jobs WHERE id = $1', [number]), []);
  t.match(await sluice(...USAGE), { code: 0 });
});

longTest('what PostgreSQL still has of a file that was given up is archived again', async (t) => {
  await scene.openDays();
  const story = await storeStory(scene);
  t.ok(story['agent']);
  await scene.run();
  const before = (await linesOfLake(scene, 'spans')).length;
  const last = Number(
    (await scene.query("SELECT max(id) AS id FROM sluice.lake_jobs WHERE signal = 'spans'"))[0]?.['id'],
  );
  const lost = scene.files().find((name) => name.endsWith(`${last}.parquet`)) ?? '';
  rmSync(join(scene.lake, lost));
  await giveUp(last);
  await scene.run();
  t.equal((await linesOfLake(scene, 'spans')).length, before);
});
