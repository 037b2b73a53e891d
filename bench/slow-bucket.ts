/**
 * Overload of a bucket: the `objects` exporter over a local S3 server (versitygw) behind a proxy with a limited rate.
 * Model calls in requests of 64, first few, then at a fixed rate; the times of acknowledgements and refusals, and the
 * processor time of the daemon meanwhile. Folders of built checkouts take turns; without one, it is this one.
 *
 *   SLUICE_S3_SERVER=$(node scripts/s3-server.js) node dist/bench/slow-bucket.js [FOLDER ...] [--rate 150]
 *     [--bytes 2000000] [--seconds 20] [--rounds 2]
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '../src/cli/bench/client.ts';
import { grouped } from '../src/cli/bench/figures.ts';
import { FreshRequests, type Requests } from '../src/cli/bench/requests.ts';
import { readArguments } from './arguments.ts';
import { announce, objectsIn, s3Executable, startBucket } from './bucket.ts';
import { makeCorpus } from './corpus.ts';
import { KEY, startDaemon } from './daemon.ts';
import { BenchDatabase } from './database.ts';
import { quantileCell, timesOf } from './outcome-times.ts';
import { identified } from './requests.ts';
import { pinClient } from './side-by-side/server-process.ts';
import { printHead, printRow } from './table.ts';

const TICK_MS = 20;
/** The proxy may send this part of a second's bytes at once. */
const BURST_SECONDS = 0.1;
/** The load before the overload. */
const LEAD = { perSecond: 20, milliseconds: 4000 };
const COLUMNS = ['checkout', 'stored / s', 'p50', 'p99', '503', 'p50 of a 503', 'p99 of a 503', 'daemon, CPU s'];

/** Forwards connections to `port`; all of them together send at most so many bytes a second. */
async function startSlowProxy(port: number, bytesPerSecond: number): Promise<Server> {
  const waiting = new Set<Socket>();
  let budget = 0;
  const timer = setInterval(() => {
    budget = Math.min(budget + (bytesPerSecond * TICK_MS) / 1000, bytesPerSecond * BURST_SECONDS);
    if (budget <= 0) return;
    for (const socket of waiting) socket.resume();
    waiting.clear();
  }, TICK_MS);
  const proxy = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    client.on('data', (bytes) => {
      budget -= bytes.length;
      upstream.write(bytes);
      if (budget > 0) return;
      client.pause();
      waiting.add(client);
    });
    client.on('end', () => upstream.end()).on('error', () => upstream.destroy());
    upstream.on('error', () => client.destroy()).pipe(client);
  });
  proxy.on('close', () => clearInterval(timer));
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return proxy;
}

interface Load {
  readonly requests: Requests;
  readonly perSecond: number;
  readonly milliseconds: number;
}

/** A daemon with its own database, and its own prefix in the bucket. */
async function measure(root: string | undefined, prefix: string, load: Load): Promise<readonly string[]> {
  const database = await BenchDatabase.open();
  const daemon = await startDaemon({ url: database.url }, objectsIn(prefix), root === undefined ? {} : { root });
  const client = new Client(daemon.url, KEY);
  try {
    await client.atRate(load.requests, LEAD);
    const before = daemon.server.usage().cpuSeconds;
    const outcomes = await client.atRate(load.requests, load);
    const seconds = daemon.server.usage().cpuSeconds - before;
    const [stored, refused] = [timesOf(outcomes, 200), timesOf(outcomes, 503)];
    return [
      root ?? 'this one',
      grouped((stored.length * 1000) / load.milliseconds),
      ...[0.5, 0.99].map((part) => quantileCell(stored, part)),
      grouped(refused.length),
      ...[0.5, 0.99].map((part) => quantileCell(refused, part)),
      seconds.toFixed(1),
    ];
  } finally {
    await client.close();
    await daemon.stop();
    await database.close();
  }
}

async function main(): Promise<void> {
  const { values, positionals } = readArguments(import.meta.url, {
    allowPositionals: true,
    options: {
      rate: { type: 'string', default: '150' },
      bytes: { type: 'string', default: '2000000' },
      seconds: { type: 'string', default: '20' },
      rounds: { type: 'string', default: '2' },
    },
  });
  const executable = s3Executable();
  pinClient();
  const requests = new FreshRequests(
    makeCorpus().genai.map(({ pb }) => identified(pb)),
    'gzip',
  );
  const load = { requests, perSecond: Number(values.rate), milliseconds: Number(values.seconds) * 1000 };
  const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-bucket-'));
  const { server, url } = await startBucket(executable, folder);
  const proxy = await startSlowProxy(Number(new URL(url).port), Number(values.bytes));
  announce(`http://127.0.0.1:${(proxy.address() as AddressInfo).port}`);
  try {
    printHead(COLUMNS, [0]);
    for (let round = 0; round < Number(values.rounds); round++)
      for (const [at, root] of (positionals.length === 0 ? [undefined] : positionals).entries())
        printRow(await measure(root, `${round}-${at}`, load));
  } finally {
    proxy.close();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

await main();
