/**
 * The ports of several workers: the primary listens, and gives each connection to the worker that has the fewest. So connections that
 * stay open for long are spread evenly, a worker that starts again is filled up first, and while one is gone nobody is refused.
 */
import type { Socket } from 'node:net';
import type { Endpoint } from '../../component/endpoint.ts';
import type { ListenRequest } from '../../component/listening.ts';
import type { OpenPort, Port } from '../../net/port.ts';

/** Where a port has no limit of its own, so many connections wait at most for a worker that takes them. */
const MAX_WAITING = 4096;

/** A worker, as its ports see it. */
export interface Holder {
  /** Gives a connection away. `returned` is called when the worker was gone before it could be sent. */
  give(key: string, connection: Socket, returned: () => void): void;
}

export class SharedPorts {
  readonly #open: OpenPort;
  readonly #ports = new Map<string, SharedPort>();

  /** `open` must not read from connections. */
  constructor(open: OpenPort) {
    this.#open = open;
  }

  /** Gives the holder its share of what connects there from now on, and the address as bound. Rejects as `OpenPort` does. */
  async hold(holder: Holder, key: string, place: { endpoint: Endpoint; request: ListenRequest }): Promise<string> {
    const known = this.#ports.get(key);
    const port = known ?? new SharedPort(key, () => this.#ports.delete(key));
    if (known === undefined) this.#ports.set(key, port);
    return port.hold(holder, this.#open, place);
  }

  /** For all holders together. */
  limit(key: string, request: ListenRequest): void {
    this.#ports.get(key)?.limit(request);
  }

  /** For good: the configuration has changed, or the worker stops. */
  leave(holder: Holder, key: string): void {
    this.#ports.get(key)?.leave(holder);
  }

  /** One of the holder's connections is over. */
  closed(holder: Holder, key: string): void {
    this.#ports.get(key)?.closed(holder);
  }

  /** The holder has died. Its ports stay open for the one that follows. */
  lose(holder: Holder): void {
    for (const port of this.#ports.values()) port.lose(holder);
  }

  /** Closes what nobody holds and nobody will: to be called while all workers run. */
  tidy(): void {
    for (const port of this.#ports.values()) port.closeUnheld();
  }
}

class SharedPort {
  readonly #key: string;
  readonly #forget: () => void;
  /** How many connections each has. */
  readonly #holders = new Map<Holder, number>();
  /** Connections that came while nobody was there to take them. */
  readonly #waiting = new Set<Socket>();
  #opening: Promise<Port> | null = null;
  /** Set once it is open. */
  #port: Port | null = null;
  #maxConnections = Number.POSITIVE_INFINITY;

  constructor(key: string, forget: () => void) {
    this.#key = key;
    this.#forget = forget;
  }

  async hold(holder: Holder, open: OpenPort, { endpoint, request }: Parameters<SharedPorts['hold']>[2]) {
    this.#opening ??= open(endpoint, request, (connection) => this.#accept(connection));
    try {
      this.#port = await this.#opening;
      if (!this.#holders.has(holder)) this.#holders.set(holder, 0);
      for (const connection of this.#waiting) this.#giveAway(connection);
      return this.#port.address;
    } catch (error) {
      this.#forget();
      throw error;
    }
  }

  limit({ maxConnections = Number.POSITIVE_INFINITY, ...request }: ListenRequest): void {
    this.#maxConnections = maxConnections;
    try {
      // Connections that are given away do not count at the port itself.
      this.#port?.limit(request);
    } catch {
      // Somebody removed the file of the socket: nobody new can connect.
    }
  }

  leave(holder: Holder): void {
    this.#holders.delete(holder);
    this.closeUnheld();
  }

  closed(holder: Holder): void {
    const open = this.#holders.get(holder);
    if (open !== undefined) this.#holders.set(holder, Math.max(0, open - 1));
  }

  lose(holder: Holder): void {
    this.#holders.delete(holder);
  }

  closeUnheld(): void {
    if (this.#holders.size > 0) return;
    this.#forget();
    for (const connection of this.#waiting) connection.destroy();
    void this.#opening?.then((port) => port.close());
  }

  #accept(connection: Socket): void {
    // It may be cut while it waits.
    connection.on('error', () => undefined);
    const open = [...this.#holders.values()].reduce((sum, count) => sum + count, this.#waiting.size);
    if (open >= this.#maxConnections) connection.destroy();
    else this.#giveAway(connection);
  }

  #giveAway(connection: Socket): void {
    this.#waiting.delete(connection);
    const [holder, open] = [...this.#holders].reduce<readonly [Holder | null, number]>(
      (least, each) => (each[1] < least[1] ? each : least),
      [null, Number.POSITIVE_INFINITY],
    );
    if (holder !== null) {
      this.#holders.set(holder, open + 1);
      holder.give(this.#key, connection, () => this.#giveAway(connection));
    } else if (this.#waiting.size < MAX_WAITING) {
      this.#waiting.add(connection);
    } else connection.destroy();
  }
}
