/**
 * Arize Phoenix: an AI back end with OTLP/HTTP, over its own database. It answers when a request is in its memory queue
 * and inserts later, so its work is done when its table has all spans.
 */
import { freePort } from '../../test/support/executable.ts';
import { Client } from '../../src/cli/bench/client.ts';
import { KEY } from '../daemon.ts';
import type { Backend } from './contender.ts';
import { startOther } from './other-product.ts';

/** The address of its first project, which takes all spans without another name. */
const DEFAULT_PROJECT = Buffer.from('Project:1').toString('base64').replace('=', '');

export async function startPhoenix(executable: string, folder: string): Promise<Backend> {
  const grpcPort = await freePort();
  const { database, server, url, stop } = await startOther('phoenix', '/healthz', (address, port) => ({
    command: executable,
    args: ['serve'],
    env: {
      PHOENIX_HOST: '127.0.0.1',
      PHOENIX_PORT: String(port),
      PHOENIX_GRPC_PORT: String(grpcPort),
      PHOENIX_WORKING_DIR: folder,
      PHOENIX_SQL_DATABASE_URL: address,
      PHOENIX_TELEMETRY_ENABLED: 'false',
      PHOENIX_ALLOW_EXTERNAL_RESOURCES: 'false',
    },
    cwd: folder,
  }));
  return {
    name: 'Phoenix, PostgreSQL',
    acknowledges: 'in a queue in memory',
    url,
    page: `${url}/projects/${DEFAULT_PROJECT}`,
    server,
    client: new Client(url, KEY),
    drain: (spans) => database.drain(spans),
    kept: () => database.countSpans(),
    stop,
  };
}
