/**
 * The files of a configuration as they were when it was read. A worker that starts later, after a fault say, must run with what the
 * others run with, not with a file that somebody is changing.
 */
import type { Config } from '../config/config.ts';
import { type ReadSource, readSource } from '../config/read.ts';
import type { Call } from './command.ts';
import { type Reading, readConfig } from './config-options.ts';

/** By absolute path. */
export type FileTexts = Readonly<Record<string, string>>;

/** A configuration, and what it was read from. */
export interface ReadFiles {
  readonly config: Config;
  readonly texts: FileTexts;
}

export async function readFiles(call: Call, reading: Omit<Reading, 'read'>): Promise<ReadFiles> {
  const texts = new Map<string, string>();
  const read: ReadSource = (name, path, problems) => {
    const source = readSource(name, path, problems);
    if (source !== null) texts.set(path, source.text);
    return source;
  };
  const config = await readConfig(call, { ...reading, read });
  return { config, texts: Object.fromEntries(texts) };
}

export function readingFrom(texts: FileTexts): ReadSource {
  return (name, path, problems) => {
    const text = texts[path];
    if (text !== undefined) return { name, text };
    problems.error(null, `the configuration file ${name} was not there when the configuration was read`);
    return null;
  };
}
