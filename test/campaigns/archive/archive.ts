/**
 * Kills the archive at random moments and right after a file appears, while spans of closed days arrive. Then compares
 * the lake with the answers.
 */
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import t from 'tap';
import { Duck } from '../../../src/archive/duckdb.ts';
import { DAY_MS, linesOfLake, linesOfView, MEMORY } from '../../support/archive-scene.ts';
import { openFolder, startExecutable } from '../../support/executable.ts';
import { send } from '../../support/otlp-client.ts';
import { aSpan, aTraceRequest, newSpanId } from '../../support/payloads.ts';
import { postgresConfig, startPostgresDaemon } from '../../support/postgres-daemon.ts';

t.setTimeout(1_800_000);

const KILLS = Number(process.argv[2] ?? 40);
/** The closed days of the spans: a day is opened up to a week back. */
const DAYS = [2, 3, 4];
const SPANS = 20;
const NEXT_FILE_MS = 20_000;
const FIRST_REQUESTS = 40;
/** Between two requests while the archive runs, so that a run has an end. */
const PAUSE_MS = 100;

const daemon = await startPostgresDaemon(t);
const folder = openFolder(t);
const lake = join(folder, 'to');
writeFileSync(join(folder, 'sluice.yaml'), postgresConfig({ databaseUrl: daemon.databaseUrl }));
const client = new pg.Client({ connectionString: daemon.databaseUrl });
await client.connect();
await client.query("SET TimeZone = 'UTC'");
const duck = await Duck.open({ memoryBytes: MEMORY, folder });
t.teardown(async () => {
  duck.close();
  await client.end();
});

const acknowledged: string[] = [];
let requests = 0;

async function ingest(): Promise<void> {
  const spans = Array.from({ length: SPANS }, (_, index) => {
    const spanId = newSpanId();
    const day = DAYS[(requests + index) % DAYS.length] ?? 0;
    const start = BigInt(Math.floor(Date.now() / DAY_MS - day) * DAY_MS + index) * 1_000_000n;
    return { spanId, body: aSpan({ spanId, start, attributes: { text: 'x'.repeat(index * 10) } }) };
  });
  requests++;
  const { status } = await send(daemon.url, { body: JSON.stringify(aTraceRequest(spans.map(({ body }) => body))) });
  if (status !== 200) throw new Error(`a request was answered ${status}`);
  acknowledged.push(...spans.map(({ spanId }) => spanId));
}

const start = () => startExecutable(['archive', '--to', 'to', '--older-than', '1d', '--memory', '256MiB'], folder);
const published = async (): Promise<readonly string[]> =>
  (
    await client.query<{ key: string }>(
      `SELECT format('lake/%s/day=%s/job-%s.parquet', signal, day, lpad(id::text, 12, '0')) AS key
       FROM sluice.lake_jobs WHERE state = 'published' ORDER BY id`,
    )
  ).rows.map(({ key }) => key);
const filesOf = (): readonly string[] =>
  existsSync(lake)
    ? readdirSync(lake, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.parquet'))
    : [];

/** Resolves at the next new file, a moment before it is recorded; also after a while. */
async function nextFile(): Promise<void> {
  const count = filesOf().length;
  for (const began = performance.now(); performance.now() - began < NEXT_FILE_MS; ) {
    if (filesOf().length > count) return;
    await pause(1);
  }
}

t.test(`${KILLS} kills`, async (t) => {
  for (let request = 0; request < FIRST_REQUESTS; request++) await ingest();
  let isOver = false;
  const ingesting = (async () => {
    while (!isOver) {
      await ingest();
      await pause(PAUSE_MS);
    }
  })();
  // How long a whole run takes now, on this machine.
  const began = performance.now();
  t.equal(await start().ended, 0, 'a run beside ingest');
  let wholeMs = performance.now() - began;
  const found = { kills: 0, ended: 0, planned: 0, files: 0 };
  while (found.kills < KILLS) {
    const run = start();
    const runBegan = performance.now();
    const isEnded = await Promise.race([
      run.ended.then(() => true),
      (found.kills % 2 === 0 ? pause(Math.random() * wholeMs) : nextFile()).then(() => false),
    ]);
    if (isEnded) {
      found.ended++;
      wholeMs = performance.now() - runBegan;
      if ((await run.ended) !== 0) throw new Error(`a run failed: ${run.output.err}`);
      continue;
    }
    run.child.kill('SIGKILL');
    await run.ended;
    found.kills++;
    const keys = await published();
    const files = filesOf();
    for (const key of keys) if (!files.includes(key)) t.fail(`${key} is recorded and missing`);
    const { rowCount } = await client.query("SELECT FROM sluice.lake_jobs WHERE state = 'planned'");
    found.planned += rowCount ?? 0;
    found.files += files.length - keys.length;
  }
  t.comment(
    `${found.kills} kills, ${found.planned} left a planned job, ${found.files} of them with a file; ${found.ended} runs ended`,
  );
  isOver = true;
  await ingesting;
  // Two at once, of which one may be refused.
  const codes = await Promise.all([start().ended, start().ended]);
  t.ok(codes.includes(0), 'one of two runs at once works');
  t.equal(await start().ended, 0, 'the last run');
});

t.test('each acknowledged span is in the lake and in Postgres once, with equal values', async (t) => {
  const scene = { duck, lake, client };
  const [inLake, inView] = [await linesOfLake(scene, 'spans'), await linesOfView(scene, 'spans')];
  const ids = inLake.map((line) => String((JSON.parse(line) as { span_id: unknown }).span_id)).sort();
  t.comment(`${acknowledged.length} spans were acknowledged, in ${filesOf().length} files`);
  t.equal(ids.length, acknowledged.length);
  const wanted = [...acknowledged].sort();
  t.equal(
    ids.findIndex((id, index) => id !== wanted[index]),
    -1,
    'the ids',
  );
  t.equal(
    inLake.findIndex((line, index) => line !== inView[index]),
    -1,
    'the values',
  );
  t.equal(inView.length, inLake.length);
  t.same([...filesOf()].sort(), [...(await published())].sort(), 'no other file is in the lake');
});
