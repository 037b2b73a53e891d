/**
 * The cost of forwarding for senders: the time of an answer with the `otlp_http` exporter, its remote up, down or
 * hanging, compared with the same daemon without it. All write to one durable database and alternate by round. The
 * outbox of a remote that is up is empty before the next round.
 *
 *   node dist/bench/outbox.js [--rounds 9] [--requests 200] [--senders 4] [--spans 20] [--url …]
 *
 * Without --url an embedded server with fsync is started.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { readArguments } from './arguments.ts';
import { type Daemon, startDaemon } from '../test/support/daemon.ts';
import { BenchDatabase } from './database.ts';
import { grouped, median, percent, quantile } from '../src/cli/bench/figures.ts';

const KEY = 'benchmark-key-0123456789';
const WARM_UP_ROUNDS = 2;
const DRAIN_PAUSE_MS = 20;
/** A remote in another thread; `hangs` never answers. */
const REMOTE = `
  const { parentPort, workerData } = require('node:worker_threads');
  const server = require('node:http').createServer((request, response) => {
    request.resume().on('end', () => { if (!workerData.hangs) response.end(); });
  });
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));`;

interface Contender {
  readonly name: string;
  readonly daemon: Daemon;
  /** The median and the 99th percentile of each round, in milliseconds. */
  readonly p50: number[];
  readonly p99: number[];
  /** Entries a second that reached a remote that is up, after the end of a round. */
  readonly drained: number[];
}

/** `remote`: the name and the endpoint of the exporter. */
function configOf(databaseUrl: string, remote: { readonly name: string; readonly endpoint: string } | null): string {
  const passing = remote === null ? '' : `otlp_http/${remote.name}`;
  const exporter =
    remote === null ? '' : `, ${passing}: { endpoint: "${remote.endpoint}", outbox: { max_size: 8GiB } }`;
  return `
extensions: { postgres: { url: "${databaseUrl}" } }
receivers: { otlp: { protocols: { http: { endpoint: "127.0.0.1:0" } } } }
processors:
  auth: { keys: [ { key: ${KEY}, project: bench } ] }
  environment: {}
  privacy: {}
  normalization: {}
exporters: { postgres: {}${exporter} }
service:
  extensions: [postgres]
  telemetry: { metrics: { enabled: false } }
  pipelines:
    traces:
      receivers: [otlp]
      processors: [auth, environment, privacy, normalization]
      exporters: [${['postgres', passing].filter((id) => id !== '').join(', ')}]
`;
}

async function startRemote(hangs: boolean): Promise<string> {
  const worker = new Worker(REMOTE, { eval: true, workerData: { hangs } });
  worker.unref();
  const [port] = (await once(worker, 'message')) as [number];
  return `http://127.0.0.1:${port}`;
}

function bodyOf(spans: number): Buffer {
  const traceId = randomBytes(16).toString('hex');
  const start = BigInt(Date.now()) * 1000000n;
  const text = (key: string, stringValue: string): object => ({ key, value: { stringValue } });
  const span = (): object => ({
    traceId,
    spanId: randomBytes(8).toString('hex'),
    name: 'chat gpt-5-mini',
    startTimeUnixNano: String(start),
    endTimeUnixNano: String(start + 1000000n),
    attributes: [
      text('gen_ai.operation.name', 'chat'),
      text('gen_ai.request.model', 'gpt-5-mini'),
      text('gen_ai.input.messages', randomBytes(300).toString('base64')),
      text('gen_ai.output.messages', randomBytes(300).toString('base64')),
      { key: 'gen_ai.usage.input_tokens', value: { intValue: '512' } },
    ],
  });
  const resource = { attributes: [text('service.name', 'bench')] };
  const scopeSpans = [{ scope: { name: 'bench' }, spans: Array.from({ length: spans }, span) }];
  return Buffer.from(JSON.stringify({ resourceSpans: [{ resource, scopeSpans }] }));
}

