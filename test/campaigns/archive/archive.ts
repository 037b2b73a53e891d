/**
 * Kills the archive, the restoration of days and the erasure of records at random moments and right after a file
 * appears or is removed, while spans of closed days arrive. Then compares the lake and the database with the answers.
 */
import t, { type Test } from 'tap';
import { OTHER_KEY } from '../../support/daemon.ts';
import { newTraceId } from '../../support/payloads.ts';
import { DAYS, dateOf, type Kills, startScene } from './scene.ts';

t.setTimeout(3_600_000);

const KILLS = Number(process.argv[2] ?? 40);
const RESTORATION_KILLS = Number(process.argv[3] ?? KILLS);
const ERASURE_KILLS = Number(process.argv[4] ?? RESTORATION_KILLS);
const FIRST_REQUESTS = 40;
const PAUSE_MS = 100;
/** In runs of the archive, between requests that leave retention the time to drop days. */
const DROPPING_PAUSE = 2;
/** Traces to erase that are archived together. */
const ERASED_TOGETHER = 3;

const scene = await startScene(t);
const { acknowledged, sendTrace, ingestWhile, start, finish, kill, allFiles, published, expire, client } = scene;

const isOnce = (ids: readonly string[]): boolean => new Set(ids).size === ids.length;

/** Each acknowledged span is somewhere, and neither the lake nor the database has one twice. */
async function requireEach(t: Test, what: string): Promise<void> {
  // What is acknowledged later may be missing below.
  const wanted = [...acknowledged];
  const [inDatabase, inLake] = [await scene.idsInDatabase(), await scene.idsInLake()];
  const found = new Set([...inDatabase, ...inLake]);
  const lost = wanted.filter((id) => !found.has(id));
  if (lost.length > 0) t.fail(`${lost.length} spans are lost after ${what}`);
  if (!isOnce(inDatabase)) t.fail(`the database has a span twice after ${what}`);
  if (!isOnce(inLake)) t.fail(`the lake has a span twice after ${what}`);
  const files = allFiles();
  for (const key of await published()) if (!files.includes(key)) t.fail(`${key} is recorded and missing`);
}

/** The duration of a whole run. */
async function timed(...args: readonly string[]): Promise<number> {
  const began = performance.now();
  await finish(...args);
  return performance.now() - began;
}

t.test(`${KILLS} kills of the archive`, async (t) => {
  for (let request = 0; request < FIRST_REQUESTS; request++) await sendTrace();
  await ingestWhile(
    () => PAUSE_MS,
    async () => {
      const found: Kills = { wholeMs: await timed('archive'), kills: 0, ended: 0 };
      let [planned, files] = [0, 0];
      while (found.kills < KILLS) {
        if (!(await kill(found, 'archive'))) continue;
        await requireEach(t, 'a kill of the archive');
        planned += (await client.query("SELECT FROM sluice.lake_jobs WHERE state = 'planned'")).rowCount ?? 0;
        files += allFiles().length - (await published()).length;
      }
      t.comment(
        `${found.kills} kills, ${planned} left a planned job, ${files} of them with a file; ${found.ended} runs ended`,
      );
    },
  );
  // Two at once, of which one may be refused.
  const codes = await Promise.all([start('archive').ended, start('archive').ended]);
  t.ok(codes.includes(0), 'one of two runs at once works');
  await finish('archive');
});

t.test(`${RESTORATION_KILLS} kills of the restoration of a day`, async (t) => {
  const found: Kills = { wholeMs: await timed('archive'), kills: 0, ended: 0 };
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
    t.comment(`${found.kills} kills, ${found.ended} runs ended; ${dropped} days were dropped before`);
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

t.test(`${ERASURE_KILLS} kills of erasures`, async (t) => {
  await ingestWhile(
    () => PAUSE_MS,
    async () => {
      const found: Kills = { wholeMs: 0, kills: 0, ended: 0 };
      const archiving: Kills = { wholeMs: await timed('archive'), kills: 0, ended: 0 };
      while (found.kills < ERASURE_KILLS) {
        const some: Canary[] = [];
        for (let count = 0; count < ERASED_TOGETHER; count++) some.push(await sendCanary());
        // An interrupted run leaves files without a record.
        await kill(archiving, 'archive');
        if (Math.random() < 0.5) await finish('archive');
        for (const { ids, words, text } of some) {
          for (const id of ids) acknowledged.delete(id);
          if (found.wholeMs === 0) found.wholeMs = await timed(...words);
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
      t.comment(
        `${found.kills} kills of ${canaries} erasures, ${found.ended} runs ended; ${archiving.kills} kills of archives`,
      );
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
});
