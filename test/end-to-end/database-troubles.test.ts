/**
 * A database that fails in many ways: 503 for every key, no request lost or stored twice, ready again without a
 * restart.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { chmod, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import t, { type Test } from 'tap';
import { Administration } from '../../src/extensions/postgres/administration.ts';
import { Database } from '../../src/extensions/postgres/database.ts';
import { urlOf } from '../../src/extensions/postgres/embedded/address.ts';
import { waitFor } from '../../src/extensions/postgres/embedded/wait.ts';
import { isLong, longTest } from '../support/long.ts';
import { type Daemon, KEY, startDaemon } from '../support/daemon.ts';
import { GrpcClient, protobufWriter } from '../support/grpc-client.ts';
import { type Answer, send } from '../support/otlp-client.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { aSpan, aTraceRequest } from '../support/payloads.ts';
import { makeServer } from '../support/postgres.ts';
import { postgresConfig } from '../support/postgres-daemon.ts';
import { signalIfAlive } from '../support/signals.ts';

t.setTimeout(600_000);

/** SDKs wait for an answer for this time. */
const SENDER_PATIENCE_MS = 10_000;
const ROLE = 'ingest';
const PASSWORD = 'ingest-password';

type Server = Awaited<ReturnType<typeof makeServer>>;

const server = await makeServer(t);
await server.start();
await asAdministrator((client) =>
  client.query(`CREATE ROLE ${ROLE} LOGIN PASSWORD '${PASSWORD}'; GRANT CREATE ON DATABASE sluice TO ${ROLE};
    GRANT CREATE ON SCHEMA public TO ${ROLE}`),
);
const databaseUrl = urlOf({ ...server.address, user: ROLE, password: PASSWORD });

