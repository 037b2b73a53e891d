/**
 * Resident memory of the daemon: after its start, idle, under full load, with large spans, with the largest bodies, and
 * over a long run in which garbage is collected every ten seconds, to show leaks. The full default pipeline into a
 * synced file; the memory of an embedded server is not included.
 *
 *   node dist/bench/memory.js [--minutes 8]
 */
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { readArguments } from './arguments.ts';
import { traceBody } from './bodies.ts';
import { Client } from '../src/cli/bench/client.ts';
import { makeCorpus } from './corpus.ts';
import { type Daemon, KEY, startDaemon } from './daemon.ts';
import { grouped, quantile } from '../src/cli/bench/figures.ts';
import { StampedRequests } from './requests.ts';
import { pinClient } from './side-by-side/server-process.ts';
import { printHead, printRow } from './table.ts';

const CONNECTIONS = 16;
const SETTLE_MS = 3000;
/** An idle daemon returns the memory of its start to the system within this time. */
const IDLE_MS = 30_000;
const LOAD_MS = 15_000;
const SAMPLE_MS = 1000;
const KIB = 1024;
const MIB = 1024 * KIB;
/** The first part of the long run, in which caches fill and code is compiled. */
const WARM_PART = 0.25;
const COLLECT_MS = 10_000;
/** The time from the signal until memory is released. */
const COLLECTED_MS = 500;
const COLLECTING = ['--expose-gc', '--import', new URL('collect-on-signal.js', import.meta.url).href];

function residentMiB(daemon: Daemon): number {
  const status = readFileSync(`/proc/${daemon.server.pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? Number.NaN) / KIB;
}

async function send(daemon: Daemon, bodies: readonly Buffer[], milliseconds: number): Promise<void> {
  const client = new Client(daemon.url, KEY);
  await client.peak(new StampedRequests(bodies), CONNECTIONS, milliseconds);
  await client.close();
}

/** Samples while the load runs. The last one, which ends after the load, does not count. */
async function samplesDuring(load: Promise<void>, sample: () => Promise<number>): Promise<readonly number[]> {
  const samples: number[] = [];
  let isOver = false;
  const end = (): void => {
    isOver = true;
  };
  load.then(end, end);
  while (!isOver) {
    const value = await sample();
    if (!isOver) samples.push(value);
  }
  await load;
  return samples;
}

async function eachSecond(daemon: Daemon): Promise<number> {
  await pause(SAMPLE_MS);
  return residentMiB(daemon);
}

/** Resident memory after a garbage collection. */
async function behindCollection(daemon: Daemon): Promise<number> {
  await pause(COLLECT_MS - COLLECTED_MS);
  process.kill(daemon.server.pid, 'SIGUSR2');
  await pause(COLLECTED_MS);
  return residentMiB(daemon);
}

/** The growth a minute, by least squares, of samples at intervals of `COLLECT_MS`. */
function slope(samples: readonly number[]): number {
  const middle = (samples.length - 1) / 2;
  const mean = samples.reduce((sum, value) => sum + value, 0) / samples.length;
  const [over, under] = samples.reduce<[number, number]>(
    ([sum, squares], value, index) => [sum + (index - middle) * (value - mean), squares + (index - middle) ** 2],
    [0, 0],
  );
  return (over / under) * (60_000 / COLLECT_MS);
}

async function main(): Promise<void> {
  const { values } = readArguments(import.meta.url, { options: { minutes: { type: 'string', default: '8' } } });
  pinClient();
  const genai = makeCorpus().genai.map(({ pbGz }) => pbGz);
  const seeds = [1, 2, 3, 4];
  const loads: readonly (readonly [string, readonly Buffer[]])[] = [
    ['64 model calls a request, gzip', genai],
    [
      '8 spans of 100 KB, gzip',
      seeds.map((seed) => gzipSync(traceBody({ spans: 8, attributes: 8, contentBytes: 100 * KIB }, seed))),
    ],
    [
      'bodies that expand to 16 MiB',
      seeds.map((seed) => gzipSync(traceBody({ spans: 8, attributes: 8, contentBytes: 2 * MIB - 8 * KIB }, seed))),
    ],
  ];
  printHead(['state', 'resident, median', 'most'], [0]);
  await withoutLoad();
  for (const [name, bodies] of loads) {
    const daemon = await startDaemon();
    await pause(SETTLE_MS);
    const samples = await samplesDuring(send(daemon, bodies, LOAD_MS), () => eachSecond(daemon));
    printRow([name, `${grouped(quantile(samples, 0.5))} MiB`, `${grouped(Math.max(...samples))} MiB`]);
    await daemon.stop();
  }
  const minutes = Number(values.minutes);
  if (minutes > 0) await overMinutes(minutes, genai);
}

async function withoutLoad(): Promise<void> {
  const daemon = await startDaemon();
  const started = performance.now();
  for (const [name, after] of [
    ['after the start', SETTLE_MS],
    ['idle', IDLE_MS],
  ] as const) {
    await pause(after - (performance.now() - started));
    const resident = `${grouped(residentMiB(daemon))} MiB`;
    printRow([name, resident, resident]);
  }
  await daemon.stop();
}

async function overMinutes(minutes: number, bodies: readonly Buffer[]): Promise<void> {
  const daemon = await startDaemon('file', [], { nodeArguments: COLLECTING });
  const load = send(daemon, bodies, minutes * 60_000);
  const [samples, collected] = await Promise.all([
    samplesDuring(load, () => eachSecond(daemon)),
    samplesDuring(load, () => behindCollection(daemon)),
  ]);
  const steady = collected.slice(Math.floor(collected.length * WARM_PART));
  console.log(
    `\n${minutes} minutes of full load: ${slope(steady).toFixed(2)} MiB a minute after the first quarter, ` +
      `between ${grouped(Math.min(...steady))} and ${grouped(Math.max(...steady))} MiB behind collections; ` +
      `at most ${grouped(Math.max(...samples))} MiB`,
  );
  await daemon.stop();
}

await main();
