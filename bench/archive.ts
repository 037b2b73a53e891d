/**
 * `sluice archive` of many spans while ingest continues, on one embedded server: rows a second, peak memory of its
 * process (Linux), bytes of a span before and after, and the acknowledgement times beside it. The target is a ratio of
 * the 99th of a hundred of at most 1.3. Two controls: a plain client that commits one row at a time, and rounds beside
 * a loop that only computes, with the priority of the archive: what any other work on the same cores costs.
 *
 * One span of ten is a model call, as many as given by `--spans` in all. 51,200 different ones of each kind are sent to
 * the daemon and then copied in the database into days that have ended: two of model calls, four of small spans. With
 * ten million it needs 40 GB.
 *
 *   node dist/bench/archive.js [--spans 10000000] [--memory 1GiB] [--rounds 6] [--seconds 10] [--share 0.3] [--wait]
 *
 * `--rounds` are measured before and after the archive, and beside the loop. `--share` is the part of the peak that is
 * sent. With `--wait` the measurement begins after a line of the standard input, when the rows are there.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import { resolve } from 'node:path';
import { Client } from '../src/cli/bench/client.ts';
import { grouped, quantile } from '../src/cli/bench/figures.ts';
import { FreshRequests, type Requests } from '../src/cli/bench/requests.ts';
import { makeTraceRequest } from '../src/cli/bench/trace-request.ts';
import type { SessionLimits } from '../src/component/capabilities/postgres.ts';
import { Database } from '../src/extensions/postgres/database.ts';
import { TABLE_COLUMNS } from '../src/pdata/columns.ts';
import { DirectCommits } from '../test/support/direct-commits.ts';
import { databaseIn } from '../test/support/daemon-database.ts';
import { readArguments } from './arguments.ts';
import { type Daemon, KEY, PROJECT, startDaemon } from './daemon.ts';
import { runCommand } from './measured-command.ts';
import { assertStored } from './stored-outcomes.ts';
import { printHead, printRow } from './table.ts';
import { DAY_MS, NS_PER_MS } from '../src/pdata/time-units.ts';

const CONNECTIONS = 16;
const WARM_UP_MS = 12_000;
const PEAK_MS = 4000;
const SPANS_OF_REQUEST = 64;
const DIFFERENT_REQUESTS = 800;
const COPIES_AT_ONCE = 2;
/** The interval of the plain commits. */
const COMMIT_EVERY_MS = 25;
const LIMITS: SessionLimits = { statementTimeoutMs: 3_600_000, lockTimeoutMs: 600_000 };

interface Kind {
  /** The name that `sluice bench` has for it. */
  readonly name: 'model-calls' | 'small-spans';
  /** The share of all spans. */
  readonly part: number;
  /** Days ago; the daemon has opened the last seven. */
  readonly days: readonly number[];
}

const KINDS: readonly Kind[] = [
  { name: 'model-calls', part: 0.1, days: [2, 3] },
  { name: 'small-spans', part: 0.9, days: [4, 5, 6, 7] },
];

/** Copies of the rows of a kind that were sent since `$5`: `$1` to `$2` are their numbers, `$3` their day. */
const NS_OF_DAY = DAY_MS * NS_PER_MS;
const CHANGED: Readonly<Record<string, string>> = {
  trace_id: "decode(md5(encode(s.trace_id, 'hex') || copy), 'hex')",
  start_time_unix_nano: 'times.start',
  end_time_unix_nano: 'times.start + s.duration_ns',
};
const NAMES = TABLE_COLUMNS.traces.map(({ name }) => name);
const COPY = `
  INSERT INTO sluice.spans (${NAMES.join(', ')})
  SELECT ${NAMES.map((name) => CHANGED[name] ?? `s.${name}`).join(', ')}
  FROM generate_series($1::int4, $2::int4) AS copy, sluice.spans s,
    LATERAL (SELECT $3::int8 + ('x' || left(md5(encode(s.trace_id, 'hex') || copy), 14))::bit(56)::int8 % ${NS_OF_DAY} AS start) times
  WHERE s.environment = $4 AND s.start_time_unix_nano >= $5`;

class OneByOne implements Requests {
  readonly contentEncoding = 'identity';
  readonly #bodies: Buffer[];

  constructor(bodies: readonly Buffer[]) {
    this.#bodies = [...bodies];
  }

