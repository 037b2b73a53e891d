/**
 * Sluice beside the stock OpenTelemetry Collector, and beside an AI back end: the same bodies, the same client, the same run, taking
 * turns. The server has one core, the client the other. What is compared first is the server's processor time, which neighbours
 * disturb least.
 *
 *   node dist/bench/side-by-side.js [--seconds 2.5] [--rounds 3] [--rate 20] [--only pipelines|backends]
 *
 * Linux, two cores; Go and Python for the first run, which builds the one and installs the other. What can not be had is left out.
 * Takes about seven minutes; see docs/performance.md.
 */
import { spawnSync } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readArguments } from './arguments.ts';
import { type Body, makeCorpus } from './corpus.ts';
import { grouped, median, quantile } from './figures.ts';
import type { Load, Run } from './side-by-side/client.ts';
import { COLLECTORS, startCollector } from './side-by-side/collector.ts';
import type { Contender } from './side-by-side/contender.ts';
import { pinClient } from './side-by-side/server-process.ts';
import { startPhoenix } from './side-by-side/phoenix.ts';
import { startSluiceOverFile, startSluiceOverPostgres } from './side-by-side/sluice.ts';

/** Of the server's processor time. */
const WARM_UP_SECONDS = 2.5;
/** Requests for Sluice and for Phoenix; half as many before to warm up. */
const BACKEND_BATCHES = [128, 16];

interface Settings {
  /** Of the server's processor time, a turn. */
  readonly seconds: number;
  readonly rounds: number;
  readonly perSecond: number;
}

/** Of one contender under one load. */
interface Figures {
  readonly cpuPerMillion: number[];
  readonly spansPerSecond: number[];
  readonly saturatedMs: number[];
  readonly pacedMs: number[];
}

function loads(): readonly Load[] {
  const corpus = makeCorpus();
  const load = (name: string, bodies: readonly Body[]): Load => ({
    name,
    path: '/v1/traces',
    bodies: bodies.map(({ pbGz }) => pbGz),
    spans: bodies[0]?.records ?? 0,
  });
  return [load('model calls with content', corpus.genai), load('small spans', corpus.micro)];
}

/** Processor time and throughput of one turn, all that was acknowledged worked off. */
async function turn(contender: Contender, load: Load, seconds: number): Promise<Run & { cpuSeconds: number }> {
  const before = contender.server.usage();
  const run = await contender.client.saturate(load, contender.server.hasWorked(seconds));
  await contender.drain(run.spans);
  return { ...run, cpuSeconds: contender.server.usage().cpuSeconds - before.cpuSeconds };
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
      const warm = await contender.client.saturate(load, contender.server.hasWorked(WARM_UP_SECONDS));
      this.#note(contender, warm);
      await contender.drain(warm.spans);
    }
    for (let round = 0; round < rounds; round++) {
      for (const [contender, found] of figures) {
        const run = await turn(contender, load, seconds);
        this.#note(contender, run);
        found.cpuPerMillion.push((run.cpuSeconds / run.spans) * 1e6);
        found.spansPerSecond.push(run.spans / run.seconds);
        found.saturatedMs.push(...run.latenciesMs);
        const paced = await contender.client.pace(load, { perSecond, milliseconds: seconds * 1000 });
        this.#note(contender, paced);
        found.pacedMs.push(...paced.latenciesMs);
        await contender.drain(paced.spans);
      }
    }
    print(load, figures);
  }

  /** Whoever loses spans has not done the work. */
  async verify(): Promise<void> {
    console.log('');
    for (const contender of this.#contenders) {
      const [sent, kept] = [this.#sent.get(contender) ?? 0, await contender.kept()];
      const verdict = sent === kept ? 'all of them kept' : `KEPT ${grouped(kept)}`;
      const { peakMiB } = contender.server.usage();
      console.log(
        `${contender.name}: ${grouped(sent)} spans acknowledged, ${verdict}; at most ${grouped(peakMiB)} MiB`,
      );
    }
  }

  #note(contender: Contender, { spans }: Run): void {
    this.#sent.set(contender, (this.#sent.get(contender) ?? 0) + spans);
  }
}

/** Whoever loses spans has not done the work. */
async function verify(acknowledged: ReadonlyMap<Contender, number>): Promise<void> {
  console.log('');
  for (const [contender, sent] of acknowledged) {
    const kept = await contender.kept();
    const verdict = sent === kept ? 'all of them kept' : `KEPT ${grouped(kept)}`;
    const { peakMiB } = contender.server.usage();
    console.log(`${contender.name}: ${grouped(sent)} spans acknowledged, ${verdict}; at most ${grouped(peakMiB)} MiB`);
  }
}

const milliseconds = (times: readonly number[]): string =>
  times.length === 0 ? '–' : `${quantile(times, 0.99).toFixed(0)} ms`;

