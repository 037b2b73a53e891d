/** The URL under which people reach the console. */
import { parseListenEndpoint } from '../../component/endpoint.ts';
import type { ConsoleOptions } from './options.ts';

/** Hosts that mean all addresses of the machine. A browser cannot open them. */
const EVERYWHERE = new Set(['', '0.0.0.0', '::']);

/** Without a final slash. Null for a Unix domain socket without `public_url`. */
export function baseUrlOf(
  { public_url: publicUrl, tls }: Pick<ConsoleOptions, 'public_url' | 'tls'>,
  address: string,
): string | null {
  if (publicUrl !== '') return publicUrl;
  const endpoint = parseListenEndpoint(address);
  if (endpoint === null || 'path' in endpoint) return null;
  const { host, port } = endpoint;
  const name = EVERYWHERE.has(host) ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host;
  return `${tls === undefined ? 'http' : 'https'}://${name}:${port}`;
}
