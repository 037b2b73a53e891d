/**
 * Sluice compared with the stock OpenTelemetry Collector and with AI back ends: the same bodies, the same client,
 * alternating in the same run. The server has one core, the client the other. The main figure is the server's processor
 * time, which other load affects least.
 *
 *   node dist/bench/side-by-side.js [--seconds 2.5] [--rounds 3] [--rate 20] [--only pipelines|backends] [--rotated]
 *
 * Where Debian's `libeatmydata1` is installed, Sluice also runs without fsync, as the Collector does.
 * With `--rotated` the files of the pipelines are rotated and old ones removed, as in a long run. Their spans are then
 * not counted.
 *
 * Linux, two cores; Go and Python for the first run, which builds the one and installs the other. Unavailable
 * contenders are omitted. Takes about ten minutes; see docs/performance.md.
 */
import { cpus } from 'node:os';
import { readArguments } from './arguments.ts';
import type { Outcome } from '../src/cli/bench/client.ts';
import { type Body, makeCorpus } from './corpus.ts';
import { grouped, median, quantile } from '../src/cli/bench/figures.ts';
import { StampedRequests } from './requests.ts';
import { COLLECTORS, startCollector } from './side-by-side/collector.ts';
import type { Contender } from './side-by-side/contender.ts';
import { inFolder, provide } from './side-by-side/contenders.ts';
import { pinClient } from './side-by-side/server-process.ts';
import { startMlflow } from './side-by-side/mlflow.ts';
import { startPhoenix } from './side-by-side/phoenix.ts';
import { canBeUnsynced, startSluiceOverFile, startSluiceOverPostgres } from './side-by-side/sluice.ts';
import { assertStored } from './stored-outcomes.ts';
import { printHead, printRow } from './table.ts';

/** Seconds of the server's processor time, in which a runtime compiles the code. */
const WARM_UP_SECONDS = 10;
/** Requests for Sluice and for the slower back ends, after half as many for warm-up. */
const SLUICE_BATCHES = 128;
const OTHER_BATCHES = 16;

/** Connections of the closed loop. */
const CONNECTIONS = 16;

interface Load {
  readonly name: string;
  readonly requests: StampedRequests;
  /** Spans of each request. */
  readonly spans: number;
  /** Compressed bytes of a request, on average. */
  readonly bytes: number;
}

/** The acknowledged work of one client. */
interface Run {
  readonly spans: number;
  readonly seconds: number;
  readonly latenciesMs: readonly number[];
}

interface Settings {
  /** Seconds of the server's processor time in one turn. */
  readonly seconds: number;
  readonly rounds: number;
  readonly perSecond: number;
}

/** The figures of one contender under one load. */
interface Figures {
  readonly cpuPerMillion: number[];
  readonly spansPerSecond: number[];
  readonly saturatedMs: number[];
  readonly pacedMs: number[];
}

function makeLoad(name: string, bodies: readonly Body[]): Load {
  return {
    name,
    requests: new StampedRequests(bodies.map(({ pbGz }) => pbGz)),
    spans: bodies[0]?.records ?? 0,
    bytes: bodies.reduce((sum, { pbGz }) => sum + pbGz.length, 0) / bodies.length,
  };
}

function loads(): readonly Load[] {
  const corpus = makeCorpus();
  return [makeLoad('model calls with content', corpus.genai), makeLoad('small spans', corpus.micro)];
}

async function run(load: Load, send: () => Promise<readonly Outcome[]>): Promise<Run> {
  const started = performance.now();
  const outcomes = await send();
  assertStored(outcomes);
  return {
    spans: outcomes.length * load.spans,
    seconds: (performance.now() - started) / 1000,
    latenciesMs: outcomes.map(({ ms }) => ms),
  };
}

function saturate({ client }: Contender, load: Load, isEnough: () => boolean): Promise<Run> {
  return run(load, () => client.closedLoop(load.requests, CONNECTIONS, isEnough));
}

