/** Divides a configuration between the primary, which runs the parts of which there is one, and the workers. */
import type { Placement } from '../../component/component.ts';
import type { Config } from '../../config/config.ts';

/** The primary's part: no pipelines, and the extensions that are placed in the primary. */
export function primaryConfig(config: Config): Config {
  return withService(config, { pipelines: [], extensions: placedIn(config, ['primary', 'both']) });
}

/** `databaseUrl` is the URL of the primary's embedded server; null when there is none. */
export function workerConfig(config: Config, databaseUrl: string | null): Config {
  const divided = withService(config, { extensions: placedIn(config, ['worker', 'both', 'single']) });
  if (databaseUrl === null) return divided;
  const extensions = new Map(
    [...config.extensions].map(([id, extension]) => {
      if (extension.definition.type !== 'postgres') return [id, extension];
      const options = { ...(extension.options as object), url: databaseUrl };
      return [id, { ...extension, options }];
    }),
  );
  return { ...divided, extensions };
}

const withService = (config: Config, changes: Partial<Config['service']>): Config => ({
  ...config,
  service: { ...config.service, ...changes },
});

function placedIn({ service, extensions }: Config, places: readonly Placement[]): readonly string[] {
  return service.extensions.filter((id) => places.includes(extensions.get(id)?.definition.placement ?? 'worker'));
}
