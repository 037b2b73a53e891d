/**
 * The cost of each stage of a request in one process: hash, gunzip, the index, each processor, the claim and the rows.
 * Without HTTP and sinks, and with warm caches, so the shares are more meaningful than the sums.
 *
 *   node dist/bench/stages.js [--rounds 40] [--body genai|micro] [--off]      --off: content capture off
 */
import { processAtOnce } from '../test/support/process-at-once.ts';
import { hash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readArguments } from './arguments.ts';
import type { Processor } from '../src/component/processor.ts';
import { COMPONENTS } from '../src/components.ts';
import { loadConfig } from '../src/config/load.ts';
import type { Batch } from '../src/pdata/batch.ts';
import { ChunkPool } from '../src/pdata/chunk-pool.ts';
import { Context } from '../src/pdata/context.ts';
import { HEADER_PROJECT_LENGTH, HEADER_PROJECT_OFFSET, INPUT_CAPACITY } from '../src/pdata/layout.ts';
import { encodeRows } from '../src/pdata/encode-rows.ts';
import { Intake } from '../src/pdata/index-body.ts';
import type { Named } from '../src/service/pipeline-parts.ts';
import { Service } from '../src/service/service.ts';
import { finish } from '../src/pdata/steps.ts';
import { makeClaim } from '../src/service/settle/claim.ts';
import { Registry } from '../src/service/telemetry/registry.ts';
import { makeCorpus } from './corpus.ts';
import { QUIET } from './database.ts';
import { median, percent, quantile } from '../src/cli/bench/figures.ts';
import { printHead, printRow } from './table.ts';

const WARM_UP_ROUNDS = 10;
const BEST = 0.1;
const KEY = 'benchmark-key-0123456789';

const CONFIG = (off: boolean): string => `
receivers: { otlp: { protocols: { http: { endpoint: "127.0.0.1:0" } } } }
processors:
  auth: { keys: [ { key: ${KEY}, project: bench } ] }
  environment: {}
  privacy: { capture_content: ${!off} }
  normalization: {}
  pricing: {}
exporters: { file: { path: ./unused.ndjson } }
service:
  ledger: memory
  telemetry: { metrics: { enabled: false } }
  pipelines:
    traces: { receivers: [otlp], processors: [auth, environment, privacy, normalization, pricing], exporters: [file] }
`;

/** The started processors of a pipeline. The later stages are called directly here. */
async function processorsOf(folder: string, off: boolean): Promise<readonly Named<Processor>[]> {
  const path = join(folder, 'stages.yaml');
  await writeFile(path, CONFIG(off));
  const config = await loadConfig({
    files: [path],
    definitions: COMPONENTS,
    workingDirectory: folder,
    environment: {},
  });
  let processors: readonly Named<Processor>[] = [];
  new Service(config, {
    logger: QUIET,
    loggerFor: () => QUIET,
    meter: new Registry(),
    makePipeline: (parts) => {
      processors = parts.processors;
      return { signal: parts.signal, admit: () => Promise.reject(new Error('not used')) };
    },
    now: Date.now,
    process,
    resolvePath: (name) => join(folder, name),
    fatal: (error) => {
      throw error;
    },
  });
  for (const { component } of processors) await component.start?.();
  return processors;
}

class Stages {
  readonly #intake = new Intake();
  readonly #pool = new ChunkPool();
  readonly #processors: readonly Named<Processor>[];
  readonly #samples = new Map<string, number[]>();

  constructor(processors: readonly Named<Processor>[]) {
    this.#processors = processors;
    for (const { component } of processors) component.prepare?.(this.#intake.tables);
  }

  async request(raw: Buffer): Promise<void> {
    const info = { signal: 'traces', transport: 'http', authorization: `Bearer ${KEY}` } as const;
    const context = new Context(info);
    for (const { component } of this.#processors) await component.admit?.(info, context);
    const digest = this.#timed('hash', () => hash('sha256', raw, 'buffer'));
    // As in the pipeline for bodies of this size: expanded into the memory in which they are indexed.
    const body = this.#timed('gunzip', () => finish(this.#intake.expandInSteps(raw, INPUT_CAPACITY)));
    const batch = this.#timed('index', () => this.#intake.index('traces', 'protobuf', body, context));
    for (const { id, component } of this.#processors) {
      this.#timed(id, () => processAtOnce(component, batch));
    }
    this.#timed('claim', () => finish(makeClaim(batch, digest)));
    stampProject(batch);
    this.#timed('rows, NDJSON', () => encodeRows(batch, 'ndjson', this.#pool)).release();
    this.#timed('rows, COPY', () => encodeRows(batch, 'copy', this.#pool)).release();
  }

  forget(): void {
    this.#samples.clear();
  }

  /** Medians and the best tenth, in microseconds. */
  figures(): readonly { readonly name: string; readonly middle: number; readonly best: number }[] {
    return [...this.#samples].map(([name, samples]) => ({
      name,
      middle: median(samples),
      best: quantile(samples, BEST),
    }));
  }

  #timed<T>(name: string, work: () => T): T {
    const started = performance.now();
    const result = work();
    const elapsed = (performance.now() - started) * 1000;
    const samples = this.#samples.get(name);
    if (samples === undefined) this.#samples.set(name, [elapsed]);
    else samples.push(elapsed);
    return result;
  }
}

function stampProject(batch: Batch): void {
  const project = batch.tables.scratch('bench');
  if (project === null) throw new Error('scratch is full');
  batch.tables.setHeader(HEADER_PROJECT_OFFSET, project.offset);
  batch.tables.setHeader(HEADER_PROJECT_LENGTH, project.length);
}

async function main(): Promise<void> {
  const { values } = readArguments(import.meta.url, {
    options: {
      rounds: { type: 'string', default: '40' },
      body: { type: 'string', default: 'genai' },
      off: { type: 'boolean', default: false },
    },
  });
  const folder = await mkdtemp(join(tmpdir(), 'sluice-stages-'));
  const stages = new Stages(await processorsOf(folder, values.off));
  const corpus = makeCorpus();
  const bodies = values.body === 'micro' ? corpus.micro : corpus.genai;
  for (let round = -WARM_UP_ROUNDS; round < Number(values.rounds); round++) {
    if (round === 0) stages.forget();
    for (const { pbGz } of bodies) await stages.request(pbGz);
  }
  await rm(folder, { recursive: true, force: true });
  const figures = stages.figures();
  // A request is written in one form: the shares are those of a file's.
  const whole = figures.reduce((sum, { name, best }) => sum + (name === 'rows, COPY' ? 0 : best), 0);
  const records = bodies[0]?.records ?? 1;
  console.log(`${values.body}: ${records} spans a request; microseconds a request\n`);
  printHead(['stage', 'median', 'best tenth', 'share', 'ns a span'], [0]);
  for (const { name, middle, best } of figures) {
    printRow([name, middle.toFixed(0), best.toFixed(0), percent(best / whole), ((best * 1000) / records).toFixed(0)]);
  }
  const added = figures.reduce((sum, { name, best }) => sum + (ADDED.includes(name) ? best : 0), 0);
  console.log(`\nprivacy, normalization and pricing add ${percent(added / (whole - added))} to the rest`);
}
const ADDED = ['privacy', 'normalization', 'pricing'];

await main();
