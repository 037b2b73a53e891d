/** The listen options that both protocols have, and the checks that the schema cannot express. */
import type { Host } from '../../component/component.ts';
import { parseListenEndpoint } from '../../component/endpoint.ts';
import { openFileLimit } from '../../net/open-files.ts';
import type { ListenRequest } from '../../component/listening.ts';
import { type TlsOptions, TLS_SCHEMA } from '../../net/tls-options.ts';

export interface ListenOptions {
  /** `host:port`, where port 0 is any free port; or a Unix domain socket. */
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
      'Address to listen on: `host:port`, or `unix:///path` of a socket. 0.0.0.0 is reachable from other machines.',
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
    description: 'File permissions of a Unix domain socket, as octal digits in quotes.',
  },
  max_connections: {
    type: 'integer',
    minimum: 1,
    default: 4096,
    description:
      'Concurrent connections. Beyond the limit a new connection replaces one without a key, an idle or a slow one, or is dropped.',
  },
  tls: TLS_SCHEMA,
});

/** `host:port`, or `unix:` and an absolute path; null when the endpoint does not fit the transport. */
export function listenEndpoint(
  { endpoint, transport }: ListenOptions,
  resolvePath: (path: string) => string,
): string | null {
  const parsed = parseListenEndpoint(endpoint);
  if (parsed !== null && 'path' in parsed) return `unix:${resolvePath(parsed.path)}`;
  if (transport === 'tcp') return parsed === null ? null : endpoint;
  return endpoint.includes('/') ? `unix:${resolvePath(endpoint)}` : null;
}

/** Open files for everything except these connections: the database, logs, sinks, other ports. */
const OTHER_FILES = 224;
/** HTTP and gRPC share the rest. */
const PROTOCOLS = 2;
const MIN_CONNECTIONS = 16;
/** Connections that are accepted beyond the limit while others are closed for them. */
const HEADROOM = 32;

/** The limit of connections of one process and protocol. */
export function connectionLimit({ max_connections: most }: ListenOptions, { workers }: Host): number {
  const files = openFileLimit() ?? Number.POSITIVE_INFINITY;
  const possible = Math.max(Math.floor((files - OTHER_FILES) / PROTOCOLS), MIN_CONNECTIONS);
  return Math.min(Math.ceil(most / workers), possible);
}

/** The request to the host. The options were checked when the configuration was read. */
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
