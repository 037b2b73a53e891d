/**
 * MLflow: an AI back end with OTLP/HTTP, over its own database. It answers when a request is committed. It has one
 * worker process, because it has one core.
 */
import { Client } from '../../src/cli/bench/client.ts';
import { KEY } from '../daemon.ts';
import type { Contender } from './contender.ts';
import { startOther } from './other-product.ts';

/** Its first experiment. */
const HEADERS = { 'x-mlflow-experiment-id': '0' };

export async function startMlflow(executable: string, folder: string): Promise<Contender> {
  const { database, server, url, stop } = await startOther('mlflow', '/health', (address, port) => ({
    command: executable,
    args: [
      ...['server', '--backend-store-uri', address],
      ...['--host', '127.0.0.1', '--port', String(port), '--workers', '1'],
    ],
    env: { MLFLOW_DISABLE_TELEMETRY: 'true' },
    cwd: folder,
  }));
  return {
    name: 'MLflow, PostgreSQL',
    acknowledges: 'committed',
    server,
    client: new Client(url, KEY, { headers: HEADERS }),
    drain: (spans) => database.drain(spans),
    kept: () => database.countSpans(),
    stop,
  };
}
