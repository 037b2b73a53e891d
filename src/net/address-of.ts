/** The address of a client, for logs. */
import type { Socket } from 'node:net';

/** `host:port` of the client; null for a Unix domain socket and for a closed connection. */
export function addressOf({ remoteAddress, remotePort }: Pick<Socket, 'remoteAddress' | 'remotePort'>): string | null {
  if (remoteAddress === undefined || remotePort === undefined) return null;
  return remoteAddress.includes(':') ? `[${remoteAddress}]:${remotePort}` : `${remoteAddress}:${remotePort}`;
}
