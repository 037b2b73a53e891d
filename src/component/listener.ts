/**
 * Listening sockets that outlive who listens on them. A server never opens a port itself: it asks for one and is handed the
 * connections. When a later service asks for an endpoint that an earlier one of the same process still holds, the open socket
 * passes on: from then on new connections go to the later one, and not one is refused in between.
 */
import type { Socket } from 'node:net';
import { UserError } from '../errors.ts';
import { type Endpoint, formatEndpoint, parseListenEndpoint } from './endpoint.ts';
import { hintFor, openPort } from './port.ts';

export interface ListenRequest {
  readonly endpoint: string;
  /** The option it stands in, for hints: `receivers.otlp.protocols.http.endpoint`. */
  readonly option: string;
  /** Open at once; further ones are dropped. */
  readonly maxConnections?: number;
  /** The permissions of a Unix domain socket. */
  readonly socketMode?: number;
}

/** Who serves what connects. */
export interface ConnectionHandler {
  /** Not read from yet. The connection is the handler's from here on. */
  accept(connection: Socket): void;
  /** New connections go to `next` from now on; null when they come here again, because `next` gave up. */
  succeededBy?(next: ConnectionHandler | null): void;
}

/** One handler's hold on a listening socket. */
export interface Listener {
  /** As bound: the port differs from the configured one when that was 0. */
  readonly address: string;
  /** No more connections. The socket itself closes unless another handler holds it too. Works twice. */
  close(): void;
}

/** A socket that listens. */
export interface Port {
  /** As bound: the port differs from the configured one when that was 0. */
  readonly address: string;
  /** The request's bound of connections and permissions hold from now on. Throws a `UserError` when they can not. */
  limit(request: ListenRequest): void;
  close(): void;
}

/** Rejects with a `UserError` when nothing can listen there. `accept` is given each connection, not read from yet. */
export type OpenPort = (
  endpoint: Endpoint,
  request: ListenRequest,
  accept: (connection: Socket) => void,
) => Promise<Port>;

/** The listening sockets of one process. */
export class ListeningSockets {
  readonly #sockets = new Map<string, OpenSocket>();
  readonly #open: OpenPort;

  /** `open` left out: this process opens its ports itself. */
  constructor(open: OpenPort = openPort) {
    this.#open = open;
  }

  /** Every service gets its own view, so that one service asking twice for an endpoint is told of its mistake. */
  forService(): Listeners {
    return new ServiceListeners((key) => this.#socket(key));
  }

  #socket(key: string): OpenSocket {
    const known = this.#sockets.get(key);
    if (known !== undefined) return known;
    const socket = new OpenSocket(this.#open, () => this.#sockets.delete(key));
    this.#sockets.set(key, socket);
    return socket;
  }
}

/** What a component asks for a port. */
export interface Listeners {
  /** Rejects with a `UserError` when nothing can listen there. */
  listen(request: ListenRequest, handler: ConnectionHandler): Promise<Listener>;
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
        hintFor(request),
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

/** Whoever asks for any free port means one of their own; a later service finds it by the option. */
export function keyOf(endpoint: Endpoint, { option }: ListenRequest): string {
  if ('path' in endpoint) return `unix:${endpoint.path}`;
  return endpoint.port === 0 ? `${formatEndpoint(endpoint)} for ${option}` : formatEndpoint(endpoint);
}

interface Hold {
  readonly handler: ConnectionHandler;
  readonly request: ListenRequest;
}

/** One socket and those who hold it; the last one to come is served, and its limits hold. */
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
      // Somebody removed the file of the socket: nobody new can connect.
    }
    handler.succeededBy?.(null);
  }

  #accept(connection: Socket): void {
    const handler = this.#holds.at(-1)?.handler;
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