/** Sends a number of requests in a closed loop. */
function sendAll(contender: Contender, load: Load, count: number): Promise<Run> {
  let begun = 0;
  return saturate(contender, load, () => begun++ >= count);
}

/** Processor time and throughput of one turn, after all acknowledged work is done. */
async function turn(contender: Contender, load: Load, seconds: number): Promise<Run & { cpuSeconds: number }> {
  const before = contender.server.usage();
  const busy = await saturate(contender, load, contender.server.hasWorked(seconds));
  await contender.drain(busy.spans);
  return { ...busy, cpuSeconds: contender.server.usage().cpuSeconds - before.cpuSeconds };
}

class Comparison {
  readonly #settings: Settings;
  readonly #contenders: readonly Contender[];
  readonly #sent = new Map<Contender, number>();

  constructor(contenders: readonly Contender[], settings: Settings) {
    this.#contenders = contenders;
    this.#settings = settings;
  }

  async measure(load: Load): Promise<void> {
    const { seconds, rounds, perSecond } = this.#settings;
    const figures = new Map<Contender, Figures>();
    for (const contender of this.#contenders) {
      figures.set(contender, { cpuPerMillion: [], spansPerSecond: [], saturatedMs: [], pacedMs: [] });
      const warm = await saturate(contender, load, contender.server.hasWorked(WARM_UP_SECONDS));
      this.#note(contender, warm);
      await contender.drain(warm.spans);
    }
    for (let round = 0; round < rounds; round++) {
      for (const [contender, found] of figures) {
        const busy = await turn(contender, load, seconds);
        this.#note(contender, busy);
        found.cpuPerMillion.push((busy.cpuSeconds / busy.spans) * 1e6);
        found.spansPerSecond.push(busy.spans / busy.seconds);
        found.saturatedMs.push(...busy.latenciesMs);
        const rate = { perSecond, milliseconds: seconds * 1000, isEven: true };
        const paced = await run(load, () => contender.client.atRate(load.requests, rate));
        this.#note(contender, paced);
        found.pacedMs.push(...paced.latenciesMs);
        await contender.drain(paced.spans);
      }
    }
    print(load, figures);
  }

  verify(): Promise<void> {
    return verify(this.#sent);
  }

  #note(contender: Contender, { spans }: Run): void {
    this.#sent.set(contender, (this.#sent.get(contender) ?? 0) + spans);
  }
}

/** Fails when a contender has lost spans. */
async function verify(acknowledged: ReadonlyMap<Contender, number>): Promise<void> {
  console.log('');
  for (const [contender, sent] of acknowledged) {
    const kept = await contender.kept();
    const verdict = kept === null ? 'not counted' : sent === kept ? 'all of them kept' : `KEPT ${grouped(kept)}`;
    const { peakMiB } = contender.server.usage();
    console.log(`${contender.name}: ${grouped(sent)} spans acknowledged, ${verdict}; at most ${grouped(peakMiB)} MiB`);
  }
}

const milliseconds = (times: readonly number[]): string =>
  times.length === 0 ? '–' : `${quantile(times, 0.99).toFixed(0)} ms`;

const COLUMNS = ['', 'CPU s / M spans', 'ratio', 'spans / s / core', 'spans / s', 'p99 busy', 'p99 paced', '200 means'];

function print(load: Load, figures: ReadonlyMap<Contender, Figures>): void {
  console.log(`\n${load.name}: ${load.spans} spans a request, ${grouped(load.bytes / 1024)} KiB of gzip\n`);
  const first = median([...figures.values()][0]?.cpuPerMillion ?? []);
  const rows = [...figures].map(([contender, found]) => {
    const cpu = median(found.cpuPerMillion);
    return [
      contender.name,
      cpu.toFixed(1),
      `${(cpu / first).toFixed(2)}×`,
      grouped(1e6 / cpu),
      grouped(median(found.spansPerSecond)),
      milliseconds(found.saturatedMs),
      milliseconds(found.pacedMs),
      contender.acknowledges,
    ];
  });
  printHead(COLUMNS, [0, COLUMNS.length - 1]);
  for (const row of rows) printRow(row);
}

