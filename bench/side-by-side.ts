/**
 * Sluice beside the stock OpenTelemetry Collector: the same bodies, the same client, the same run, taking turns. The server has one
 * core, the client the other. What is compared first is the server's processor time, which neighbours disturb least.
 *
 *   node dist/bench/side-by-side.js [--seconds 3] [--rounds 3] [--rate 20]
 *
 * Linux, two cores, and Go for the first run, which builds the Collector. Takes about six minutes; see docs/performance.md.
 */
import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { type Body, makeCorpus } from './corpus.ts';
import { grouped, median, quantile } from './figures.ts';
import type { Load, Run } from './side-by-side/client.ts';
import { COLLECTORS, startCollector } from './side-by-side/collector.ts';
import type { Contender } from './side-by-side/contender.ts';
import { pinClient } from './side-by-side/server-process.ts';
import { startSluice } from './side-by-side/sluice.ts';

const BUILD = fileURLToPath(new URL('../../scripts/collector.js', import.meta.url));
const WARM_UP_MS = 2500;

interface Settings {
  readonly milliseconds: number;
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
async function turn(contender: Contender, load: Load, milliseconds: number): Promise<Run & { cpuSeconds: number }> {
  const before = contender.server.usage();
  const run = await contender.client.saturate(load, milliseconds);
  await contender.drain();
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
    const { milliseconds, rounds, perSecond } = this.#settings;
    const figures = new Map<Contender, Figures>();
    for (const contender of this.#contenders) {
      figures.set(contender, { cpuPerMillion: [], spansPerSecond: [], saturatedMs: [], pacedMs: [] });
      this.#note(contender, await contender.client.saturate(load, WARM_UP_MS));
      await contender.drain();
    }
    for (let round = 0; round < rounds; round++) {
      for (const [contender, found] of figures) {
        const run = await turn(contender, load, milliseconds);
        this.#note(contender, run);
        found.cpuPerMillion.push((run.cpuSeconds / run.spans) * 1e6);
        found.spansPerSecond.push(run.spans / run.seconds);
        found.saturatedMs.push(...run.latenciesMs);
        const paced = await contender.client.pace(load, { perSecond, milliseconds });
        this.#note(contender, paced);
        found.pacedMs.push(...paced.latenciesMs);
        await contender.drain();
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
      `${quantile(found.saturatedMs, 0.99).toFixed(0)} ms`,
      `${quantile(found.pacedMs, 0.99).toFixed(0)} ms`,
      contender.acknowledges,
    ];
  });
  console.log(`| ${COLUMNS.join(' | ')} |`);
  console.log(
    `|${COLUMNS.map((_, index) => (index === 0 || index === COLUMNS.length - 1 ? '---' : '---:')).join('|')}|`,
  );
  for (const row of rows) console.log(`| ${row.join(' | ')} |`);
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '3' },
      rounds: { type: 'string', default: '3' },
      rate: { type: 'string', default: '20' },
    },
  });
  const settings = {
    milliseconds: Number(values.seconds) * 1000,
    rounds: Number(values.rounds),
    perSecond: Number(values.rate),
  };
  const executable = execFileSync(process.execPath, [BUILD], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const folder = await mkdtemp(join(tmpdir(), 'sluice-side-by-side-'));
  const contenders: Contender[] = [];
  try {
    const bodies = loads();
    console.log(`${cpus()[0]?.model}, Node.js ${process.version}, ${pinClient() ? 'a core each' : 'NOT PINNED'}`);
    contenders.push(await startSluice(folder));
    for (const shape of COLLECTORS) contenders.push(await startCollector(executable.trim(), shape, folder));
    const comparison = new Comparison(contenders, settings);
    for (const load of bodies) await comparison.measure(load);
    await comparison.verify();
  } finally {
    for (const { client, server } of contenders) {
      await client.close();
      await server.stop();
    }
    await rm(folder, { recursive: true, force: true });
  }
}

await main();
