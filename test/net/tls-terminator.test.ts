/** A stop ends TLS connections without a request at once: before, during and after their handshake. */
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { Duplex } from 'node:stream';
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls';
import t, { type Test } from 'tap';
import type { Host } from '../../src/component/component.ts';
import { HttpConnections } from '../../src/net/http-connections.ts';
import { type Protocol, TlsTerminator } from '../../src/net/tls-terminator.ts';
import { pem, TLS_FOLDER } from '../support/certificates.ts';
import { openFolder } from '../support/executable.ts';
import { until } from '../support/worker-scene.ts';

/** Handshakes that begin in an iteration of the event loop. */
const MOST_BEGUN = 4;
const NEVER = new AbortController().signal;
const NOTHING = (): void => undefined;

interface Scene {
  readonly connections: HttpConnections;
  readonly accepted: readonly Socket[];
  readonly secured: readonly TLSSocket[];
  /** What the protocol got as the accepted connection of each of them. */
  readonly under: readonly Socket[];
  /** Where a client connects. */
  readonly at: { readonly port: number; readonly host: string } | { readonly path: string };
}

/** A server behind TLS. The one of HTTP answers no request. */
async function startScene(t: Test, path?: string, serve?: (connection: TLSSocket) => void): Promise<Scene> {
  const accepted: Socket[] = [];
  const secured: TLSSocket[] = [];
  const under: Socket[] = [];
  const logger = { debug: NOTHING, info: NOTHING, warn: NOTHING, error: NOTHING };
  const host = { resolvePath: (path: string) => path, logger, now: () => Date.now() } as unknown as Host;
  const server = createHttpServer(NOTHING);
  const serveHttp = (connection: TLSSocket): unknown => server.emit('connection', connection);
  const protocol: Protocol = {
    name: 'http/1.1',
    failed: NOTHING,
    secured: (connection, raw) => {
      secured.push(connection);
      under.push(raw);
      (serve ?? serveHttp)(connection);
    },
  };
  const [cert, key] = [join(TLS_FOLDER, 'server.pem'), join(TLS_FOLDER, 'server-key.pem')];
  const options = { cert_file: cert, key_file: key, min_version: '1.2', cipher_suites: [], reload_interval: 0 };
  const terminator = new TlsTerminator(options as ConstructorParameters<typeof TlsTerminator>[0], host, protocol);
  terminator.start();
  const connections = new HttpConnections(server, terminator);
  const listening = createServer((connection) => {
    accepted.push(connection);
    connection.on('error', NOTHING);
    connections.accept(connection);
  });
  await once(path === undefined ? listening.listen(0, '127.0.0.1') : listening.listen(path), 'listening');
  t.teardown(async () => {
    listening.close();
    await connections.cut();
  });
  if (path !== undefined) return { connections, accepted, secured, under, at: { path } };
  const { port } = listening.address() as { port: number };
  return { connections, accepted, secured, under, at: { port, host: '127.0.0.1' } };
}

function open(t: Test, { at }: Scene, options: ConnectionOptions = {}): TLSSocket {
  const client = connectTls({ ...at, ca: pem('ca'), servername: 'localhost', ...options });
  client.on('error', NOTHING);
  t.teardown(() => void client.destroy());
  return client;
}

t.test('a handshake that has begun does not hold the stop until its deadline', async (t) => {
  const scene = await startScene(t);
  const client = connect(scene.at);
  client.on('error', NOTHING);
  // The head of a TLS record whose rest never comes.
  client.write(Buffer.from([0x16, 3, 1, 0, 5]));
  await until(() => (scene.accepted[0]?.bytesRead ?? 0) > 0);
  await scene.connections.close(NEVER);
  t.ok(scene.accepted[0]?.destroyed);
});

t.test('a connection whose handshake ends after the stop has begun is cut', async (t) => {
  const scene = await startScene(t, join(openFolder(t), 's'));
  const stream = connect(scene.at as { path: string });
  stream.on('error', NOTHING);
  // The rest of the handshake is held back until the stop has begun.
  const held: (() => void)[] = [];
  const write = (bytes: Buffer, _encoding: string, done: () => void): void => {
    const send = (): void => void stream.write(bytes, () => done());
    if (stream.bytesWritten === 0) send();
    else held.push(send);
  };
  const between = new Duplex({ write, read: NOTHING });
  stream.on('data', (bytes: Buffer) => between.push(bytes));
  stream.on('close', () => between.push(null));
  const client = connectTls({ socket: between, ca: pem('ca'), servername: 'localhost' });
  client.on('error', NOTHING);
  t.teardown(() => void stream.destroy());
  await until(() => held.length > 0);
  const stopped = scene.connections.close(NEVER);
  t.equal(scene.secured.length, 0);
  for (const send of held) send();
  await stopped;
  t.ok(scene.accepted[0]?.destroyed);
});

