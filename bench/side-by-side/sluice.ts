/**
 * Sluice as it ships, with all five processors: over a file that is synced before each answer (config/sidecar.yaml), and over the
 * PostgreSQL server it brings along (config/sluice.yaml).
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { freePort } from '../../test/support/executable.ts';
import { Client } from './client.ts';
import { type Contender, KEY } from './contender.ts';
import { countIn, untilQuiet } from './output-file.ts';
import { ServerProcess } from './server-process.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

const loopback = (port: number): readonly string[] => [
  `receivers.otlp.protocols.http.endpoint=127.0.0.1:${port}`,
  'extensions.health_check.endpoint=127.0.0.1:0',
  'service.telemetry.metrics.endpoint=127.0.0.1:0',
];

export async function startSluiceOverFile(folder: string): Promise<Contender> {
  const port = await freePort();
  const path = join(folder, 'sluice.ndjson');
  const settings = [
    ...loopback(port),
    // One file, so that its lines can be counted; a new file costs nothing worth measuring.
    'exporters.file.rotation.max_size=1TiB',
  ];
  const server = new ServerProcess({
    command: process.execPath,
    args: [
      join(ROOT, 'bin/sluice.js'),
      ...['--config', join(ROOT, 'config/sidecar.yaml')],
      ...settings.flatMap((setting) => ['--set', setting]),
    ],
    env: { SLUICE_KEY: KEY, SLUICE_FILE: path },
    cwd: folder,
  });
  const url = `http://127.0.0.1:${port}`;
  await server.untilServing(`${url}/health`);
  return {
    name: 'Sluice, all processors',
    acknowledges: 'synced to disk',
    server,
    client: new Client(url, KEY),
    drain: () => untilQuiet(path),
    kept: () => countIn(path, '{"signal":"span"'),
  };
}

export async function startSluiceOverPostgres(folder: string): Promise<Contender> {
  const port = await freePort();
  const data = join(folder, 'data');
  const keys = join(folder, 'keys.yaml');
  await mkdir(data);
  await writeFile(keys, `processors: { auth: { keys: [ { key: ${KEY}, project: bench } ] } }\n`);
  const settings = [`extensions.postgres.data_dir=${data}`, ...loopback(port)];
  const server = new ServerProcess({
    command: process.execPath,
    args: [
      join(ROOT, 'bin/sluice.js'),
      ...['--config', join(ROOT, 'config/sluice.yaml'), '--config', keys],
      ...settings.flatMap((setting) => ['--set', setting]),
    ],
    env: { DATABASE_URL: '' },
    cwd: folder,
  });
  const url = `http://127.0.0.1:${port}`;
  await server.untilServing(`${url}/health`);
  return {
    name: 'Sluice, its own PostgreSQL',
    acknowledges: 'committed',
    server,
    client: new Client(url, KEY),
    drain: async () => undefined,
    kept: () => countSpans(join(data, 'postgres/socket')),
  };
}

async function countSpans(socketFolder: string): Promise<number> {
  const client = new pg.Client({ host: socketFolder, user: 'sluice', database: 'sluice' });
  await client.connect();
  const { rows } = await client.query('SELECT count(*)::int AS n FROM public.spans');
  await client.end();
  return rows[0]?.n ?? 0;
}