  get isEmpty(): boolean {
    return this.#bodies.length === 0;
  }

  next(): Buffer {
    return this.#bodies.pop() as Buffer;
  }

  done(): void {
    // Each is sent once.
  }
}

async function sendDifferent(client: Client, kind: string): Promise<void> {
  const shape = { spans: SPANS_OF_REQUEST, kind, environment: kind, nowMs: Date.now() };
  const bodies = Array.from({ length: DIFFERENT_REQUESTS }, (_, at) => makeTraceRequest(shape, `${kind} ${at}`).bytes);
  const requests = new OneByOne(bodies);
  const outcomes = await client.closedLoop(requests, CONNECTIONS, () => requests.isEmpty);
  assertStored(outcomes);
}

const midnightOf = (daysAgo: number): number => (Math.floor(Date.now() / DAY_MS) - daysAgo) * DAY_MS;
const startOf = (ms: number): string => String(BigInt(Math.round(ms)) * BigInt(NS_PER_MS));
const dateOf = (daysAgo: number): string => new Date(midnightOf(daysAgo)).toISOString().slice(0, 10);

async function copyRows(database: Database, spans: number): Promise<void> {
  // Also after midnight.
  const sent = startOf(Date.now() - DAY_MS);
  for (const { name, part, days } of KINDS) {
    const copies = Math.max(1, Math.round((spans * part) / (days.length * DIFFERENT_REQUESTS * SPANS_OF_REQUEST)));
    for (const [at, day] of days.entries()) {
      const start = startOf(midnightOf(day));
      await database.session(LIMITS, async (query) => {
        for (let first = 0; first < copies; first += COPIES_AT_ONCE) {
          const last = Math.min(first + COPIES_AT_ONCE, copies) - 1;
          await query(COPY, [at * copies + first, at * copies + last, start, name, sent]);
        }
      });
    }
  }
  // An automatic vacuum of the new rows would hold a lock for longer than the archive waits.
  await database.session(LIMITS, async (query) => {
    await query('VACUUM ANALYZE sluice.spans');
    await query('CHECKPOINT');
  });
}

async function printSizes(database: Database): Promise<void> {
  printHead(['kind', 'spans', 'bytes in PostgreSQL', 'bytes in Parquet'], [0]);
  for (const { name, days } of KINDS) {
    const { rows } = await database.query(
      `SELECT sum(records)::float8 AS records, sum(bytes)::float8 AS bytes,
         (SELECT sum(pg_total_relation_size(c.oid))::float8 FROM pg_class c
           WHERE c.relname = ANY (SELECT 'spans_' || replace(d, '-', '') FROM unnest($1::text[]) d)) AS before
       FROM sluice.lake_jobs WHERE signal = 'spans' AND day = ANY ($1::date[])`,
      [days.map(dateOf)],
    );
    const [records, bytes, before] = ['records', 'bytes', 'before'].map((column) => Number(rows[0]?.[column]));
    const each = (sum = Number.NaN): string => grouped(sum / (records ?? 1));
    printRow([name, grouped(records ?? 0), each(before), each(bytes)]);
  }
}

interface Load {
  readonly client: Client;
  readonly direct: DirectCommits;
  readonly requests: Requests;
  readonly perSecond: number;
  readonly milliseconds: number;
}

/** Milliseconds. */
interface Round {
  readonly answers: readonly number[];
  readonly commits: readonly number[];
}

async function round({ client, direct, requests, ...rate }: Load): Promise<Round> {
  direct.clear();
  const outcomes = await client.atRate(requests, rate);
  assertStored(outcomes);
  return { answers: outcomes.map(({ ms }) => ms), commits: [...direct.times] };
}

async function rounds(load: Load, isOver: (done: number) => boolean): Promise<readonly Round[]> {
  const times: Round[] = [];
  while (!isOver(times.length)) times.push(await round(load));
  return times;
}

const p99 = (times: readonly number[]): number => quantile(times, 0.99);

function printTimes(name: string, each: readonly (readonly number[])[]): number {
  const all = each.flat();
  const windows = each.map(p99);
  const cells = [quantile(all, 0.5), p99(all), quantile(windows, 0.5), quantile(windows, 1), quantile(all, 1)];
  printRow([name, grouped(all.length), ...cells.map((ms) => `${ms.toFixed(1)} ms`)]);
  return p99(all);
}

