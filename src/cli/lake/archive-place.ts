/** The archive and the objects that the configuration names, for commands that write or read them. */
import { resolve } from 'node:path';
import type { ObjectStore } from '../../object-store/object-store.ts';
import { openStore } from '../../object-store/open-store.ts';
import { type Config, usedExporters } from '../../config/config.ts';
import { type Codec, keyOf } from '../../exporters/objects/object-key.ts';
import type { ObjectsOptions } from '../../exporters/objects/objects.ts';
import type { ArchiveOptions, PostgresExporterOptions } from '../../exporters/postgres/postgres.ts';
import type { Call } from '../command.ts';

/** The memory of DuckDB, where neither the command nor the configuration says otherwise. */
export const DEFAULT_MEMORY_BYTES = 2 ** 30;

/** Null when the configuration has no archive. */
export function findArchiveOptions(config: Config): ArchiveOptions | null {
  const archives = usedExporters(config, 'postgres').map(({ options }) => (options as PostgresExporterOptions).archive);
  return archives.find(({ to }) => to !== '') ?? null;
}

/** The options of the exporter `objects` of a pipeline; null when there is none. */
export const findObjectsOptions = (config: Config): ObjectsOptions | null =>
  (usedExporters(config, 'objects')[0]?.options ?? null) as ObjectsOptions | null;

/** A relative folder begins at the working directory, as in the configuration. */
export function openPlace({ process }: Pick<Call, 'process'>, place: string): ObjectStore {
  return openStore(place, { environment: process.env, resolvePath: (path) => resolve(process.cwd(), path) });
}

/** The key of an object of the exporter `objects`. `objectId`: hex. */
export const keyOfObject = (objectId: string, codec: string): string =>
  keyOf(Buffer.from(objectId, 'hex'), codec as Codec);
