/** The options of all commands that read the configuration, and the function that reads it. */
import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Config } from '../config/config.ts';
import type { LoadOptions } from '../config/load.ts';
import type { Call } from './command.ts';
import { listOption, textOption, type Values } from './options.ts';

export const CONFIG_OPTIONS = {
  config: listOption('FILE', 'Configuration file; several are merged from left to right', {
    short: 'c',
    otherwise: 'sluice.yaml, else config/sluice.yaml',
  }),
  set: listOption(
    'PATH=VALUE',
    'Sets one option after all files, for example service.shutdown_timeout=30s; may be repeated',
  ),
};

/** The options as they were given, for another command. */
export const configWords = (values: Values): readonly string[] =>
  Object.keys(CONFIG_OPTIONS).flatMap((name) => values.list(name).flatMap((value) => [`--${name}`, value]));

/** The options of the default command. They may be given without a command. */
export const RUN_OPTIONS = {
  ...CONFIG_OPTIONS,
  workers: textOption('N', 'Number of worker processes; not with a file exporter or ledger: memory', { default: '1' }),
};

/** The file that `sluice init` writes. */
export const OWN_FILE = 'sluice.yaml';
/** In the working directory, in this order. */
const DEFAULT_FILES = [OWN_FILE, join('config', 'sluice.yaml')];

/** Loads the modules that read a configuration only when one is read. */
export async function readConfig({ values, process, schemas }: Call, options: LoadOptions = {}): Promise<Config> {
  const [{ COMPONENTS }, { loadConfig }] = await Promise.all([import('../components.ts'), import('../config/load.ts')]);
  const workingDirectory = process.cwd();
  return loadConfig({
    files: configFiles({ values, process }),
    settings: values.list('set'),
    definitions: COMPONENTS,
    environment: process.env,
    workingDirectory,
    ...(schemas === undefined ? {} : { schemas }),
    ...options,
  });
}

/** The files that are read: those given, or a file of the working directory, or else that of the package. */
export function configFiles({ values, process }: Pick<Call, 'values' | 'process'>): readonly string[] {
  const given = values.list('config');
  if (given.length > 0) return given;
  const workingDirectory = process.cwd();
  const own = DEFAULT_FILES.find((file) => existsSync(join(workingDirectory, file)));
  if (own !== undefined) return [own];
  const packaged = packagedConfig();
  const near = relative(workingDirectory, packaged);
  return [near.startsWith('..') ? packaged : near];
}

/** The default configuration of the package. */
export function packagedConfig(): string {
  return fileURLToPath(new URL('../../../config/sluice.yaml', import.meta.url));
}
