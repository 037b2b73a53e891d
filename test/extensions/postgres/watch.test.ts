// The watch always continues to poll. Failed commits hold readiness off, longer only when holding did not help.
import { createServer, type Socket } from 'node:net';
import pg from 'pg';
import t, { type Test } from 'tap';
import type { Logger } from '../../../src/component/logger.ts';
import { Announcements } from '../../../src/extensions/postgres/announcements.ts';
import { endConnection } from '../../../src/extensions/postgres/connection-end.ts';
import { Database } from '../../../src/extensions/postgres/database.ts';
import { waitFor } from '../../../src/extensions/postgres/embedded/wait.ts';
import { DatabaseWatch } from '../../../src/extensions/postgres/watch.ts';
import { FaultProxy } from '../../campaigns/crash/proxy/fault-proxy.ts';
import { PATIENCE_MS } from '../../support/patience.ts';
import { createDatabase } from '../../support/postgres.ts';
import { SERVED } from '../../support/postgres-daemon.ts';

const QUIET = { debug: ignore, info: ignore, warn: ignore, error: ignore } as unknown as Logger;
function ignore(): void {}

/** A database whose answers the test sets, with a clock that the test advances. */
function scene(t: Test) {
  const state = { nowMs: 1000, writable: true, questions: 0, trials: 0 };
  t.intercept(performance, 'now', { value: () => state.nowMs });
  const line = {
    onLost: () => undefined,
    ask: async () => {
      state.questions++;
      return { writable: state.writable };
    },
  };
  const database = {
    connect: async () => {
      state.trials++;
      return { end: async () => undefined };
    },
  };
  const watch = new DatabaseWatch(database as unknown as Database, line as unknown as Announcements, QUIET);
  t.teardown(() => watch.stop());
  return { state, watch };
}

const until = (condition: () => boolean): Promise<true | undefined> =>
  waitFor(async () => condition() || undefined, { timeoutMs: PATIENCE_MS });

t.test('polls again, however recent the last trial was', async (t) => {
  const { state, watch } = scene(t);
  await watch.start();
  watch.commitFailed();
  t.ok(await until(() => state.trials === 1));
  const before = state.questions;
  // The clock does not advance: a timer may fire slightly early.
  t.ok(await until(() => state.questions >= before + 2), 'twice more');
});

t.test('groups that fail together cause one hold', async (t) => {
  const { state, watch } = scene(t);
  await watch.start();
  for (let group = 0; group < 20; group++) watch.commitFailed();
  t.notOk(watch.healthy);
  t.ok(await until(() => state.trials > 0));
  state.nowMs += 1000;
  t.ok(await until(() => watch.healthy), 'after the first hold');
  watch.commitFailed();
  state.nowMs += 1000;
  t.notOk(watch.healthy, 'the second is longer');
  state.nowMs += 1000;
  t.ok(await until(() => watch.healthy));
  watch.commitFailed();
  watch.committed();
  t.ok(await until(() => watch.healthy), 'a successful commit ends it at once');
});

t.test('an observed reason needs no hold once it has ended', async (t) => {
  const { state, watch } = scene(t);
  await watch.start();
  state.writable = false;
  for (let group = 0; group < 5; group++) watch.commitFailed();
  t.ok(await until(() => watch.unavailable));
  state.writable = true;
  t.ok(await until(() => watch.healthy), 'the clock did not advance');
});

t.test('a database is available that takes seconds to accept a connection', async (t) => {
  const { address } = await createDatabase(t, SERVED);
  const proxy = await FaultProxy.start(address);
  const database = new Database().use({ ...address, host: '127.0.0.1', port: proxy.port });
  const line = new Announcements(database);
  const warnings: string[] = [];
  const logger = { ...QUIET, warn: (_: object, message: string) => void warnings.push(message) };
  const watch = new DatabaseWatch(database, line, logger);
  t.teardown(async () => {
    watch.stop();
    await line.stop();
    await proxy.stop();
  });
  await watch.start();
  for (const connection of [2, 3]) proxy.arm({ side: 'backend', connection, fault: { kind: 'delay', ms: 2500 } });
  const listening = new Promise<void>((resolve) => line.on('sluice_keys', resolve));
  proxy.cutAll();
  await listening;
  t.same(warnings, [], 'the listening connection');
  watch.commitFailed();
  t.ok(await until(() => watch.healthy));
  t.same(warnings, [], 'the trial');
});

t.test('ends a connection whose server has stopped answering', async (t) => {
  const sockets: Socket[] = [];
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    // Authenticated and ready; later messages are read and not answered.
    socket.once('data', () => socket.write(Buffer.from('5200000008000000005a0000000549', 'hex')));
  });
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const client = new pg.Client({ host: '127.0.0.1', port, user: 'u', password: 'p', database: 'd' });
  client.on('error', () => undefined);
  await client.connect();
  await endConnection(client);
  t.pass('in time');
});
