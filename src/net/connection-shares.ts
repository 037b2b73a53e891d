/**
 * Limits the connections of a server, and shares them among the addresses of the clients. At the limit, a connection of
 * an address with fewer connections replaces the oldest one of the address with the most, so that one client that fills
 * the server does not shut out others. Clients of one address, for example behind a proxy, share its connections. The
 * addresses of an IPv6 network count as one.
 */
import type { Socket } from 'node:net';
import { networkOf } from './client-network.ts';

export class ConnectionShares {
  readonly #limit: number;
  /** By address, oldest first. No set is empty. */
  readonly #open = new Map<string, Set<Socket>>();
  #count = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** False when there is no room; the connection is then cut. */
  add(connection: Socket): boolean {
    const address = networkOf(connection.remoteAddress);
    if (this.#count >= this.#limit && !this.#makeRoom(this.#open.get(address)?.size ?? 0)) {
      connection.destroy();
      return false;
    }
    const own = this.#open.get(address) ?? new Set();
    this.#open.set(address, own.add(connection));
    this.#count++;
    connection.once('close', () => this.#forget(address, connection));
    return true;
  }

  /** `own`: the connections of the address that needs room. It must not have more than the other one afterwards. */
  #makeRoom(own: number): boolean {
    let most: readonly [string, ReadonlySet<Socket>] | null = null;
    for (const entry of this.#open) if (entry[1].size > (most?.[1].size ?? own + 1)) most = entry;
    const [oldest] = most?.[1] ?? [];
    if (most === null || oldest === undefined) return false;
    this.#forget(most[0], oldest);
    oldest.destroy();
    return true;
  }

  #forget(address: string, connection: Socket): void {
    const connections = this.#open.get(address);
    if (connections?.delete(connection) !== true) return;
    this.#count--;
    if (connections.size === 0) this.#open.delete(address);
  }
}
