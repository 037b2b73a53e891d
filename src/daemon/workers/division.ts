/** Who does what of a configuration that several processes run: the primary what there may be one of, each worker the rest. */
import type { Placement } from '../../component/component.ts';
import type { Config } from '../../config/config.ts';

/** What the primary runs itself: no pipelines, and the extensions that are placed there. */
export function primaryConfig(config: Config): Config {
  return withService(config, { pipelines: [], extensions: placedIn(config, ['primary', 'both']) });
}

/** `databaseUrl` leads to the embedded server that the primary runs; null where there is none. */
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
