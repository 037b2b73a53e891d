// The limit of connections: a new one replaces a less useful one, and connections with a request in progress stay.
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import t, { type Test } from 'tap';
import { OpenConnections } from '../../../src/net/open-connections.ts';
import { TLS_FOLDER } from '../../support/certificates.ts';
import { type Daemon, FILE_CONFIG, KEY, OTHER_KEY, startDaemon } from '../../support/daemon.ts';
import { GrpcClient, protobufWriter } from '../../support/grpc-client.ts';
import { send } from '../../support/otlp-client.ts';
import { aSpan, aTraceRequest } from '../../support/payloads.ts';
import { until } from '../../support/worker-scene.ts';

const MOST = 20;
const LIMITED = FILE_CONFIG.replace(
  '"127.0.0.1:0" }',
  `"127.0.0.1:0", max_connections: ${MOST} }, grpc: { endpoint: "127.0.0.1:0", max_connections: ${MOST} }`,
);
const body = (): string => JSON.stringify(aTraceRequest([aSpan()]));

function open(t: Test, address: string, say = ''): Socket {
  const socket = connect(Number(address.split(':').at(-1)), '127.0.0.1', () => socket.write(say));
  socket.on('error', () => undefined);
  t.teardown(() => socket.destroy());
  return socket;
}

const statusOf = async (daemon: Daemon, key = OTHER_KEY): Promise<number> =>
  (await send(daemon.url, { authorization: `Bearer ${key}`, body: body() })).status;

t.test('silent clients and clients that never end their headers do not block others', async (t) => {
  const daemon = await startDaemon(t, { config: LIMITED });
  for (let index = 0; index < 3 * MOST; index++)
    open(t, daemon.url, index % 2 === 0 ? '' : 'POST /v1/traces HTTP/1.1\r\nHost: x\r\n');
  for (let index = 0; index < MOST; index++) t.equal(await statusOf(daemon), 200);

  for (let index = 0; index < 3 * MOST; index++) open(t, daemon.grpc, index % 2 === 0 ? '' : 'PRI * HTTP/2.0\r\n\r\n');
  const client = new GrpcClient(daemon.grpc);
  t.teardown(() => client.close());
  t.equal((await client.call({ body: protobufWriter()('traces', aTraceRequest([aSpan()])) })).code, 0);
});

t.test('idle connections of one project are closed for those of another', async (t) => {
  const daemon = await startDaemon(t, { config: LIMITED });
  const text = body();
  const head = `POST /v1/traces HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json\r\n`;
  let answered = 0;
  for (let index = 0; index < MOST; index++)
    open(t, daemon.url, `${head}Content-Length: ${text.length}\r\n\r\n${text}`).once('data', () => answered++);
  await until(() => answered === MOST);
  for (let index = 0; index < MOST; index++) t.equal(await statusOf(daemon), 200);
});

t.test('slow bodies of one key on all connections block other projects only for a moment', async (t) => {
  const daemon = await startDaemon(t, { config: LIMITED });
  const head = `POST /v1/traces HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json\r\n`;
  for (let index = 0; index < MOST; index++)
    open(t, daemon.url, `${head}Content-Length: 60000\r\n\r\n${' '.repeat(50_000)}`);
  await until(() => daemon.registry.print().includes(`sluice_requests_in_flight ${MOST}\n`));
  // No connection is closed while all bodies are new. A client that retries gets a connection.
  await until(async () => (await statusOf(daemon).catch(() => 0)) === 200);
  t.pass('served');
});

t.test('TLS handshakes that never end do not block others', async (t) => {
  const daemon = await startDaemon(t, {
    config: FILE_CONFIG.replace(
      '"127.0.0.1:0" }',
      `"127.0.0.1:0", max_connections: ${MOST}, tls: { cert_file: "${TLS_FOLDER}server.pem", key_file: "${TLS_FOLDER}server-key.pem" } }`,
    ),
  });
  for (let index = 0; index < 3 * MOST; index++) open(t, daemon.url, '\x16\x03\x01');
  const socket = connectTls({ port: daemon.port, rejectUnauthorized: false });
  const heard = await new Promise<string>((resolve) => {
    socket.once('data', (bytes) => resolve(bytes.toString()));
    socket.write('GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  });
  t.match(heard, /^HTTP\/1\.1 200 /);
  socket.destroy();
});

t.test(
  'order of closing: connections without a key by age, then the project with the most; those in progress stay',
  (t) => {
    const cut: string[] = [];
    const connection = (name: string): Socket => {
      const socket = { once: () => socket, destroy: () => cut.push(name) };
      return socket as unknown as Socket;
    };
    const connections = new OpenConnections(4);
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map(connection) as [Socket, Socket, Socket, Socket];
    for (const each of [a, b, c, d]) connections.add(each);
    connections.mark(a, 'working', 'greedy');
    connections.mark(b, 'idle', 'greedy');
    connections.mark(c, 'idle', 'small');
    t.ok(connections.add(connection('e')));
    t.same(cut, ['d'], 'the oldest without a key');
    t.ok(connections.add(connection('f')));
    t.same(cut, ['d', 'e']);
    const g = connection('g');
    t.ok(connections.add(g));
    t.same(cut, ['d', 'e', 'f']);
    connections.mark(g, 'idle', 'greedy');
    t.ok(connections.add(connection('h')));
    t.equal(cut.at(-1), 'b', 'the longest idle connection of the project with the most idle ones');
    connections.mark(c, 'working', 'small');
    connections.mark(g, 'working', 'greedy');
    t.ok(connections.add(connection('i')));
    t.equal(cut.at(-1), 'h');
    t.equal(connections.count, 4);
    t.end();
  },
);
