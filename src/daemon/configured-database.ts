/** Finds the database of a configuration, and the embedded server that runs for it. */
import { resolve } from 'node:path';
import type { Config } from '../config/config.ts';
import { UserError } from '../errors.ts';
import { type ServerAddress, urlOf } from '../extensions/postgres/embedded/address.ts';
import { findRunning } from '../extensions/postgres/embedded/find-running.ts';
import type { PostgresOptions } from '../extensions/postgres/options.ts';

/** Null when the configuration runs no database. */
export function findPostgresOptions(config: Config): PostgresOptions | null {
  for (const id of config.service.extensions) {
    const extension = config.extensions.get(id);
    if (extension?.definition.type === 'postgres') return extension.options as PostgresOptions;
  }
  return null;
}

/** The URL of the running embedded server; null when the configuration has none. */
export async function findEmbeddedUrl(config: Config, process: NodeJS.Process): Promise<string | null> {
  const options = findPostgresOptions(config);
  if (options === null || options.url !== '') return null;
  const address = await findEmbedded(options, process);
  if (address === undefined) throw new UserError(`the embedded server in ${options.data_dir} does not answer`);
  return urlOf(address);
}

/** The address of the running embedded server; undefined when it does not run. */
export function findEmbedded(
  { data_dir }: PostgresOptions,
  process: NodeJS.Process,
): Promise<ServerAddress | undefined> {
  const quiet = { info: () => undefined, warn: () => undefined };
  return findRunning({ dataDir: resolve(process.cwd(), data_dir), host: process, log: quiet });
}