async function asAdministrator(work: (client: pg.Client) => Promise<unknown>, at: Server = server): Promise<void> {
  const client = new pg.Client({ connectionString: at.url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}

async function until(condition: () => boolean | Promise<boolean>): Promise<boolean> {
  return (await waitFor(async () => ((await condition()) ? true : undefined), { timeoutMs: PATIENCE_MS })) ?? false;
}

async function createKeys(url: string, count: number): Promise<readonly string[]> {
  const database = new Database().use({ connectionString: url });
  const administration = new Administration(database);
  await administration.createProject('shop', 'paid', null).catch(() => undefined);
  const keys = [];
  for (let index = 0; index < count; index++) keys.push((await administration.createKey('shop', null, null)).text);
  await database.close();
  return keys;
}

/** The requests of one daemon, with all answers. */
class Sender {
  readonly #daemon: Daemon;
  readonly #pending: Promise<unknown>[] = [];
  readonly statuses: number[] = [];
  readonly stored: string[] = [];

  constructor(daemon: Daemon) {
    this.#daemon = daemon;
  }

  async one(key: string): Promise<Answer> {
    const span = aSpan();
    const sent = send(this.#daemon.url, {
      body: JSON.stringify(aTraceRequest([span])),
      authorization: `Bearer ${key}`,
    }).then((answer) => {
      this.statuses.push(answer.status);
      if (answer.status === 200) this.stored.push(String((span as { spanId: string }).spanId));
      return answer;
    });
    this.#pending.push(sent);
    return sent;
  }

  async settled(): Promise<void> {
    await Promise.all(this.#pending);
  }
}

interface Trouble {
  readonly name: string;
  /** The answer for a new key whose lookup times out before the database is known to be unavailable; otherwise 503. */
  readonly early?: 500;
  begin(): Promise<void>;
  end(): Promise<void>;
}

const troubles: readonly Trouble[] = [
  { name: 'stopped', begin: () => server.stop(), end: () => server.start() },
  {
    name: 'silent to new connections',
    early: 500,
    begin: async () => {
      let sessions: readonly number[] = [];
      await asAdministrator(async (client) => {
        const { rows } = await client.query('SELECT pid FROM pg_stat_activity WHERE usename = $1', [ROLE]);
        sessions = rows.map(({ pid }) => Number(pid));
      });
      process.kill(server.pid() ?? 0, 'SIGSTOP');
      for (const pid of sessions) signalIfAlive(pid, 'SIGTERM');
    },
    end: async () => void process.kill(server.pid() ?? 0, 'SIGCONT'),
  },
  {
    ...{ name: 'silent as a whole', early: 500 },
    begin: async () => signalAll('SIGSTOP'),
    end: async () => signalAll('SIGCONT'),
  },
  {
    name: 'read-only',
    begin: () => setting('default_transaction_read_only', 'on'),
    end: () => setting('default_transaction_read_only', 'off'),
  },
  {
    name: 'the role may not log in',
    begin: () =>
      asAdministrator(async (client) => {
        await client.query(`ALTER ROLE ${ROLE} NOLOGIN`);
        await client.query(endSessionsOf(ROLE));
      }),
    end: () => asAdministrator((client) => client.query(`ALTER ROLE ${ROLE} LOGIN`)),
  },
  {
    name: 'no connection left',
    begin: () =>
      asAdministrator(async (client) => {
        await client.query(`ALTER ROLE ${ROLE} CONNECTION LIMIT 0`);
        await client.query(endSessionsOf(ROLE));
      }),
    end: () => asAdministrator((client) => client.query(`ALTER ROLE ${ROLE} CONNECTION LIMIT -1`)),
  },
];

const endSessionsOf = (role: string): string =>
  `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${role}'`;

const setting = (name: string, value: string): Promise<void> =>
  asAdministrator(async (client) => {
    await client.query(`SET default_transaction_read_only = off`);
    await client.query(`ALTER SYSTEM SET ${name} = ${value}`);
    await client.query('SELECT pg_reload_conf()');
  });

/** The server and all its backends. The server is first: while it is suspended it starts no further backend. */
function signalAll(signal: NodeJS.Signals): void {
  const root = server.pid();
  if (root === undefined) throw new Error('the database server does not run');
  process.kill(root, signal);
  const children = readdirSync('/proc').filter((name) => /^\d+$/u.test(name) && parentOf(name) === root);
  for (const pid of children) signalIfAlive(Number(pid), signal);
}

function parentOf(pid: string): number {
  try {
    return Number(/^PPid:\s+(\d+)$/mu.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  } catch {
    return 0;
  }
}

async function countStored(ids: readonly string[], at: Server = server): Promise<{ rows: number; spans: number }> {
  const found = { rows: 0, spans: 0 };
  await asAdministrator(async (client) => {
    const { rows } = await client.query(
      `SELECT count(*)::int AS rows, count(DISTINCT span_id)::int AS spans FROM public.spans WHERE span_id = ANY ($1)`,
      [ids],
    );
    Object.assign(found, rows[0]);
  }, at);
  return found;
}

const timesLogged = (daemon: Daemon, text: string): number =>
  daemon.log.filter(({ message }) => message.includes(text)).length;

async function survives(t: Test, daemon: Daemon, trouble: Trouble, keysUrl = databaseUrl): Promise<void> {
  const [known = '', ...fresh] = await createKeys(keysUrl, 6);
  const sender = new Sender(daemon);
  const timesUnavailable = timesLogged(daemon, 'accepts no writes');
  t.equal((await sender.one(known)).status, 200);
  t.equal((await sender.one(KEY)).status, 200);
  await trouble.begin();
  // At once, before the health check of the database has noticed it.
  const early = new Sender(daemon);
  for (const key of fresh.slice(0, 2)) void early.one(key);
  for (const key of [known, KEY]) void sender.one(key);
  t.ok(await until(() => !daemon.service.ready()), 'not ready');
  t.ok(await until(() => timesLogged(daemon, 'accepts no writes') > timesUnavailable), 'the watch knows');
  for (const key of [...fresh.slice(2), known, KEY]) {
    const { status, headers, body } = await sender.one(key);
    t.equal(status, 503);
    t.equal(headers['retry-after'], '1');
    t.match(JSON.parse(String(body)), { message: /can safely be sent again/ });
  }
  t.notOk(daemon.service.ready(), 'and stays so');
  await trouble.end();
  t.ok(await until(() => daemon.service.ready()), 'ready again although nothing was sent');
  await Promise.all([sender.settled(), early.settled()]);
  for (const key of [...fresh, known, KEY]) t.equal((await sender.one(key)).status, 200);
  const odd = sender.statuses.filter((status) => status !== 200 && status !== 503);
  t.strictSame(odd, [], 'no other answer');
  const oddEarly = early.statuses.filter((status) => status !== 200 && status !== 503 && status !== trouble.early);
  t.strictSame(oddEarly, [], 'no other answer for new keys');
  const stored = [...sender.stored, ...early.stored];
  const count = stored.length;
  t.strictSame(await countStored(stored), { rows: count, spans: count }, 'what was answered 200 is stored once');
}

t.test('every fault is 503 for every known key, and the daemon recovers without a restart', async (t) => {
  const daemon = await startDaemon(t, { config: postgresConfig({ databaseUrl }) });
  const tried = isLong ? troubles : troubles.slice(0, 1);
  for (const trouble of tried) await t.test(trouble.name, (t) => survives(t, daemon, trouble));
  t.equal(timesLogged(daemon, 'accepts no writes'), tried.length);
  t.equal(timesLogged(daemon, 'accepts writes again'), tried.length);
});

t.test('a lookup that fails while the database is available is 500', async (t) => {
  const daemon = await startDaemon(t, { config: postgresConfig({ databaseUrl }) });
  const [key = '', other = ''] = await createKeys(databaseUrl, 2);
  await asAdministrator(async (client) => {
    await client.query('BEGIN; LOCK TABLE sluice.api_keys IN ACCESS EXCLUSIVE MODE');
    const late = await send(daemon.url, { body: '{}', authorization: `Bearer ${key}` });
    t.equal(late.status, 500, 'too late');
    await client.query('ROLLBACK; ALTER TABLE sluice.api_keys RENAME TO api_keys_away');
    const failed = await send(daemon.url, { body: '{}', authorization: `Bearer ${other}` });
    t.equal(failed.status, 500, 'the table is missing');
    await client.query('ALTER TABLE sluice.api_keys_away RENAME TO api_keys');
  });
  t.ok(daemon.service.ready());
});

longTest('a lookup that times out before the database is known to be unavailable', async (t) => {
  const config = postgresConfig({ databaseUrl }).replace(
    '  auth:',
    '  auth:\n    lookup_timeout: 300ms\n    cache_ttl: 0s',
  );
  const daemon = await startDaemon(t, { config });
  const [known = '', fresh = '', later = ''] = await createKeys(databaseUrl, 3);
  const status = async (key: string): Promise<number> =>
    (await send(daemon.url, { body: JSON.stringify(aTraceRequest([aSpan()])), authorization: `Bearer ${key}` })).status;
  // On a busy machine a lookup of an available database may time out as well.
  const isStored = (key: string): Promise<boolean> => until(async () => (await status(key)) === 200);
  t.ok(await isStored(known));
  t.teardown(async () => signalAll('SIGCONT'));
  signalAll('SIGSTOP');
  const answers = await Promise.all([status(fresh), status(known)]);
  t.strictSame(answers, [500, 503], 'a key that was never found is 500; the sender of a known key sends again');
  t.equal(timesLogged(daemon, 'accepts no writes'), 1);
  t.equal(await status(later), 503, 'no lookup once the database is known to be unavailable');
  signalAll('SIGCONT');
  t.ok(await until(() => daemon.service.ready()));
  for (const key of [known, fresh, later]) t.ok(await isStored(key));
});

longTest('a short silence only delays requests; in a longer one all get their answer before it ends', async (t) => {
  const daemon = await startDaemon(t, { config: postgresConfig({ databaseUrl }) });
  t.teardown(async () => signalAll('SIGCONT'));
  const burst = async (): Promise<readonly number[]> => {
    const sender = new Sender(daemon);
    await Promise.all(Array.from({ length: 60 }, () => sender.one(KEY)));
    return sender.statuses;
  };
  t.same([...new Set(await burst())], [200]);
  signalAll('SIGSTOP');
  const delayed = burst();
  await pause(1000);
  signalAll('SIGCONT');
  t.same([...new Set(await delayed)], [200]);
  signalAll('SIGSTOP');
  const startedMs = performance.now();
  t.same([...new Set(await burst())], [503]);
  t.ok(performance.now() - startedMs < SENDER_PATIENCE_MS, 'before senders give up');
  signalAll('SIGCONT');
  t.ok(await until(() => daemon.service.ready()));
  t.same([...new Set(await burst())], [200]);
});

longTest('over gRPC the answer is UNAVAILABLE with RetryInfo', async (t) => {
  const config = postgresConfig({ databaseUrl }).replace('http: {', 'grpc: { endpoint: "127.0.0.1:0" }, http: {');
  const daemon = await startDaemon(t, { config });
  const [key = ''] = await createKeys(databaseUrl, 1);
  const client = new GrpcClient(daemon.grpc);
  t.teardown(() => client.close());
  const protobufOf = protobufWriter();
  const call = (text: string) =>
    client.call({ body: protobufOf('traces', aTraceRequest([aSpan()])), authorization: `Bearer ${text}` });
  t.equal((await call(KEY)).code, 0);
  await server.stop();
  t.ok(await until(() => !daemon.service.ready()));
  for (const text of [key, KEY]) {
    const { code, trailers } = await call(text);
    t.equal(code, 14);
    t.match(String(trailers.get('grpc-status-details-bin')[0]), /google\.rpc\.RetryInfo/);
  }
  await server.start();
  t.ok(await until(() => daemon.service.ready()));
  t.equal((await call(key)).code, 0);
});

longTest('static keys of a pipeline that stores in files continue to work', async (t) => {
  const config = postgresConfig({ databaseUrl, exporters: 'file' })
    .replace('exporters: { postgres: {}, file', 'exporters: { file')
    .replace('service:\n', 'service:\n  ledger: memory\n');
  const daemon = await startDaemon(t, { config });
  const [key = ''] = await createKeys(databaseUrl, 1);
  const sender = new Sender(daemon);
  for (const text of [key, KEY]) t.equal((await sender.one(text)).status, 200);
  await server.stop();
  t.ok(await until(() => !daemon.service.ready()));
  t.equal((await sender.one(KEY)).status, 200, 'with the settings that were read last');
  t.equal((await sender.one(key)).status, 503, 'a stored key cannot be checked');
  await server.start();
  t.ok(await until(() => daemon.service.ready()));
  t.equal((await sender.one(key)).status, 200);
});

longTest('a full disk is 503 and not ready, until there is space again', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-disk-'));
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256m', 'none', folder]).status === 0;
  t.teardown(() => {
    if (mounted) spawnSync('umount', ['-l', folder]);
    rmSync(folder, { recursive: true, force: true });
  });
  if (!mounted)
    return t.pass('a full disk is NOT tested', { skip: 'a file system of a limited size cannot be mounted' });
  await chmod(folder, 0o755);
  const parent = join(folder, 'server');
  mkdirSync(parent);
  await chmod(parent, 0o755);
  const small = await makeServer(t, { max_wal_size: '64MB', min_wal_size: '32MB' }, parent);
  await small.start();
  const daemon = await startDaemon(t, { config: postgresConfig({ databaseUrl: small.url }) });
  const filler = join(folder, 'filler');
  spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=64k']);
  const text = 'x'.repeat(4000);
  const spans = Array.from({ length: 200 }, (_, index) => aSpan({ name: `${index} ${text}` }));
  const body = JSON.stringify(aTraceRequest(spans));
  t.ok(await until(async () => (await send(daemon.url, { body })).status === 503), 'refused');
  t.ok(await until(() => !daemon.service.ready()), 'not ready');
  t.equal((await send(daemon.url, { body })).status, 503);
  t.notOk(daemon.service.ready(), 'and stays so while nothing is sent');
  await rm(filler);
  t.ok(await until(() => daemon.service.ready()), 'ready again although nothing was sent');
  t.ok(await until(async () => (await send(daemon.url, { body })).status === 200));
});
