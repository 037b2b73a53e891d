/** Where a configured daemon takes OTLP, as a URL that works on its own machine. */
import type { Config } from '../config/config.ts';

/** Hosts that mean every address of the machine; nobody can be called there. */
const EVERYWHERE = new Set(['', '0.0.0.0', '[::]', '::']);

/** The first `otlp` receiver that a pipeline uses; null without one. */
export function findEndpoint(config: Config): string | null {
  const used = new Set(config.service.pipelines.flatMap(({ receivers }) => receivers));
  for (const { id, definition, options } of config.receivers.values()) {
    if (definition.type !== 'otlp' || !used.has(id)) continue;
    const { protocols } = options as { readonly protocols?: { readonly http?: { readonly endpoint?: unknown } } };
    const endpoint = protocols?.http?.endpoint;
    if (typeof endpoint === 'string') return urlOf(endpoint);
  }
  return null;
}

function urlOf(endpoint: string): string {
  const colon = endpoint.lastIndexOf(':');
  const host = endpoint.slice(0, colon);
  return `http://${EVERYWHERE.has(host) ? '127.0.0.1' : host}${endpoint.slice(colon)}`;
}
