/** A proxy in front of Postgres that parses the wire protocol and injects a fault at the message that a rule names. */
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { type FaultFor, ProxiedConnection, resetSocket } from './connection.ts';
import { COMMIT_SENT, type Fault, fits, type MessageContext, type Rule, ArmedFault } from './fault.ts';
import type { WireMessage } from './messages.ts';

/** As in `pg`: a host that begins with a slash is the folder of a Unix socket. */
export interface Upstream {
  readonly host: string;
  readonly port: number;
}

/** What the proxy does with new connections. */
export type Reception = 'open' | 'refuse' | 'ignore';

export type Watcher = (message: WireMessage, context: MessageContext) => void;

export class FaultProxy {
  readonly #upstream: Upstream;
  readonly #server: Server;
  readonly #connections = new Set<ProxiedConnection>();
  readonly #ignored = new Set<Socket>();
  readonly #armed = new Set<ArmedFault>();
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

  /** The fault is injected once, at the first message that matches the rule. */
  arm(rule: Rule): ArmedFault {
    const armed = new ArmedFault(rule);
    this.#armed.add(armed);
    return armed;
  }

  /** Calls back for every message until the returned function is called. */
  watch(watcher: Watcher): () => void {
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  }

  /** What happens to new connections from now on. Open connections are not changed. */
  receive(reception: Reception): void {
    this.#reception = reception;
  }

  /** Delays every COMMIT: locks are held longer, and an answer that does not wait for COMMIT is visibly early. */
  slowCommits(ms: number): void {
    this.#commitMs = ms;
  }

  /** Disarms every rule, accepts connections again and resets those behind a black hole. */
  heal(): void {
    for (const armed of this.#armed) armed.disarm();
    this.#armed.clear();
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
    const faultFor: FaultFor = (message, context) => this.#faultFor(message, context);
    const connection = new ProxiedConnection(++this.#count, { client, server }, faultFor);
    this.#connections.add(connection);
    const forget = (): void => {
      if (client.destroyed && server.destroyed) this.#connections.delete(connection);
    };
    client.on('close', forget);
    server.on('close', forget);
  }

  #faultFor(message: WireMessage, context: MessageContext): Fault | null {
    for (const watcher of this.#watchers) watcher(message, context);
    for (const armed of this.#armed) {
      const fault = armed.match(message, context);
      if (fault === null) continue;
      this.#armed.delete(armed);
      return fault;
    }
    return this.#commitMs > 0 && fits(COMMIT_SENT, message, context) ? { kind: 'delay', ms: this.#commitMs } : null;
  }
}

function socketOptions({ host, port }: Upstream): { path: string } | Upstream {
  return host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port };
}
