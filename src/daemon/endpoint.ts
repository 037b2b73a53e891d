/** The OTLP/HTTP endpoint of a configured daemon, as a URL that works on the same machine. */
import { parseListenEndpoint } from '../component/endpoint.ts';
import type { Config } from '../config/config.ts';

/** Hosts that mean all addresses of the machine. A client cannot connect to them. */
const EVERYWHERE = new Set(['', '0.0.0.0', '[::]', '::']);

/** The first `otlp` receiver that a pipeline uses; null when there is none. */
export function findEndpoint(config: Config): string | null {
  const used = new Set(config.service.pipelines.flatMap(({ receivers }) => receivers));
  for (const { id, definition, options } of config.receivers.values()) {
    if (definition.type !== 'otlp' || !used.has(id)) continue;
    const { protocols } = options as { readonly protocols?: { readonly http?: HttpListening } };
    const url = protocols?.http === undefined ? null : urlOf(protocols.http);
    if (url !== null) return url;
  }
  return null;
}

interface HttpListening {
  readonly endpoint: string;
  readonly tls?: unknown;
}

/** Null for a Unix domain socket, which has no URL. */
function urlOf({ endpoint, tls }: HttpListening): string | null {
  const parsed = parseListenEndpoint(endpoint);
  if (parsed === null || 'path' in parsed) return null;
  const host = endpoint.slice(0, endpoint.lastIndexOf(':'));
  const place = EVERYWHERE.has(host) ? `127.0.0.1:${parsed.port}` : endpoint;
  return `${tls === undefined ? 'http' : 'https'}://${place}`;
}
