/** The primary distributes connections over workers that start and exit. */
import { Socket } from 'node:net';
import t from 'tap';
import type { OpenPort } from '../../../src/net/port.ts';
import { type Holder, SharedPorts } from '../../../src/daemon/workers/shared-ports.ts';

const KEY = '127.0.0.1:4318';
const PLACE = { endpoint: { host: '127.0.0.1', port: 4318 }, request: { endpoint: KEY, option: 'endpoint' } };

class FakeWorker implements Holder {
  readonly taken: Socket[] = [];
  readonly returns: (() => void)[] = [];

  handOff(_key: string, connection: Socket, returned: () => void): void {
    this.taken.push(connection);
    this.returns.push(returned);
  }
}

/** A port without a socket. */
class FakePort {
  opened = 0;
  closed = 0;
  connect: () => Socket = () => new Socket();

  readonly open: OpenPort = async (_endpoint, _request, accept) => {
    this.opened++;
    this.connect = () => {
      const connection = new Socket();
      accept(connection);
      return connection;
    };
    return { address: KEY, limit: () => undefined, close: () => void this.closed++ };
  };
}

async function shared(count: number) {
  const port = new FakePort();
  const ports = new SharedPorts(port.open);
  const workers = Array.from({ length: count }, () => new FakeWorker());
  for (const worker of workers) await ports.listen(worker, KEY, PLACE);
  return { port, ports, workers };
}

t.test('all workers share one socket, and the worker with the fewest connections gets the next one', async (t) => {
  const { port, ports, workers } = await shared(2);
  const [one, two] = workers as [FakeWorker, FakeWorker];
  t.equal(port.opened, 1);
  for (let count = 0; count < 6; count++) port.connect();
  t.same([one.taken.length, two.taken.length], [3, 3]);
  for (let count = 0; count < 3; count++) ports.connectionClosed(two, KEY);
  for (let count = 0; count < 3; count++) port.connect();
  t.same([one.taken.length, two.taken.length], [3, 6]);
});

t.test('of workers with equally many connections the first gets the next one', async (t) => {
  const { port, workers } = await shared(3);
  port.connect();
  t.same(
    workers.map(({ taken }) => taken.length),
    [1, 0, 0],
  );
});

t.test('a worker that asks for its port again keeps its count', async (t) => {
  const { port, ports, workers } = await shared(2);
  const [one, two] = workers as [FakeWorker, FakeWorker];
  for (let count = 0; count < 4; count++) port.connect();
  await ports.listen(one, KEY, PLACE);
  port.connect();
  port.connect();
  t.same([one.taken.length, two.taken.length], [3, 3]);
});

t.test('connections that wait count towards the limit, and end with their port', async (t) => {
  const { port, ports, workers } = await shared(1);
  ports.limit(KEY, { ...PLACE.request, maxConnections: 2 });
  ports.removeHolder(workers[0] as FakeWorker);
  const connections = [1, 2, 3].map(() => port.connect());
  t.same(
    connections.map(({ destroyed }) => destroyed),
    [false, false, true],
  );
  ports.closeUnused();
  t.ok(connections.every(({ destroyed }) => destroyed));
});

t.test('a restarted worker gets the next connections', async (t) => {
  const { port, ports, workers } = await shared(2);
  const [one, two] = workers as [FakeWorker, FakeWorker];
  for (let count = 0; count < 4; count++) port.connect();
  ports.removeHolder(two);
  const next = new FakeWorker();
  await ports.listen(next, KEY, PLACE);
  port.connect();
  port.connect();
  t.same([one.taken.length, next.taken.length], [2, 2]);
});

t.test('connections wait while there is no worker, and a failed hand-off goes to another worker', async (t) => {
  const { port, ports, workers } = await shared(1);
  const [one] = workers as [FakeWorker];
  const sent = port.connect();
  ports.removeHolder(one);
  one.returns[0]?.();
  const came = port.connect();
  t.equal(port.closed, 0);
  const next = new FakeWorker();
  await ports.listen(next, KEY, PLACE);
  t.same(next.taken.length, 2);
  t.ok(next.taken.includes(sent) && next.taken.includes(came));
  t.notOk(sent.destroyed);
});

t.test('the limit of connections applies to all workers together', async (t) => {
  const { port, ports, workers } = await shared(2);
  ports.limit(KEY, { ...PLACE.request, maxConnections: 3 });
  const connections = [1, 2, 3, 4].map(() => port.connect());
  t.same(
    connections.map(({ destroyed }) => destroyed),
    [false, false, false, true],
  );
  ports.connectionClosed(workers[0] as FakeWorker, KEY);
  t.notOk(port.connect().destroyed);
});

t.test(
  'the last worker that releases a port closes it; a dead worker does not, until unused ports are closed',
  async (t) => {
    const { port, ports, workers } = await shared(2);
    const [one, two] = workers as [FakeWorker, FakeWorker];
    ports.unlisten(one, KEY);
    t.equal(port.closed, 0);
    ports.unlisten(two, KEY);
    await Promise.resolve();
    t.equal(port.closed, 1);
    await ports.listen(one, KEY, PLACE);
    ports.removeHolder(one);
    await Promise.resolve();
    t.equal(port.closed, 1);
    ports.closeUnused();
    await Promise.resolve();
    t.equal(port.closed, 2);
  },
);

t.test('a port that cannot be opened is refused to every worker, and can be tried again', async (t) => {
  let isTaken = true;
  const port = new FakePort();
  const ports = new SharedPorts(async (...request) => {
    if (isTaken) throw new Error('taken');
    return port.open(...request);
  });
  await t.rejects(ports.listen(new FakeWorker(), KEY, PLACE), { message: 'taken' });
  isTaken = false;
  t.equal(await ports.listen(new FakeWorker(), KEY, PLACE), KEY);
});
