/** `sluice run --workers 2`: the real executable with two workers behind one port. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { askTap } from '../../src/daemon/ask.ts';
import { Administration } from '../../src/extensions/postgres/administration.ts';
import { Database } from '../../src/extensions/postgres/database.ts';
import { longTest } from '../support/long.ts';
import { freePort, startExecutable } from '../support/executable.ts';
import { bodyOf, isGone, KeptConnection, startWorkers, until } from '../support/worker-scene.ts';

t.setTimeout(300_000);

const scene = await startWorkers(t);
const { daemon, url, readinessUrl } = scene;
/** The first two connections go to different workers. */
const [one, two] = [new KeptConnection(url, 1), new KeptConnection(url, 2)];
t.teardown(() => {
  one.close();
  two.close();
});

t.test('connections are distributed, and a request that both workers get is stored once', async (t) => {
  const body = bodyOf(one.nextSpanId());
  t.equal((await one.send(body)).status, 200);
  t.equal((await two.send(body)).status, 200);
  const verdicts = [
    await scene.metric('sluice_verdicts', 'verdict="stored"'),
    await scene.metric('sluice_verdicts', 'verdict="replayed"'),
  ];
  t.same(verdicts.map(Object.values), [[1], [1]]);
  t.same(verdicts.flatMap(Object.keys).sort(), ['1', '2']);
  t.match(await scene.query('SELECT count(*)::int4 AS spans FROM sluice.spans'), [{ spans: 1 }]);
});

t.test('metrics, status and readiness have one endpoint for all workers', async (t) => {
  t.same(await scene.metric('sluice_workers'), { primary: 2 });
  t.same(Object.keys(await scene.metric('otelcol_process_uptime')).sort(), ['1', '2', 'primary']);
  const { signals, workers, problems, state } = await scene.status();
  t.match({ signals, problems, state }, { signals: { traces: { stored: 1 } }, problems: [], state: 'running' });
  t.match(workers, [
    { number: 1, state: 'ready', restarts: 0 },
    { number: 2, state: 'ready', restarts: 0 },
  ]);
  t.equal((await fetch(readinessUrl)).status, 200);
  t.match(daemon.output.err, /"worker":1.*listening for OTLP.*\n/u);
  t.match(daemon.output.err, /"worker":2.*listening for OTLP.*\n/u);
});

t.test('a tap shows the records of both workers', async (t) => {
  const lines: string[] = [];
  const question = { signal: null, project: 'demo', refusedOnly: false, limit: 100 } as const;
  // It ends with the daemon.
  void askTap(join(scene.folder, 's'), question, (line) => void lines.push(line)).catch(() => undefined);
  await until(() => lines.length > 0);
  // A worker may get a request before it gets the message about the tap.
  for (const connection of [one, two]) {
    const sent: string[] = [];
    await until(async () => {
      const id = connection.nextSpanId();
      sent.push(id);
      t.equal((await connection.send(bodyOf(id))).status, 200);
      return sent.some((each) => lines.some((line) => line.includes(each)));
    });
  }
});

t.test('a revoked key is refused by both workers', async (t) => {
  const database = new Database().use({ connectionString: scene.databaseUrl });
  t.teardown(() => database.close());
  const administration = new Administration(database);
  await administration.createProject('shop', 'paid', null);
  const { text, publicId } = await administration.createKey('shop', null, null);
  const isAnswered = (status: number) => async (): Promise<boolean> => {
    const answers = await Promise.all([one, two].map((each) => each.send(undefined, `Bearer ${text}`)));
    return answers.every((answer) => answer.status === status);
  };
  t.ok(await isAnswered(200)());
  await administration.revokeKey(publicId);
  await until(isAnswered(401));
});

