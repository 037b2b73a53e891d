/**
 * Kills compactions at each step of their runs, and lets requests to the bucket fail, while requests are stored in
 * objects, some spans of them again. Then compares the lake, as a reader that only lists it, with the answers.
 * Published parts are made a day older before each run, so that they and their objects are removed as early as
 * possible.
 */
import { parseArgs } from 'node:util';
import t, { type Test } from 'tap';
import { removeOrphans } from '../../../src/exporters/objects/orphans.ts';
import { openStore } from '../../../src/object-store/open-store.ts';
import { newTraceId } from '../../support/payloads.ts';
import { readPart } from '../../support/stored-parts.ts';
import { type Kills, startScene } from './scene.ts';

t.setTimeout(3_600_000);

const { values: chosen, positionals } = parseArgs({
  options: { store: { type: 'string', default: 'folder' }, faults: { type: 'string', default: '0' } },
  allowPositionals: true,
});
const KILLS = Number(positionals[0] ?? 60);
const FAULTY_RUNS = Number(chosen.faults);
/** Kills between two moments without requests, in which objects are removed. */
const KILLS_OF_ROUND = 8;
const FIRST_REQUESTS = 5;
const PAUSE_MS = 100;
const COMPACT = ['compact', '--older-than', '0s', '--memory', '256MiB'];

const scene = await startScene(t, chosen.store === 's3' ? 's3' : 'folder', 'parts');
const { acknowledged, client, place, duck } = scene;
const store = openStore(place.to, { environment: place.environment });
t.teardown(() => store.close());

const UNPUBLISHED = `SELECT p.* FROM sluice.parts p LEFT JOIN sluice.compactions c ON c.id = p.compaction
  WHERE c.published_at IS NULL AND p.signal = 'spans'`;
const total = { comparisons: 0, kills: 0, lost: 0, twice: 0 };
const lakeFiles = (): readonly string[] => scene.allFiles().filter((key) => key.startsWith('lake/'));

/** All files, also those that are not recorded yet. */
async function idsInLake(): Promise<readonly string[]> {
  if (!lakeFiles().some((key) => key.endsWith('.parquet'))) return [];
  const rows = await duck.rows(`SELECT span_id FROM read_parquet('${place.folder()}/lake/spans/*/*.parquet')`);
  return rows.map(({ span_id: id }) => String(id));
}

async function idsInParts(): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const row of (await client.query(UNPUBLISHED)).rows)
    for (const each of (await readPart(row, store)).rows) ids.push(String(each['span_id']));
  return ids;
}

/** To be called while no compaction runs. Each acknowledged span can be read, and the lake has none twice. */
async function requireEach(t: Test, what: string): Promise<void> {
  // What is acknowledged later may be missing below.
  const wanted = [...acknowledged];
  const inLake = await idsInLake();
  const recorded = await scene.idsInLake();
  const found = new Set([...recorded, ...(await idsInParts())]);
  const lost = wanted.filter((id) => !found.has(id)).length;
  const twice = inLake.length - new Set(inLake).size;
  if (lost > 0) t.fail(`${lost} spans are lost after ${what}`);
  if (twice > 0) t.fail(`${twice} spans are twice in the lake after ${what}`);
  const files = lakeFiles();
  for (const key of await scene.published()) if (!files.includes(key)) t.fail(`${key} is recorded and missing`);
  total.comparisons++;
  total.lost += lost;
  total.twice += twice;
}

const age = (): Promise<unknown> =>
  client.query("UPDATE sluice.compactions SET published_at = published_at - interval '25 hours'");

/** To be called while no request is on its way: an object of a request has no part before its commit. */
async function removeObjects(): Promise<number> {
  const signal = new AbortController().signal;
  return removeOrphans({ store, database: client }, { orphanMs: 0, signal });
}

/** A trace that is to be erased. */
async function sendCanary(): Promise<{ readonly text: string; readonly words: readonly string[] }> {
  const traceId = newTraceId();
  const text = `canary-${traceId.slice(0, 8)}`;
  for (const id of await scene.sendTrace({ text, traceId })) acknowledged.delete(id);
  return { text, words: ['prune', '--yes', '--trace', traceId] };
}

async function requireWithout(t: Test, text: string): Promise<void> {
  const [inLake] = await scene.lines();
  if (inLake.some((line) => line.includes(text))) t.fail(`${text} is in the lake`);
}

/** Runs a compaction to its end, and compares the values. Nothing is stored meanwhile. */
async function requireComplete(t: Test): Promise<void> {
  await age();
  await scene.finish(...COMPACT);
  await requireEach(t, 'a whole run');
  const [inLake, inView] = await scene.lines();
  const at = inLake.findIndex((line, index) => line !== inView[index]);
  if (inLake.length !== inView.length) t.fail(`the lake has ${inLake.length} spans instead of ${inView.length}`);
  if (at >= 0) t.same(JSON.parse(inLake[at] ?? ''), JSON.parse(inView[at] ?? ''), 'the values');
  // What an interrupted put left in a folder is removed after a day.
  const files = lakeFiles().filter((key) => !key.endsWith('.tmp'));
  t.same([...files].sort(), [...(await scene.published())].sort(), 'no other file is in the lake');
}

