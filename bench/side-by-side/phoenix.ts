/**
 * Arize Phoenix: an AI back end with OTLP/HTTP, on the same PostgreSQL server as Sluice's embedded one, with the same
 * settings. It answers when a request is in its memory queue and inserts later, so its work is done when its table has
 * all spans.
 */
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { freePort } from '../../test/support/executable.ts';
import { Client } from '../../src/cli/bench/client.ts';
import { KEY } from '../daemon.ts';
import { BenchDatabase } from '../database.ts';
import type { Backend } from './contender.ts';
import { parentOf } from '../../src/cli/bench/process-family.ts';
import { ServerProcess } from './server-process.ts';

/** It commits after a thousand spans, which can take seconds. */
const GIVE_UP_MS = 30_000;
const POLL_MS = 500;
/** The address of its first project, which takes all spans without another name. */
const DEFAULT_PROJECT = Buffer.from('Project:1').toString('base64').replace('=', '');

export async function startPhoenix(executable: string, folder: string): Promise<Backend> {
  const database = await BenchDatabase.open();
  await database.database.query('CREATE DATABASE phoenix');
  const { rows } = await database.database.query('SELECT pg_backend_pid() AS pid');
  const address = database.url.replace('/sluice?', '/phoenix?');
  const port = await freePort();
  const server = new ServerProcess({
    command: executable,
    args: ['serve'],
    env: {
      PHOENIX_HOST: '127.0.0.1',
      PHOENIX_PORT: String(port),
      PHOENIX_GRPC_PORT: String(await freePort()),
      PHOENIX_WORKING_DIR: folder,
      PHOENIX_SQL_DATABASE_URL: address.replace(/^postgres:/, 'postgresql:'),
      PHOENIX_TELEMETRY_ENABLED: 'false',
      PHOENIX_ALLOW_EXTERNAL_RESOURCES: 'false',
    },
    cwd: folder,
  });
  server.takeOn(parentOf(Number(rows[0]?.pid)));
  const stop = async (): Promise<void> => {
    await server.stop();
    await database.close();
  };
  const url = `http://127.0.0.1:${port}`;
  try {
    await server.untilServing(`${url}/healthz`);
  } catch (error) {
    await stop();
    throw error;
  }
  const drain = async (spans: number): Promise<void> => {
    let kept = 0;
    for (let since = performance.now(); kept < spans && performance.now() - since < GIVE_UP_MS; await pause(POLL_MS)) {
      const now = await countSpans(address);
      if (now !== kept) since = performance.now();
      kept = now;
    }
  };
  return {
    name: 'Phoenix, PostgreSQL',
    acknowledges: 'in a queue in memory',
    url,
    page: `${url}/projects/${DEFAULT_PROJECT}`,
    server,
    client: new Client(url, KEY),
    drain,
    kept: () => countSpans(address),
    stop,
  };
}

async function countSpans(address: string): Promise<number> {
  const client = new pg.Client(address);
  await client.connect();
  const { rows } = await client.query('SELECT count(*)::int AS n FROM spans');
  await client.end();
  return rows[0]?.n ?? 0;
}
