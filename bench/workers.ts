/**
 * Scaling with workers: the daemon with 1, 2, … workers gets the same requests, alternating, on all cores. Once into
 * the tables of an embedded Postgres, and once up to the encoded rows, with only the markers in the database.
 *
 *   node dist/bench/workers.js [--workers 1,2] [--seconds 4] [--rounds 7] [--connections 32]
 *
 * Client and database share the machine with the workers, so `spans / s` depends on the processor time that is left for
 * them. The column of processor time is the cost of a span for primary and workers together; when it stays constant,
 * throughput scales with cores. With `TMPDIR=/dev/shm` the disk has no influence.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../test/support/executable.ts';
import { readArguments } from './arguments.ts';
import { Client } from '../src/cli/bench/client.ts';
import { makeCorpus } from './corpus.ts';
import { type Daemon, KEY, startDaemon } from './daemon.ts';
import { BenchDatabase } from './database.ts';
import { grouped, median } from '../src/cli/bench/figures.ts';
import { FreshRequests, type Requests } from '../src/cli/bench/requests.ts';
import { identified, StampedRequests } from './requests.ts';
import { printHead, printRow } from './table.ts';

const WARM_UP_MS = 2500;
const POLL_MS = 50;
const DISCARD = fileURLToPath(new URL('./discard.js', import.meta.url));

interface Load {
  readonly name: string;
  readonly settings: readonly string[];
  requests(): Requests;
}

const genai = makeCorpus().genai;
const SPANS = genai[0]?.records ?? 0;

const LOADS: readonly Load[] = [
  {
    name: 'into the tables',
    settings: [],
    requests: () =>
      new FreshRequests(
        genai.map(({ pb }) => identified(pb)),
        'identity',
      ),
  },
  {
    name: 'up to the rows, gzip',
    settings: [
      `modules=[${DISCARD}]`,
      'exporters.discard={ format: copy }',
      ...['traces', 'logs', 'metrics'].map((signal) => `service.pipelines.${signal}.exporters=[discard]`),
    ],
    requests: () => new StampedRequests(genai.map(({ pbGz }) => pbGz)),
  },
];

interface Turn {
  readonly spansPerSecond: number;
  /** Processor seconds of the daemon for a million spans. */
  readonly price: number;
  /** The number of cores in use. */
  readonly cores: number;
  /** The sum of the peak memory of its processes. */
  readonly peakMiB: number;
}

interface Contender {
  readonly workers: number;
  readonly daemon: Daemon;
  readonly turns: Turn[];
}

interface Measure {
  readonly milliseconds: number;
  readonly connections: number;
}

async function turnOf({ daemon }: Contender, load: Load, { milliseconds, connections }: Measure): Promise<Turn> {
  const client = new Client(daemon.url, KEY);
  const [before, started] = [daemon.server.usage().cpuSeconds, performance.now()];
  const perSecond = await client.peak(load.requests(), connections, milliseconds);
  const seconds = (performance.now() - started) / 1000;
  const { cpuSeconds: after, peakMiB } = daemon.server.usage();
  await client.close();
  const spans = perSecond * seconds * SPANS;
  const [price, cores] = [((after - before) / spans) * 1e6, (after - before) / seconds];
  return { spansPerSecond: perSecond * SPANS, price, cores, peakMiB };
}

/** Waits until all workers are ready, because connections go only to ready ones. */
async function start(url: string, load: Load, workers: number): Promise<Contender> {
  const readiness = `127.0.0.1:${await freePort()}`;
  const settings = [...load.settings, `extensions.health_check.endpoint=${readiness}`];
  const daemon = await startDaemon({ url }, settings, { workers });
  while ((await fetch(`http://${readiness}/`).catch(() => null))?.status !== 200) await pause(POLL_MS);
  return { workers, daemon, turns: [] };
}

async function compare(load: Load, counts: readonly number[], rounds: number, measure: Measure): Promise<void> {
  const database = await BenchDatabase.open();
  const contenders: Contender[] = [];
  try {
    for (const workers of counts) contenders.push(await start(database.url, load, workers));
    for (const each of contenders) await turnOf(each, load, { ...measure, milliseconds: WARM_UP_MS });
    for (let round = 0; round < rounds; round++) {
      const order = round % 2 === 0 ? contenders : [...contenders].reverse();
      for (const each of order) each.turns.push(await turnOf(each, load, measure));
    }
    const [first] = contenders;
    for (const { workers, turns } of contenders) print(load.name, workers, turns, first?.turns ?? []);
  } finally {
    for (const { daemon } of contenders) await daemon.stop();
    await database.close();
  }
}

const COLUMNS = ['load', 'workers', 'spans / s', 'beside one', 'CPU s a million spans', 'cores used', 'MiB'];

/** Ratios are medians of the ratios of each round. */
function print(name: string, workers: number, turns: readonly Turn[], alone: readonly Turn[]): void {
  const of = (pick: (turn: Turn) => number): number => median(turns.map(pick));
  const ratio = median(turns.map((turn, round) => turn.spansPerSecond / (alone[round]?.spansPerSecond ?? Number.NaN)));
  printRow([
    name,
    String(workers),
    grouped(of(({ spansPerSecond }) => spansPerSecond)),
    `${ratio.toFixed(2)}×`,
    of(({ price }) => price).toFixed(1),
    of(({ cores }) => cores).toFixed(2),
    of(({ peakMiB }) => peakMiB).toFixed(0),
  ]);
}

async function main(): Promise<void> {
  const { values } = readArguments(import.meta.url, {
    options: {
      workers: { type: 'string', default: '1,2' },
      seconds: { type: 'string', default: '4' },
      rounds: { type: 'string', default: '7' },
      connections: { type: 'string', default: '32' },
    },
  });
  const measure = { milliseconds: Number(values.seconds) * 1000, connections: Number(values.connections) };
  printHead(COLUMNS);
  for (const load of LOADS) await compare(load, values.workers.split(',').map(Number), Number(values.rounds), measure);
}

await main();
