/**
 * The whole daemon with all its processors at full speed: into the synced file, into the tables of an embedded Postgres
 * compared with `psql \copy` of the same number of rows of the same form into the same tables, and into objects in a
 * folder, of which the tables have only the places. The sides alternate by slice.
 *
 *   node dist/bench/pipeline.js [--rounds 7] [--only file|tables|objects]
 *
 * Needs psql and stdbuf in the PATH. `of COPY` is the time of psql for the same number of rows divided by ours: client,
 * daemon and server share the machine, so with few cores it depends on the processor time that is left for the server.
 * `daemon / server` is the ratio of processor time, and does not depend on that.
 */
import { gzipSync } from 'node:zlib';
import { readArguments } from './arguments.ts';
import { Client } from '../src/cli/bench/client.ts';
import { type Body, makeCorpus } from './corpus.ts';
import { type Daemon, KEY, SMALL_FILES, startDaemon } from './daemon.ts';
import { BenchDatabase } from './database.ts';
import { grouped, median, percent } from '../src/cli/bench/figures.ts';
import { Psql } from './psql.ts';
import { makeReadyRequests } from './ready-requests.ts';
import { FreshRequests, type Requests } from '../src/cli/bench/requests.ts';
import { identified, StampedRequests } from './requests.ts';
import { parentOf, usageOf } from '../src/cli/bench/process-family.ts';
import { pinClient } from './side-by-side/server-process.ts';
import { printHead, printRow } from './table.ts';

const CONNECTIONS = 32;
/** Warm-up requests, in which V8 compiles the code. */
const WARM_UP_REQUESTS = 1500;
const SLICE_REQUESTS = 400;
const PROJECT = { name: 'bench', plan: 'paid', monthlySpans: null, privacy: new Map() } as const;

/**
 * The configuration with a database captures no content in production and redacts API keys; the default one does
 * neither.
 */
const AS_BY_DEFAULT = [
  'processors.privacy.environments.production.capture_content=true',
  'processors.privacy.redact=[]',
];

/** In the folder of the daemon. */
const INTO_OBJECTS = [
  'exporters.objects.linger=0s',
  ...['traces', 'logs', 'metrics'].map((signal) => `service.pipelines.${signal}.exporters=[objects]`),
];

interface Load {
  readonly name: string;
  readonly bodies: readonly Body[];
  readonly spans: number;
  readonly isCompressed: boolean;
}

/** Prepared bodies, each used once. */
class PreparedRequests implements Requests {
  readonly contentEncoding: 'gzip' | 'identity';
  readonly #bodies: Buffer[];

  constructor(fresh: FreshRequests, count: number, isCompressed: boolean) {
    this.contentEncoding = isCompressed ? 'gzip' : 'identity';
    this.#bodies = Array.from({ length: count }, () => {
      const body = fresh.next();
      if (!isCompressed) return body;
      const made = gzipSync(body, { level: 1 });
      fresh.done(body);
      return made;
    });
  }

  next(): Buffer {
    return this.#bodies.pop() as Buffer;
  }

  done(): void {
    // Each is sent once.
  }
}

interface Sent {
  readonly seconds: number;
  /** The number of stored requests. */
  readonly stored: number;
}

/** Sends a number of requests over all connections. */
async function sendAll(daemon: Daemon, requests: Requests, count: number): Promise<Sent> {
  const client = new Client(daemon.url, KEY);
  let sent = 0;
  const started = performance.now();
  const outcomes = await client.closedLoop(requests, CONNECTIONS, () => sent++ >= count);
  const seconds = (performance.now() - started) / 1000;
  await client.close();
  const failed = outcomes.find(({ status }) => status !== 200 && status !== 503);
  if (failed !== undefined) throw new Error(`status ${failed.status} under load`);
  return { seconds, stored: outcomes.filter(({ status }) => status === 200).length };
}

interface Turn extends Sent {
  readonly daemonSeconds: number;
  /** Seconds of psql for the rows of `SLICE_REQUESTS` requests. */
  readonly copySeconds: number;
  readonly serverSeconds: number;
}

async function intoFile(load: Load, rounds: number): Promise<void> {
  pinClient();
  const daemon = await startDaemon('file', SMALL_FILES);
  try {
    const requests = new StampedRequests(load.bodies.map(({ pbGz }) => pbGz));
    await sendAll(daemon, requests, WARM_UP_REQUESTS);
    const turns: Turn[] = [];
    for (let round = 0; round < rounds; round++) {
      const before = daemon.server.usage().cpuSeconds;
      const sent = await sendAll(daemon, requests, SLICE_REQUESTS);
      const daemonSeconds = daemon.server.usage().cpuSeconds - before;
      turns.push({ ...sent, daemonSeconds, copySeconds: Number.NaN, serverSeconds: Number.NaN });
    }
    print('file', load, turns);
  } finally {
    await daemon.stop();
  }
}

