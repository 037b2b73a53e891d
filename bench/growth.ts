/**
 * Whether cost is linear: the processor time of a request by the number of spans and attributes and the length of the
 * content, and the time of a commit by the number of stored rows. Prints the points and writes a plot.
 *
 *   node dist/bench/growth.js [--out docs/growth.svg] [--rows 2000000] [--milliseconds 700]
 */
import { writeFile } from 'node:fs/promises';
import { gzipSync } from 'node:zlib';
import { readArguments } from './arguments.ts';
import { type Shape, traceBody } from './bodies.ts';
import { Client } from '../src/cli/bench/client.ts';
import { type Daemon, KEY, startDaemon } from './daemon.ts';
import { BenchDatabase } from './database.ts';
import { grouped, median, percent } from '../src/cli/bench/figures.ts';
import { lineThrough, type Panel, plot } from './plot.ts';
import { FreshRequests } from '../src/cli/bench/requests.ts';
import { identified, StampedRequests } from './requests.ts';
import { pinClient } from './side-by-side/server-process.ts';

const CONNECTIONS = 4;
const WARM_UP_MS = 3000;
const ROUNDS = 3;
const SPANS = [1, 100, 250, 500, 1000, 1500, 2000];
const ATTRIBUTES = [0, 50, 100, 200, 300, 400, 500];
const CONTENT_KIB = [0, 64, 128, 256, 512, 768, 1024];
/** Fractions of the rows of the full table. */
const FILLED = [0, 0.25, 0.5, 0.75, 1];
const COMMITS = 60;
const COMMITTED: Shape = { spans: 64, attributes: 8, contentBytes: 0 };
const SEEDS = [1, 2, 3, 4];

/** Processor microseconds of the daemon for one request of that shape, the median of a few rounds. */
async function cost(daemon: Daemon, shape: Shape, milliseconds: number): Promise<number> {
  const requests = new StampedRequests(SEEDS.map((seed) => gzipSync(traceBody(shape, seed))));
  const samples: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const client = new Client(daemon.url, KEY);
    const before = daemon.server.usage().cpuSeconds;
    const perSecond = await client.peak(requests, CONNECTIONS, milliseconds);
    const spent = daemon.server.usage().cpuSeconds - before;
    samples.push((spent * 1e6) / (perSecond * (milliseconds / 1000)));
    await client.close();
  }
  return median(samples);
}

async function panel(
  daemon: Daemon,
  milliseconds: number,
  title: string,
  shapes: readonly (readonly [x: number, shape: Shape])[],
): Promise<Panel> {
  const points: [number, number][] = [];
  for (const [x, shape] of shapes) points.push([x, await cost(daemon, shape, milliseconds)]);
  return { title, unit: 'µs of processor time a request', points };
}

/** Milliseconds from a request to its acknowledgement, one at a time, while the table grows. */
async function tablePanel(rows: number): Promise<Panel> {
  const database = await BenchDatabase.open();
  await database.openDays(30);
  const daemon = await startDaemon(database);
  const client = new Client(daemon.url, KEY);
  const requests = new FreshRequests(
    SEEDS.map((seed) => identified(traceBody(COMMITTED, seed))),
    'identity',
  );
  const points: [number, number][] = [];
  let filled = 0;
  try {
    await client.peak(requests, CONNECTIONS, WARM_UP_MS);
    for (const part of FILLED) {
      await database.fill(Math.round(part * rows) - filled, filled);
      filled = Math.round(part * rows);
      const times: number[] = [];
      for (let commit = 0; commit < COMMITS; commit++) times.push((await client.one(requests)).ms);
      points.push([filled, median(times)]);
    }
  } finally {
    await client.close();
    await daemon.stop();
    await database.close();
  }
  return { title: 'rows stored before', unit: 'ms to an acknowledgement, alone', points };
}

async function main(): Promise<void> {
  const { values } = readArguments(import.meta.url, {
    options: {
      out: { type: 'string', default: 'docs/growth.svg' },
      rows: { type: 'string', default: '2000000' },
      milliseconds: { type: 'string', default: '700' },
    },
  });
  pinClient();
  const milliseconds = Number(values.milliseconds);
  const daemon = await startDaemon();
  const plain: Shape = { spans: 64, attributes: 20, contentBytes: 0 };
  await cost(daemon, plain, WARM_UP_MS);
  const panels = [
    await panel(
      daemon,
      milliseconds,
      'spans a request',
      SPANS.map((spans) => [spans, { ...plain, spans }]),
    ),
    await panel(
      daemon,
      milliseconds,
      'attributes a span, 16 spans',
      ATTRIBUTES.map((attributes) => [attributes, { ...plain, spans: 16, attributes }]),
    ),
    await panel(
      daemon,
      milliseconds,
      'KiB of content in one span',
      CONTENT_KIB.map((kib) => [kib, { spans: 1, attributes: 20, contentBytes: kib * 1024 }]),
    ),
  ];
  await daemon.stop();
  if (Number(values.rows) > 0) panels.push(await tablePanel(Number(values.rows)));
  for (const { title, unit, points } of panels) {
    const { slope, bend } = lineThrough(points);
    console.log(`${title} (${unit}): ${points.map(([x, y]) => `${grouped(x)}: ${y.toPrecision(3)}`).join('  ')}`);
    console.log(
      `  slope ${slope.toPrecision(3)}, the point farthest above the line by ${percent(bend)} of the highest\n`,
    );
  }
  await writeFile(values.out, plot('Cost by the size of a request, and by the rows stored before it', panels));
}

await main();
