/**
 * Searches for the bodies with the highest cost. Options:
 *   --signal traces|logs|metrics   --encoding protobuf|json   --minutes N (0: only the seeds)   --seed N   --save
 * Exits with 1 when a body breaks a bound.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { MAX_ROW_FACTOR } from '../../../src/service/row-budget.ts';
import { KEY } from '../../support/daemon.ts';
import { Random } from '../../support/generators-random.ts';
import { bodyOf, type EncodingName, type SignalName } from './body.ts';
import { type Genome, mutated, randomGenome } from './genome.ts';
import type { Cost } from './subject.ts';

/** One request may block the event loop for this long, whatever it holds. */
const MAX_BLOCK_MS = 100;
/** Resident memory that one request may add. */
const MAX_MEMORY_BYTES = 256 * 1024 * 1024;
const SEARCH_BYTES = 128 * 1024;
const LARGEST_BYTES = 16 * 1024 * 1024;
const LARGEST_RAW_BYTES = 4 * 1024 * 1024;
const KEPT = 6;
const REPEATS = 2;
const OBJECTIVES = ['time', 'block', 'rows', 'memory'] as const;
type Objective = (typeof OBJECTIVES)[number];

const { values } = parseArgs({
  options: {
    signal: { type: 'string', default: 'traces' },
    encoding: { type: 'string', default: 'json' },
    minutes: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
    save: { type: 'boolean', default: false },
  },
});
const signal = values.signal as SignalName;
const encoding = values.encoding as EncodingName;
const random = new Random(Number(values.seed));
const seedsPath = fileURLToPath(
  new URL(`../../../../test/campaigns/hostile/seeds/${signal}-${encoding}.json`, import.meta.url),
);

const subject = fork(fileURLToPath(new URL('./subject.js', import.meta.url)), {
  stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
});
const [{ url }] = (await once(subject, 'message')) as [{ url: string }];
subject.once('exit', (code, name) => {
  console.error(`the service ended with ${code ?? name}`);
  process.exit(1);
});

async function ask<T>(question: string): Promise<T> {
  const answer = once(subject, 'message');
  subject.send(question);
  return (await answer)[0] as T;
}

interface Measured {
  readonly genome: Genome;
  readonly status: number;
  readonly bytes: number;
  readonly cost: Cost;
}

let salt = random.below(2 ** 40);

/** Null: it does not fit a string. */
function makeBody(genome: Genome, size: number): Buffer | null {
  try {
    return bodyOf(genome, { signal, encoding, size, salt: salt++ });
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

async function measure(genome: Genome, size: number): Promise<Measured | null> {
  const body = makeBody(genome, size);
  if (body === null || body.length > LARGEST_BYTES) return null;
  const packed = body.length > 65536 ? gzipSync(body, { level: 1 }) : null;
  const sent = packed ?? body;
  if (sent.length > LARGEST_RAW_BYTES) return null;
  await ask('begin');
  const response = await fetch(`${url}/v1/${signal}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${KEY}`,
      'content-type': encoding === 'json' ? 'application/json' : 'application/x-protobuf',
      ...(packed === null ? {} : { 'content-encoding': 'gzip' }),
    },
    body: new Uint8Array(sent),
  });
  await response.arrayBuffer();
  return { genome, status: response.status, bytes: body.length, cost: await ask<Cost>('end') };
}

/** The shortest block of three: a long one that does not repeat is the machine's. */
async function measureLargest(genome: Genome): Promise<Measured | null> {
  let best = await measure(genome, LARGEST_BYTES);
  for (let left = REPEATS; left > 0 && best !== null && best.cost.blockMs > MAX_BLOCK_MS; left--) {
    const again = await measure(genome, LARGEST_BYTES);
    if (again !== null && again.cost.blockMs < best.cost.blockMs) best = again;
  }
  return best;
}