async function intoDatabase(store: 'tables' | 'objects', load: Load, rounds: number): Promise<void> {
  const database = await BenchDatabase.open();
  const settings = store === 'objects' ? [...AS_BY_DEFAULT, ...INTO_OBJECTS] : AS_BY_DEFAULT;
  const daemon = await startDaemon({ url: database.url }, settings);
  const psql = await Psql.start(database.url);
  try {
    const [session] = (await database.database.query('SELECT pg_backend_pid() AS pid')).rows;
    const server = parentOf(Number(session?.pid));
    const fresh = new FreshRequests(
      load.bodies.map(({ pb }) => identified(pb)),
      'identity',
    );
    const prepared = (count: number): Requests => new PreparedRequests(fresh, count, load.isCompressed);
    await sendAll(daemon, prepared(WARM_UP_REQUESTS), WARM_UP_REQUESTS);
    const copy = load.isCompressed ? null : await copier(psql, load.spans);
    const turns: Turn[] = [];
    for (let round = 0; round < rounds; round++) {
      await database.empty();
      const requests = prepared(SLICE_REQUESTS);
      const [daemonBefore, serverBefore] = [daemon.server.usage().cpuSeconds, usageOf(server).cpuSeconds];
      const sent = await sendAll(daemon, requests, SLICE_REQUESTS);
      const daemonSeconds = daemon.server.usage().cpuSeconds - daemonBefore;
      const serverSeconds = usageOf(server).cpuSeconds - serverBefore;
      await database.empty();
      turns.push({ ...sent, daemonSeconds, serverSeconds, copySeconds: (await copy?.()) ?? Number.NaN });
    }
    print(store, load, turns);
  } finally {
    await psql.stop();
    await daemon.stop();
    await database.close();
  }
}

/** Copies the number of rows of a slice, all model calls. Returns the seconds of psql. */
async function copier(psql: Psql, spans: number): Promise<() => Promise<number>> {
  const ready = await makeReadyRequests(SLICE_REQUESTS);
  if (ready[0]?.rows.count !== spans) throw new Error('the rows are others');
  return async () => {
    for (const request of ready) request.renew(PROJECT, () => BigInt(Date.now()) * 1000000n);
    return (await psql.copy(await psql.prepare(ready.flatMap(({ rows }) => rows.chunks)))) / 1000;
  };
}

const COLUMNS = [
  'into',
  'body',
  'spans / s',
  'daemon, spans / s / core',
  'server, µs / span',
  'of COPY',
  'daemon / server',
];

function print(store: string, load: Load, turns: readonly Turn[]): void {
  const of = (pick: (turn: Turn) => number): number => median(turns.map(pick));
  const orNone = (value: number, text: (value: number) => string): string => (Number.isNaN(value) ? '–' : text(value));
  printRow([
    store,
    load.name,
    grouped(of(({ stored, seconds }) => (stored * load.spans) / seconds)),
    grouped(of(({ stored, daemonSeconds }) => (stored * load.spans) / daemonSeconds)),
    orNone(
      of(({ stored, serverSeconds }) => (serverSeconds * 1e6) / (stored * load.spans)),
      (microseconds) => microseconds.toFixed(1),
    ),
    orNone(
      of(({ stored, seconds, copySeconds }) => (copySeconds / SLICE_REQUESTS) * (stored / seconds)),
      percent,
    ),
    orNone(
      of(({ daemonSeconds, serverSeconds }) => daemonSeconds / serverSeconds),
      (ratio) => ratio.toFixed(2),
    ),
  ]);
}

async function main(): Promise<void> {
  const { values } = readArguments(import.meta.url, {
    options: { rounds: { type: 'string', default: '7' }, only: { type: 'string' } },
  });
  const { genai, micro } = makeCorpus();
  const loadOf = (name: string, bodies: readonly Body[], isCompressed: boolean): Load => ({
    name,
    bodies,
    spans: bodies[0]?.records ?? 0,
    isCompressed,
  });
  const compressed = [loadOf('model calls, gzip', genai, true), loadOf('small spans, gzip', micro, true)];
  const rounds = Number(values.rounds);
  printHead(COLUMNS, [0, 1]);
  // In this order, because a server that is started later would stay on the client's core.
  const plain = loadOf('model calls', genai, false);
  const isWanted = (store: string): boolean => values.only === undefined || values.only === store;
  for (const store of ['tables', 'objects'] as const) {
    if (!isWanted(store)) continue;
    for (const load of [plain, ...compressed]) await intoDatabase(store, load, rounds);
  }
  if (isWanted('file')) for (const load of compressed) await intoFile(load, rounds);
}

await main();
