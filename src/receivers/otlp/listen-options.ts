/** Where a protocol listens, the same for all of them, and what the schema cannot say about it. */
import type { Host } from '../../component/component.ts';
import { parseListenEndpoint } from '../../component/endpoint.ts';
import { openFileLimit } from '../../net/open-files.ts';
import type { ListenRequest } from '../../component/listening.ts';
import { type TlsOptions, TLS_SCHEMA } from './tls-options.ts';

export interface ListenOptions {
  /** `host:port`, where port 0 takes a free one; or a Unix domain socket. */
  readonly endpoint: string;
  readonly transport: 'tcp' | 'unix';
  /** Octal digits. */
  readonly socket_mode: string;
  readonly max_connections: number;
  readonly tls?: TlsOptions;
}

export const listenSchema = (endpoint: string) => ({
  endpoint: {
    type: 'string',
    format: 'listen_endpoint',
    default: endpoint,
    description:
      'Address to listen on: `host:port`, where 0.0.0.0 is reachable from other machines, or `unix:///path` of a socket.',
  },
  transport: {
    type: 'string',
    enum: ['tcp', 'unix'],
    default: 'tcp',
    description: 'With `unix` the endpoint is a path, with or without `unix://`.',
  },
  socket_mode: {
    type: 'string',
    pattern: '^0?[0-7]{3}$',
    default: '0660',
    description: 'Who may connect to a Unix domain socket, as the permissions of a file.',
  },
  max_connections: {
    type: 'integer',
    minimum: 1,
    default: 4096,
    description:
      'Connections open at once. Beyond it a new one takes the place of one without a key, or that is idle or slow; else it is dropped.',
  },
  tls: TLS_SCHEMA,
});

/** `host:port`, or `unix:` and an absolute path; null when transport and endpoint do not go together. */
export function listenEndpoint(
  { endpoint, transport }: ListenOptions,
  resolvePath: (path: string) => string,
): string | null {
  const parsed = parseListenEndpoint(endpoint);
  if (parsed !== null && 'path' in parsed) return `unix:${resolvePath(parsed.path)}`;
  if (transport === 'tcp') return parsed === null ? null : endpoint;
  return endpoint.includes('/') ? `unix:${resolvePath(endpoint)}` : null;
}

/** Files and sockets kept for everything but these connections: the database, logs, sinks, other ports. */
const OTHER_FILES = 224;
/** HTTP and gRPC share what is left. */
const PROTOCOLS = 2;
const LEAST_CONNECTIONS = 16;
/** Connections beyond the limit that are accepted, so that there is time to make room for them. */
const HEADROOM = 32;

/** Connections that one process has open for one protocol at most. */
export function connectionLimit({ max_connections: most }: ListenOptions, { workers }: Host): number {
  const files = openFileLimit() ?? Number.POSITIVE_INFINITY;
  const possible = Math.max(Math.floor((files - OTHER_FILES) / PROTOCOLS), LEAST_CONNECTIONS);
  return Math.min(Math.ceil(most / workers), possible);
}

/** What to ask the host for. The options were checked when the configuration was read. */
export function listenRequest(protocol: 'http' | 'grpc', options: ListenOptions, host: Host): ListenRequest {
  const endpoint = listenEndpoint(options, (path) => host.resolvePath(path));
  if (endpoint === null) throw new Error(`"${options.endpoint}" does not fit ${options.transport}`);
  return {
    endpoint,
    option: `receivers.${host.id}.protocols.${protocol}.endpoint`,
    maxConnections: connectionLimit(options, host) * host.workers + HEADROOM,
    socketMode: Number.parseInt(options.socket_mode, 8),
  };
}
