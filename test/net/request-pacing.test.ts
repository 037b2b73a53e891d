/** Connections whose requests store nothing are read at a limited rate, and others are not. */
import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import t from 'tap';
import { type Bytes, PacedConnection } from '../../src/net/paced-connection.ts';
import { ReadBuffer } from '../../src/net/read-buffer.ts';
import { RequestPacing } from '../../src/net/request-pacing.ts';
import { KEY, startDaemon } from '../support/daemon.ts';
import { aSpan, aTraceRequest } from '../support/payloads.ts';
import { until } from '../support/worker-scene.ts';

const MOST_UNSTORED = 16;
const TICK_MS = 10;
const TICK_PIECES = 16;
const TICK_BYTES = TICK_PIECES * 256;
const SHORT_MS = 20;
/** More than the buffers of both sockets hold. */
const LARGE_BYTES = 32 * 1024 * 1024;

/** A connection with one request in each chunk, and the kinds of the bytes that were read. */
function openConnection() {
  const kinds: Bytes[] = [];
  const socket = new PassThrough();
  const pacing = {
    readBuffer: new ReadBuffer(),
    isAmbiguous: () => false,
    hasTime: () => true,
    spend: (kind: Bytes, work: () => void) => {
      kinds.push(kind);
      work();
    },
    await: () => undefined,
  };
  socket.on('data', () => {
    const request = { rawHeaders: [], headers: {}, httpVersion: '1.1', complete: true };
    const response = new EventEmitter();
    connection.begin(request as unknown as IncomingMessage, response as ServerResponse);
    response.emit('close');
  });
  const connection = new PacedConnection(socket as unknown as Socket, pacing, () => undefined);
  const request = async (): Promise<void> => {
    socket.write('request');
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { connection, kinds, request };
}

t.test('sixteen requests in a row that stored nothing limit the connection until one is stored', async (t) => {
  const { connection, kinds, request } = openConnection();
  for (let count = 0; count <= MOST_UNSTORED; count++) await request();
  t.same(kinds.splice(0), [...Array.from({ length: MOST_UNSTORED }, () => 'heads'), 'unstored']);
  connection.noteProgress();
  for (let count = 0; count < 3 * MOST_UNSTORED; count++) {
    await request();
    connection.noteProgress();
  }
  t.ok(kinds.every((kind) => kind === 'heads'));
});

t.test('closed connections take nothing of the limited rate', async (t) => {
  const pacing = new RequestPacing(new EventEmitter() as unknown as Server);
  const seen: string[] = [];
  const waiting = (name: string, isClosed: boolean) => ({ isClosed, continueReading: () => seen.push(name) }) as never;
  for (let count = 0; count < 500; count++) pacing.await(waiting('closed', true), 'unstored', false);
  for (let count = 0; count < TICK_PIECES; count++) pacing.await(waiting('open', false), 'unstored', false);
  await until(() => seen.length > 0);
  t.same(seen, Array(TICK_PIECES).fill('open'), 'all in the first tick');
});

/** Sends the text on a connection and waits for so many answers. Returns their statuses. */
async function converse(port: number, text: string, answers: number): Promise<readonly string[]> {
  const socket = connect(port, '127.0.0.1');
  let heard = '';
  socket.on('data', (data) => (heard += data.toString('latin1')));
  socket.write(text);
  const statuses = (): readonly string[] => [...heard.matchAll(/HTTP\/1\.1 (\d+)/gu)].map(([, status]) => status ?? '');
  await until(() => statuses().length >= answers);
  socket.destroy();
  return statuses();
}

t.test('requests of a client without a valid key are all answered, at a limited rate', async (t) => {
  const daemon = await startDaemon(t);
  const request =
    'POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}';
  const count = 300;
  const started = performance.now();
  const statuses = await converse(daemon.port, request.repeat(count), count);
  t.same(statuses, Array(count).fill('401'));
  const ticks = Math.floor(((count - 2 * MOST_UNSTORED) * request.length) / TICK_BYTES);
  t.ok(performance.now() - started > ((ticks - 1) * TICK_MS) / 2, 'at least half of the time of the limited rate');
});

t.test('a refusal between stored requests does not limit the connection', async (t) => {
  const daemon = await startDaemon(t);
  const post = (body: string): string =>
    `POST /v1/traces HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const text = Array.from({ length: 40 }, (_, index) =>
    post(index % 2 === 0 ? '{' : JSON.stringify(aTraceRequest([aSpan()]))),
  );
  const statuses = await converse(daemon.port, text.join(''), text.length);
  t.same(
    statuses,
    text.map((_, index) => (index % 2 === 0 ? '400' : '200')),
  );
});

t.test(
  'a client that reads nothing of its answers is cut, an idle one too, and one that waits for its answer is not',
  async (t) => {
    const server = createServer((request, response) => {
      pacing.begin(request, response);
      // Not earlier: on a busy machine the time could be over before the request is read.
      request.socket.setTimeout(SHORT_MS);
      if (request.url !== '/none') response.end(request.url === '/large' ? Buffer.alloc(LARGE_BYTES) : '');
    });
    const pacing = new RequestPacing(server);
    server.keepAliveTimeout = SHORT_MS;
    const accepted: Socket[] = [];
    server.on('connection', (connection) => {
      accepted.push(connection);
      pacing.adopt(connection);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const ask = async (path: string): Promise<Socket> => {
      const client = connect(port, '127.0.0.1').on('error', () => undefined);
      t.teardown(() => void client.destroy());
      client.pause().write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
      await until(() => accepted.length > 0);
      return accepted.pop() as Socket;
    };
    t.teardown(() => void server.close());
    const waiting = await ask('/none');
    await once(waiting, 'timeout');
    const unread = await ask('/large');
    await until(() => unread.destroyed);
    const idle = await ask('/small');
    await until(() => idle.destroyed);
    t.notOk(waiting.destroyed);
  },
);
