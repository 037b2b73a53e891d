/**
 * Kills the archive, the restoration of days and the erasure of records at each step of their runs, and lets requests
 * to the bucket fail, while spans of closed days arrive. Then compares the lake and the database with the answers.
 */
import { parseArgs } from 'node:util';
import t, { type Test } from 'tap';
import { OTHER_KEY } from '../../support/daemon.ts';
import { newTraceId } from '../../support/payloads.ts';
import { DAYS, dateOf, type Kills, startScene } from './scene.ts';

t.setTimeout(3_600_000);

const { values: chosen, positionals } = parseArgs({
  options: { store: { type: 'string', default: 'folder' }, faults: { type: 'string', default: '0' } },
  allowPositionals: true,
});
const KILLS = Number(positionals[0] ?? 40);
const RESTORATION_KILLS = Number(positionals[1] ?? KILLS);
const ERASURE_KILLS = Number(positionals[2] ?? RESTORATION_KILLS);
/** Runs against a bucket with faults. */
const FAULTY_RUNS = Number(chosen.faults);
const FIRST_REQUESTS = 40;
const PAUSE_MS = 100;
/** In runs of the archive, between requests that leave retention the time to drop days. */
const DROPPING_PAUSE = 2;
/** Traces to erase that are archived together. */
const ERASED_TOGETHER = 3;

const scene = await startScene(t, chosen.store === 's3' ? 's3' : 'folder');
const { acknowledged, sendTrace, ingestWhile, start, finish, measure, kill, allFiles, published, expire, client } =
  scene;

const repeatedIn = (ids: readonly string[]): number => ids.length - new Set(ids).size;
/** The sums over all comparisons. */
const total = { comparisons: 0, kills: 0, lost: 0, twice: 0 };

/** Each acknowledged span is somewhere, and neither the lake nor the database has one twice. */
async function requireEach(t: Test, what: string): Promise<void> {
  // What is acknowledged later may be missing below.
  const wanted = [...acknowledged];
  const [inDatabase, inLake] = [await scene.idsInDatabase(), await scene.idsInLake()];
  const found = new Set([...inDatabase, ...inLake]);
  const lost = wanted.filter((id) => !found.has(id));
  const twice = repeatedIn(inDatabase) + repeatedIn(inLake);
  if (lost.length > 0) t.fail(`${lost.length} spans are lost after ${what}`);
  if (twice > 0) t.fail(`${twice} spans are twice in the lake or in the database after ${what}`);
  total.comparisons++;
  total.lost += lost.length;
  total.twice += twice;
  const files = allFiles();
  for (const key of await published()) if (!files.includes(key)) t.fail(`${key} is recorded and missing`);
}

/** Steps of which none is wanted are left out. */
const testOf = (count: number, name: string, run: (t: Test) => Promise<void>): void => {
  if (count > 0) void t.test(`${count} ${name}`, run);
};

function report(t: Test, { kills, ended, steps }: Kills, what: string): void {
  total.kills += kills;
  const list = [...steps].sort(([, left], [, right]) => right - left).map(([step, count]) => `${step} ${count}`);
  t.comment(`${kills} kills: ${list.join(', ')}; ${ended} runs ended; ${what}`);
}

t.test(`${KILLS} kills of the archive`, async (t) => {
  for (let request = 0; request < FIRST_REQUESTS; request++) await sendTrace();
  await ingestWhile(
    () => PAUSE_MS,
    async () => {
      const found = await measure('archive');
      let [planned, files] = [0, 0];
      while (found.kills < KILLS) {
        if (!(await kill(found, 'archive'))) continue;
        await requireEach(t, 'a kill of the archive');
        planned += (await client.query("SELECT FROM sluice.lake_jobs WHERE state = 'planned'")).rowCount ?? 0;
        files += allFiles().length - (await published()).length;
      }
      report(t, found, `${planned} planned jobs were found, and ${files} files without a record`);
    },
  );
  // Two at once, of which one may be refused.
  const codes = await Promise.all([start('archive').ended, start('archive').ended]);
  t.ok(codes.includes(0), 'one of two runs at once works');
  await finish('archive');
});

