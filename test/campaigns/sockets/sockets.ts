/** Sends random and damaged streams to every port, and breaks connections at random times. See README.md. */
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { acceptedConnections } from '../../support/accepted-connections.ts';
import { TLS_FOLDER } from '../../support/certificates.ts';
import { type Daemon, KEY, startDaemon } from '../../support/daemon.ts';
import { Random } from '../../support/generators-random.ts';
import { GrpcClient, protobufWriter } from '../../support/grpc-client.ts';
import { PATIENCE_MS } from '../../support/patience.ts';
import { aSpan, aTraceRequest } from '../../support/payloads.ts';
import { ListeningSockets } from '../../../src/net/listener.ts';
import { MetricsServer } from '../../../src/service/telemetry/metrics-server.ts';
import { FAST_SETTINGS, makeServer } from '../../support/postgres.ts';
import { type Dialect, streamOf } from './streams.ts';

const ROUND = 500;
const AT_ONCE = 24;
/** A connection that the client does not end is ended after this time. */
const LINGER_MS = 300;
const MOST_DELAY_MS = 20;
/** These must be 0 when no client is connected. */
const GAUGES = [
  'sluice_requests_in_flight',
  'sluice_bytes_in_flight',
  'sluice_requests_waiting',
  'sluice_row_bytes_held',
];

interface Port {
  readonly name: string;
  readonly address: string;
  readonly dialect: Dialect;
  readonly tls: boolean;
  /** Asked by the honest client; null for gRPC. */
  readonly path: string | null;
}

const tls = `tls: { cert_file: "${TLS_FOLDER}server.pem", key_file: "${TLS_FOLDER}server-key.pem" }`;
const configOf = (url: string): string => `
extensions:
  postgres: { url: "${url}", allow_unsafe: true }
  console: { endpoint: "127.0.0.1:0" }
  health_check: { endpoint: "127.0.0.1:0" }
receivers:
  otlp: { protocols: { http: { endpoint: "127.0.0.1:0", read_timeout: 2s, idle_timeout: 1s }, grpc: { endpoint: "127.0.0.1:0" } } }
  otlp/tls: { protocols: { http: { endpoint: "127.0.0.1:0", ${tls} }, grpc: { endpoint: "127.0.0.1:0", ${tls} } } }
processors: { auth: { keys: [{ key: ${KEY}, project: demo }] }, environment: {} }
exporters: { postgres: {} }
service:
  extensions: [postgres, console, health_check]
  telemetry: { metrics: { enabled: false } }
  pipelines:
    traces: &pipeline { receivers: [otlp, otlp/tls], processors: [auth, environment], exporters: [postgres] }
    logs: *pipeline
    metrics: *pipeline
`;

async function portsOf(daemon: Daemon): Promise<readonly Port[]> {
  const bound = (message: string, secured?: boolean): string => {
    const line = daemon.log.find(
      ({ message: found, fields }) => found === message && (secured === undefined || fields['tls'] === secured),
    );
    if (line === undefined) throw new Error(`not in the log: ${message}`);
    return String(line.fields['endpoint']);
  };
  const metrics = new MetricsServer('127.0.0.1:0', daemon.registry, new ListeningSockets().forService());
  await metrics.start();
  ends.push(() => metrics.stop());
  const otlp = [false, true].flatMap((secured): Port[] => [
    {
      name: 'http',
      address: bound('listening for OTLP/HTTP', secured),
      dialect: 'http',
      tls: secured,
      path: '/health',
    },
    { name: 'grpc', address: bound('listening for OTLP/gRPC', secured), dialect: 'http2', tls: secured, path: null },
  ]);
  const small = [
    ['console', bound('the console is open'), '/'],
    ['metrics', metrics.address ?? '', '/metrics'],
    ['health check', bound('answering readiness checks'), '/'],
  ] as const;
  return [
    ...otlp,
    ...small.map(([name, address, path]): Port => ({ name, address, dialect: 'http', tls: false, path })),
  ];
}

/** `raw` is the TCP connection under `socket`. */
function open({ address, tls, dialect }: Port): { readonly socket: Socket; readonly raw: Socket } {
  const raw = connect(Number(address.split(':').at(-1)), '127.0.0.1');
  raw.on('error', () => undefined);
  if (!tls) return { socket: raw, raw };
  const ALPNProtocols = [dialect === 'http' ? 'http/1.1' : 'h2'];
  const socket = connectTls({ socket: raw, rejectUnauthorized: false, ALPNProtocols });
  socket.on('error', () => undefined);
  return { socket, raw };
}

