/** The signal of each HTTP path. */
import type { Signal } from '../../pdata/context.ts';
import type { HttpOptions } from './http-options.ts';

/** Liveness. */
export const HEALTH_PATH = '/health';

type UrlPaths = Pick<HttpOptions, 'traces_url_path' | 'logs_url_path' | 'metrics_url_path'>;

export function pathsOf(options: UrlPaths): Readonly<Record<Signal, string>> {
  return {
    traces: withSlash(options.traces_url_path),
    logs: withSlash(options.logs_url_path),
    metrics: withSlash(options.metrics_url_path),
  };
}

export function routesOf(options: UrlPaths): ReadonlyMap<string, Signal> {
  const { traces, logs, metrics } = pathsOf(options);
  return new Map<string, Signal>([
    [traces, 'traces'],
    [logs, 'logs'],
    [metrics, 'metrics'],
  ]);
}

const withSlash = (path: string): string => (path.startsWith('/') ? path : `/${path}`);
