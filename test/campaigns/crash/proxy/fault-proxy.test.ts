/** The fault proxy against a real server and a real driver. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import pg from 'pg';
import t, { type Test } from 'tap';
import { resetSocket } from './connection.ts';
import { COMMIT_SENT, COMMITTED, type Fault } from './fault.ts';
import { FaultProxy } from './fault-proxy.ts';
import { nameOfMessage } from './messages.ts';
import { createDatabase } from '../../../support/postgres.ts';

interface Setup {
  readonly proxy: FaultProxy;
  /** Through the proxy. */
  client(): Promise<pg.Client>;
  /** The number of stored rows, read without the proxy. */
  count(): Promise<number>;
}

const { address } = await createDatabase(t);

/** An empty table behind a proxy of its own. */
async function open(t: Test): Promise<Setup> {
  const proxy = await FaultProxy.start(address);
  t.teardown(() => proxy.stop());
  const direct = new pg.Client({ ...address });
  await direct.connect();
  t.teardown(() => direct.end());
  await direct.query('DROP TABLE IF EXISTS kept');
  await direct.query('CREATE TABLE kept (id int)');
  return {
    proxy,
    client: async () => {
      const client = new pg.Client({ ...address, host: '127.0.0.1', port: proxy.port });
      client.on('error', () => undefined);
      await client.connect();
      t.teardown(() => client.end().catch(() => undefined));
      return client;
    },
    count: async () => Number((await direct.query('SELECT count(*) AS n FROM kept')).rows[0]?.n),
  };
}

async function insert(client: pg.Client): Promise<void> {
  await client.query('BEGIN');
  await client.query({ name: 'keep', text: 'INSERT INTO kept SELECT unnest($1::int[])', values: [[1, 2]] });
  await client.query('COMMIT');
}

t.test('without a rule every message is forwarded, and watchers see its position in the transaction', async (t) => {
  const { proxy, client, count } = await open(t);
  const one = await client();
  const seen: string[] = [];
  proxy.watch((message, { position }) => {
    if (position >= 0) seen.push(`${position} ${nameOfMessage(message)}`);
  });
  await insert(one);
  t.equal(await count(), 2);
  t.match(seen[0], /^0 frontend Query "BEGIN"$/);
  t.match(seen[1], /^0 backend CommandComplete "BEGIN"$/);
  t.ok(seen.some((line) => /^\d+ frontend Execute "INSERT INTO kept/.test(line)));
  t.ok(seen.some((line) => /^\d+ backend CommandComplete "INSERT 0 2"$/.test(line)));
  t.match(seen.at(-1), /backend ReadyForQuery "I"$/);
});

t.test('a commit whose reply is cut off has happened, and the client sees a lost connection', async (t) => {
  const { proxy, client, count } = await open(t);
  const one = await client();
  const armed = proxy.arm({ ...COMMITTED, fault: { kind: 'cut', where: 'before' } });
  await t.rejects(insert(one));
  t.equal(armed.hit?.text, 'COMMIT');
  t.equal(await count(), 2);
  await t.resolves(insert(await client()), 'a rule matches once');
});

for (const [name, fault] of Object.entries<Fault>({
  'cut before it': { kind: 'cut', where: 'before' },
  'cut inside it': { kind: 'cut', where: 'inside' },
  'half-closed instead of it': { kind: 'half_close' },
})) {
  t.test(`a commit that is ${name} has not happened`, async (t) => {
    const { proxy, client, count } = await open(t);
    const one = await client();
    proxy.arm({ ...COMMIT_SENT, fault });
    await t.rejects(insert(one));
    t.equal(await count(), 0);
  });
}

t.test('a commit that is cut after it was forwarded happens', async (t) => {
  const { proxy, client, count } = await open(t);
  const one = await client();
  proxy.arm({ ...COMMIT_SENT, fault: { kind: 'cut', where: 'after' } });
  await t.rejects(insert(one));
  while ((await count()) === 0);
  t.equal(await count(), 2);
});

/** A commit that is late by so much is not there at once, unless the machine was busy meanwhile. */
const LATE_MS = 800;

t.test('a late commit happens after its sender has lost the connection', async (t) => {
  const { proxy, client, count } = await open(t);
  const one = await client();
  proxy.arm({ ...COMMIT_SENT, fault: { kind: 'late', ms: LATE_MS } });
  const began = performance.now();
  await t.rejects(insert(one));
  const early = await count();
  if (performance.now() - began < LATE_MS) t.equal(early, 0, 'not yet');
  while ((await count()) === 0);
  t.equal(await count(), 2);
});

t.test('a black hole sends nothing until it is healed, and then it resets the connection', async (t) => {
  const { proxy, client, count } = await open(t);
  const one = await client();
  const armed = proxy.arm({ ...COMMIT_SENT, fault: { kind: 'black_hole' } });
  const inserting = insert(one);
  inserting.catch(() => undefined);
  await armed.fired;
  t.equal(await count(), 0);
  proxy.heal();
  await t.rejects(inserting);
  t.equal(await count(), 0);
});

t.test('a message that is held arrives when it is released', async (t) => {
  const { proxy, client, count } = await open(t);
  const one = await client();
  let release: () => void = () => undefined;
  const armed = proxy.arm({
    ...COMMIT_SENT,
    fault: { kind: 'hold', until: new Promise((resolve) => (release = resolve)) },
  });
  const inserting = insert(one);
  await armed.fired;
  t.equal(await count(), 0);
  release();
  await inserting;
  t.equal(await count(), 2);
});

for (const [name, rule] of Object.entries({
  'of the simple protocol': COMMIT_SENT,
  'being parsed': { side: 'frontend', kind: 'Parse', text: /INSERT/ },
  'being bound': { side: 'frontend', kind: 'Bind', text: /INSERT/ },
  'being executed': { side: 'frontend', kind: 'Execute', text: /INSERT/ },
} as const)) {
  t.test(`a statement ${name} fails with the SQLSTATE of the rule, and the connection stays usable`, async (t) => {
    const { proxy, client, count } = await open(t);
    const one = await client();
    proxy.arm({ ...rule, fault: { kind: 'error', sqlstate: '40P01' } });
    await t.rejects(insert(one), { code: '40P01' });
    await one.query('ROLLBACK');
    t.equal(await count(), 0);
    await insert(one);
    t.equal(await count(), 2);
  });
}

t.test('a reply is replaced by an error', async (t) => {
  const { proxy, client } = await open(t);
  const one = await client();
  proxy.arm({
    side: 'backend',
    kind: 'CommandComplete',
    text: /^INSERT/,
    fault: { kind: 'error', sqlstate: '53100' },
  });
  await t.rejects(insert(one), { code: '53100' });
});

t.test('new connections are refused until the proxy is healed', async (t) => {
  const { proxy, client } = await open(t);
  proxy.receive('refuse');
  await t.rejects(client());
  proxy.heal();
  await t.resolves(client());
});

t.test('a socket that is reset behind its end is closed', async (t) => {
  const server = createServer({ allowHalfOpen: true });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect({ port: (server.address() as AddressInfo).port, allowHalfOpen: true });
  client.on('error', () => undefined);
  const [socket] = (await once(server, 'connection')) as [Socket];
  socket.on('error', () => undefined);
  const closed = once(socket, 'close');
  socket.end('x');
  resetSocket(socket);
  await closed;
  t.ok(socket.destroyed);
  client.destroy();
  server.close();
});
