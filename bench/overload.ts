/**
 * Acknowledgement times at 50, 70, 100 and 200 % of the daemon's peak, and the answers to the requests above the peak.
 * The full default pipeline into a synced file, or with `--database` into an embedded Postgres; bodies are compressed.
 * The server of the database shares the client's core, so the client has a higher priority, if it may: its own waits
 * for the processor would count as the daemon's. Each load is sent for two seconds before the measurement, so that
 * connections are open and memory is allocated; refusals of these seconds are listed separately. At the end, `file
 * alone` writes the same bytes as often without the daemon, and `database alone` commits as many rows: the lower bound
 * of an acknowledgement.
 *
 *   node dist/bench/overload.js [--seconds 10] [--database] [--body genai|micro] [--root .] [--peak N]
 *
 * To compare two versions, `--root` names the built checkout whose daemon is measured, and `--peak` the requests a
 * second from which the loads are derived, so that both get the same.
 */
import { statSync } from 'node:fs';
import { setPriority } from 'node:os';
import { resolve } from 'node:path';
import { readArguments } from './arguments.ts';
import { BareDatabase } from './bare-database.ts';
import { appendAndSync } from './bare-file.ts';
import { makeCorpus } from './corpus.ts';
import { type Daemon, dataFile, KEY, SMALL_FILES, startDaemon } from './daemon.ts';
import { BenchDatabase } from './database.ts';
import { grouped, percent } from '../src/cli/bench/figures.ts';
import { Client, type Outcome, type Rate } from '../src/cli/bench/client.ts';
import { FreshRequests, type Requests } from '../src/cli/bench/requests.ts';
import { quantileCell, timesOf } from './outcome-times.ts';
import { identified, StampedRequests } from './requests.ts';
import { pinClient } from './side-by-side/server-process.ts';
import { printHead, printRow } from './table.ts';

const SHARES = [0.5, 0.7, 1, 2];
const PEAK_CONNECTIONS = 16;
/** Warm-up: V8 compiles for some seconds, and a peak measured before is too low. */
const WARM_UP_MS = 12_000;
const PEAK_MS = 5000;

/** The warm-up of each load. */
const LEAD_MS = 2000;
/** The time of `file alone` for each load. It runs last, because it uses much page cache. */
const BARE_MS = 5000;
/** The loads of `database alone`; above the peak its queue only grows. */
const BARE_SHARES = 3;

/** A niceness: the client runs before the server of the database. */
const CLIENT_NICENESS = -10;

function raisePriority(): boolean {
  try {
    setPriority(CLIENT_NICENESS);
    return true;
  } catch {
    return false;
  }
}

const COLUMNS = [
  'load',
  'offered / s',
  'stored / s',
  'of peak',
  'p50',
  'p99',
  'p99.9',
  '503',
  'p99 of a 503',
  'in its first 2 s',
  'other',
];

interface Measured {
  readonly lead: readonly Outcome[];
  readonly outcomes: readonly Outcome[];
}

function row(share: number, peak: number, { lead, outcomes }: Measured, seconds: number): readonly string[] {
  const stored = timesOf(outcomes, 200);
  const refused = outcomes.filter(({ status }) => status === 503);
  const bare = refused.filter(({ hasRetryAfter }) => !hasRetryAfter).length;
  const other = outcomes.length - stored.length - refused.length;
  return [
    percent(share),
    grouped(outcomes.length / seconds),
    grouped(stored.length / seconds),
    percent(stored.length / seconds / peak),
    ...[0.5, 0.99, 0.999].map((part) => quantileCell(stored, part)),
    `${grouped(refused.length)}${bare > 0 ? ` (${bare} WITHOUT Retry-After)` : ''}`,
    ...[outcomes, lead].map((which) => quantileCell(timesOf(which, 503), 0.99)),
    grouped(other),
  ];
}

interface Load {
  readonly requests: Requests;
  readonly spans: number;
  readonly seconds: number;
  /** Null: the rows go into a file. */
  readonly database: BenchDatabase | null;
  /** Requests a second; null: that of a closed loop. */
  readonly peak: number | null;
}

