/**
 * Sluice with all five processors: with a file that is synced before each answer (config/sidecar.yaml), and with the
 * embedded PostgreSQL server (config/sluice.yaml).
 */
import { join } from 'node:path';
import pg from 'pg';
import { Client } from '../../src/cli/bench/client.ts';
import { dataFile, KEY, startDaemon } from '../daemon.ts';
import type { Contender } from './contender.ts';
import { countIn, untilQuiet } from './output-file.ts';

export async function startSluiceOverFile(): Promise<Contender> {
  // One file, so that its lines can be counted. The cost of a rotation is negligible.
  const { url, server, folder, stop } = await startDaemon('file', ['exporters.file.rotation.max_size=1TiB']);
  const path = dataFile(folder);
  return {
    name: 'Sluice, all processors',
    acknowledges: 'synced to disk',
    server,
    client: new Client(url, KEY),
    drain: () => untilQuiet(path),
    kept: () => countIn(path, '{"signal":"span"'),
    stop,
  };
}

export async function startSluiceOverPostgres(): Promise<Contender> {
  const { url, server, folder, stop } = await startDaemon('embedded');
  return {
    name: 'Sluice, its own PostgreSQL',
    acknowledges: 'committed',
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
