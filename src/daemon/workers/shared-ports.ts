/**
 * The ports of several workers. The primary listens, and hands each connection off to the worker with the fewest
 * connections. Long-lived connections are thereby spread evenly, a restarted worker gets the next connections, and no
 * connection is refused while a worker restarts.
 */
import type { Socket } from 'node:net';
import type { Endpoint } from '../../component/endpoint.ts';
import type { ListenRequest } from '../../component/listening.ts';
import type { OpenPort, Port } from '../../net/port.ts';

/** Most connections that wait for a worker when a port has no limit of its own. */
const MAX_WAITING = 4096;

/** The process of a worker. A restarted worker is another holder. */
export interface Holder {
  /** Hands a connection off. `returned` is called when the worker exits before the connection is sent. */
  handOff(key: string, connection: Socket, returned: () => void): void;
}

export class SharedPorts {
  readonly #open: OpenPort;
  readonly #ports = new Map<string, SharedPort>();

  /** `open` must not read from connections. */
  constructor(open: OpenPort) {
    this.#open = open;
  }

  /** Adds the holder to the port. Resolves with the bound address. Rejects like `OpenPort`. */
  async listen(holder: Holder, key: string, place: { endpoint: Endpoint; request: ListenRequest }): Promise<string> {
    const known = this.#ports.get(key);
    const port = known ?? new SharedPort(key, () => this.#ports.delete(key));
    if (known === undefined) this.#ports.set(key, port);
    return port.listen(holder, this.#open, place);
  }

  /** The bound address; null while the port is not open. */
  boundAddress(key: string): string | null {
    return this.#ports.get(key)?.address ?? null;
  }

  /** The limit applies to all holders together. */
  limit(key: string, request: ListenRequest): void {
    this.#ports.get(key)?.limit(request);
  }

  /** The holder no longer uses the port: its configuration has changed, or it stops. */
  unlisten(holder: Holder, key: string): void {
    this.#ports.get(key)?.unlisten(holder);
  }

  connectionClosed(holder: Holder, key: string): void {
    this.#ports.get(key)?.connectionClosed(holder);
  }

  /** The holder has died. Its ports stay open for its successor. */
  removeHolder(holder: Holder): void {
    for (const port of this.#ports.values()) port.removeHolder(holder);
  }

  /** Closes ports without a holder. Call it only while all workers run. */
  closeUnused(): void {
    for (const port of this.#ports.values()) port.closeUnused();
  }
}

class SharedPort {
  readonly #key: string;
  readonly #forget: () => void;
  readonly #holders = new Map<Holder, number>();
  /** Connections that arrived while there was no holder. */
  readonly #waiting = new Set<Socket>();
  #opening: Promise<Port> | null = null;
  /** Null until the port is open. */
  #port: Port | null = null;
  #maxConnections = Number.POSITIVE_INFINITY;

  constructor(key: string, forget: () => void) {
    this.#key = key;
    this.#forget = forget;
  }

  async listen(holder: Holder, open: OpenPort, { endpoint, request }: Parameters<SharedPorts['listen']>[2]) {
    this.#opening ??= open(endpoint, request, (connection) => this.#accept(connection));
    try {
      this.#port = await this.#opening;
      if (!this.#holders.has(holder)) this.#holders.set(holder, 0);
      for (const connection of this.#waiting) this.#handOff(connection);
      return this.#port.address;
    } catch (error) {
      this.#forget();
      throw error;
    }
  }

  get address(): string | null {
    return this.#port?.address ?? null;
  }

  limit({ maxConnections = Number.POSITIVE_INFINITY, ...request }: ListenRequest): void {
    this.#maxConnections = maxConnections;
    try {
      // Connections that are handed off do not count at the port itself.
      this.#port?.limit(request);
    } catch {
      // Another program removed the socket file, so no new client can connect.
    }
  }

  unlisten(holder: Holder): void {
    this.#holders.delete(holder);
    this.closeUnused();
  }

  connectionClosed(holder: Holder): void {
    const open = this.#holders.get(holder);
    if (open !== undefined) this.#holders.set(holder, Math.max(0, open - 1));
  }

  removeHolder(holder: Holder): void {
    this.#holders.delete(holder);
  }

  closeUnused(): void {
    if (this.#holders.size > 0) return;
    this.#forget();
    for (const connection of this.#waiting) connection.destroy();
    // A port that does not open fails `listen`.
    this.#opening?.then((port) => port.close()).catch(() => undefined);
  }

  #accept(connection: Socket): void {
    // The client may cut the connection while it waits.
    connection.on('error', () => undefined);
    const open = [...this.#holders.values()].reduce((sum, count) => sum + count, this.#waiting.size);
    if (open >= this.#maxConnections) connection.destroy();
    else this.#handOff(connection);
  }

  #handOff(connection: Socket): void {
    this.#waiting.delete(connection);
    const [holder, open] = [...this.#holders].reduce<readonly [Holder | null, number]>(
      (least, each) => (each[1] < least[1] ? each : least),
      [null, Number.POSITIVE_INFINITY],
    );
    if (holder !== null) {
      this.#holders.set(holder, open + 1);
      holder.handOff(this.#key, connection, () => this.#handOff(connection));
    } else if (this.#waiting.size < MAX_WAITING) {
      this.#waiting.add(connection);
    } else connection.destroy();
  }
}
