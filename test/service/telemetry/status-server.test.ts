import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { StatusServer } from '../../../src/service/telemetry/status-server.ts';

const folder = await mkdtemp(join(tmpdir(), 'sluice-status-'));
t.teardown(() => rm(folder, { recursive: true, force: true }));

function serverAt(path: string) {
  const log: string[] = [];
  const note = (_fields: object, message: string): void => void log.push(message);
  const controls = {
    status: () => ({ state: 'running' }),
    reload: async () => ({ loaded: true }),
    tap: () => () => undefined,
  };
  const logger = { debug: note, info: note, warn: note, error: note };
  return { server: new StatusServer(path, controls, logger), log };
}

async function ask(path: string): Promise<string> {
  const socket = connect(path);
  let heard = '';
  socket.on('data', (data) => (heard += data.toString()));
  await once(socket, 'close');
  return heard;
}

t.test('the owner of the socket gets the status; a second daemon does not take the socket', async (t) => {
  const path = join(folder, 'status');
  const { server } = serverAt(path);
  await server.start();
  t.equal((await stat(path)).mode & 0o777, 0o600);
  const second = serverAt(path);
  await second.server.start();
  t.strictSame(second.log, ['the status socket cannot be opened']);
  await second.server.stop();
  t.equal(await ask(path), '{"state":"running"}\n');
  await server.stop();
  await t.rejects(stat(path), 'the socket is removed with its server');
});

t.test('another file at the path is not removed', async (t) => {
  const path = join(folder, 'telemetry.ndjson');
  await writeFile(path, 'precious');
  const { server, log } = serverAt(path);
  await server.start();
  t.equal(await readFile(path, 'utf8'), 'precious');
  t.strictSame(log, ['the status socket cannot be opened']);
  await server.stop();
});
