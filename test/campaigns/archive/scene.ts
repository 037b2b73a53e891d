/** A daemon that is sent spans of closed days all the time, and the commands that are killed meanwhile. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { Duck } from '../../../src/archive/duckdb.ts';
import type { Origin } from '../../../src/archive/lake-jobs.ts';
import { linesOfLake, linesOfView, MEMORY, withPlainJson } from '../../support/archive-scene.ts';
import { DAY_MS } from '../../../src/pdata/time-units.ts';
import { archivedTables } from '../../support/archived-tables.ts';
import { KEY } from '../../support/daemon.ts';
import { type Executable, openFolder, startExecutable } from '../../support/executable.ts';
import { send } from '../../support/otlp-client.ts';
import { aSpan, aTraceRequest, newSpanId, newTraceId } from '../../support/payloads.ts';
import { postgresConfig, startPostgresDaemon } from '../../support/postgres-daemon.ts';
import { bucketPlace, folderPlace } from './lake-place.ts';

/** The closed days of the spans: a day is opened up to a week back. */
export const DAYS = [2, 3, 4];
const SPANS = 20;
/** The text of traces that are not erased. */
const STAYING = 'x';
const SENT_AGAIN = 3;
const NEXT_CHANGE_MS = 5_000;
const MOST_TRIES = 30;
const RETRY_MS = 1_000;

export const dateOf = (day: number): string => new Date(Date.now() - day * DAY_MS).toISOString().slice(0, 10);

export interface Kills {
  /** How long a whole run takes now, on this machine, and its points by step. */
  wholeMs: number;
  points: Readonly<Record<string, number>>;
  kills: number;
  ended: number;
  /** The number of tries to kill at a point of each step, and of kills. */
  readonly tries: Map<string, number>;
  readonly steps: Map<string, number>;
}

/** The number of points at each step. */
const pointsOf = ({ output }: Executable): Kills['points'] =>
  JSON.parse(/^points (\{.*\})$/mu.exec(output.err)?.[1] ?? '{}') as Kills['points'];

/** The step with the fewest tries, and its points; of several the last one of a run, where most is at stake. */
const rarestOf = ({ points, tries }: Kills): readonly [string, number] =>
  Object.entries(points)
    .reverse()
    .sort(([left], [right]) => (tries.get(left) ?? 0) - (tries.get(right) ?? 0))[0] ?? ['', 0];

/** Multiples of it, without their whole parts, are spread evenly. */
const GOLDEN_RATIO = (Math.sqrt(5) - 1) / 2;

