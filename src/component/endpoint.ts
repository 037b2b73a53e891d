/** The address of a server: a host and a port, or the path of a Unix domain socket. */

export interface TcpEndpoint {
  /** Without brackets; empty means all interfaces. */
  readonly host: string;
  readonly port: number;
}

export interface UnixEndpoint {
  readonly path: string;
}

export type Endpoint = TcpEndpoint | UnixEndpoint;

export const MAX_PORT = 65_535;
/** Hosts that mean all addresses of the machine. No client can connect to them. */
const EVERYWHERE = new Set(['', '0.0.0.0', '::']);
const UNIX_SCHEME = /^unix:(?:\/\/(?=\/))?/u;

/** `host:port` or `[::1]:port`; null when the text does not have this form. */
export function parseEndpoint(text: string): TcpEndpoint | null {
  const match = /^(\[[0-9A-Fa-f:.%\w]+\]|[^\s:/@[\]]*):(\d{1,5})$/u.exec(text);
  if (match === null) return null;
  const port = Number(match[2]);
  return port > MAX_PORT ? null : { host: (match[1] ?? '').replace(/^\[|\]$/gu, ''), port };
}

/** Also `unix:///absolute/path` and `unix:path`, gRPC's form. */
export function parseListenEndpoint(text: string): Endpoint | null {
  if (!UNIX_SCHEME.test(text)) return parseEndpoint(text);
  const path = text.replace(UNIX_SCHEME, '');
  return /^\/*$/u.test(path) || path.includes('\0') ? null : { path };
}

/** The form that `parseEndpoint` reads. */
export function formatEndpoint({ host, port }: TcpEndpoint): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** Whether a server there listens at all addresses of the machine. */
export const isEverywhere = (endpoint: Endpoint): boolean => 'host' in endpoint && EVERYWHERE.has(endpoint.host);

/** The URL of a server for clients on the same machine. */
export function localUrl(endpoint: TcpEndpoint, scheme: 'http' | 'https'): string {
  const host = isEverywhere(endpoint) ? '127.0.0.1' : endpoint.host;
  return `${scheme}://${formatEndpoint({ host, port: endpoint.port })}`;
}
