/** How the primary spreads connections over workers that come and go. */
import { Socket } from 'node:net';
import t from 'tap';
import type { OpenPort } from '../../../src/net/port.ts';
import { type Holder, SharedPorts } from '../../../src/daemon/workers/shared-ports.ts';

const KEY = '127.0.0.1:4318';
const PLACE = { endpoint: { host: '127.0.0.1', port: 4318 }, request: { endpoint: KEY, option: 'endpoint' } };

class FakeWorker implements Holder {
  readonly taken: Socket[] = [];
  readonly returns: (() => void)[] = [];

  give(_key: string, connection: Socket, returned: () => void): void {
    this.taken.push(connection);
    this.returns.push(returned);
  }
}

/** A port that nobody has to open. */
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
  for (const worker of workers) await ports.hold(worker, KEY, PLACE);
  return { port, ports, workers };
}

t.test('one socket for all; the worker with the fewest connections gets the next', async (t) => {
  const { port, ports, workers } = await shared(2);
  const [one, two] = workers as [FakeWorker, FakeWorker];
  t.equal(port.opened, 1);
  for (let count = 0; count < 6; count++) port.connect();
  t.same([one.taken.length, two.taken.length], [3, 3]);
  for (let count = 0; count < 3; count++) ports.closed(two, KEY);
  for (let count = 0; count < 3; count++) port.connect();
  t.same([one.taken.length, two.taken.length], [3, 6]);
});

t.test('a worker that starts again is filled up first', async (t) => {
  const { port, ports, workers } = await shared(2);
  const [one, two] = workers as [FakeWorker, FakeWorker];
  for (let count = 0; count < 4; count++) port.connect();
  ports.lose(two);
  const next = new FakeWorker();
  await ports.hold(next, KEY, PLACE);
  port.connect();
  port.connect();
  t.same([one.taken.length, next.taken.length], [2, 2]);
});

t.test('while all are gone connections wait, and what could not be sent goes to another', async (t) => {
  const { port, ports, workers } = await shared(1);
  const [one] = workers as [FakeWorker];
  const sent = port.connect();
  ports.lose(one);
  one.returns[0]?.();
  const came = port.connect();
  t.equal(port.closed, 0);
  const next = new FakeWorker();
  await ports.hold(next, KEY, PLACE);
  t.same(next.taken.length, 2);
  t.ok(next.taken.includes(sent) && next.taken.includes(came));
  t.notOk(sent.destroyed);
});

t.test('the limit of connections holds for all workers together', async (t) => {
  const { port, ports, workers } = await shared(2);
  ports.limit(KEY, { ...PLACE.request, maxConnections: 3 });
  const connections = [1, 2, 3, 4].map(() => port.connect());
  t.same(
    connections.map(({ destroyed }) => destroyed),
    [false, false, false, true],
  );
  ports.closed(workers[0] as FakeWorker, KEY);
  t.notOk(port.connect().destroyed);
});

t.test('the last one that leaves closes the port; a dead one does not, unless nobody comes for it', async (t) => {
  const { port, ports, workers } = await shared(2);
  const [one, two] = workers as [FakeWorker, FakeWorker];
  ports.leave(one, KEY);
  t.equal(port.closed, 0);
  ports.leave(two, KEY);
  await Promise.resolve();
  t.equal(port.closed, 1);
  await ports.hold(one, KEY, PLACE);
  ports.lose(one);
  await Promise.resolve();
  t.equal(port.closed, 1);
  ports.tidy();
  await Promise.resolve();
  t.equal(port.closed, 2);
});

t.test('a port that can not be opened is refused to whoever asks, and may be tried again', async (t) => {
  let isTaken = true;
  const port = new FakePort();
  const ports = new SharedPorts(async (...request) => {
    if (isTaken) throw new Error('taken');
    return port.open(...request);
  });
  await t.rejects(ports.hold(new FakeWorker(), KEY, PLACE), { message: 'taken' });
  isTaken = false;
  t.equal(await ports.hold(new FakeWorker(), KEY, PLACE), KEY);
});
