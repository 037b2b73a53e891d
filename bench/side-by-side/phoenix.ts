/**
 * Arize Phoenix as it ships: an AI back end that takes OTLP/HTTP, over SQLite. It answers when a request is in its queue in memory and
 * inserts later, so its work is over when its table holds all spans.
 */
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '../../test/support/executable.ts';
import { Client } from '../client.ts';
import { KEY } from '../daemon.ts';
import type { Contender } from './contender.ts';
import { ServerProcess } from './server-process.ts';

const COUNT = `import sqlite3, sys
print(sqlite3.connect("file:" + sys.argv[1] + "?mode=ro", uri=True).execute("SELECT count(*) FROM spans").fetchone()[0])`;
/** It commits after a thousand spans, which can take seconds. */
const GIVE_UP_MS = 30_000;
const POLL_MS = 500;

export async function startPhoenix(executable: string, folder: string): Promise<Contender> {
  const port = await freePort();
  const server = new ServerProcess({
    command: executable,
    args: ['serve'],
    env: {
      PHOENIX_HOST: '127.0.0.1',
      PHOENIX_PORT: String(port),
      PHOENIX_GRPC_PORT: String(await freePort()),
      PHOENIX_WORKING_DIR: folder,
      PHOENIX_TELEMETRY_ENABLED: 'false',
      PHOENIX_ALLOW_EXTERNAL_RESOURCES: 'false',
    },
    cwd: folder,
  });
  const url = `http://127.0.0.1:${port}`;
  await server.untilServing(`${url}/healthz`);
  const python = join(dirname(executable), 'python');
  const kept = async (): Promise<number> => {
    const { stdout } = spawnSync(python, ['-c', COUNT, join(folder, 'phoenix.db')], { encoding: 'utf8' });
    return Number(stdout);
  };
  const drain = async (spans: number): Promise<void> => {
    let rows = 0;
    for (let since = performance.now(); rows < spans && performance.now() - since < GIVE_UP_MS; await pause(POLL_MS)) {
      const now = await kept();
      if (now !== rows) since = performance.now();
      rows = now;
    }
  };
  return {
    name: 'Phoenix, SQLite',
    acknowledges: 'in a queue in memory',
    server,
    client: new Client(url, KEY),
    drain,
    kept,
    stop: () => server.stop(),
  };
}