/** Bytes of one request in the file; 0 without a file. */
async function rowBytes(daemon: Daemon, client: Client, { requests, database }: Load): Promise<number> {
  await client.one(requests);
  return database === null ? statSync(dataFile(daemon.folder)).size : 0;
}

async function measureRate(client: Client, requests: Requests, rate: Rate): Promise<Measured> {
  const counts = performance.now() + LEAD_MS;
  const outcomes = await client.atRate(requests, { ...rate, milliseconds: LEAD_MS + rate.milliseconds });
  return {
    lead: outcomes.filter(({ due }) => due < counts),
    outcomes: outcomes.filter(({ due }) => due >= counts),
  };
}

async function measure(daemon: Daemon, load: Load): Promise<void> {
  const { requests, seconds } = load;
  const client = new Client(daemon.url, KEY);
  const bytes = await rowBytes(daemon, client, load);
  await client.peak(requests, PEAK_CONNECTIONS, WARM_UP_MS);
  const measured = await client.peak(requests, PEAK_CONNECTIONS, PEAK_MS);
  console.log(`peak: ${grouped(measured)} requests and ${grouped(measured * load.spans)} spans a second\n`);
  const peak = load.peak ?? measured;
  const storedPerSecond: number[] = [];
  printHead(COLUMNS);
  for (const share of SHARES) {
    const rate = { perSecond: peak * share, milliseconds: seconds * 1000 };
    const answered = await measureRate(client, requests, rate);
    storedPerSecond.push(timesOf(answered.outcomes, 200).length / seconds);
    printRow(row(share, peak, answered, seconds));
  }
  await client.close();
  if (bytes > 0) await measureFile(daemon, bytes, storedPerSecond);
  if (load.database !== null) await measureDatabase(load.database, storedPerSecond.slice(0, BARE_SHARES), seconds);
}

async function measureFile(daemon: Daemon, bytes: number, rates: readonly number[]): Promise<void> {
  console.log('\nfile alone\n');
  printHead(['appends / s', 'p50', 'p99']);
  for (const perSecond of rates) {
    const times = await appendAndSync(daemon.folder, { bytes, perSecond, milliseconds: BARE_MS });
    printRow([grouped(perSecond), ...[0.5, 0.99].map((part) => quantileCell(times, part))]);
  }
}

async function measureDatabase(database: BenchDatabase, rates: readonly number[], seconds: number): Promise<void> {
  const bare = await BareDatabase.open(database.url);
  console.log('\ndatabase alone\n');
  printHead(['requests / s', 'p50', 'p99']);
  await bare.commit({ perSecond: rates[0] ?? 1, milliseconds: LEAD_MS });
  for (const perSecond of rates) {
    const times = await bare.commit({ perSecond, milliseconds: seconds * 1000 });
    printRow([grouped(perSecond), ...[0.5, 0.99].map((part) => quantileCell(times, part))]);
  }
  await bare.close();
}

async function main(): Promise<void> {
  const { values } = readArguments(import.meta.url, {
    options: {
      seconds: { type: 'string', default: '10' },
      database: { type: 'boolean', default: false },
      body: { type: 'string', default: 'genai' },
      root: { type: 'string' },
      peak: { type: 'string' },
    },
  });
  if (!pinClient()) console.log('client and server share their cores: read the latencies with care');
  const corpus = makeCorpus();
  const batches = values.body === 'micro' ? corpus.micro : corpus.genai;
  const database = values.database ? await BenchDatabase.open() : null;
  const root = values.root === undefined ? {} : { root: resolve(values.root) };
  const daemon = await startDaemon(database ?? 'file', database === null ? SMALL_FILES : [], root);
  // After the others were started: they would inherit it.
  if (!raisePriority()) console.log('the client has no higher priority: read the latencies with care');
  try {
    // A file stores a repeated span again; a database stores it once.
    const requests =
      database === null
        ? new StampedRequests(batches.map(({ pbGz }) => pbGz))
        : new FreshRequests(
            batches.map(({ pb }) => identified(pb)),
            'gzip',
          );
    await measure(daemon, {
      requests,
      spans: batches[0]?.records ?? 0,
      seconds: Number(values.seconds),
      database,
      peak: values.peak === undefined ? null : Number(values.peak),
    });
  } finally {
    await daemon.stop();
    await database?.close();
  }
}

await main();
