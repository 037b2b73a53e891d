/** Clients that are counted as one, for limits: those of an IPv4 address or of an IPv6 network of one customer. */

/** An IPv6 client can choose each of its addresses; its site has at least the 64 bits before them (RFC 6177). */
const NETWORK_GROUPS = 4;
const GROUPS = 8;
/** An IPv4 client of a socket that listens on IPv6 (RFC 4291 §2.5.5.2). */
const MAPPED_PREFIX = '::ffff:';

/** `address` as node:net has it; undefined for Unix domain sockets and closed connections, which are one client. */
export function networkOf(address = ''): string {
  if (!address.includes(':')) return address;
  if (address.startsWith(MAPPED_PREFIX) && address.includes('.')) return address.slice(MAPPED_PREFIX.length);
  const [head = '', tail] = address.split('::');
  const first = groupsOf(head);
  const left = tail === undefined ? 0 : GROUPS - first.length - groupsOf(tail).length;
  const groups = [...first, ...Array.from({ length: left }, () => '0'), ...groupsOf(tail)];
  return `${groups.slice(0, NETWORK_GROUPS).join(':')}::/64`;
}

const groupsOf = (text = ''): readonly string[] => (text === '' ? [] : text.split(':'));
