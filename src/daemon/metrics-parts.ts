/** The metrics server of the process: its place among the parts of a service, and the metrics of all workers. */
import type { Config } from '../config/config.ts';
import type { Part } from '../service/lifecycle.ts';
import { printFamilies } from '../service/telemetry/families.ts';
import { MetricsServer, type MetricsSource } from '../service/telemetry/metrics-server.ts';
import type { Registry } from '../service/telemetry/registry.ts';
import type { Workers } from './workers/workers.ts';

/** The metrics server is reused while its endpoint stays the same. */
export function metricsParts(
  { service }: Config,
  running: readonly Part[],
  make: (endpoint: string) => MetricsServer,
): readonly Part[] {
  const { enabled, endpoint } = service.telemetry.metrics;
  if (!enabled) return [];
  const known = running.find(({ component }) => component instanceof MetricsServer && component.endpoint === endpoint);
  return [known ?? { name: 'metrics', component: make(endpoint) }];
}

/** The metrics of this process and of its workers, each with its own label. */
export function joinMetrics(registry: Registry, workers: Workers): MetricsSource {
  const print = async (): Promise<string> => {
    const { families } = await workers.collect();
    return printFamilies([...registry.families(), ...families]);
  };
  return { print };
}
