/** Answers of a running daemon over its local socket. */
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { askDaemon } from '../../src/daemon/ask.ts';

t.test('an answer of several reads keeps characters of several bytes', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-ask-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const socket = join(folder, 'socket');
  // A quote before characters of two bytes: a read of 64 KiB ends within one of them.
  const answer = 'é'.repeat(200_000);
  const server = createServer((connection) => connection.end(`${JSON.stringify(answer)}\n`));
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  t.teardown(() => server.close());
  t.equal((await askDaemon(socket, 'status')) === answer, true);
});