testOf(RESTORATION_KILLS, 'kills of the restoration of a day', async (t) => {
  const found = await measure('archive');
  const pauseMs = (): number => DROPPING_PAUSE * found.wholeMs;
  await ingestWhile(pauseMs, async () => {
    const isThere = async (table: string): Promise<boolean> =>
      (await client.query('SELECT to_regclass($1) IS NOT NULL AS found', [`sluice.${table}`])).rows[0].found;
    let dropped = 0;
    for (let round = 0; found.kills < RESTORATION_KILLS; round++) {
      const day = dateOf(DAYS[round % DAYS.length] ?? 0);
      await client.query("UPDATE sluice.lake_restored SET until = now() - interval '1 second'");
      await finish('archive');
      await expire();
      await requireEach(t, 'the expiry of days');
      if (!(await isThere(`spans_${day.replaceAll('-', '')}`))) dropped++;
      // A whole restoration tells its steps. It has them only when retention has dropped the day.
      if (found.points['attach'] === undefined) {
        found.points = (await measure('restore-day', day, '--for', '1h')).points;
        continue;
      }
      const restoring = async (): Promise<void> => {
        // Until a run ends. A run that follows finds the day restored.
        for (let tries = 0; tries < 5 && found.kills < RESTORATION_KILLS; tries++) {
          if (!(await kill(found, 'restore-day', day, '--for', '1h'))) break;
          await requireEach(t, `a kill of restore-day ${day}`);
        }
        await finish('restore-day', day, '--for', '1h');
        await requireEach(t, `restore-day ${day}`);
      };
      await ingestWhile(() => PAUSE_MS, restoring);
    }
    report(t, found, `${dropped} days were dropped before`);
    t.ok(dropped > 0, 'retention dropped days meanwhile');
  });
});

interface Canary {
  readonly text: string;
  readonly words: readonly string[];
  readonly ids: readonly string[];
}

let canaries = 0;

/** A trace to erase, or a project. */
async function sendCanary(): Promise<Canary> {
  const [number, traceId] = [canaries++, newTraceId()];
  const text = `canary-${number}-${traceId.slice(0, 8)}`;
  // The traces of a project are erased together.
  const isProject = number % ERASED_TOGETHER === 0;
  const ids = await sendTrace({ text, traceId, ...(isProject ? { key: OTHER_KEY } : {}) });
  return { text, ids, words: ['prune', '--yes', ...(isProject ? ['--project', 'other'] : ['--trace', traceId])] };
}

testOf(ERASURE_KILLS, 'kills of erasures', async (t) => {
  await ingestWhile(
    () => PAUSE_MS,
    async () => {
      const archiving = await measure('archive');
      let found: Kills | null = null;
      while (found === null || found.kills < ERASURE_KILLS) {
        const some: Canary[] = [];
        for (let count = 0; count < ERASED_TOGETHER; count++) some.push(await sendCanary());
        // An interrupted run leaves files without a record.
        await kill(archiving, 'archive');
        if (Math.random() < 0.5) await finish('archive');
        for (const { ids, words, text } of some) {
          for (const id of ids) acknowledged.delete(id);
          if (found === null) found = await measure(...words);
          else
            for (let tries = 0; tries < 3 && found.kills < ERASURE_KILLS && (await kill(found, ...words)); tries++)
              await requireEach(t, 'a kill');
          // Repeated. When the killed one had removed everything, there is nothing to remove any more.
          const last = start(...words);
          if ((await last.ended) !== 0 && !/there is no (?:trace|project)/u.test(last.output.err))
            t.fail(`${words.join(' ')}: ${last.output.err}`);
          await requireWithout(t, text);
        }
        await requireEach(t, 'erasures');
      }
      report(t, found, `${canaries} erasures`);
      report(t, archiving, 'of archives between');
    },
  );
  t.equal((await client.query('SELECT FROM sluice.lake_erasures')).rowCount, 0, 'nothing is left to erase');
});

