/**
 * The configuration files as they were when they were read. A worker that starts later, for example after a fault, must
 * run the configuration of the other workers and not a file that has changed since.
 */
import type { Config } from '../config/config.ts';
import type { LoadOptions } from '../config/load.ts';
import { type ReadSource, readSource } from '../config/read.ts';
import type { DaemonHost } from './daemon-host.ts';

/** By absolute path. */
export type FileTexts = Readonly<Record<string, string>>;

export interface ReadFiles {
  readonly config: Config;
  readonly texts: FileTexts;
}

export async function readFiles(host: DaemonHost, options: Omit<LoadOptions, 'read'>): Promise<ReadFiles> {
  const texts = new Map<string, string>();
  const read: ReadSource = (name, path, problems) => {
    const source = readSource(name, path, problems);
    if (source !== null) texts.set(path, source.text);
    return source;
  };
  const config = await host.load({ ...options, read });
  return { config, texts: Object.fromEntries(texts) };
}

/** Reads from the texts instead of the disk. */
export function readingFrom(texts: FileTexts): ReadSource {
  return (name, path, problems) => {
    const text = texts[path];
    if (text !== undefined) return { name, text };
    problems.error(null, `the configuration file ${name} was not there when the configuration was read`);
    return null;
  };
}
