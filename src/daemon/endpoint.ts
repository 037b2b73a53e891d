/** The endpoints of a configured daemon, as URLs that work on the same machine. */
import { isEverywhere, localUrl, parseListenEndpoint } from '../component/endpoint.ts';
import type { ListenPlace } from '../component/listening.ts';
import type { Config } from '../config/config.ts';

type Protocol = 'http' | 'grpc';

/** The bound address of an endpoint, by its option; null where it is not open. */
export type BoundAddress = (place: ListenPlace) => string | null;

/** For a configuration that no daemon of this process runs: port 0 stays. */
const NOT_OPEN: BoundAddress = () => null;

/** The OTLP/HTTP endpoint of the first `otlp` receiver that a pipeline uses; null when there is none. */
export function findEndpoint(config: Config, bound = NOT_OPEN): string | null {
  return findUrl(config, 'http', bound);
}

/** The OTLP/gRPC endpoint of the first `otlp` receiver that a pipeline uses; null when there is none. */
export function findGrpcEndpoint(config: Config, bound = NOT_OPEN): string | null {
  return findUrl(config, 'grpc', bound);
}

/** The URL of the daemon's metrics; null when they are not served. */
export function findMetricsUrl({ service }: Config, bound = NOT_OPEN): string | null {
  const { enabled, endpoint } = service.telemetry.metrics;
  const url = enabled ? urlOf({ endpoint, option: 'service.telemetry.metrics.endpoint' }, bound) : null;
  return url === null ? null : `${url}/metrics`;
}

/** Whether other machines reach OTLP/HTTP or OTLP/gRPC at any address of this one. */
export function listensEverywhere(config: Config): boolean {
  const all = [...listeningsOf(config, 'http'), ...listeningsOf(config, 'grpc')];
  return all.some(({ endpoint }) => {
    const parsed = parseListenEndpoint(endpoint);
    return parsed !== null && isEverywhere(parsed);
  });
}

/** The endpoints that a daemon with this configuration listens at, with their options. */
export function listenPlaces(config: Config): readonly ListenPlace[] {
  const { enabled, endpoint } = config.service.telemetry.metrics;
  const extensions = config.service.extensions.flatMap((id): readonly ListenPlace[] => {
    const place = Object(config.extensions.get(id)?.options).endpoint;
    return typeof place === 'string' ? [{ endpoint: place, option: `extensions.${id}.endpoint` }] : [];
  });
  return [
    ...(enabled ? [{ endpoint, option: 'service.telemetry.metrics.endpoint' }] : []),
    ...extensions,
    ...listeningsOf(config, 'http'),
    ...listeningsOf(config, 'grpc'),
  ];
}

function findUrl(config: Config, protocol: Protocol, bound: BoundAddress): string | null {
  for (const listening of listeningsOf(config, protocol)) {
    const url = urlOf(listening, bound);
    if (url !== null) return url;
  }
  return null;
}

interface Listening extends ListenPlace {
  readonly tls?: unknown;
}

function listeningsOf(config: Config, protocol: Protocol): readonly Listening[] {
  const used = new Set(config.service.pipelines.flatMap(({ receivers }) => receivers));
  return [...config.receivers.values()].flatMap(({ id, definition, options }) => {
    if (definition.type !== 'otlp' || !used.has(id)) return [];
    const { protocols } = options as { readonly protocols?: Readonly<Partial<Record<Protocol, Listening>>> };
    const found = protocols?.[protocol];
    return found === undefined ? [] : { ...found, option: `receivers.${id}.protocols.${protocol}.endpoint` };
  });
}

/** Null for a Unix domain socket, which has no URL. */
function urlOf({ endpoint, option, tls }: Listening, bound: BoundAddress): string | null {
  const parsed = parseListenEndpoint(endpoint);
  if (parsed === null || 'path' in parsed) return null;
  const open = parsed.port === 0 ? bound({ endpoint, option }) : null;
  const port = open === null ? parsed.port : Number(open.slice(open.lastIndexOf(':') + 1));
  return localUrl({ host: parsed.host, port }, tls === undefined ? 'http' : 'https');
}