let removedObjects = 0;

t.test(`${KILLS} kills of the compaction`, async (t) => {
  for (let request = 0; request < FIRST_REQUESTS; request++) await scene.sendTrace();
  const found = await scene.measure(...COMPACT);
  let [interrupted, canaries] = [0, 0];
  let erasing: Kills | null = null;
  while (found.kills < KILLS) {
    const most = Math.min(KILLS, found.kills + KILLS_OF_ROUND);
    const canary = await sendCanary();
    // Before, between and after killed runs.
    const pruneAt = found.kills + (canaries++ % 3);
    let isPruned = false;
    const prune = async (): Promise<void> => {
      if (isPruned) return;
      isPruned = true;
      if (erasing === null) {
        erasing = await scene.measure(...canary.words);
        return;
      }
      if (await scene.kill(erasing, ...canary.words)) await requireEach(t, 'a kill of an erasure');
      // When the killed one had removed everything, there is nothing to remove any more.
      const last = scene.start(...canary.words);
      if ((await last.ended) !== 0 && !/there is no trace/u.test(last.output.err)) t.fail(last.output.err);
    };
    await scene.ingestWhile(
      () => PAUSE_MS,
      async () => {
        while (found.kills < most) {
          if (found.kills >= pruneAt) await prune();
          await age();
          if (!(await scene.kill(found, ...COMPACT))) continue;
          await requireEach(t, 'a kill');
          interrupted +=
            (await client.query('SELECT FROM sluice.compactions WHERE published_at IS NULL')).rowCount ?? 0;
        }
      },
    );
    await prune();
    await requireComplete(t);
    await requireWithout(t, canary.text);
    removedObjects += await removeObjects();
  }
  total.kills += found.kills;
  const list = [...found.steps].sort(([, left], [, right]) => right - left).map(([step, count]) => `${step} ${count}`);
  t.comment(`${found.kills} kills: ${list.join(', ')}; ${found.ended} runs ended`);
  const killedErasures = (erasing as Kills | null)?.kills ?? 0;
  total.kills += killedErasures;
  t.comment(
    `${interrupted} interrupted compactions were found; ${canaries} traces were erased, with ${killedErasures} kills`,
  );
});

/**
 * The rates of faults of a request. A read that is cut ends the run. A request that waits for an answer takes half a
 * minute.
 */
const FAULTS = { slow_down: 0.08, lost: 0.06, cut: 0.01, denied: 0.002, expired: 0.002 };
const SILENCE = { hang: 0.004, silent: 0.004 };
/** Every so many runs have it. */
const SILENT_RUN = 8;
const GONE_RUN = 5;

if (FAULTY_RUNS > 0)
  t.test(`${FAULTY_RUNS} runs with faults of the bucket`, async (t) => {
    const { faults } = place;
    if (faults === null) throw new Error('only a bucket has faults');
    let [met, failed] = [0, 0];
    await scene.ingestWhile(
      () => PAUSE_MS,
      async () => {
        for (let round = 0; round < FAULTY_RUNS; round++) {
          await age();
          await scene.sendTrace();
          faults.begin({ ...FAULTS, ...(round % SILENT_RUN === SILENT_RUN - 1 ? SILENCE : {}) });
          if (round % GONE_RUN === GONE_RUN - 1) faults.hide();
          const run = scene.start(...COMPACT);
          const code = await run.ended;
          met += faults.end();
          if (code !== 0) failed++;
          if (code !== 0 && code !== 1) t.fail(`the run ended with ${code}: ${run.output.err}`);
          if (/fault of Sluice/u.test(run.output.err)) t.fail(run.output.err);
          await requireEach(t, 'a run with faults');
        }
      },
    );
    await requireComplete(t);
    removedObjects += await removeObjects();
    t.comment(`${FAULTY_RUNS} runs and the requests beside them met ${met} faults; ${failed} runs failed`);
    t.ok(met > 0);
  });

t.test('each acknowledged span is in the lake once, and its objects are gone', async (t) => {
  await requireComplete(t);
  // Parts of the last run are removed by the next one.
  await requireComplete(t);
  removedObjects += await removeObjects();
  t.same([...scene.idsOf((await scene.lines())[0])].sort(), [...acknowledged].sort());
  t.same((await client.query('SELECT FROM sluice.parts')).rows, []);
  const objects: string[] = [];
  for await (const { key } of store.list('ingest/')) if (/\.(?:gz|zst)$/u.test(key)) objects.push(key);
  t.same(objects, []);
  t.comment(`${acknowledged.size} spans in ${lakeFiles().length} files; ${removedObjects} objects were removed`);
  t.comment(
    `in all ${total.kills} kills and ${total.comparisons} comparisons: ${total.lost} spans lost, ${total.twice} twice`,
  );
});