t.test('a second start names the endpoints that are taken, and the daemon that has them', async (t) => {
  const [http, grpc] = [new URL(url).host, new URL(readinessUrl).host];
  const settings = [
    ...['extensions.health_check.endpoint=127.0.0.1:0', 'service.telemetry.metrics.endpoint=127.0.0.1:0'],
    `receivers.otlp.protocols.grpc.endpoint=${grpc}`,
  ];
  const words = settings.flatMap((setting) => ['--set', setting]);
  const second = startExecutable(['run', '--workers', '2', ...words], scene.folder);
  t.equal(await second.ended, 1);
  const { err } = second.output;
  t.match(err, `error: ${http}, ${grpc} are already in use\n  hint: Stop the other programs, or set receivers.otlp`);
  t.match(err, new RegExp(`These daemons run already:[^]*\\n {4}pid ${daemon.child.pid} in `, 'u'));
});

t.test('a reload changes both workers; an invalid or unusable configuration changes neither', async (t) => {
  const environments = async (): Promise<unknown> => {
    await scene.query('TRUNCATE sluice.spans');
    for (const each of [one, two]) t.equal((await each.send()).status, 200);
    return (await scene.query('SELECT environment FROM sluice.spans')).map(({ environment }) => environment);
  };
  scene.configure({ environment: 'staging' });
  daemon.child.kill('SIGHUP');
  await daemon.until('the configuration was loaded again');
  t.same(await environments(), ['staging', 'staging']);

  const taken = await freePort();
  const holder = createServer().listen(taken, '127.0.0.1');
  t.teardown(() => void holder.close());
  await once(holder, 'listening');
  const more = `otlp/more: { protocols: { http: { endpoint: "127.0.0.1:${taken}" } } }`;
  scene.configure({ environment: 'production', more });
  daemon.child.kill('SIGHUP');
  await daemon.until('the configuration was not loaded; the running one stays in use');
  t.match(daemon.output.err, `127.0.0.1:${taken} is already in use`);
  scene.configure('receivers: [');
  daemon.child.kill('SIGHUP');
  await daemon.until('the configuration was not loaded; the running one stays in use', 2);
  t.same(await environments(), ['staging', 'staging'], 'on the connections they had');
});

longTest('kill -9 of a worker under load loses no acknowledged data, and the worker is restarted', async (t) => {
  const senders = Array.from({ length: 4 }, (_, number) => new KeptConnection(url, number + 10));
  let sending = true;
  const running = senders.map((sender) => sender.keepSending(() => sending));
  const stored = (): readonly string[] => senders.flatMap((sender) => sender.stored);
  await until(() => senders.every((sender) => sender.stored.length > 2));
  const [before] = await scene.workers();
  process.kill(before?.pid ?? 0, 'SIGKILL');
  // The file is invalid: a restarted worker runs the configuration of the others.
  await daemon.until('a worker has started again');
  const count = stored().length;
  await until(() => stored().length > count + 8);
  sending = false;
  await Promise.all(running);
  const rows = await scene.query(
    `SELECT encode(span_id, 'hex') AS id, environment FROM sluice.spans WHERE span_id > '\\x0000000200000000'`,
  );
  const ids = new Set(rows.map(({ id }) => String(id)));
  t.equal(ids.size, rows.length, 'once');
  t.same(
    stored().filter((id) => !ids.has(id)),
    [],
    'everything that was answered 200',
  );
  t.same([...new Set(rows.map(({ environment }) => environment))], ['staging']);
  const [after] = await scene.workers();
  t.match(after, { state: 'ready', restarts: 1 });
  t.not(after?.pid, before?.pid);
  t.same(await scene.metric('sluice_worker_restarts'), { primary: 1 });
  t.equal((await fetch(readinessUrl)).status, 200);
});

t.test('a stop answers the requests in flight, and no process remains', async (t) => {
  const pids = (await scene.workers()).map(({ pid }) => pid);
  daemon.child.kill('SIGTERM');
  t.equal(await daemon.ended, 0);
  t.ok(pids.every(isGone));
  t.match(daemon.output.err, /"left":0,.*"msg":"stopped"/u);
});
