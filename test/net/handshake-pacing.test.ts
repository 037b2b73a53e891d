/** A client that opens many TLS connections takes a limited part of the event loop, and others keep their service. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import t from 'tap';
import { HandshakePacing } from '../../src/net/handshake-pacing.ts';
import { until } from '../support/worker-scene.ts';

const MOST_UNFINISHED = 8;
/** A ClientHello with one byte in a record. */
const HELLO = Buffer.from([0x16, 3, 1, 0, 5, 1, 0, 0, 1, 4]);
const LONG_MS = 60_000;

interface Scene {
  /** A connection of a client, and of the server. */
  open(from?: string): Promise<{ readonly client: Socket; readonly accepted: Socket }>;
  /** So many connections of one client that have all sent a ClientHello. */
  openAll(count: number): Promise<readonly { readonly client: Socket; readonly accepted: Socket }[]>;
  /** The connections of the server whose handshakes began, in order. */
  readonly begun: Socket[];
  readonly pacing: HandshakePacing;
}

async function startScene(
  t: { teardown(task: () => void): void },
  begin = (): void => undefined,
  durationMs = LONG_MS,
): Promise<Scene> {
  const begun: Socket[] = [];
  const pacing = new HandshakePacing({ durationMs, unfinished: MOST_UNFINISHED });
  const sockets: Socket[] = [];
  const server = createServer((connection) => {
    sockets.push(connection);
    connection.on('error', () => undefined);
    pacing.add(connection, () => {
      begun.push(connection);
      begin();
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as { port: number };
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const open: Scene['open'] = async (from = '127.0.0.1') => {
    const client = connect({ port, host: '127.0.0.1', localAddress: from });
    client.on('error', () => undefined);
    sockets.push(client);
    const [[accepted]] = await Promise.all([once(server, 'connection'), once(client, 'connect')]);
    return { client, accepted: accepted as Socket };
  };
  const openAll: Scene['openAll'] = async (count) => {
    const all = [];
    for (let index = 0; index < count; index++) all.push(await open());
    for (const { client } of all) client.write(HELLO);
    return all;
  };
  return { open, openAll, begun, pacing };
}

t.test('a handshake begins when its first record is complete, and the server can read all of it', async (t) => {
  const { open, begun } = await startScene(t);
  const { client, accepted } = await open();
  for (const byte of HELLO.subarray(0, -1)) {
    client.write(Buffer.from([byte]));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await until(() => accepted.bytesRead === HELLO.length - 1);
  t.equal(begun.length, 0);
  client.write(HELLO.subarray(-1));
  await until(() => begun.length === 1);
  t.same(accepted.read(), HELLO);
});

/** The message of `HELLO` in other forms. A handshake that began earlier would escape the limits. */
const FORMS = {
  'a record for each byte': Buffer.concat([...HELLO.subarray(5)].map((byte) => Buffer.from([0x16, 3, 1, 0, 1, byte]))),
  'an empty record before': Buffer.concat([Buffer.from([0x16, 3, 1, 0, 0]), HELLO]),
  'a change of the cipher spec before': Buffer.concat([Buffer.from([0x14, 3, 3, 0, 1, 1]), HELLO]),
  'an alert between': Buffer.concat([
    Buffer.from([0x16, 3, 1, 0, 2, 1, 0, 0x15, 3, 1, 0, 2, 1, 0]),
    Buffer.from([0x16, 3, 1, 0, 3, 0, 1, 4]),
  ]),
  'that of SSL 2': Buffer.from([0x80, 4, 1, 3, 3, 0]),
};
for (const [name, form] of Object.entries(FORMS))
  t.test(`a handshake begins with its last byte: ${name}`, async (t) => {
    const { open, begun } = await startScene(t);
    const { client, accepted } = await open();
    client.write(form.subarray(0, -1));
    await until(() => accepted.bytesRead === form.length - 1);
    t.equal(begun.length, 0);
    client.write(form.subarray(-1));
    await until(() => begun.length === 1);
    t.same(accepted.read(), form);
  });

t.test('a connection that ends, or sends too much, before its handshake begins is closed', async (t) => {
  const { open, begun } = await startScene(t);
  for (const bytes of [Buffer.alloc(0), HELLO.subarray(0, 7)]) {
    const { client, accepted } = await open();
    client.end(bytes);
    await until(() => accepted.destroyed);
  }
  const { client, accepted } = await open();
  client.write(Buffer.concat([Buffer.from([0x16, 3, 1, 0x40, 0, 1, 1, 0, 0]), Buffer.alloc(16_380)]));
  for (let record = 0; record < 4; record++)
    client.write(Buffer.concat([Buffer.from([0x16, 3, 1, 0x40, 0]), Buffer.alloc(16_384)]));
  await until(() => accepted.destroyed);
  t.equal(begun.length, 0);
});

t.test('bytes that are no handshake are passed on at once', async (t) => {
  const { open, begun } = await startScene(t);
  const { client, accepted } = await open();
  client.write('G');
  await until(() => begun.length === 1);
  t.same(accepted.read(), Buffer.from('G'));
});

t.test('a connection without a ClientHello is closed', async (t) => {
  const { open, begun } = await startScene(t, undefined, 1);
  const { client } = await open();
  client.resume();
  await once(client, 'close');
  t.equal(begun.length, 0);
});

t.test('a connection whose handshake does not end is closed', async (t) => {
  const { open, begun } = await startScene(t, undefined, 100);
  // On a busy machine the time may be over before the handshake begins.
  while (begun.length === 0) {
    const { client } = await open();
    client.resume();
    client.write(HELLO);
    await new Promise((resolve) => client.once('close', resolve));
  }
  t.equal(begun.length, 1);
});

t.test('few handshakes begin in an iteration of the event loop', async (t) => {
  const MOST_IN_AN_ITERATION = 4;
  const counts: number[] = [];
  let count = 0;
  const { openAll, begun, pacing } = await startScene(t, () => {
    if (count++ === 0)
      setImmediate(() => {
        counts.push(count);
        count = 0;
      });
  });
  const clients = await openAll(20);
  for (let ended = 0; ended < clients.length; ended++) {
    await until(() => begun.length > ended);
    pacing.end(begun[ended] as Socket);
  }
  t.ok(Math.max(...counts) <= MOST_IN_AN_ITERATION, `${counts}`);
});

t.test('few handshakes are unfinished, and clients of other addresses come first', async (t) => {
  const { open, openAll, begun, pacing } = await startScene(t);
  await openAll(MOST_UNFINISHED + 10);
  await until(() => begun.length === MOST_UNFINISHED);
  const other = await open('127.0.0.2');
  other.client.write(HELLO);
  await until(() => other.accepted.bytesRead === HELLO.length);
  t.equal(begun.length, MOST_UNFINISHED);
  pacing.end(begun[0] as Socket);
  await until(() => begun.length === MOST_UNFINISHED + 1);
  pacing.end(begun[1] as Socket);
  await until(() => begun.length === MOST_UNFINISHED + 2);
  t.ok(begun.indexOf(other.accepted) >= MOST_UNFINISHED, 'one of the next two is of the other address');
});

t.test('a slow handshake is ended for one that waits', async (t) => {
  const { open, openAll, begun } = await startScene(t);
  await openAll(MOST_UNFINISHED);
  await until(() => begun.length === MOST_UNFINISHED);
  const { client, accepted } = await open();
  client.write(HELLO);
  await until(() => begun.includes(accepted));
  t.ok(begun[0]?.destroyed);
  t.equal(begun.filter(({ destroyed }) => destroyed).length, 1);
});

t.test('a connection that closes while it waits takes no turn', async (t) => {
  const { openAll, begun, pacing } = await startScene(t);
  const clients = await openAll(MOST_UNFINISHED + 2);
  await until(() => begun.length === MOST_UNFINISHED);
  const [closing, last] = clients.filter(({ accepted }) => !begun.includes(accepted));
  closing?.accepted.destroy();
  pacing.end(begun[0] as Socket);
  await until(() => begun.length === MOST_UNFINISHED + 1);
  t.equal(begun.at(-1), last?.accepted);
});

t.test('a connection that its client ends while it waits is closed', async (t) => {
  const { openAll, begun } = await startScene(t);
  const clients = await openAll(MOST_UNFINISHED + 1);
  await until(() => begun.length === MOST_UNFINISHED);
  const [waiting] = clients.filter(({ accepted }) => !begun.includes(accepted));
  waiting?.client.end();
  await until(() => waiting?.accepted.destroyed === true);
  t.equal(begun.length, MOST_UNFINISHED);
});