/** Milliseconds to the complete answer. */
function post(url: string, body: Buffer, agent: Agent): Promise<number> {
  const started = performance.now();
  const headers = {
    authorization: `Bearer ${KEY}`,
    'content-type': 'application/json',
    'content-length': body.length,
  };
  return new Promise((resolve, reject) => {
    const outgoing = request(`${url}/v1/traces`, { method: 'POST', headers, agent }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`answered ${response.statusCode}`));
      response.resume().on('end', () => resolve(performance.now() - started));
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

async function round(contender: Contender, bodies: readonly Buffer[], senders: number): Promise<readonly number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: senders });
  const left = [...bodies];
  const times: number[] = [];
  const send = async (): Promise<void> => {
    for (let body = left.pop(); body !== undefined; body = left.pop())
      times.push(await post(contender.daemon.url, body, agent));
  };
  await Promise.all(Array.from({ length: senders }, send));
  agent.destroy();
  return times;
}

/** Resolves when the outbox is empty, with the entries a second. */
async function drain({ database }: BenchDatabase, name: string): Promise<number> {
  const waiting = async (): Promise<number> => {
    const { rows } = await database.query(
      'SELECT count(*)::int4 AS waiting FROM sluice.outbox WHERE destination = $1',
      [`otlp_http/${name}`],
    );
    return Number(rows[0]?.['waiting']);
  };
  const started = performance.now();
  const first = await waiting();
  for (let left = first; left > 0; left = await waiting()) await pause(DRAIN_PAUSE_MS);
  return (first * 1000) / (performance.now() - started);
}

const { values } = readArguments(import.meta.url, {
  options: {
    rounds: { type: 'string', default: '9' },
    requests: { type: 'string', default: '200' },
    senders: { type: 'string', default: '4' },
    spans: { type: 'string', default: '20' },
    url: { type: 'string' },
  },
});

async function makeContenders(
  url: string,
  teardown: (task: () => Promise<void>) => void,
): Promise<readonly Contender[]> {
  const endpoints = [
    ['up', await startRemote(false)],
    ['down', 'http://127.0.0.1:1'],
    ['hangs', await startRemote(true)],
  ] as const;
  const contenders: Contender[] = [];
  for (const remote of [null, ...endpoints.map(([name, endpoint]) => ({ name, endpoint }))]) {
    const daemon = await startDaemon({ teardown }, { config: configOf(url, remote) });
    contenders.push({ name: remote?.name ?? 'without', daemon, p50: [], p99: [], drained: [] });
  }
  return contenders;
}

async function measure(database: BenchDatabase, contenders: readonly Contender[]): Promise<void> {
  const [rounds, requests, senders, spans] = [values.rounds, values.requests, values.senders, values.spans].map(Number);
  for (let index = -WARM_UP_ROUNDS; index < (rounds ?? 0); index++) {
    // The order alternates.
    for (let turn = 0; turn < contenders.length; turn++) {
      const contender = contenders[(turn + Math.abs(index)) % contenders.length];
      if (contender === undefined) continue;
      const bodies = Array.from({ length: requests ?? 0 }, () => bodyOf(spans ?? 0));
      const times = await round(contender, bodies, senders ?? 1);
      const drained = contender.name === 'up' ? await drain(database, contender.name) : Number.NaN;
      if (index < 0) continue;
      contender.p50.push(median(times));
      contender.p99.push(quantile(times, 0.99));
      contender.drained.push(drained);
    }
  }
}

function report(contenders: readonly Contender[]): void {
  const [without] = contenders;
  const titles = ['remote', 'ack p50 ms', 'ack p99 ms', 'p50 beside without', 'p99 beside without', 'drained/s'];
  console.log(titles.map((title) => title.padStart(20)).join(''));
  for (const { name, p50, p99, drained } of contenders) {
    const beside = (mine: readonly number[], theirs: readonly number[] = []): string =>
      percent(median(mine.map((value, index) => value / (theirs[index] ?? Number.NaN))));
    const cells = [
      name,
      median(p50).toFixed(2),
      median(p99).toFixed(2),
      beside(p50, without?.p50),
      beside(p99, without?.p99),
      name === 'up' ? grouped(median(drained)) : '',
    ];
    console.log(cells.map((cell) => cell.padStart(20)).join(''));
  }
}

const tasks: (() => Promise<void>)[] = [];
const database = await BenchDatabase.open(values.url);
try {
  const contenders = await makeContenders(database.url, (task) => void tasks.push(task));
  await measure(database, contenders);
  report(contenders);
} finally {
  for (const task of tasks.reverse()) await task();
  await database.close();
}
