/** How long the `postgres` exporter of a configuration keeps records. */
import type { KeptFor } from '../component/capabilities/daemon-facts.ts';
import { type Config, usedExporters } from '../config/config.ts';

interface ExporterOptions {
  readonly retention: Readonly<Record<'spans' | 'logs' | 'metrics' | 'traces' | 'usage', number>>;
  readonly archive: { readonly to: string };
}

export function findRetention(config: Config): KeptFor | null {
  const options = findExporterOptions(config);
  if (options === null) return null;
  const { spans, logs, metrics } = options.retention;
  return { spans, logs, metrics, isArchived: options.archive.to !== '' };
}

/** The options of the first one that a pipeline uses; null when there is none. */
export const findExporterOptions = (config: Config): ExporterOptions | null =>
  (usedExporters(config, 'postgres')[0]?.options ?? null) as ExporterOptions | null;
