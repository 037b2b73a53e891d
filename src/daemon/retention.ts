/** How long the `postgres` exporter of a configuration keeps records. */
import type { KeptFor } from '../component/capabilities/daemon-facts.ts';
import type { Config } from '../config/config.ts';

interface ExporterOptions {
  readonly retention: Omit<KeptFor, 'isArchived'>;
  readonly archive: { readonly to: string };
}

/** The periods of the first one that a pipeline uses; null when there is none. */
export function findRetention({ exporters, service }: Config): KeptFor | null {
  const used = new Set(service.pipelines.flatMap((pipeline) => pipeline.exporters));
  const found = [...exporters.values()].find(({ id, definition }) => definition.type === 'postgres' && used.has(id));
  if (found === undefined) return null;
  const { retention, archive } = found.options as ExporterOptions;
  const { spans, logs, metrics } = retention;
  return { spans, logs, metrics, isArchived: archive.to !== '' };
}