/** One connection from its begin to its end. */
async function attack(random: Random, port: Port): Promise<void> {
  // Once in five a client of a TLS port sends its bytes without TLS.
  const { socket, raw } = open({ ...port, tls: port.tls && !random.once(5) });
  const closed = new Promise<void>((resolve) => raw.once('close', () => resolve()));
  if (random.once(5)) socket.pause();
  else socket.resume();
  const stream = streamOf(random, port.dialect);
  const cut = random.once(3) ? random.below(stream.length) : stream.length;
  for (let at = 0; at < cut && !socket.destroyed; ) {
    const size = random.once(2) ? cut - at : 1 + random.below(cut - at);
    socket.write(stream.subarray(at, at + size));
    at += size;
    if (random.once(2)) await delay(random.below(MOST_DELAY_MS));
  }
  const end = random.pick<() => unknown>([
    () => raw.resetAndDestroy(),
    () => socket.end(),
    () => socket.destroy(),
    () => undefined,
  ]);
  if (random.once(2)) await delay(random.below(MOST_DELAY_MS));
  end();
  await Promise.race([closed, delay(LINGER_MS)]);
  raw.destroy();
  // A reset while the connection is shutting down has no event (node:net).
  await Promise.race([closed, delay(LINGER_MS)]);
}

/** 200, or another answer as text, to a request on its own connection. */
function answerOf(port: Port, request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const { socket } = open(port);
    let heard = '';
    socket.setTimeout(PATIENCE_MS, () => socket.destroy(new Error(`no answer from ${port.name}`)));
    socket.on('data', (bytes) => (heard += bytes.toString('latin1')));
    socket.on('error', reject);
    socket.once('close', () => resolve(heard.startsWith('HTTP/1.1 200 ') ? '200' : heard));
    socket.write(request);
  });
}

async function checkHonest(ports: readonly Port[]): Promise<void> {
  const body = JSON.stringify(aTraceRequest([aSpan()]));
  for (const port of ports) {
    if (port.path !== null) {
      const get = `GET ${port.path} HTTP/1.1\r\nHost: 127.0.0.1:${port.address.split(':').at(-1)}\r\nConnection: close\r\n\r\n`;
      expect(await answerOf(port, get), '200', `GET ${port.path} of ${port.name}`);
    }
    if (port.name === 'http') {
      const post = `POST /v1/traces HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
      expect(await answerOf(port, post), '200', 'POST /v1/traces');
    }
    if (port.path !== null || port.tls) continue;
    const client = new GrpcClient(port.address);
    const { code } = await client.call({ body: protobufWriter()('traces', aTraceRequest([aSpan()])) });
    client.close();
    expect(code, 0, 'a call over gRPC');
  }
}

/** Waits until nothing of the ended connections is left. */
async function checkNothingLeft(daemon: Daemon, ports: readonly Port[]): Promise<void> {
  const limit = performance.now() + PATIENCE_MS;
  for (;;) {
    const left = daemon.registry
      .print()
      .split('\n')
      .filter((line) => GAUGES.some((name) => line.startsWith(name)) && !line.endsWith(' 0'));
    for (const { name, address } of ports) {
      const open = acceptedConnections(address);
      if (open > 0) left.push(`${open} connections of ${name}`);
    }
    if (left.length === 0) return;
    if (performance.now() > limit) throw new Error(`left without a client: ${left.join(', ')}`);
    await delay(10);
  }
}

function expect(found: unknown, wanted: unknown, what: string): void {
  if (found !== wanted) throw new Error(`${what}: ${found} instead of ${wanted}`);
}

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '60' }, seed: { type: 'string', default: '1' } },
});
const ends: (() => Promise<unknown>)[] = [];
const t = { teardown: (end: () => Promise<unknown>) => void ends.push(end) };
let round = Number(values.seed);
const fail = (error: unknown): never => {
  console.error(`FAILED in the round of seed ${round}:`, error);
  process.exit(1);
};
process.on('uncaughtException', fail).on('unhandledRejection', fail);

// A shared server would end with tap, which this process does not wait for.
const server = await makeServer(t, FAST_SETTINGS);
await server.start();
const daemon = await startDaemon(t, { config: configOf(server.url), fatal: fail });
const ports = await portsOf(daemon);
const until = performance.now() + Number(values.seconds) * 1000;
let connections = 0;
do {
  const random = new Random(round);
  const attacks = Array.from({ length: ROUND }, () => ({
    random: new Random(random.next()),
    port: random.pick(ports),
  }));
  const next = async (): Promise<void> => {
    for (let one = attacks.pop(); one !== undefined; one = attacks.pop()) await attack(one.random, one.port);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
  connections += ROUND;
  await checkNothingLeft(daemon, ports);
  await checkHonest(ports);
  round++;
} while (performance.now() < until);
console.log(JSON.stringify({ connections, rounds: round - Number(values.seed) }));
for (const end of ends.reverse()) await end();
process.exit(0);