/** `origin`: of the records in the lake. Those of parts are in the tables too. */
export async function startScene(
  t: Parameters<typeof startPostgresDaemon>[0],
  store: 'folder' | 's3',
  origin: Origin = 'tables',
) {
  const folder = openFolder(t);
  const place = store === 's3' ? await bucketPlace(t, folder) : folderPlace(folder);
  const options =
    origin === 'tables'
      ? {}
      : {
          exporters: 'postgres, objects',
          moreExporters: `objects: { to: "${place.to}", linger: 0s }`,
          env: place.environment,
        };
  const daemon = await startPostgresDaemon(t, options);
  const archive = origin === 'tables' ? `{ archive: { to: ${place.to}, older_than: 1d, memory: 256MiB } }` : '{}';
  writeFileSync(
    join(folder, 'sluice.yaml'),
    postgresConfig({ ...options, databaseUrl: daemon.databaseUrl }).replace('postgres: {}', `postgres: ${archive}`),
  );
  const client = new pg.Client({ connectionString: daemon.databaseUrl });
  await client.connect();
  await client.query("SET TimeZone = 'UTC'");
  const duck = await Duck.open({ memoryBytes: MEMORY, folder });
  const { expire, close } = archivedTables(daemon.databaseUrl, 1);
  t.teardown(async () => {
    duck.close();
    await close();
    await client.end();
  });

  /** The ids of the spans that were acknowledged and not removed. */
  const acknowledged = new Set<string>();
  let requests = 0;
  /** Records of the last trace that stays. */
  let earlier: readonly object[] = [];

  async function sendTrace({ key = KEY, text = STAYING, traceId = newTraceId() } = {}): Promise<readonly string[]> {
    const spans = Array.from({ length: SPANS }, (_, index) => {
      const spanId = newSpanId();
      const day = DAYS[(requests + index) % DAYS.length] ?? 0;
      const start = BigInt(Math.floor(Date.now() / DAY_MS - day) * DAY_MS + index) * 1_000_000n;
      return { spanId, body: aSpan({ traceId, spanId, start, attributes: { text: text.repeat(index * 10 + 1) } }) };
    });
    requests++;
    // In other bytes than before.
    const again = origin === 'parts' && key === KEY ? earlier.slice(0, SENT_AGAIN) : [];
    const body = JSON.stringify(aTraceRequest([...spans.map((each) => each.body), ...again]));
    await deliver(body, key);
    if (text === STAYING && key === KEY) earlier = spans.map((each) => each.body);
    const ids = spans.map(({ spanId }) => spanId);
    for (const id of ids) acknowledged.add(id);
    return ids;
  }

  /** Sent again after a 503, as clients do, with the same bytes. */
  async function deliver(body: string, key: string): Promise<void> {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const { status } = await send(daemon.url, { body, authorization: `Bearer ${key}` });
      if (status === 200) return;
      if (status !== 503) throw new Error(`a request was answered ${status}`);
      await pause(RETRY_MS);
    }
    throw new Error('a request was refused again and again');
  }

  /** `pauseMs`: between two requests, so that a run of a command has an end. */
  async function ingestWhile(pauseMs: () => number, work: () => Promise<void>): Promise<void> {
    let isOver = false;
    const ingesting = (async () => {
      while (!isOver) {
        await sendTrace();
        await pause(pauseMs());
      }
    })();
    try {
      await Promise.race([work(), ingesting]);
    } finally {
      isOver = true;
      await ingesting;
    }
  }

  const start = (...args: readonly string[]): Executable => startExecutable(args, folder, place.environment);
  const startAt = (point: string, args: readonly string[]): Executable =>
    startExecutable(args, folder, {
      ...place.environment,
      NODE_OPTIONS: `--import ${new URL('./kill-point.js', import.meta.url)}`,
      SLUICE_KILL_POINT: point,
    });

  async function finish(...args: readonly string[]): Promise<void> {
    const run = start(...args);
    if ((await run.ended) !== 0) throw new Error(`${args.join(' ')}: ${run.output.err}`);
  }

  /** A whole run, as the first one of a command that is killed. */
  async function measure(...args: readonly string[]): Promise<Kills> {
    const began = performance.now();
    const run = startAt('', args);
    if ((await run.ended) !== 0) throw new Error(`${args.join(' ')}: ${run.output.err}`);
    return {
      wholeMs: performance.now() - began,
      points: pointsOf(run),
      kills: 0,
      ended: 0,
      tries: new Map(),
      steps: new Map(),
    };
  }

  const { allFiles } = place;

  /** Resolves when a file appears or is removed, a moment before that is recorded; also after a while. */
  async function nextChange(): Promise<void> {
    const before = allFiles().join();
    for (const began = performance.now(); performance.now() - began < NEXT_CHANGE_MS; ) {
      if (allFiles().join() !== before) return;
      await pause(1);
    }
  }

  /** As after a backup was restored, so that the next run seals the days again. */
  async function removeSeals(): Promise<void> {
    const { rows } = await client.query<{ statement: string }>(
      `SELECT format('DROP TRIGGER %I ON %s', tgname, tgrelid::regclass) AS statement FROM pg_trigger
       WHERE tgname LIKE 'sluice\\_archive%' AND NOT tgisinternal`,
    );
    for (const { statement } of rows) await client.query(statement);
  }

  /**
   * Kills the command: every second time at a point of the step with the fewest tries; else at a random moment or at
   * the next change of the lake. False: it had ended before.
   */
  async function kill(found: Kills, ...args: readonly string[]): Promise<boolean> {
    const began = performance.now();
    const tries = found.kills + found.ended;
    const isAtPoint = tries % 2 === 0;
    const [step, count] = rarestOf(found);
    const place = Math.floor(((((found.tries.get(step) ?? 0) + 1) * GOLDEN_RATIO) % 1) * count);
    if (isAtPoint) found.tries.set(step, (found.tries.get(step) ?? 0) + 1);
    if (isAtPoint && step === 'seal') await removeSeals();
    const run = isAtPoint ? startAt(`${step} ${place}`, args) : start(...args);
    const moment = (): Promise<unknown> => (tries % 4 === 1 ? pause(Math.random() * found.wholeMs) : nextChange());
    if (!isAtPoint) {
      const isEnded = await Promise.race([run.ended.then(() => true), moment().then(() => false)]);
      if (!isEnded) run.child.kill('SIGKILL');
    }
    const code = await run.ended;
    if (code === null) {
      found.kills++;
      const where = isAtPoint ? step : 'at any moment';
      found.steps.set(where, (found.steps.get(where) ?? 0) + 1);
      return true;
    }
    if (code !== 0) throw new Error(`${args.join(' ')} failed: ${run.output.err}`);
    found.wholeMs = performance.now() - began;
    if (isAtPoint) found.points = { ...found.points, ...pointsOf(run) };
    found.ended++;
    return false;
  }

  const published = async (): Promise<readonly string[]> =>
    (
      await client.query<{ key: string }>(
        `SELECT format('lake/%s/day=%s/job-%s.parquet', signal, day, lpad(id::text, 12, '0')) AS key
         FROM sluice.lake_jobs WHERE state = 'published' ORDER BY id`,
      )
    ).rows.map(({ key }) => key);

  const idsOf = (lines: readonly string[]): readonly string[] =>
    lines.map((line) => String((JSON.parse(line) as { readonly span_id: unknown }).span_id));
  /** A list of the lake may have a file twice while it is replaced, so only published files are read. */
  async function idsInLake(): Promise<readonly string[]> {
    const keys = (await published()).filter((key) => key.startsWith('lake/spans/'));
    if (keys.length === 0) return [];
    const lake = place.folder();
    const list = keys.map((key) => `'${join(lake, key)}'`).join(', ');
    return (await duck.rows(`SELECT span_id FROM read_parquet([${list}])`)).map(({ span_id: id }) => String(id));
  }
  const idsInDatabase = async (): Promise<readonly string[]> =>
    (await client.query("SELECT encode(span_id, 'hex') AS id FROM sluice.spans")).rows.map(({ id }) => String(id));

  return {
    ...{ faults: place.faults, acknowledged, sendTrace, ingestWhile, start, finish, measure, kill },
    ...{ allFiles, published, expire, client, idsInLake, idsInDatabase, idsOf },
    ...{ place, duck, databaseUrl: daemon.databaseUrl },
    lines: async () => {
      const scene = { duck, lake: place.folder(), client };
      const [lake, view] = [await linesOfLake(scene, 'spans'), await linesOfView(scene, 'spans')];
      if (origin === 'tables') return [lake, view] as const;
      return [await withPlainJson(scene, lake), await withPlainJson(scene, view)] as const;
    },
  };
}