t.test('a connection without a request after its handshake does not hold the stop', async (t) => {
  const scene = await startScene(t);
  const client = open(t, scene);
  await once(client, 'secureConnect');
  await until(() => scene.secured.length > 0);
  await scene.connections.close(NEVER);
  t.ok(scene.accepted[0]?.destroyed);
});

t.test('a connection with a request stays until its answer', async (t) => {
  const scene = await startScene(t);
  const client = open(t, scene);
  client.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await until(() => (scene.secured[0]?.bytesRead ?? 0) > 0);
  const deadline = new AbortController();
  const stopped = scene.connections.close(deadline.signal);
  await new Promise(setImmediate);
  t.notOk(scene.accepted[0]?.destroyed);
  deadline.abort();
  await stopped;
  t.ok(scene.accepted[0]?.destroyed);
});

t.test('the accepted connection is known, over TCP and over a Unix domain socket', async (t) => {
  for (const path of [undefined, join(openFolder(t), 's')]) {
    const scene = await startScene(t, path);
    const client = open(t, scene);
    await once(client, 'secureConnect');
    await until(() => scene.secured.length > 0);
    t.equal(scene.under[0], scene.accepted[0]);
  }
});

t.test('over a Unix domain socket too, few handshakes begin in an iteration of the event loop', async (t) => {
  const MANY = 40;
  const scene = await startScene(t, join(openFolder(t), 's'));
  const clients = Array.from({ length: MANY }, () => connect(scene.at as { path: string }));
  t.teardown(() => {
    for (const client of clients) client.destroy();
  });
  await until(() => scene.accepted.length === MANY);
  // The TLS server answers in the iteration in which it reads.
  const counts: number[] = [];
  const count = (): number => scene.accepted.filter(({ bytesWritten }) => bytesWritten > 0).length;
  const watch = (before: number): void => {
    counts.push(count() - before);
    if (count() < MANY) setImmediate(watch, count());
  };
  setImmediate(watch, 0);
  for (const client of clients)
    connectTls({ socket: client, ca: pem('ca'), servername: 'localhost' }).on('error', NOTHING);
  await until(() => count() === MANY);
  t.ok(Math.max(...counts) <= MOST_BEGUN, `${counts}`);
});

t.test('a client cannot begin a second handshake in a connection', async (t) => {
  const scene = await startScene(t);
  const client = open(t, scene, { maxVersion: 'TLSv1.2' });
  await once(client, 'secureConnect');
  const [error] = await Promise.all([once(client, 'error'), client.renegotiate({}, NOTHING)]);
  t.match(String(error), /no renegotiation/);
});

t.test('a connection is closed whose client was gone before the end of the handshake', async (t) => {
  const scene = await startScene(t, undefined, (connection) => {
    // The session tickets are written before the answer, and the end of the client is read after it.
    connection.pause();
    setImmediate(() => {
      connection.write('an answer');
      connection.resume();
    });
  });
  const stream = connect(scene.at);
  stream.on('error', NOTHING);
  const held: Buffer[] = [];
  const write = (bytes: Buffer, _encoding: string, done: () => void): void => {
    if (stream.bytesWritten === 0) stream.write(bytes);
    else held.push(bytes);
    done();
  };
  const between = new Duplex({ write, read: NOTHING });
  stream.on('data', (bytes: Buffer) => between.push(bytes));
  const client = connectTls({ socket: between, ca: pem('ca'), servername: 'localhost' });
  client.on('error', NOTHING);
  t.teardown(() => void client.destroy());
  await once(client, 'secureConnect');
  await new Promise((resolve) => client.write('a request', resolve));
  // The server reads the last bytes when the reset is there too.
  stream.write(Buffer.concat(held));
  stream.resetAndDestroy();
  await until(() => scene.secured.length > 0);
  await until(() => scene.accepted[0]?.destroyed === true);
  t.ok(scene.secured[0]?.destroyed);
});
