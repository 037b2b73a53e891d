/**
 * Listening sockets that outlive the services that use them. A server does not open a port itself: it asks for one and
 * gets its connections. When a later service asks for an endpoint that an earlier service of the process holds, it
 * takes over the open socket: new connections go to the later one, and no connection is refused in between.
 */
import type { Socket } from 'node:net';
import { UserError } from '../errors.ts';
import type { ConnectionHandler, Listener, ListenPlace, ListenRequest, Listeners } from '../component/listening.ts';
import { type Endpoint, formatEndpoint, parseListenEndpoint } from '../component/endpoint.ts';
import { type OpenPort, openPort, type Port } from './port.ts';

/** The listening sockets of one process. */
export class ListeningSockets {
  readonly #sockets = new Map<string, OpenSocket>();
  readonly #open: OpenPort;

  /** `open` left out: this process opens its ports itself. */
  constructor(open: OpenPort = openPort) {
    this.#open = open;
  }

  /** Each service has its own view, so that a service that asks twice for an endpoint gets an error. */
  forService(): Listeners {
    return new ServiceListeners((key) => this.#socket(key));
  }

  /** The bound address of an endpoint that a service of this process uses; null without one. */
  boundAddress(place: ListenPlace): string | null {
    const key = keyOfPlace(place);
    return (key === null ? undefined : this.#sockets.get(key)?.address) || null;
  }

  #socket(key: string): OpenSocket {
    const known = this.#sockets.get(key);
    if (known !== undefined) return known;
    const socket = new OpenSocket(this.#open, () => this.#sockets.delete(key));
    this.#sockets.set(key, socket);
    return socket;
  }
}

class ServiceListeners implements Listeners {
  readonly #socketOf: (key: string) => OpenSocket;
  readonly #held = new Set<string>();

  constructor(socketOf: (key: string) => OpenSocket) {
    this.#socketOf = socketOf;
  }

  async listen(request: ListenRequest, handler: ConnectionHandler): Promise<Listener> {
    const endpoint = parseListenEndpoint(request.endpoint);
    if (endpoint === null) throw new Error(`"${request.endpoint}" is not an endpoint`);
    const key = keyOf(endpoint, request);
    if (this.#held.has(key)) {
      throw new UserError(
        `${request.endpoint} is already in use, by another part of this configuration`,
        `Set ${request.option} to another address.`,
      );
    }
    this.#held.add(key);
    const socket = this.#socketOf(key);
    try {
      await socket.open(endpoint, request);
      socket.take(handler, request);
    } catch (error) {
      this.#held.delete(key);
      throw error;
    }
    const close = (): void => {
      this.#held.delete(key);
      socket.leave(handler);
    };
    return { address: socket.address, close };
  }
}

/** The key of the socket of an endpoint; null when the text is not an endpoint. */
export function keyOfPlace(place: ListenPlace): string | null {
  const endpoint = parseListenEndpoint(place.endpoint);
  return endpoint === null ? null : keyOf(endpoint, place);
}

/** A request for any free port gets its own socket; a later service finds it by the option. */
export function keyOf(endpoint: Endpoint, { option }: Pick<ListenPlace, 'option'>): string {
  if ('path' in endpoint) return `unix:${endpoint.path}`;
  return endpoint.port === 0 ? `${formatEndpoint(endpoint)} for ${option}` : formatEndpoint(endpoint);
}

interface Hold {
  readonly handler: ConnectionHandler;
  readonly request: ListenRequest;
}

/** One socket and its handlers. The latest handler gets the connections, and its limits apply. */
class OpenSocket {
  readonly #holds: Hold[] = [];
  readonly #openPort: OpenPort;
  readonly #forget: () => void;
  #opening: Promise<void> | null = null;
  #port: Port | null = null;

  constructor(open: OpenPort, forget: () => void) {
    this.#openPort = open;
    this.#forget = forget;
  }

  get address(): string {
    return this.#port?.address ?? '';
  }

  open(endpoint: Endpoint, request: ListenRequest): Promise<void> {
    this.#opening ??= this.#open(endpoint, request);
    return this.#opening;
  }

  take(handler: ConnectionHandler, request: ListenRequest): void {
    const before = this.#holds.at(-1);
    try {
      this.#port?.limit(request);
    } catch (error) {
      if (before === undefined) this.#close();
      throw error;
    }
    this.#holds.push({ handler, request });
    before?.handler.succeededBy?.(handler);
  }

  leave(handler: ConnectionHandler): void {
    const at = this.#holds.findIndex((hold) => hold.handler === handler);
    if (at < 0) return;
    const wasServing = at === this.#holds.length - 1;
    this.#holds.splice(at, 1);
    const before = this.#holds.at(-1);
    if (before === undefined) this.#close();
    else if (wasServing) this.#returnTo(before);
  }

  #returnTo({ handler, request }: Hold): void {
    try {
      this.#port?.limit(request);
    } catch {
      // Another program removed the socket file, so no new client can connect.
    }
    handler.succeededBy?.(null);
  }

  #accept(connection: Socket): void {
    const handler = this.#holds.at(-1)?.handler;
    // A protocol may drop its own listener before the socket has closed, for example node:http after CONNECT. Without
    // a listener, a reset by the client would end the process.
    connection.on('error', () => undefined);
    if (handler === undefined) connection.destroy();
    else handler.accept(connection);
  }

  async #open(endpoint: Endpoint, request: ListenRequest): Promise<void> {
    try {
      this.#port = await this.#openPort(endpoint, request, (connection) => this.#accept(connection));
    } catch (error) {
      this.#forget();
      throw error;
    }
  }

  #close(): void {
    this.#forget();
    this.#port?.close();
  }
}
