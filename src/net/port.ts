/** Opens a listening socket in this process, a TCP port or a Unix domain socket, and explains failures. */
import { chmodSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { errorCode, UserError } from '../errors.ts';
import { type Endpoint, formatEndpoint, MAX_PORT } from '../component/endpoint.ts';
import type { ListenPlace, ListenRequest } from '../component/listening.ts';
import { makeRoom } from './socket-file.ts';

/** From a port that is taken to the one of the example: none of the default ports is so far from another. */
const PORT_STEP = 10;

/** A listening socket. */
export interface Port {
  /** As bound: the port differs from the configured one when that was 0. */
  readonly address: string;
  /** Applies the request's limit of connections and its permissions. Throws a `UserError` when that fails. */
  limit(request: ListenRequest): void;
  close(): void;
}

/**
 * Rejects with a `UserError` when the endpoint cannot be opened. `accept` gets each connection before a byte is read.
 */
export type OpenPort = (
  endpoint: Endpoint,
  request: ListenRequest,
  accept: (connection: Socket) => void,
) => Promise<Port>;

export const openPort: OpenPort = (endpoint, request, accept) =>
  listen(createServer({ ...CONNECTIONS, pauseOnConnect: false }, accept), endpoint, request);

/** For connections that are handed off to another process: no byte is read here. */
export const openPausedPort: OpenPort = (endpoint, request, accept) =>
  listen(createServer({ ...CONNECTIONS, pauseOnConnect: true }, accept), endpoint, request);

/**
 * Connections that the kernel may queue until they are accepted; one is accepted per poll of the event loop. Beyond the
 * limit a client retries after a second. The kernel has its own limit, and the lower one applies.
 */
const BACKLOG = 4096;

/** The protocol decides about half-open connections: HTTP answers a client that has finished sending. */
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
  // Without free file descriptors a connection is closed, which the daemon reports; the process must not end.
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

/** One error for all endpoints that are taken. */
export function inUse(...places: readonly ListenPlace[]): UserError {
  const endpoints = places.map(({ endpoint }) => endpoint).join(', ');
  const message = `${endpoints} ${places.length === 1 ? 'is' : 'are'} already in use`;
  return new UserError(message, hintFor(places), 'exists');
}

function hintFor(places: readonly ListenPlace[]): string {
  const options = places.map(({ option }) => option).join(', ');
  const examples = places.flatMap(({ endpoint, option }) => {
    const example = nearbyAddress(endpoint);
    return example === null ? [] : [`--set ${option}=${example}`];
  });
  const how = examples.length === 0 ? '' : `, for example with ${examples.join(' ')}`;
  return places.length === 1
    ? `Stop the other program, or set ${options} to a free address${how}.`
    : `Stop the other programs, or set ${options} to free addresses${how}.`;
}

/** An address for an example, with another port than this program has by default; null without a port. */
function nearbyAddress(endpoint: string): string | null {
  const [, host = '', port = ''] = /^(.*):(\d+)$/u.exec(endpoint) ?? [];
  const other = Number(port) + PORT_STEP;
  return port === '' || other > MAX_PORT ? null : `${host}:${other}`;
}

function explain(error: unknown, request: ListenRequest): unknown {
  const { endpoint, option } = request;
  switch (errorCode(error)) {
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