/** Computes until the work is over. */
async function besideLoop<Result>(work: () => Promise<Result>): Promise<Result> {
  const loop = spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' });
  const end = once(loop, 'exit');
  try {
    await once(loop, 'spawn');
    setPriority(loop.pid ?? 0, constants.priority.PRIORITY_LOW);
    return await work();
  } finally {
    loop.kill();
    await end;
  }
}

async function archiveBeside(daemon: Daemon, load: Load, { memory, count }: { memory: string; count: number }) {
  const before = await rounds(load, (done) => done >= count);
  const words = ['archive', '--to', 'archive', '--older-than', '1d', '--memory', memory, '--json'];
  const archiving = runCommand(words, 'sluice.yaml', { cwd: daemon.folder, yields: true });
  let isOver = false;
  void archiving.catch(() => undefined).then(() => (isOver = true));
  const beside = await rounds(load, () => isOver);
  const run = await archiving;
  const after = await rounds(load, (done) => done >= count);
  const computing = await besideLoop(() => rounds(load, (done) => done >= count));
  return { run, alone: [...before, ...after], beside, computing };
}

async function main(): Promise<void> {
  const { values } = readArguments(import.meta.url, {
    options: {
      spans: { type: 'string', default: '10000000' },
      memory: { type: 'string', default: '1GiB' },
      rounds: { type: 'string', default: '6' },
      seconds: { type: 'string', default: '10' },
      share: { type: 'string', default: '0.3' },
      wait: { type: 'boolean', default: false },
    },
  });
  // Not pinned: the archive may use every core.
  const daemon = await startDaemon('embedded', [], { workers: 1 });
  const client = new Client(daemon.url, KEY);
  const database = new Database();
  const direct = await DirectCommits.open(resolve(daemon.folder, 'data'), COMMIT_EVERY_MS);
  try {
    database.use(await databaseIn(resolve(daemon.folder, 'data')));
    for (const { name } of KINDS) await sendDifferent(client, name);
    await copyRows(database, Number(values.spans));
    if (values.wait) {
      console.log('the rows are there');
      await once(process.stdin, 'data');
      process.stdin.destroy();
    }
    const shape = { spans: SPANS_OF_REQUEST, kind: 'mix', environment: 'beside', nowMs: Date.now() };
    const requests = new FreshRequests(
      Array.from({ length: 32 }, (_, at) => makeTraceRequest(shape, `beside ${at}`)),
      'gzip',
    );
    await client.peak(requests, CONNECTIONS, WARM_UP_MS);
    const peak = await client.peak(requests, CONNECTIONS, PEAK_MS);
    const load = {
      client,
      direct,
      requests,
      perSecond: peak * Number(values.share),
      milliseconds: Number(values.seconds) * 1000,
    };
    const { run, alone, beside, computing } = await archiveBeside(daemon, load, {
      memory: values.memory,
      count: Number(values.rounds),
    });
    const files = JSON.parse(run.printed) as readonly { readonly records: number }[];
    const records = files.reduce((sum, file) => sum + file.records, 0);
    console.log(
      `${grouped(records)} spans of project ${PROJECT} in ${files.length} files: ${grouped(run.seconds)} s, ${grouped(records / run.seconds)} a second; ` +
        `peak of the process with --memory ${values.memory}: ${run.peakMib} MiB\n`,
    );
    await printSizes(database);
    console.log(`\npeak: ${grouped(peak)} requests a second; ${grouped(load.perSecond)} are sent\n`);
    printHead(['', 'answers', 'p50', 'p99', 'p99 of a round', 'worst round', 'longest'], [0]);
    const ratiosOf = (name: string, of: (round: Round) => readonly number[]): string => {
      const undisturbed = printTimes(`${name}, alone`, alone.map(of));
      const ratio = printTimes(`${name}, beside the archive`, beside.map(of)) / undisturbed;
      const control = printTimes(`${name}, beside a loop`, computing.map(of)) / undisturbed;
      return `${name} ${ratio.toFixed(2)}, beside a loop ${control.toFixed(2)}`;
    };
    const ratios = [
      ratiosOf('requests', ({ answers }) => answers),
      ratiosOf('plain commits', ({ commits }) => commits),
    ];
    console.log(`\nratios of p99: ${ratios.join('; ')}`);
  } finally {
    await direct.close();
    await database.close();
    await client.close();
    await daemon.stop();
  }
}

await main();
