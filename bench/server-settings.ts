/**
 * Acknowledgement times with several values of a setting of the embedded server, in turn on one daemon, at a part of
 * its peak. Each value is set with a reload and has a warm-up. Every second round has the opposite order. The setting
 * must be one that a reload changes.
 *
 *   node dist/bench/server-settings.js --setting backend_flush_after=0,512kB
 *     [--rounds 6] [--seconds 28] [--share 0.5] [--kind mix|model-calls|small-spans]
 */
import { resolve } from 'node:path';
import { Client } from '../src/cli/bench/client.ts';
import { grouped, quantile } from '../src/cli/bench/figures.ts';
import { FreshRequests } from '../src/cli/bench/requests.ts';
import { makeTraceRequest } from '../src/cli/bench/trace-request.ts';
import { Database } from '../src/extensions/postgres/database.ts';
import { databaseIn } from '../test/support/daemon-database.ts';
import { readArguments } from './arguments.ts';
import { KEY, startDaemon } from './daemon.ts';
import { assertStored } from './stored-outcomes.ts';
import { printHead, printRow } from './table.ts';

const CONNECTIONS = 16;
const SPANS_OF_REQUEST = 64;
const DIFFERENT_REQUESTS = 32;
const WARM_UP_MS = 12_000;
const PEAK_MS = 4000;
/** The warm-up of each value. */
const LEAD_MS = 3000;

/** Milliseconds, by value of the setting: one list for each round. */
type Times = ReadonlyMap<string, number[][]>;

interface Load {
  readonly client: Client;
  readonly requests: FreshRequests;
  readonly perSecond: number;
}

async function timesOf({ client, requests, perSecond }: Load, milliseconds: number): Promise<number[]> {
  const outcomes = await client.atRate(requests, { perSecond, milliseconds });
  assertStored(outcomes);
  return outcomes.map(({ ms }) => ms);
}

function printTimes(name: string, times: Times): void {
  printHead([name, 'answers', 'p50', 'p99', 'p99.9', 'longest', 'p99 of the rounds'], [0, 6]);
  for (const [value, rounds] of times) {
    const all = rounds.flat();
    const figures = [0.5, 0.99, 0.999, 1].map((share) => `${quantile(all, share).toFixed(1)} ms`);
    const each = rounds.map((ms) => quantile(ms, 0.99).toFixed(0)).join(', ');
    printRow([value, grouped(all.length), ...figures, each]);
  }
}

async function main(): Promise<void> {
  const { values } = readArguments(import.meta.url, {
    options: {
      setting: { type: 'string', default: 'backend_flush_after=0,512kB' },
      rounds: { type: 'string', default: '6' },
      seconds: { type: 'string', default: '28' },
      share: { type: 'string', default: '0.5' },
      kind: { type: 'string', default: 'mix' },
    },
  });
  const [name = '', list = ''] = values.setting.split('=');
  const times: Times = new Map(list.split(',').map((value) => [value, []]));
  const daemon = await startDaemon('embedded', [], { workers: 1 });
  const client = new Client(daemon.url, KEY);
  const database = new Database();
  try {
    database.use(await databaseIn(resolve(daemon.folder, 'data')));
    const shape = { spans: SPANS_OF_REQUEST, kind: values.kind, environment: 'bench', nowMs: Date.now() };
    const requests = new FreshRequests(
      Array.from({ length: DIFFERENT_REQUESTS }, (_, at) => makeTraceRequest(shape, `request ${at}`)),
      'gzip',
    );
    await client.peak(requests, CONNECTIONS, WARM_UP_MS);
    const peak = await client.peak(requests, CONNECTIONS, PEAK_MS);
    const load = { client, requests, perSecond: peak * Number(values.share) };
    for (let round = 0; round < Number(values.rounds); round++) {
      const order = round % 2 === 0 ? [...times] : [...times].reverse();
      for (const [value, rounds] of order) {
        await database.query(`ALTER SYSTEM SET ${name} = '${value}'`);
        await database.query('SELECT pg_reload_conf()');
        await timesOf(load, LEAD_MS);
        rounds.push(await timesOf(load, Number(values.seconds) * 1000));
      }
    }
    console.log(`peak: ${grouped(peak)} requests a second; ${grouped(load.perSecond)} are sent\n`);
    printTimes(name, times);
  } finally {
    await database.close();
    await client.close();
    await daemon.stop();
  }
}

await main();