/** Pipelines: Sluice and the Collector, both with a file. */
function comparePipelines(collector: string, settings: Settings, isRotated: boolean): Promise<void> {
  return inFolder<Contender>('pipelines', async (folder, contenders) => {
    contenders.push(await startSluiceOverFile({ isSynced: true, isRotated }));
    if (canBeUnsynced()) contenders.push(await startSluiceOverFile({ isSynced: false, isRotated }));
    for (const shape of COLLECTORS) contenders.push(await startCollector(collector, shape, folder, isRotated));
    const comparison = new Comparison(contenders, settings);
    for (const load of loads()) await comparison.measure(load);
    await comparison.verify();
  });
}

/** Every body is sent once, because a repeated span is stored once. */
function onceLoad(seed: number, batches: number): Load {
  return makeLoad('model calls with content, into a database', makeCorpus(seed, batches).genai);
}

/** Starts a back end in a folder. */
type Start = (folder: string) => Promise<Contender>;

/**
 * Back ends, each with its own database. The slower ones get fewer of the same bodies, because all would take an hour.
 * Each is stopped before the next is started.
 */
async function compareBackends(others: readonly Start[]): Promise<void> {
  const figures = new Map<Contender, Figures>();
  for (const start of [startSluiceOverPostgres, ...others]) {
    const batches = start === startSluiceOverPostgres ? SLUICE_BATCHES : OTHER_BATCHES;
    await inFolder<Contender>('backends', async (folder, contenders) => {
      const contender = await start(folder);
      contenders.push(contender);
      figures.set(contender, await measureBackend(contender, batches));
    });
  }
  print(onceLoad(1, 1), figures);
}

async function measureBackend(contender: Contender, batches: number): Promise<Figures> {
  const warm = await sendAll(contender, onceLoad(2, batches / 2), batches / 2);
  await contender.drain(warm.spans);
  const before = contender.server.usage();
  const started = performance.now();
  const all = await sendAll(contender, onceLoad(1, batches), batches);
  await contender.drain(warm.spans + all.spans);
  const cpuSeconds = contender.server.usage().cpuSeconds - before.cpuSeconds;
  const seconds = (performance.now() - started) / 1000;
  await verify(new Map([[contender, warm.spans + all.spans]]));
  return {
    cpuPerMillion: [(cpuSeconds / all.spans) * 1e6],
    spansPerSecond: [all.spans / seconds],
    saturatedMs: [...all.latenciesMs],
    pacedMs: [],
  };
}

async function main(): Promise<void> {
  const { values } = readArguments(import.meta.url, {
    options: {
      seconds: { type: 'string', default: '2.5' },
      rounds: { type: 'string', default: '3' },
      rate: { type: 'string', default: '20' },
      only: { type: 'string', default: '' },
      rotated: { type: 'boolean', default: false },
    },
  });
  const settings = {
    seconds: Number(values.seconds),
    rounds: Number(values.rounds),
    perSecond: Number(values.rate),
  };
  // Before the measurement, because builds and installations must not run during it.
  const collector = values.only === 'backends' ? undefined : provide('collector.js');
  const phoenix = values.only === 'pipelines' ? undefined : provide('phoenix.js');
  const mlflow = values.only === 'pipelines' ? undefined : provide('mlflow.js');
  const [model] = cpus();
  console.log(`${model?.model}, Node.js ${process.version}, ${pinClient() ? 'a core each' : 'NOT PINNED'}`);
  if (collector !== undefined) await comparePipelines(collector, settings, values.rotated);
  const others: Start[] = [];
  if (phoenix !== undefined) others.push((folder) => startPhoenix(phoenix, folder));
  if (mlflow !== undefined) others.push((folder) => startMlflow(mlflow, folder));
  if (others.length > 0) await compareBackends(others);
}

await main();