const scoreOf = ({ cost, bytes }: Measured, objective: Objective): number => {
  if (objective === 'time') return (cost.cpuMs * 1e6) / bytes;
  if (objective === 'block') return cost.blockMs;
  if (objective === 'rows') return cost.rowBytes / bytes;
  return cost.memoryBytes / bytes;
};

/** The worst for each objective, worst first. */
const worst = new Map<Objective, Measured[]>(OBJECTIVES.map((objective) => [objective, []]));

function keep(measured: Measured): void {
  for (const [objective, list] of worst) {
    list.push(measured);
    list.sort((a, b) => scoreOf(b, objective) - scoreOf(a, objective)).splice(KEPT);
  }
}

const seeds: readonly Genome[] = existsSync(seedsPath) ? JSON.parse(readFileSync(seedsPath, 'utf8')) : [];
let tried = 0;
const accepted = new Map<number, number>();

async function attempt(genome: Genome): Promise<void> {
  const measured = await measure(genome, SEARCH_BYTES);
  if (measured === null) return;
  tried++;
  accepted.set(measured.status, (accepted.get(measured.status) ?? 0) + 1);
  keep(measured);
}

const until = performance.now() + Number(values.minutes) * 60000;
for (const seed of seeds) await attempt(seed);
const isSeeded = tried === seeds.length;
while (performance.now() < until) {
  const list = worst.get(random.pick(OBJECTIVES)) ?? [];
  const parent = list[random.below(list.length)];
  await attempt(parent === undefined || random.below(8) === 0 ? randomGenome(random) : mutated(parent.genome, random));
}

console.log(`${signal}, ${encoding}: ${tried} bodies tried, answers ${JSON.stringify(Object.fromEntries(accepted))}`);
const found = new Set([...worst.values()].flat().map(({ genome }) => genome));
let broken = 0;
const largest: Measured[] = [];
for (const genome of found) {
  const measured = await measureLargest(genome);
  if (measured === null) continue;
  largest.push(measured);
  const { cost, bytes, status } = measured;
  const breaks = [
    cost.blockMs > MAX_BLOCK_MS ? `blocks the event loop for ${cost.blockMs.toFixed(0)} ms` : '',
    cost.memoryBytes > MAX_MEMORY_BYTES ? `takes ${(cost.memoryBytes / 2 ** 20).toFixed(0)} MiB of memory` : '',
    bytes >= 2 ** 20 && cost.rowBytes / bytes > MAX_ROW_FACTOR
      ? `makes ${(cost.rowBytes / bytes).toFixed(1)} bytes of rows a byte`
      : '',
    status === 500 || status === 503 ? `is answered ${status}` : '',
  ].filter((text) => text !== '');
  if (breaks.length === 0) continue;
  broken++;
  console.log(`a body of ${bytes} bytes ${breaks.join(', ')}: ${JSON.stringify(genome)}`);
}
for (const objective of OBJECTIVES) {
  const [top] = largest.sort((a, b) => scoreOf(b, objective) - scoreOf(a, objective));
  if (top === undefined) continue;
  const { cost, bytes, status } = top;
  console.log(
    `worst ${objective.padEnd(6)}: ${status}, ${bytes} bytes, ${cost.cpuMs.toFixed(0)} ms of processor time, block ${cost.blockMs.toFixed(0)} ms, ` +
      `${(cost.rowBytes / bytes).toFixed(1)} row bytes a byte, ${(cost.memoryBytes / 2 ** 20).toFixed(0)} MiB`,
  );
}
if (values.save) {
  const genomes = [
    ...new Set(OBJECTIVES.flatMap((objective) => (worst.get(objective) ?? []).slice(0, 2).map(({ genome }) => genome))),
  ];
  mkdirSync(dirname(seedsPath), { recursive: true });
  writeFileSync(seedsPath, `${JSON.stringify(genomes, null, 1)}\n`);
}
subject.removeAllListeners('exit');
subject.disconnect();
if (!isSeeded) console.log(`! ${seeds.length} seeds are kept, and not all of them could be tried`);
process.exit(broken === 0 && isSeeded ? 0 : 1);
