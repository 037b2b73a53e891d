/**
 * MLflow: an AI back end with OTLP/HTTP, over its own database. It answers when a request is committed. It has one
 * worker process, because it has one core.
 */
import { freePort } from '../../test/support/executable.ts';
import { Client } from '../../src/cli/bench/client.ts';
import { KEY } from '../daemon.ts';
import type { Contender } from './contender.ts';
import { OtherDatabase } from './other-database.ts';
import { ServerProcess } from './server-process.ts';

/** Its first experiment. */
const HEADERS = { 'x-mlflow-experiment-id': '0' };

export async function startMlflow(executable: string, folder: string): Promise<Contender> {
  const database = await OtherDatabase.open('mlflow');
  const port = await freePort();
  const place = ['--host', '127.0.0.1', '--port', String(port), '--workers', '1'];
  const server = new ServerProcess({
    command: executable,
    args: ['server', '--backend-store-uri', database.address, ...place],
    env: { MLFLOW_DISABLE_TELEMETRY: 'true' },
    cwd: folder,
  });
  database.countFor(server);
  const stop = async (): Promise<void> => {
    await server.stop();
    await database.close();
  };
  const url = `http://127.0.0.1:${port}`;
  try {
    await server.untilServing(`${url}/health`);
  } catch (error) {
    await stop();
    throw error;
  }
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
