/** Workers that are killed or suspended, and a primary that is killed, for longer than in the tests of `npm test`. */
import { join } from 'node:path';
import { credentials } from '@grpc/grpc-js';
import t from 'tap';
import { askDaemon } from '../../../src/daemon/ask.ts';
import { pem, TLS_FOLDER } from '../../support/certificates.ts';
import { freePort } from '../../support/executable.ts';
import { GrpcClient, protobufWriter } from '../../support/grpc-client.ts';
import { send } from '../../support/otlp-client.ts';
import { aSpan, aTraceRequest } from '../../support/payloads.ts';
import { bodyOf, isGone, KeptConnection, startWorkers, until } from '../../support/worker-scene.ts';

t.setTimeout(280_000);

const KILLS = Number(process.env['SLUICE_KILLS'] ?? 6);
const SENDERS = 4;

t.test(
  'workers are killed repeatedly, one, the other, both: nothing acknowledged is lost or stored twice',
  async (t) => {
    const scene = await startWorkers(t);
    const senders = Array.from({ length: SENDERS }, (_, number) => new KeptConnection(scene.url, number + 1));
    let sending = true;
    const running = senders.map((sender) => sender.keepSending(() => sending));
    const stored = (): readonly string[] => senders.flatMap((sender) => sender.stored);
    let expected = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      const workers = await scene.workers();
      const victims = workers.filter((_, index) => kill % 3 === 2 || index === kill % 3);
      const before = stored().length;
      await until(() => stored().length > before + SENDERS);
      for (const { pid } of victims) process.kill(pid ?? 0, 'SIGKILL');
      expected += victims.length;
      await scene.daemon.until('a worker has started again', expected);
    }
    sending = false;
    await Promise.all(running);
    const rows = await scene.query("SELECT encode(span_id, 'hex') AS id FROM sluice.spans");
    const ids = new Set(rows.map(({ id }) => String(id)));
    t.equal(ids.size, rows.length, 'no span is stored twice');
    t.same(
      stored().filter((id) => !ids.has(id)),
      [],
      `all of ${stored().length}`,
    );
    t.same(await scene.metric('sluice_worker_restarts'), { primary: expected });
  },
);

t.test('when the primary is killed its workers end, and the next daemon starts at once', async (t) => {
  const scene = await startWorkers(t);
  const sender = new KeptConnection(scene.url, 1);
  t.teardown(() => sender.close());
  t.equal((await sender.send()).status, 200);
  const pids = (await scene.workers()).map(({ pid }) => pid);
  scene.daemon.child.kill('SIGKILL');
  const next = await scene.startAgain();
  await until(() => pids.every(isGone));
  sender.renew();
  t.equal((await sender.send()).status, 200);
  t.match(scene.daemon.output.err, 'the primary process has ended; exiting');
  next.child.kill('SIGTERM');
  t.equal(await next.ended, 0);
  t.match(await scene.query('SELECT count(*)::int4 AS spans FROM sluice.spans'), [{ spans: 2 }]);
});

t.test('a suspended worker is replaced', async (t) => {
  const scene = await startWorkers(t);
  const [worker] = await scene.workers();
  process.kill(worker?.pid ?? 0, 'SIGSTOP');
  await scene.daemon.until('a worker does not answer any more; ending it');
  await scene.daemon.until('a worker has started again');
  t.ok(isGone(worker?.pid ?? 0));
  t.equal((await scene.workers()).filter(({ state }) => state === 'ready').length, 2);
});

t.test('a killed worker starts again while the configuration is loaded again and again', async (t) => {
  const scene = await startWorkers(t);
  const [worker] = await scene.workers();
  process.kill(worker?.pid ?? 0, 'SIGKILL');
  let reloading = true;
  const reloads = (async () => {
    for (let count = 1; reloading; count++) {
      scene.configure({ environment: `reload-${count}` });
      // The first one fails when it meets the worker at its end.
      await askDaemon(join(scene.folder, 's'), 'reload');
    }
  })();
  await scene.daemon.until('a worker has started again');
  reloading = false;
  await reloads;
  t.match(await scene.workers(), [
    { state: 'ready', restarts: 1 },
    { state: 'ready', restarts: 0 },
  ]);
  const senders = [1, 2].map((number) => new KeptConnection(scene.url, number));
  for (const sender of senders) {
    t.teardown(() => sender.close());
    t.equal((await sender.send()).status, 200);
  }
  const rows = await scene.query('SELECT DISTINCT environment FROM sluice.spans');
  t.equal(rows.length, 1, 'both workers have the last configuration');
});

t.test('Unix sockets, TLS and gRPC reach the workers', async (t) => {
  const scene = await startWorkers(t);
  const port = await freePort();
  const path = `${scene.folder}/o`;
  const tls = `{ cert_file: "${TLS_FOLDER}server.pem", key_file: "${TLS_FOLDER}server-key.pem" }`;
  const protocols = `http: { endpoint: "unix://${path}" }, grpc: { endpoint: "127.0.0.1:${port}", tls: ${tls} }`;
  scene.configure({ more: `otlp/more: { protocols: { ${protocols} } }` });
  scene.daemon.child.kill('SIGHUP');
  await scene.daemon.until('the configuration was loaded again');
  // Two connections each, so that both workers get one.
  for (const number of [1, 2]) {
    const local = await send('http://localhost', {
      body: bodyOf(`${number}`.padStart(16, '0')),
      connection: { socketPath: path },
    });
    t.equal(local.status, 200, 'over a Unix socket');
    const client = new GrpcClient(`127.0.0.1:${port}`, credentials.createSsl(pem('ca')));
    t.teardown(async () => client.close());
    const outcome = await client.call({ body: protobufWriter()('traces', aTraceRequest([aSpan()])) });
    t.equal(outcome.code, 0, `over gRPC and TLS ${outcome.details}`);
  }
  t.match(await scene.query('SELECT count(*)::int4 AS spans FROM sluice.spans'), [{ spans: 4 }]);
});
