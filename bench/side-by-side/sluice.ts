/** Sluice as it ships: config/sidecar.yaml, all five processors, a file that is synced before each answer. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../test/support/executable.ts';
import { Client } from './client.ts';
import { type Contender, KEY } from './contender.ts';
import { countIn, untilQuiet } from './output-file.ts';
import { ServerProcess } from './server-process.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

export async function startSluice(folder: string): Promise<Contender> {
  const port = await freePort();
  const path = join(folder, 'sluice.ndjson');
  const settings = [
    `receivers.otlp.protocols.http.endpoint=127.0.0.1:${port}`,
    'extensions.health_check.endpoint=127.0.0.1:0',
    'service.telemetry.metrics.endpoint=127.0.0.1:0',
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
    name: 'Sluice, default pipeline',
    acknowledges: 'synced to disk',
    server,
    client: new Client(url, KEY),
    drain: () => untilQuiet(path),
    kept: () => countIn(path, '{"signal":"span"'),
  };
}
