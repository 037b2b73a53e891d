/** The archive and the objects that the configuration names, for commands that write or read them. */
import { resolve } from 'node:path';
import type { ObjectStore } from '../../object-store/object-store.ts';
import { openStore } from '../../object-store/open-store.ts';
import type { Config } from '../../config/config.ts';
import { type Codec, keyOf } from '../../exporters/objects/object-key.ts';
import type { ObjectsOptions } from '../../exporters/objects/objects.ts';
import type { ArchiveOptions, PostgresExporterOptions } from '../../exporters/postgres/postgres.ts';
import type { Call } from '../command.ts';

/** The memory of DuckDB, where neither the command nor the configuration says otherwise. */
export const DEFAULT_MEMORY_BYTES = 2 ** 30;

/** Null when the configuration has no archive. */
export function findArchiveOptions({ service, exporters }: Config): ArchiveOptions | null {
  const used = new Set(service.pipelines.flatMap((pipeline) => pipeline.exporters));
  for (const [id, { definition, options }] of exporters) {
    if (definition.type !== 'postgres' || !used.has(id)) continue;
    const { archive } = options as PostgresExporterOptions;
    if (archive.to !== '') return archive;
  }
  return null;
}

/** The options of the exporter `objects` of a pipeline; null when there is none. */
export function findObjectsOptions({ service, exporters }: Config): ObjectsOptions | null {
  const used = new Set(service.pipelines.flatMap((pipeline) => pipeline.exporters));
  for (const [id, { definition, options }] of exporters)
    if (definition.type === 'objects' && used.has(id)) return options as ObjectsOptions;
  return null;
}

/** A relative folder begins at the working directory, as in the configuration. */
export function openPlace({ process }: Pick<Call, 'process'>, place: string): ObjectStore {
  return openStore(place, { environment: process.env, resolvePath: (path) => resolve(process.cwd(), path) });
}

/** The key of an object of the exporter `objects`. `objectId`: hex. */
export const keyOfObject = (objectId: string, codec: string): string =>
  keyOf(Buffer.from(objectId, 'hex'), codec as Codec);
