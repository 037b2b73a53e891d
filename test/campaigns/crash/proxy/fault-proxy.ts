/**
 * A proxy in front of Postgres that knows where messages begin and end, and does to one of them what a rule says. Between
 * faults it only passes on.
 */
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { ProxiedConnection, resetSocket } from './connection.ts';
import { COMMIT_SENT, type Fault, fits, type Place, type Rule, Shot } from './fault.ts';
import type { WireMessage } from './messages.ts';

/** As `pg` takes it: a host that begins with a slash is the folder of a local socket. */
export interface Upstream {
  readonly host: string;
  readonly port: number;
}

/** What is done with connections that come while they are not wanted. */
export type Reception = 'open' | 'refuse' | 'ignore';

export type Watcher = (message: WireMessage, place: Place) => void;

export class FaultProxy {
  readonly #upstream: Upstream;
  readonly #server: Server;
  readonly #connections = new Set<ProxiedConnection>();
  readonly #ignored = new Set<Socket>();
  readonly #shots = new Set<Shot>();
  readonly #watchers = new Set<Watcher>();
  #reception: Reception = 'open';
  #commitMs = 0;
  #count = 0;

  private constructor(upstream: Upstream) {
    this.#upstream = upstream;
    this.#server = createServer({ allowHalfOpen: true }, (client) => this.#receive(client));
  }

  static async start(upstream: Upstream): Promise<FaultProxy> {
    const proxy = new FaultProxy(upstream);
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** The rule fires once, at the first message it fits. */
  arm(rule: Rule): Shot {
    const shot = new Shot(rule);
    this.#shots.add(shot);
    return shot;
  }

  /** Calls back for every message; the returned function ends that. */
  watch(watcher: Watcher): () => void {
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  }

  /** How connections that come from now on are received; those that are open stay. */
  receive(reception: Reception): void {
    this.#reception = reception;
  }

  /** Every COMMIT takes so much longer: locks are held for others to come, and who does not wait for it is seen. */
  slowCommits(ms: number): void {
    this.#commitMs = ms;
  }

  /** Disarms every rule, receives again and ends the connections that a black hole has swallowed. */
  heal(): void {
    for (const shot of this.#shots) shot.disarm();
    this.#shots.clear();
    this.#reception = 'open';
    for (const socket of this.#ignored) socket.destroy();
    for (const connection of this.#connections) if (connection.isSilent) connection.reset();
  }

  /** Ends every connection at once. */
  cutAll(): void {
    for (const connection of this.#connections) connection.reset();
  }

  async stop(): Promise<void> {
    this.heal();
    this.cutAll();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #receive(client: Socket): void {
    client.on('error', () => undefined);
    if (this.#reception === 'refuse') {
      resetSocket(client);
      return;
    }
    if (this.#reception === 'ignore') {
      this.#ignored.add(client);
      client.resume();
      client.on('close', () => this.#ignored.delete(client));
      return;
    }
    const server = connect({ ...socketOptions(this.#upstream), allowHalfOpen: true });
    const aim = (message: WireMessage, place: Place): Fault | null => this.#aim(message, place);
    const connection = new ProxiedConnection(++this.#count, { client, server }, aim);
    this.#connections.add(connection);
    const forget = (): void => {
      if (client.destroyed && server.destroyed) this.#connections.delete(connection);
    };
    client.on('close', forget);
    server.on('close', forget);
  }

  #aim(message: WireMessage, place: Place): Fault | null {
    for (const watcher of this.#watchers) watcher(message, place);
    for (const shot of this.#shots) {
      const fault = shot.aim(message, place);
      if (fault === null) continue;
      this.#shots.delete(shot);
      return fault;
    }
    return this.#commitMs > 0 && fits(COMMIT_SENT, message, place) ? { kind: 'delay', ms: this.#commitMs } : null;
  }
}

function socketOptions({ host, port }: Upstream): { path: string } | Upstream {
  return host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port };
}
