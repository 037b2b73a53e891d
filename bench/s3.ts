/**
 * Rows compared with objects in a local S3 server (versitygw), at the same rate of model calls: the processor time of
 * a span in the daemon, in PostgreSQL and in the S3 server, and the time of an acknowledgement. Each side has a daemon
 * and a database of its own; they get the load alternately, over several rounds. What a daemon and its database do
 * afterwards, until a turn's time after the last one, is counted too.
 *
 *   SLUICE_S3_SERVER=$(node scripts/s3-server.js) node dist/bench/s3.js [--rate 120] [--seconds 6] [--rounds 3]
 *
 * `--rate` is in requests of 64 model calls a second. Each daemon is limited to one core; client, databases and S3
 * server share the machine.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from '../src/cli/bench/client.ts';
import { grouped, quantile } from '../src/cli/bench/figures.ts';
import { parentOf, usageOf } from '../src/cli/bench/process-family.ts';
import { FreshRequests, type Requests } from '../src/cli/bench/requests.ts';
import { readArguments } from './arguments.ts';
import { objectsIn, s3Executable, startBucket } from './bucket.ts';
import { makeCorpus } from './corpus.ts';
import { type Daemon, KEY, startDaemon } from './daemon.ts';
import { BenchDatabase } from './database.ts';
import { identified } from './requests.ts';
import type { ServerProcess } from './side-by-side/server-process.ts';
import { printHead, printRow } from './table.ts';

/** V8 compiles the code of each daemon. */
const WARM_UP_REQUESTS = 2000;
const WARM_UP_CONNECTIONS = 16;

const objects = (linger: string): readonly string[] => [
  ...objectsIn(`linger-${linger}`),
  `exporters.objects.linger=${linger}`,
];
const SIDES: Readonly<Record<string, readonly string[]>> = {
  postgres: [],
  'objects, linger 0s': objects('0s'),
  'objects, linger 250ms (default)': objects('250ms'),
};

interface Side {
  readonly name: string;
  readonly daemon: Daemon;
  readonly database: BenchDatabase;
  readonly client: Client;
  /** The process of the database server. */
  readonly server: number;
  /** Milliseconds to the acknowledgement of each stored request. */
  readonly times: number[];
}

/** Processor seconds. */
interface Cost {
  readonly daemon: number;
  readonly postgres: number;
}

async function startSide(name: string, settings: readonly string[]): Promise<Side> {
  const database = await BenchDatabase.open();
  const daemon = await startDaemon({ url: database.url }, settings);
  const [session] = (await database.database.query('SELECT pg_backend_pid() AS pid')).rows;
  const server = parentOf(Number(session?.pid));
  return { name, daemon, database, client: new Client(daemon.url, KEY), server, times: [] };
}

interface Load {
  readonly requests: Requests;
  readonly perSecond: number;
  readonly milliseconds: number;
}

const costOf = ({ daemon, server }: Side): Cost => ({
  daemon: daemon.server.usage().cpuSeconds,
  postgres: usageOf(server).cpuSeconds,
});

/** Sends the load. Returns the processor seconds of the S3 server. */
async function turn({ client, times }: Side, s3: ServerProcess, load: Load): Promise<number> {
  const before = s3.usage().cpuSeconds;
  const outcomes = await client.atRate(load.requests, load);
  const failed = outcomes.find(({ status }) => status !== 200);
  if (failed !== undefined) throw new Error(`status ${failed.status} at this rate: choose a lower --rate`);
  times.push(...outcomes.map(({ ms }) => ms));
  return s3.usage().cpuSeconds - before;
}

/** Returns the seconds of daemon, database and S3 server, by side. */
async function measure(sides: readonly Side[], s3: ServerProcess, load: Load, rounds: number): Promise<number[][]> {
  const before = sides.map(costOf);
  const s3Seconds = sides.map(() => 0);
  for (let round = 0; round < rounds; round++)
    for (const [at, side] of sides.entries()) s3Seconds[at] = (s3Seconds[at] ?? 0) + (await turn(side, s3, load));
  await pause(load.milliseconds);
  return sides.map((side, at) => {
    const { daemon, postgres } = costOf(side);
    return [daemon - (before[at]?.daemon ?? 0), postgres - (before[at]?.postgres ?? 0), s3Seconds[at] ?? 0];
  });
}

function rowOf({ name, times }: Side, seconds: readonly number[], spans: number): readonly string[] {
  const costs = seconds.map((each) => (each * 1e6) / (times.length * spans));
  return [
    name,
    ...[...costs, costs.reduce((sum, cost) => sum + cost, 0)].map((cost) => cost.toFixed(1)),
    ...[0.5, 0.99].map((part) => `${quantile(times, part).toFixed(0)} ms`),
  ];
}

async function main(): Promise<void> {
  const { values } = readArguments(import.meta.url, {
    options: {
      rate: { type: 'string', default: '120' },
      seconds: { type: 'string', default: '6' },
      rounds: { type: 'string', default: '3' },
    },
  });
  const executable = s3Executable();
  const { genai } = makeCorpus();
  const spans = genai[0]?.records ?? 0;
  const requests = new FreshRequests(
    genai.map(({ pb }) => identified(pb)),
    'gzip',
  );
  const load = { requests, perSecond: Number(values.rate), milliseconds: Number(values.seconds) * 1000 };
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-s3-'));
  const { server: s3 } = await startBucket(executable, folder);
  const sides: Side[] = [];
  try {
    for (const [name, settings] of Object.entries(SIDES)) sides.push(await startSide(name, settings));
    for (const { client } of sides) {
      let begun = 0;
      await client.closedLoop(requests, WARM_UP_CONNECTIONS, () => begun++ >= WARM_UP_REQUESTS);
    }
    const seconds = await measure(sides, s3, load, Number(values.rounds));
    console.log(`${grouped(load.perSecond * spans)} model calls a second; processor time in µs a span\n`);
    printHead(['exporter', 'daemon', 'PostgreSQL', 'S3 server', 'sum', 'p50', 'p99']);
    for (const [at, side] of sides.entries()) printRow(rowOf(side, seconds[at] ?? [], spans));
  } finally {
    for (const { client, daemon, database } of sides) {
      await client.close();
      await daemon.stop();
      await database.close();
    }
    await s3.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

await main();
