/** Many clients that continue their handshakes together take a limited part of the event loop. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import t from 'tap';
import { HandshakeTurns } from '../../src/net/handshake-turns.ts';
import { until } from '../support/worker-scene.ts';

const MANY = 100;
/** Handshakes that are always read, and the handshakes of a turn. */
const MOST_IN_AN_ITERATION = 32;

/** Connections of which every byte is counted as it is read, in iterations of the event loop. */
async function startScene(t: { teardown(task: () => void): void }) {
  const sockets: Socket[] = [];
  const accepted: Socket[] = [];
  const counts: number[] = [];
  let count = 0;
  const server = createServer((connection) => {
    accepted.push(connection);
    connection.on('data', () => {
      if (count++ > 0) return;
      setImmediate(() => {
        counts.push(count);
        count = 0;
      });
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as { port: number };
  t.teardown(() => {
    for (const socket of [...sockets, ...accepted]) socket.destroy();
    server.close();
  });
  for (let index = 0; index < MANY; index++) {
    const socket = connect({ port, host: '127.0.0.1' });
    sockets.push(socket);
    await once(socket, 'connect');
  }
  await until(() => accepted.length === MANY);
  return { sockets, accepted, counts };
}

/** Until the immediates of this iteration are over. */
const iteration = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

t.test('bytes of few handshakes are read in an iteration, and all of them in the end', async (t) => {
  const { sockets, accepted, counts } = await startScene(t);
  const turns = new HandshakeTurns();
  for (const connection of accepted) {
    connection.once('close', () => turns.delete(connection));
    turns.add(connection);
  }
  await iteration();
  for (const socket of sockets) socket.write('x');
  await until(() => accepted.every(({ bytesRead }) => bytesRead === 1));
  t.equal(
    counts.reduce((sum, each) => sum + each),
    MANY,
  );
  t.ok(Math.max(...counts) <= MOST_IN_AN_ITERATION, `${counts}`);
});

t.test('a handshake that ends in its turn is read without turns', async (t) => {
  const { sockets, accepted } = await startScene(t);
  const turns = new HandshakeTurns();
  for (const connection of accepted) {
    connection.once('data', () => turns.delete(connection));
    turns.add(connection);
  }
  await iteration();
  for (const socket of sockets) socket.write('x');
  await until(() => accepted.every(({ bytesRead }) => bytesRead === 1));
  for (const socket of sockets) socket.write('y');
  await until(() => accepted.every(({ bytesRead }) => bytesRead === 2));
  t.pass('all continue');
});
