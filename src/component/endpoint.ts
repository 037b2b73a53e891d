/** Where a server listens or is called: a host and a port, or the path of a Unix domain socket. */

export interface TcpEndpoint {
  /** Without brackets; empty means every interface. */
  readonly host: string;
  readonly port: number;
}

export interface UnixEndpoint {
  readonly path: string;
}

export type Endpoint = TcpEndpoint | UnixEndpoint;

const MAX_PORT = 65_535;
const UNIX_SCHEME = /^unix:(?:\/\/(?=\/))?/u;

/** `host:port`, `[::1]:port`; null when the text is not of that form. */
export function parseEndpoint(text: string): TcpEndpoint | null {
  const match = /^(\[[0-9A-Fa-f:.%\w]+\]|[^\s:/@[\]]*):(\d{1,5})$/u.exec(text);
  if (match === null) return null;
  const port = Number(match[2]);
  return port > MAX_PORT ? null : { host: (match[1] ?? '').replace(/^\[|\]$/gu, ''), port };
}

/** Also `unix:///absolute/path` and `unix:path`, as gRPC writes them. */
export function parseListenEndpoint(text: string): Endpoint | null {
  if (!UNIX_SCHEME.test(text)) return parseEndpoint(text);
  const path = text.replace(UNIX_SCHEME, '');
  return /^\/*$/u.test(path) || path.includes('\0') ? null : { path };
}

/** As `parseEndpoint` reads it. */
export function formatEndpoint({ host, port }: TcpEndpoint): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
