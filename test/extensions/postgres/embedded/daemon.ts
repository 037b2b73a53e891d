/**
 * A process that starts an embedded server in the given folder, prints its address and stays, for tests that kill it.
 * The second argument is the heartbeat of its lock in milliseconds.
 */
import { EmbeddedServer } from '../../../../src/extensions/postgres/embedded/server.ts';

const [dataDir = '', heartbeat = ''] = process.argv.slice(2);
const quiet = { info: () => undefined, warn: () => undefined };
const settings = { fsync: 'off' };
const heartbeatMs = Number(heartbeat);
const server = new EmbeddedServer({ dataDir, host: process, log: quiet, settings, heartbeatMs });
process.once('SIGTERM', () => server.stop());
try {
  const address = await server.start();
  process.stdout.write(`${JSON.stringify({ address, pid: server.pid })}\n`);
} catch (error) {
  process.stdout.write(`${JSON.stringify({ error: String(error) })}\n`);
}
// Keeps the process here until it is killed or its server was stopped.
const stay = setInterval(() => server.state === 'stopped' && clearInterval(stay), 20);
