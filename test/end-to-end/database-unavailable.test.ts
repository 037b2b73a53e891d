/** An external database that is unavailable: at the start, later, and for reasons that need the operator. */
import pg from 'pg';
import t from 'tap';
import { UserError } from '../../src/errors.ts';
import { urlOf } from '../../src/extensions/postgres/embedded/address.ts';
import { waitFor } from '../../src/extensions/postgres/embedded/wait.ts';
import { createApiKey } from '../../src/pdata/api-key.ts';
import { longTest } from '../support/long.ts';
import { sluice } from '../support/command-line.ts';
import { folderOf } from '../support/config-files.ts';
import { type Daemon, startDaemon } from '../support/daemon.ts';
import { type Executable, startExecutable } from '../support/executable.ts';
import { type Answer, send, statusMessage } from '../support/otlp-client.ts';
import { aSpan, aTraceRequest } from '../support/payloads.ts';
import { createDatabase, makeServer } from '../support/postgres.ts';
import { postgresConfig } from '../support/postgres-daemon.ts';
import { PATIENCE_MS } from '../support/patience.ts';

t.setTimeout(300_000);

/** A well-formed key with a valid checksum, so that only a lookup can refuse it. */
const STORED_KEY = createApiKey().text;
const server = await makeServer(t);
const processors = 'auth, environment, normalization, pricing';
const config = safe(postgresConfig({ databaseUrl: server.url, processors })).replace(
  'normalization: {}',
  'normalization: {}\n  pricing: {}',
);

/** The server of this test stores its own log, so no further right is needed. */
function safe(text: string): string {
  return text.replace(', allow_unsafe: true', '');
}

const body = (name: string): string => JSON.stringify(aTraceRequest([aSpan({ name })]));
const linesOf = (daemon: Daemon, part: string): number =>
  daemon.log.filter(({ message }) => message.includes(part)).length;

async function until(condition: () => boolean | Promise<boolean>): Promise<boolean> {
  return (await waitFor(async () => ((await condition()) ? true : undefined), { timeoutMs: PATIENCE_MS })) ?? false;
}

function isToldToComeAgain(answer: Answer): boolean {
  return answer.status === 503 && answer.headers['retry-after'] === '1' && 'message' in JSON.parse(String(answer.body));
}

t.test('the daemon starts without its database, answers 503, and serves when the database is available', async (t) => {
  const daemon = await startDaemon(t, { config });
  t.strictSame(daemon.service.problems(), ['extension postgres is not healthy']);
  t.equal((await send(daemon.url, { path: '/health', method: 'GET' })).status, 200, 'it is alive');
  const early = body('early');
  t.ok(isToldToComeAgain(await send(daemon.url, { body: early })), 'a key of the configuration');
  const stored = await send(daemon.url, { body: early, authorization: `Bearer ${STORED_KEY}` });
  t.ok(isToldToComeAgain(stored), 'a key that would have to be looked up');
  const protobuf = { 'content-type': 'application/x-protobuf' };
  const binary = await send(daemon.url, { body: Buffer.from([0x0a, 0]), headers: protobuf });
  t.equal(binary.status, 503);
  t.match(statusMessage(binary.body), /can safely be sent again/);
  t.equal(linesOf(daemon, 'trying again'), 1, 'one line for all the tries');
  t.equal(linesOf(daemon, 'stored prices'), 0, 'and none for what follows from it');

  await server.start();
  t.ok(await until(() => daemon.service.ready()), 'ready without a restart');
  t.equal((await send(daemon.url, { body: early })).status, 200, 'the same bytes');
  t.equal((await send(daemon.url, { body: early, authorization: `Bearer ${STORED_KEY}` })).status, 401);
  t.equal(linesOf(daemon, 'the database is available'), 1);

  await server.stop();
  const late = body('late');
  t.ok(isToldToComeAgain(await send(daemon.url, { body: late })), 'unavailable again');
  t.ok(await until(() => linesOf(daemon, 'accepts no writes') === 1), 'one line says so');
  t.notOk(daemon.service.ready());

  await server.start();
  t.ok(await until(() => daemon.service.ready()), 'ready again without a request');
  t.equal((await send(daemon.url, { body: late })).status, 200);
  t.equal(linesOf(daemon, 'accepts writes again'), 1);
  await daemon.stop();
});

t.test('the daemon stops at once while it waits for its database', async (t) => {
  await server.stop();
  const daemon = await startDaemon(t, { config });
  await daemon.stop();
  t.equal(daemon.service.state, 'stopped');
});

longTest('a late first start creates its key, and a permanent fault ends the daemon', async (t) => {
  const lost = postgresConfig({ databaseUrl: urlOf({ ...server.address, database: 'forgotten' }) });
  const first = config.replace(/ {4}keys:\n(?: {6}- .*\n)+/u, '    keys: []\n');
  const folder = folderOf({ 'lost.yaml': safe(lost), 'first.yaml': first });
  const [ending, greeting] = ['lost.yaml', 'first.yaml'].map((name) =>
    startExecutable(['run', '--config', name], folder),
  ) as [Executable, Executable];
  await Promise.all([ending, greeting].map((running) => running.until('not all of it is ready')));
  await server.start();
  t.equal(await ending.ended, 1, 'the database of this name does not exist');
  t.match(ending.output.err, /database \\?"forgotten\\?" does not exist/);
  t.notMatch(ending.output.err, /\n {4}at /, 'no stack trace');
  t.notMatch(ending.output.err + ending.output.out, server.address.password);
  await greeting.until('Sluice is ready');
  t.match(greeting.output.out, /\bslc_[0-9A-Za-z]{8}_/u, 'with a key');
  greeting.child.kill('SIGTERM');
  t.equal(await greeting.ended, 0);
});

t.test('a permanent fault fails the start', async (t) => {
  const refused = async (databaseUrl: string, message: RegExp, change = (text: string) => text): Promise<void> => {
    const start = startDaemon(t, { config: change(postgresConfig({ databaseUrl })) });
    const error = await start.then(
      () => null,
      (reason: unknown) => reason,
    );
    if (!(error instanceof UserError)) return void t.fail(String(error));
    t.match(error.message, message);
    t.ok(error.hint !== null || error.message.includes('hint: '), 'with a hint');
  };
  const { address, url } = await createDatabase(t);
  await refused('mysql://root@localhost/x', /does not begin with postgres/);
  await refused('postgres://user:pa/ss@localhost:port/x', /not a valid URL/);
  await refused(urlOf({ ...address, database: 'nowhere' }), /"nowhere" does not exist/);
  await refused(url, /runs with fsync = off/, safe);
  await startDaemon(t, { config: postgresConfig({ databaseUrl: url }) });
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("INSERT INTO sluice.migrations (name) VALUES ('9999-future.sql')");
  await client.end();
  await refused(url, /migrated by a newer version/);
});

t.test('commands fail with a clear message while the database is unavailable', async (t) => {
  await server.stop();
  const folder = folderOf({ 'a.yaml': config });
  for (const command of [['migrate'], ['key', 'list'], ['traces']]) {
    const { code, err } = await sluice([...command, '-c', 'a.yaml'], { folder });
    t.equal(code, 1);
    t.match(err, /^error: the database cannot be reached: .*\n {2}hint: /);
  }
});
