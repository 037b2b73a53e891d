/** The URL under which people reach the console. */
import { localUrl, parseListenEndpoint } from '../../component/endpoint.ts';
import type { ConsoleOptions } from './options.ts';

/** Without a final slash. Null for a Unix domain socket without `public_url`. */
export function baseUrlOf(
  { public_url: publicUrl, tls }: Pick<ConsoleOptions, 'public_url' | 'tls'>,
  address: string,
): string | null {
  if (publicUrl !== '') return publicUrl;
  const endpoint = parseListenEndpoint(address);
  if (endpoint === null || 'path' in endpoint) return null;
  return localUrl(endpoint, tls === undefined ? 'http' : 'https');
}
