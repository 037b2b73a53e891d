/**
 * gRPC compared with HTTP: the same messages to the same daemon, alternating, with all stages except a sink. Compared
 * is the server's processor time of a span, so the figures are spans per second and core.
 *
 *   node dist/bench/grpc.js [--seconds 3] [--rounds 5]
 *
 * Run it on an otherwise idle machine with two cores; the client uses the other core.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { type ClientHttp2Session, connect } from 'node:http2';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';
import { median } from '../src/cli/bench/figures.ts';
import { readArguments } from './arguments.ts';
import { childMessage } from './child-message.ts';
import { type Body, makeCorpus } from './corpus.ts';

type Send = (body: Buffer) => Promise<void>;

interface Load {
  readonly name: string;
  readonly bodies: readonly Body[];
  readonly gzip: boolean;
}

const CONNECTIONS = 8;
const AUTHORIZATION = 'Bearer benchmark-key-0123456789';
const METHOD = '/opentelemetry.proto.collector.trace.v1.TraceService/Export';
const FRAME_HEAD_BYTES = 5;

function overHttp(port: number, gzip: boolean): { readonly send: Send; readonly close: () => Promise<void> } {
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: CONNECTIONS, pipelining: 1 });
  const headers = {
    'content-type': 'application/x-protobuf',
    authorization: AUTHORIZATION,
    ...(gzip ? { 'content-encoding': 'gzip' } : {}),
  };
  const send = async (body: Buffer): Promise<void> => {
    const answer = await pool.request({ method: 'POST', path: '/v1/traces', headers, body });
    await answer.body.dump();
    if (answer.statusCode !== 200) throw new Error(`HTTP status ${answer.statusCode}`);
  };
  return { send, close: () => pool.close() };
}

/** The same number of connections as over HTTP, with one call at a time on each. */
function overGrpc(port: number, gzip: boolean): { readonly send: Send; readonly close: () => Promise<void> } {
  const idle = Array.from({ length: CONNECTIONS }, () => connect(`http://127.0.0.1:${port}`));
  const all = [...idle];
  const send = async (body: Buffer): Promise<void> => {
    const session = idle.pop();
    if (session === undefined) throw new Error('more calls at once than connections');
    const status = await call(session, frame(body, gzip), gzip);
    idle.push(session);
    if (status !== '0') throw new Error(`gRPC status ${String(status)}`);
  };
  return { send, close: async () => all.forEach((session) => void session.destroy()) };
}

function frame(message: Buffer, gzip: boolean): Buffer {
  const framed = Buffer.allocUnsafe(FRAME_HEAD_BYTES + message.length);
  framed.writeUInt8(gzip ? 1 : 0, 0);
  framed.writeUInt32BE(message.length, 1);
  message.copy(framed, FRAME_HEAD_BYTES);
  return framed;
}

function call(session: ClientHttp2Session, body: Buffer, gzip: boolean): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const stream = session.request({
      ':method': 'POST',
      ':path': METHOD,
      'content-type': 'application/grpc',
      te: 'trailers',
      authorization: AUTHORIZATION,
      ...(gzip ? { 'grpc-encoding': 'gzip' } : {}),
    });
    let status: unknown;
    stream.on('response', (headers) => (status = headers['grpc-status']));
    stream.on('trailers', (headers) => (status = headers['grpc-status']));
    stream.on('error', reject);
    stream.on('close', () => resolve(status));
    stream.resume();
    stream.end(body);
  });
}

async function cpuSeconds(child: ChildProcess): Promise<number> {
  const answer = childMessage<{ cpuSeconds: number }>(child);
  child.send('cpu');
  return (await answer).cpuSeconds;
}

/** Spans per second of the server's processor time, in a closed loop over all connections. */
async function measure(child: ChildProcess, send: Send, load: Load, seconds: number): Promise<number> {
  const before = await cpuSeconds(child);
  const end = performance.now() + seconds * 1000;
  let spans = 0;
  const loop = async (first: number): Promise<void> => {
    for (let turn = first; performance.now() < end; turn++) {
      const body = load.bodies[turn % load.bodies.length] as Body;
      await send(load.gzip ? body.pbGz : body.pb);
      spans += body.records;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, (_, index) => loop(index)));
  return spans / ((await cpuSeconds(child)) - before);
}

async function main(): Promise<void> {
  const { values } = readArguments(import.meta.url, {
    options: { seconds: { type: 'string', default: '3' }, rounds: { type: 'string', default: '5' } },
  });
  const child = fork(fileURLToPath(new URL('./intake-server.js', import.meta.url)), ['sluice']);
  child.setMaxListeners(0);
  const ports = await childMessage<{ port: number; grpc: number }>(child);
  const corpus = makeCorpus(1);
  const loads: readonly Load[] = [
    { name: 'genai pb.gz', bodies: corpus.genai, gzip: true },
    { name: 'genai pb', bodies: corpus.genai, gzip: false },
    { name: 'micro pb.gz', bodies: corpus.micro, gzip: true },
  ];
  console.log(`spans per second and core (server CPU), median of ${values.rounds} interleaved rounds\n`);
  for (const load of loads) {
    const ways = [overHttp(ports.port, load.gzip), overGrpc(ports.grpc, load.gzip)];
    const rates = ways.map((): number[] => []);
    for (const { send } of ways) await measure(child, send, load, 1); // warm-up
    for (let round = 0; round < Number(values.rounds); round++)
      for (const [index, { send }] of ways.entries())
        rates[index]?.push(await measure(child, send, load, Number(values.seconds)));
    const [http = Number.NaN, grpc = Number.NaN] = rates.map(median);
    const show = (rate: number): string => Math.round(rate).toLocaleString('en-US').padStart(12);
    console.log(`${load.name.padEnd(14)} HTTP${show(http)}   gRPC${show(grpc)}   ${(grpc / http).toFixed(2)}×`);
    await Promise.all(ways.map(({ close }) => close()));
  }
  child.kill('SIGKILL');
}

await main();
