/** A daemon that stores in objects, and what compactions publish of them in the lake. */
import { mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { ArchivedFile } from '../../src/archive/archive-day.ts';
import { type CompactionWork, compact } from '../../src/archive/compaction/compact.ts';
import { Duck } from '../../src/archive/duckdb.ts';
import { type Codec, keyOf } from '../../src/exporters/objects/object-key.ts';
import { FolderStore } from '../../src/object-store/folder-store.ts';
import { MEMORY, sessionOf } from './archive-scene.ts';
import { type PostgresDaemon, postgresConfig, startPostgresDaemon } from './postgres-daemon.ts';

export interface CompactionScene extends PostgresDaemon {
  readonly client: pg.Client;
  readonly duck: Duck;
  /** The folder of the objects and the lake. */
  readonly lake: string;
  /** With the configuration of the daemon, for commands. */
  readonly commands: string;
  run(changes?: Partial<CompactionWork>): Promise<readonly ArchivedFile[]>;
  /** The files of the lake, or the objects, by their keys. */
  files(kind?: 'parquet' | 'objects'): readonly string[];
}

const ENDINGS = { parquet: /\.parquet$/u, objects: /\.ndjson\.(?:gz|zst)$/u };

const keyOfObject = (id: string, codec: string): string => keyOf(Buffer.from(id, 'hex'), codec as Codec);

/** `exporters`: of the pipelines. `before`: a scene whose database and folder are used. */
export async function startCompaction(
  t: Parameters<typeof startPostgresDaemon>[0],
  exporters = 'postgres, objects',
  processors = 'auth, environment',
  before: Pick<CompactionScene, 'databaseUrl' | 'lake'> | null = null,
): Promise<CompactionScene> {
  const commands = mkdtempSync(join(tmpdir(), 'sluice-compaction-'));
  const lake = before?.lake ?? join(commands, 'to');
  const options = {
    ...{ exporters, processors, moreExporters: `objects: { to: "${lake}", linger: 0s }` },
    ...(before === null ? {} : { databaseUrl: before.databaseUrl }),
  };
  const daemon = await startPostgresDaemon(t, options);
  writeFileSync(join(commands, 'sluice.yaml'), postgresConfig({ ...options, databaseUrl: daemon.databaseUrl }));
  const clients: pg.Client[] = [];
  const connect = async (): Promise<pg.Client> => {
    const client = new pg.Client({ connectionString: daemon.databaseUrl });
    client.on('error', () => undefined);
    await client.connect();
    await client.query("SET TimeZone = 'UTC'");
    clients.push(client);
    return client;
  };
  const client = await connect();
  const duck = await Duck.open({ memoryBytes: MEMORY, folder: commands });
  t.teardown(async () => {
    duck.close();
    for (const each of clients) await each.end();
    await rm(commands, { recursive: true, force: true });
  });
  const store = new FolderStore(lake);
  return {
    ...daemon,
    ...{ client, duck, lake, commands },
    run: async (changes = {}) => {
      const session = sessionOf(await connect());
      const files: ArchivedFile[] = [];
      const common = { session, store, duck, folder: commands, views: 'public', report: () => undefined };
      const work: CompactionWork = {
        ...common,
        olderThanMs: -60_000,
        keyOf: keyOfObject,
        maxBytes: 2 ** 27,
        keepMs: null,
        ...changes,
      };
      for await (const file of compact(work)) files.push(file);
      await session.query('SELECT pg_advisory_unlock_all()');
      return files;
    },
    files: (kind = 'parquet') =>
      readdirSync(lake, { recursive: true, encoding: 'utf8' })
        .filter((name) => ENDINGS[kind].test(name))
        .sort(),
  };
}
