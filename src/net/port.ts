/** Opening a socket that listens, in this process: a port of TCP or a Unix domain socket, and what is said when that fails. */
import { chmodSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { UserError } from '../errors.ts';
import { type Endpoint, formatEndpoint } from '../component/endpoint.ts';
import type { ListenRequest } from '../component/listening.ts';
import { makeRoom } from './socket-file.ts';

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

export const openPort: OpenPort = (endpoint, request, accept) =>
  listen(createServer({ ...CONNECTIONS, pauseOnConnect: false }, accept), endpoint, request);

/** For connections that go on to another process: not a byte of them is read here. */
export const openPausedPort: OpenPort = (endpoint, request, accept) =>
  listen(createServer({ ...CONNECTIONS, pauseOnConnect: true }, accept), endpoint, request);

/**
 * Connections the kernel may hold until they are accepted, which goes one by one between two pieces of work. Beyond it a client
 * tries again after a second. The kernel has a limit of its own, and the lower of both holds.
 */
const BACKLOG = 4096;

/** Half-open connections are for the protocol to decide about; HTTP answers a client that has finished sending. */
const CONNECTIONS = { allowHalfOpen: true, noDelay: true };

async function listen(server: Server, endpoint: Endpoint, request: ListenRequest): Promise<Port> {
  try {
    if ('path' in endpoint) await makeRoom(endpoint.path, { option: request.option, inUse: () => inUse(request) });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ ...placeOf(endpoint), backlog: BACKLOG }, () => {
        server.off('error', reject);
        resolve();
      });
    });
  } catch (error) {
    server.close();
    throw explain(error, request);
  }
  // Running out of file descriptors refuses a connection; it must not end the process.
  server.on('error', () => undefined);
  return {
    address: boundAddress(server, request.endpoint),
    limit: (limits) => {
      server.maxConnections = limits.maxConnections ?? Number.POSITIVE_INFINITY;
      if ('path' in endpoint) changeMode(endpoint.path, limits);
    },
    close: () => void server.close(),
  };
}

function changeMode(path: string, request: ListenRequest): void {
  if (request.socketMode === undefined) return;
  try {
    chmodSync(path, request.socketMode);
  } catch (error) {
    throw explain(error, request);
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

export function hintFor({ option }: ListenRequest): string {
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
