// One service takes over an endpoint from another, as in a reload: no request is refused and no connection closed.
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import t from 'tap';
import { ListeningSockets } from '../../../src/net/listener.ts';
import { TLS_FOLDER } from '../../support/certificates.ts';
import { FILE_CONFIG, KEY, startDaemon } from '../../support/daemon.ts';
import { aSpan, aTraceRequest } from '../../support/payloads.ts';

/** Sends one span. Returns the status, and whether the connection was reused. */
function post(port: number, agent: Agent): Promise<{ readonly status: number; readonly reused: boolean }> {
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    const outgoing = request({ port, agent, method: 'POST', path: '/v1/traces', headers }, (response) => {
      response.resume();
      response.on('end', () => resolve({ status: response.statusCode ?? 0, reused: outgoing.reusedSocket }));
    });
    outgoing.on('error', reject);
    outgoing.end(JSON.stringify(aTraceRequest([aSpan()])));
  });
}

t.test('a connection outlives its service, and the later service serves its next request', async (t) => {
  const sockets = new ListeningSockets();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.teardown(() => agent.destroy());
  const first = await startDaemon(t, { config: FILE_CONFIG, sockets });
  t.same(await post(first.port, agent), { status: 200, reused: false });

  const second = await startDaemon(t, { config: FILE_CONFIG, sockets });
  t.equal(second.port, first.port);
  await first.stop();
  t.same(await post(first.port, agent), { status: 200, reused: true });

  const third = await startDaemon(t, { config: FILE_CONFIG, sockets });
  await second.stop();
  t.same(await post(first.port, agent), { status: 200, reused: true });
  for (const daemon of [first, second, third]) t.equal((await daemon.rows()).length, 1);
  await third.stop();
  await t.rejects(post(first.port, agent), 'the last service closes the port');
});

t.test('when the later service fails, the earlier one serves the connections again', async (t) => {
  const sockets = new ListeningSockets();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.teardown(() => agent.destroy());
  const first = await startDaemon(t, { config: FILE_CONFIG, sockets });
  await post(first.port, agent);
  const second = await startDaemon(t, { config: FILE_CONFIG, sockets });
  await second.stop();
  t.same(await post(first.port, agent), { status: 200, reused: true });
  t.equal((await first.rows()).length, 2);
});

t.test('when the later service fails, it answers the request in progress, whose connection stays', async (t) => {
  const sockets = new ListeningSockets();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.teardown(() => agent.destroy());
  const first = await startDaemon(t, { config: FILE_CONFIG, sockets });
  await post(first.port, agent);
  const second = await startDaemon(t, { config: FILE_CONFIG, sockets });
  const body = JSON.stringify(aTraceRequest([aSpan()]));
  const headers = {
    ...{ authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    'content-length': String(body.length),
  };
  const outgoing = request({ port: first.port, agent, method: 'POST', path: '/v1/traces', headers });
  const answer = once(outgoing, 'response') as Promise<[IncomingMessage]>;
  outgoing.write(body.slice(0, 10));
  while (!/^sluice_requests_in_flight 1$/mu.test(second.registry.print())) await new Promise(setImmediate);
  const stopped = second.stop();
  for (let polls = 0; polls < 10; polls++) await new Promise(setImmediate);
  outgoing.end(body.slice(10));
  const [response] = await answer;
  t.equal(response.resume().statusCode, 200);
  t.equal(response.headers.connection, 'keep-alive');
  await stopped;
  t.same(await post(first.port, agent), { status: 200, reused: true });
  t.equal((await second.rows()).length, 1);
});

t.test('when the later service fails, the earlier one still enforces the time limit of headers', async (t) => {
  const sockets = new ListeningSockets();
  const config = FILE_CONFIG.replace('"127.0.0.1:0"', '"127.0.0.1:0", read_header_timeout: 100ms');
  const first = await startDaemon(t, { config, sockets });
  const second = await startDaemon(t, { config, sockets });
  await second.stop();
  const slow = connect(first.port, '127.0.0.1', () => slow.write('POST /v1/traces HTTP/1.1\r\n'));
  slow.resume();
  await once(slow, 'close');
});

t.test('a connection without TLS does not outlive a change to TLS', async (t) => {
  const sockets = new ListeningSockets();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.teardown(() => agent.destroy());
  const first = await startDaemon(t, { config: FILE_CONFIG, sockets });
  const closed = new Promise<void>((resolve) => {
    agent.on('free', (socket) => socket.once('close', () => resolve()));
  });
  await post(first.port, agent);
  const files = ['cert_file: "', 'server.pem", key_file: "', 'server-key.pem"'].join(TLS_FOLDER);
  const config = FILE_CONFIG.replace('"127.0.0.1:0"', `"127.0.0.1:0", tls: { ${files} }`);
  const second = await startDaemon(t, { config, sockets });
  await first.stop();
  await closed;
  t.equal(second.port, first.port);
  await t.rejects(post(first.port, agent), 'nothing is served without TLS');
});

t.test('during a hand-off under load no request is refused or lost', async (t) => {
  const sockets = new ListeningSockets();
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  t.teardown(() => agent.destroy());
  const daemons = [await startDaemon(t, { config: FILE_CONFIG, sockets })];
  const port = daemons[0]?.port ?? 0;
  let sent = 0;
  let running = true;
  const senders = Array.from({ length: 8 }, async () => {
    while (running) {
      t.equal((await post(port, agent)).status, 200);
      sent++;
    }
  });
  for (let turn = 0; turn < 5; turn++) {
    const before = daemons.at(-1);
    const target = sent + 20;
    daemons.push(await startDaemon(t, { config: FILE_CONFIG, sockets }));
    await before?.stop();
    while (sent < target) await new Promise(setImmediate);
  }
  running = false;
  await Promise.all(senders);
  const stored = await Promise.all(daemons.map(async (daemon) => (await daemon.rows()).length));
  t.equal(
    stored.reduce((sum, count) => sum + count, 0),
    sent,
  );
});
