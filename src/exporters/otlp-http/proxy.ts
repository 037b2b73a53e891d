/**
 * Connects through an HTTP proxy. The proxy agent of undici has no time limit for a tunnel, and it asks a proxy that
 * closes the connection again at once, without an end.
 */
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { unescape as decode } from 'node:querystring';
import type { buildConnector } from 'undici';

type Connector = buildConnector.connector;
/** Where the request goes. */
type Remote = Parameters<Connector>[0];

/** The header with the credentials of the URL. Unlike decodeURIComponent, `decode` accepts an incomplete escape. */
export function proxyHeaders(proxy: string): Readonly<Record<string, string>> {
  const { username, password } = new URL(proxy);
  if (username === '' && password === '') return {};
  const credentials = Buffer.from(`${decode(username)}:${decode(password)}`).toString('base64');
  return { 'proxy-authorization': `Basic ${credentials}` };
}

export interface ProxyParts {
  readonly proxy: string;
  /** Milliseconds. */
  readonly timeout: number;
  /** To the proxy. */
  readonly connect: Connector;
  /** TLS with the remote, over a tunnel. */
  readonly secure: Connector;
}

/** A proxy gets a request for http itself, because many proxies allow tunnels to the port of https only. */
export function connectorThrough(parts: ProxyParts): Connector {
  const { hostname, host, protocol, port } = new URL(parts.proxy);
  const place = { hostname: hostname.replace(/^\[|\]$/gu, ''), host, protocol, port };
  return (options, callback) => {
    if (options.protocol === 'https:') tunnel(parts, options, callback);
    else parts.connect(place, callback);
  };
}

function tunnel({ proxy, timeout, secure }: ProxyParts, options: Remote, callback: buildConnector.Callback): void {
  const path = options.port === '' ? `${options.host}:443` : options.host;
  const headers = { host: path, ...proxyHeaders(proxy) };
  const request = proxy.startsWith('https:') ? requestHttps : requestHttp;
  // Node itself would send the credentials of the URL in `Authorization`.
  const asking = request(new URL(proxy).origin, { method: 'CONNECT', path, headers, agent: false });
  const timer = setTimeout(() => asking.destroy(new Error('the proxy does not answer')), timeout);
  asking.once('connect', ({ statusCode }, socket) => {
    clearTimeout(timer);
    if (statusCode === 200) {
      secure({ ...options, httpSocket: socket }, callback);
      return;
    }
    socket.on('error', () => undefined).destroy();
    callback(new Error(`the proxy answered ${statusCode}`), null);
  });
  asking.once('error', (error) => {
    clearTimeout(timer);
    callback(error, null);
  });
  asking.end();
}
