// The addresses of one IPv6 network are one client for limits.
import { isIPv6, SocketAddress } from 'node:net';
import fc from 'fast-check';
import t from 'tap';
import { networkOf } from '../../src/net/client-network.ts';

t.test('an IPv4 address is a client, also on a socket of IPv6', async (t) => {
  t.equal(networkOf('192.0.2.7'), '192.0.2.7');
  t.equal(networkOf('::ffff:192.0.2.7'), '192.0.2.7');
  t.equal(networkOf(undefined), '');
});

t.test('an IPv6 network is a client', async (t) => {
  t.equal(networkOf('2001:db8:1:2::7'), networkOf('2001:db8:1:2:ffff:1:2:3'));
  t.equal(networkOf('2001:db8::7'), networkOf('2001:db8:0:0:1:2:3:4'));
  t.not(networkOf('2001:db8:1:2::7'), networkOf('2001:db8:1:3::7'));
  t.equal(networkOf('::1'), '0:0:0:0::/64');
  t.equal(networkOf('::ffff:0:1'), '0:0:0:0::/64', 'without an IPv4 address in it');
});

t.test('two addresses are one client exactly when their first 64 bits are equal', async () => {
  const group = fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff }));
  const address = fc.array(group, { minLength: 8, maxLength: 8 });
  // The system writes addresses in the short form.
  const shown = (groups: readonly number[]): string =>
    new SocketAddress({ address: groups.map((each) => each.toString(16)).join(':'), family: 'ipv6' }).address;
  fc.assert(
    fc.property(address, address, fc.boolean(), (one, other, isSame) => {
      const second = isSame ? [...one.slice(0, 4), ...other.slice(4)] : other;
      const [first, next] = [shown(one), shown(second)];
      // Those with an IPv4 address in them are another client.
      fc.pre(isIPv6(first) && !first.includes('.') && !next.includes('.'));
      return (networkOf(first) === networkOf(next)) === one.slice(0, 4).every((each, at) => each === second[at]);
    }),
  );
});
