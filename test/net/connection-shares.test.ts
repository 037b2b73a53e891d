// A client that fills a server does not shut out clients of other addresses.
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import t from 'tap';
import { ConnectionShares } from '../../src/net/connection-shares.ts';

class Client extends EventEmitter {
  readonly remoteAddress: string;
  isOpen = true;

  constructor(remoteAddress: string) {
    super();
    this.remoteAddress = remoteAddress;
  }

  destroy(): void {
    this.isOpen = false;
    this.emit('close');
  }
}

function sceneOf(limit: number) {
  const shares = new ConnectionShares(limit);
  const connect = (address: string, count = 1): readonly Client[] =>
    Array.from({ length: count }, () => {
      const client = new Client(address);
      t.equal(shares.add(client as unknown as Socket), client.isOpen);
      return client;
    });
  return { connect };
}

const openOf = (clients: readonly Client[]): number => clients.filter(({ isOpen }) => isOpen).length;

t.test('at the limit an address with fewer connections replaces the oldest of the address with the most', async (t) => {
  const { connect } = sceneOf(8);
  const filling = connect('a', 8);
  t.equal(openOf(connect('a', 3)), 0, 'a client has no room beyond the limit');
  const other = connect('b', 10);
  t.equal(openOf(other), 4, 'until they have equal shares');
  t.same(
    filling.map(({ isOpen }) => isOpen),
    [false, false, false, false, true, true, true, true],
  );
  t.equal(openOf(connect('a', 10)), 0, 'a client that returns gets no more');
  t.equal(openOf(connect('c', 10)), 2);
  t.ok(openOf(other) >= 2);
});

t.test('with one connection each, none is replaced, and a closed one makes room', async (t) => {
  const { connect } = sceneOf(3);
  const clients = ['a', 'b', 'c'].flatMap((address) => connect(address));
  t.equal(openOf(connect('d')), 0);
  clients[1]?.destroy();
  t.equal(openOf(connect('d')), 1);
  t.equal(openOf(connect('e')), 0);
  t.equal(openOf(clients), 2);
});

t.test('the addresses of an IPv6 network are one client', async (t) => {
  const { connect } = sceneOf(8);
  const filling = Array.from({ length: 8 }, (_, host) => connect(`2001:db8::${host + 1}`)).flat();
  t.equal(openOf(connect('2001:db8::99')), 0);
  t.equal(openOf(connect('2001:db8:0:1::1', 4)), 4);
  t.equal(openOf(filling), 4);
});
