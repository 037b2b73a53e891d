/**
 * Sluice with all five processors: with a file that is synced before each answer (config/sidecar.yaml), and with the
 * embedded PostgreSQL server (config/sluice.yaml).
 */
import { join } from 'node:path';
import pg from 'pg';
import { freePort } from '../../test/support/executable.ts';
import { Client } from '../../src/cli/bench/client.ts';
import { dataFile, KEY, PROJECT, SMALL_FILES, startDaemon } from '../daemon.ts';
import type { Backend, Contender } from './contender.ts';
import { countIn, untilQuiet } from './output-file.ts';

/** Without `isRotated` it has one file, so that its lines can be counted. The cost of a rotation is negligible. */
export async function startSluiceOverFile(isRotated = false): Promise<Contender> {
  const settings = isRotated ? SMALL_FILES : ['exporters.file.rotation.max_size=1TiB'];
  const { url, server, folder, stop } = await startDaemon('file', settings);
  const path = dataFile(folder);
  return {
    name: 'Sluice, all processors',
    acknowledges: 'synced to disk',
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
