/**
 * Sluice with all five processors: with a file that is synced before each answer (config/sidecar.yaml), and with the
 * embedded PostgreSQL server (config/sluice.yaml).
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import pg from 'pg';
import { freePort } from '../../test/support/executable.ts';
import { Client } from '../../src/cli/bench/client.ts';
import { dataFile, KEY, PROJECT, SMALL_FILES, startDaemon } from '../daemon.ts';
import type { Backend, Contender } from './contender.ts';
import { countIn, untilQuiet } from './output-file.ts';

/** With this library of Debian's `libeatmydata1`, nothing that a process writes is synced. */
const UNSYNCED = 'libeatmydata.so.1';

export interface FileShape {
  readonly isSynced: boolean;
  /** Otherwise it has one file, so that its lines can be counted. */
  readonly isRotated: boolean;
}

/** Whether this machine can run it without syncs. */
export const canBeUnsynced = (): boolean =>
  spawnSync('ldconfig', ['-p'], { encoding: 'utf8' }).stdout?.includes(UNSYNCED) ?? false;

export async function startSluiceOverFile({ isSynced, isRotated }: FileShape): Promise<Contender> {
  const settings = isRotated ? SMALL_FILES : ['exporters.file.rotation.max_size=1TiB'];
  const env = isSynced ? {} : { LD_PRELOAD: UNSYNCED };
  const { url, server, folder, stop } = await startDaemon('file', settings, { env });
  const path = dataFile(folder);
  return {
    name: isSynced ? 'Sluice, all processors' : '… without fsync, for the comparison only',
    acknowledges: isSynced ? 'synced to disk' : 'written',
    server,
    client: new Client(url, KEY),
    drain: () => untilQuiet(path),
    kept: async () => (isRotated ? null : countIn(path, '{"signal":"span"')),
    stop,
  };
}

export async function startSluiceOverPostgres(): Promise<Backend> {
  const console = `127.0.0.1:${await freePort()}`;
  const { url, server, folder, stop } = await startDaemon('embedded', [
    `extensions.console.endpoint=${console}`,
    // As Phoenix, which has no login by default.
    'extensions.console.auth={ mode: none, anonymous_role: admin }',
  ]);
  // The console shows no project that only a key in the configuration names.
  const origin = `http://${console}`;
  const headers = { origin, 'content-type': 'application/json' };
  await fetch(`${origin}/api/v1/projects`, { method: 'POST', headers, body: JSON.stringify({ name: PROJECT }) });
  return {
    name: 'Sluice, its own PostgreSQL',
    acknowledges: 'committed',
    url,
    page: `${origin}/p/${PROJECT}`,
    server,
    client: new Client(url, KEY),
    drain: async () => undefined,
    kept: () => countSpans(join(folder, 'data/postgres/socket')),
    stop,
  };
}

async function countSpans(socketFolder: string): Promise<number> {
  const client = new pg.Client({ host: socketFolder, user: 'sluice', database: 'sluice' });
  await client.connect();
  const { rows } = await client.query('SELECT count(*)::int AS n FROM public.spans');
  await client.end();
  return rows[0]?.n ?? 0;
}