/** Also in files without a record, and in temporary ones. */
async function requireWithout(t: Test, text: string): Promise<void> {
  const files = allFiles();
  const known = await published();
  const unknown = files.filter((file) => !known.includes(file));
  if (unknown.some((file) => file.endsWith('.tmp'))) t.fail(`a temporary file is left: ${unknown.join(' ')}`);
  const { lines } = scene;
  const [inLake, inView] = await lines();
  if (inLake.some((line) => line.includes(text)))
    t.fail(`${text} is in the lake; files without a record: ${unknown.join(' ')}`);
  if (inView.some((line) => line.includes(text))) t.fail(`${text} is in the database`);
}

/** The rates of faults of a request. A request that waits for an answer takes half a minute. */
const FAULTS = { slow_down: 0.08, lost: 0.06, cut: 0.06, denied: 0.01, expired: 0.01 };
const SILENCE = { hang: 0.004, silent: 0.004 };
/** Every so many runs have it. */
const SILENT_RUN = 8;
const GONE_RUN = 5;

testOf(FAULTY_RUNS, 'runs with faults of the bucket', async (t) => {
  const { faults } = scene;
  if (faults === null) throw new Error('only a bucket has faults');
  let [met, failed, gone] = [0, 0, 0];
  const dates = DAYS.map(dateOf);
  await ingestWhile(
    () => PAUSE_MS,
    async () => {
      for (let round = 0; round < FAULTY_RUNS; round++) {
        const isGone = round % GONE_RUN === GONE_RUN - 1;
        const { ids, words, text } = await sendCanary();
        for (const id of ids) acknowledged.delete(id);
        const runs = [['archive'], ['restore-day', dates[round % dates.length] ?? '', '--for', '1h'], words];
        for (const args of runs) {
          faults.begin({ ...FAULTS, ...(round % SILENT_RUN === SILENT_RUN - 1 ? SILENCE : {}) });
          if (isGone) faults.hide();
          const run = start(...args);
          const code = await run.ended;
          met += faults.end();
          if (isGone) gone++;
          if (code !== 0) failed++;
          if (code !== 0 && code !== 1) t.fail(`${args.join(' ')} ended with ${code}: ${run.output.err}`);
          if (/fault of Sluice/u.test(run.output.err)) t.fail(`${args.join(' ')}: ${run.output.err}`);
          await requireEach(t, `${args.join(' ')} with faults`);
        }
        const last = start(...words);
        if ((await last.ended) !== 0 && !/there is no (?:trace|project)/u.test(last.output.err))
          t.fail(`${words.join(' ')}: ${last.output.err}`);
        await requireWithout(t, text);
        await client.query("UPDATE sluice.lake_restored SET until = now() - interval '1 second'");
        await expire();
      }
    },
  );
  t.comment(`${3 * FAULTY_RUNS} runs met ${met} faults, and ${gone} runs found no bucket; ${failed} failed`);
  t.ok(met > 0);
});

t.test('each acknowledged span is in the lake and in Postgres once, with equal values', async (t) => {
  await finish('archive');
  for (const day of DAYS) await finish('restore-day', dateOf(day));
  const [inLake, inView] = await scene.lines();
  const ids = [...scene.idsOf(inLake)].sort();
  t.comment(`${acknowledged.size} spans were acknowledged and not erased, in ${allFiles().length} files`);
  t.equal(ids.length, acknowledged.size);
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
  t.same([...allFiles()].sort(), [...(await published())].sort(), 'no other file is in the lake');
  t.comment(
    `in all ${total.kills} kills and ${total.comparisons} comparisons: ${total.lost} spans lost, ${total.twice} twice`,
  );
});
