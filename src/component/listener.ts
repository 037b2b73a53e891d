/**
 * Listening sockets that outlive who listens on them. A server never opens a port itself: it asks for one and is handed the
 * connections. When a later service asks for an endpoint that an earlier one of the same process still holds, the open socket
 * passes on: from then on new connections go to the later one, and not one is refused in between.
 */
import { chmodSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { UserError } from '../errors.ts';
import { type Endpoint, formatEndpoint, parseListenEndpoint } from './endpoint.ts';
import { makeRoom } from './socket-file.ts';

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

/** The listening sockets of one process. */
export class ListeningSockets {
  readonly #sockets = new Map<string, OpenSocket>();

  /** Every service gets its own view, so that one service asking twice for an endpoint is told of its mistake. */
  forService(): Listeners {
    return new ServiceListeners((key) => this.#socket(key));
  }

  #socket(key: string): OpenSocket {
    const known = this.#sockets.get(key);
    if (known !== undefined) return known;
    const socket = new OpenSocket(() => this.#sockets.delete(key));
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
function keyOf(endpoint: Endpoint, { option }: ListenRequest): string {
  if ('path' in endpoint) return `unix:${endpoint.path}`;
  return endpoint.port === 0 ? `${formatEndpoint(endpoint)} for ${option}` : formatEndpoint(endpoint);
}

interface Hold {
  readonly handler: ConnectionHandler;
  readonly request: ListenRequest;
}

/** One socket and those who hold it; the last one to come is served, and its limits hold. */
class OpenSocket {
  readonly #server: Server;
  readonly #holds: Hold[] = [];
  readonly #forget: () => void;
  #opening: Promise<void> | null = null;
  #address = '';
  /** Of a Unix domain socket. */
  #path: string | null = null;

  constructor(forget: () => void) {
    this.#forget = forget;
    // Half-open connections are for the protocol to decide about; HTTP answers a client that has finished sending.
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (connection) => this.#accept(connection));
  }

  get address(): string {
    return this.#address;
  }

  open(endpoint: Endpoint, request: ListenRequest): Promise<void> {
    this.#opening ??= this.#open(endpoint, request);
    return this.#opening;
  }

  take(handler: ConnectionHandler, request: ListenRequest): void {
    const before = this.#holds.at(-1);
    try {
      this.#limit(request);
    } catch (error) {
      if (before === undefined) this.#close();
      throw explain(error, request);
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
      this.#limit(request);
    } catch {
      // Somebody removed the file of the socket: nobody new can connect.
    }
    handler.succeededBy?.(null);
  }

  #limit({ maxConnections = Number.POSITIVE_INFINITY, socketMode }: ListenRequest): void {
    this.#server.maxConnections = maxConnections;
    if (this.#path !== null && socketMode !== undefined) chmodSync(this.#path, socketMode);
  }

  #accept(connection: Socket): void {
    const handler = this.#holds.at(-1)?.handler;
    if (handler === undefined) connection.destroy();
    else handler.accept(connection);
  }

  async #open(endpoint: Endpoint, request: ListenRequest): Promise<void> {
    try {
      if ('path' in endpoint) await makeRoom(endpoint.path, { option: request.option, inUse: () => inUse(request) });
      await new Promise<void>((resolve, reject) => {
        this.#server.once('error', reject);
        this.#server.listen(placeOf(endpoint), () => {
          this.#server.off('error', reject);
          resolve();
        });
      });
    } catch (error) {
      this.#close();
      throw explain(error, request);
    }
    // Running out of file descriptors refuses a connection; it must not end the process.
    this.#server.on('error', () => undefined);
    this.#address = boundAddress(this.#server, request.endpoint);
    if ('path' in endpoint) this.#path = endpoint.path;
  }

  #close(): void {
    this.#forget();
    this.#server.close();
  }
}

function placeOf(endpoint: Endpoint): { host?: string; port: number } | { path: string } {
  if ('path' in endpoint) return { path: endpoint.path };
  return endpoint.host === '' ? { port: endpoint.port } : endpoint;
}

function boundAddress(server: Server, configured: string): string {
  const address = server.address();
  if (address === null || typeof address === 'string') return configured;
  return formatEndpoint({ host: address.address, port: address.port });
}

function inUse(request: ListenRequest): UserError {
  return new UserError(`${request.endpoint} is already in use`, hintFor(request));
}

function hintFor({ option }: ListenRequest): string {
  return `Stop the other program, or set ${option} to a free address.`;
}

function explain(error: unknown, request: ListenRequest): unknown {
  const { endpoint, option } = request;
  switch ((error as NodeJS.ErrnoException).code) {
    case 'EADDRINUSE':
      return inUse(request);
    case 'EACCES':
    case 'EPERM':
      return new UserError(
        `listening on ${endpoint} is not permitted`,
        endpoint.startsWith('unix:')
          ? `Set ${option} to a folder that the daemon may write to.`
          : `Set ${option} to a port above 1023.`,
      );
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new UserError(
        `${endpoint} is not an address of this machine`,
        `Set the host of ${option} to 127.0.0.1 or 0.0.0.0.`,
      );
    default:
      return error;
  }
}
