/** What distinguishes this daemon from others: process, version, configuration, folder and database. */
import { resolve } from 'node:path';
import type { Config } from '../config/config.ts';
import { describeDatabase } from '../extensions/postgres/database-url.ts';
import type { Identity } from '../service/telemetry/status.ts';
import type { ReadFiles } from './config-files.ts';
import { findPostgresOptions } from './configured-database.ts';
import type { DaemonHost } from './daemon-host.ts';

export function identityOf({ config, texts }: ReadFiles, { process, version }: DaemonHost): Identity {
  return {
    pid: process.pid,
    version,
    configuration: Object.keys(texts),
    folder: process.cwd(),
    database: databaseOf(config, process.cwd()),
  };
}

function databaseOf(config: Config, folder: string): string | null {
  const options = findPostgresOptions(config);
  if (options === null) return null;
  return options.url === '' ? resolve(folder, options.data_dir) : describeDatabase(options.url);
}