const COLUMNS = ['', 'CPU s / M spans', 'ratio', 'spans / s / core', 'spans / s', 'p99 busy', 'p99 paced', '200 means'];

function print(load: Load, figures: ReadonlyMap<Contender, Figures>): void {
  const bytes = load.bodies.reduce((sum, body) => sum + body.length, 0) / load.bodies.length;
  console.log(`\n${load.name}: ${load.spans} spans a request, ${grouped(bytes / 1024)} KiB of gzip\n`);
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
  console.log(`| ${COLUMNS.join(' | ')} |`);
  console.log(
    `|${COLUMNS.map((_, index) => (index === 0 || index === COLUMNS.length - 1 ? '---' : '---:')).join('|')}|`,
  );
  for (const row of rows) console.log(`| ${row.join(' | ')} |`);
}

/** What of these can be had is on this machine already, or is fetched once. */
function provide(script: string): string | undefined {
  const path = fileURLToPath(new URL(`../../scripts/${script}`, import.meta.url));
  const { status, stdout } = spawnSync(process.execPath, [path], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return status === 0 ? stdout.trim() : undefined;
}

async function inFolder(name: string, work: (folder: string, contenders: Contender[]) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), `sluice-${name}-`));
  // The embedded database runs as a user of its own where this runs as root.
  await chmod(folder, 0o755);
  const contenders: Contender[] = [];
  try {
    await work(folder, contenders);
  } finally {
    for (const { client, server } of contenders) {
      await client.close();
      await server.stop();
    }
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Pipelines: Sluice over a file beside the Collector over a file. */
function comparePipelines(collector: string, settings: Settings): Promise<void> {
  return inFolder('pipelines', async (folder, contenders) => {
    contenders.push(await startSluiceOverFile(folder));
    for (const shape of COLLECTORS) contenders.push(await startCollector(collector, shape, folder));
    const comparison = new Comparison(contenders, settings);
    for (const load of loads()) await comparison.measure(load);
    await comparison.verify();
  });
}

/** Every body is sent once, since a span that comes twice is stored once. */
function onceLoad(seed: number, batches: number): Load {
  const bodies = makeCorpus(seed, batches).genai;
  return {
    name: 'model calls with content, into a database',
    path: '/v1/traces',
    bodies: bodies.map(({ pbGz }) => pbGz),
    spans: bodies[0]?.records ?? 0,
  };
}

/** Back ends, each over a database of its own. The slower one gets the first of the same bodies, or it would take an hour. */
function compareBackends(phoenix: string): Promise<void> {
  return inFolder('backends', async (folder, contenders) => {
    // One by one: what has started is stopped even when the next does not start.
    contenders.push(await startSluiceOverPostgres(folder));
    contenders.push(await startPhoenix(phoenix, folder));
    const figures = new Map<Contender, Figures>();
    const acknowledged = new Map<Contender, number>();
    for (const [index, contender] of contenders.entries()) {
      const batches = BACKEND_BATCHES[index] ?? 0;
      const warm = await contender.client.once(onceLoad(2, batches / 2));
      await contender.drain(warm.spans);
      const before = contender.server.usage();
      const started = performance.now();
      const run = await contender.client.once(onceLoad(1, batches));
      await contender.drain(warm.spans + run.spans);
      const cpuSeconds = contender.server.usage().cpuSeconds - before.cpuSeconds;
      const seconds = (performance.now() - started) / 1000;
      figures.set(contender, {
        cpuPerMillion: [(cpuSeconds / run.spans) * 1e6],
        spansPerSecond: [run.spans / seconds],
        saturatedMs: [...run.latenciesMs],
        pacedMs: [],
      });
      acknowledged.set(contender, warm.spans + run.spans);
    }
    print(onceLoad(1, 1), figures);
    await verify(acknowledged);
  });
}

async function main(): Promise<void> {
  const { values } = readArguments(import.meta.url, {
    options: {
      seconds: { type: 'string', default: '2.5' },
      rounds: { type: 'string', default: '3' },
      rate: { type: 'string', default: '20' },
      only: { type: 'string', default: '' },
    },
  });
  const settings = {
    seconds: Number(values.seconds),
    rounds: Number(values.rounds),
    perSecond: Number(values.rate),
  };
  // Before the clock: what is built or installed must not run beside what is measured.
  const collector = values.only === 'backends' ? undefined : provide('collector.js');
  const phoenix = values.only === 'pipelines' ? undefined : provide('phoenix.js');
  const [model] = cpus();
  console.log(`${model?.model}, Node.js ${process.version}, ${pinClient() ? 'a core each' : 'NOT PINNED'}`);
  if (collector !== undefined) await comparePipelines(collector, settings);
  if (phoenix !== undefined) await compareBackends(phoenix);
}

await main();
