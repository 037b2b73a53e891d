// The options of OTLP over HTTP, over a real socket.
import { mkdtempSync, statSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { type Daemon, type DaemonOptions, FILE_CONFIG, startDaemon } from '../../support/daemon.ts';
import { GrpcClient, protobufWriter } from '../../support/grpc-client.ts';
import { type Answer, send, type Sending } from '../../support/otlp-client.ts';
import { aLogRequest, aMetricRequest, aGauge, aSpan, aTraceRequest, START_NS } from '../../support/payloads.ts';

const body = (): string => JSON.stringify(aTraceRequest([aSpan()]));
const withOptions = (options: string): DaemonOptions => ({
  config: FILE_CONFIG.replace(
    'endpoint: "127.0.0.1:0"',
    options.includes('endpoint') ? options : `endpoint: "127.0.0.1:0", ${options}`,
  ),
});

const ORIGIN = 'https://app.example.com';

function preflight(url: string, headers: Readonly<Record<string, string>> = {}, path = '/v1/traces'): Promise<Answer> {
  const asked = { origin: ORIGIN, 'access-control-request-method': 'POST', ...headers };
  return send(url, { method: 'OPTIONS', path, authorization: null, headers: asked });
}

const fromPage = (url: string, sending: Sending = {}, origin = ORIGIN): Promise<Answer> =>
  send(url, { body: body(), ...sending, headers: { 'content-type': 'application/json', origin } });

t.test('without cors a preflight is 404', async (t) => {
  const { url } = await startDaemon(t);
  t.equal((await preflight(url)).status, 404);
  t.equal((await fromPage(url)).headers['access-control-allow-origin'], undefined);
});

t.test('a page of an allowed origin may send, and read every answer', async (t) => {
  const { url } = await startDaemon(t, withOptions(`cors: { allowed_origins: ["${ORIGIN}"], max_age: 10m }`));
  const asked = await preflight(url, { 'access-control-request-headers': 'authorization,content-type,x-other' });
  t.equal(asked.status, 204);
  t.match(asked.headers, {
    'access-control-allow-origin': ORIGIN,
    'access-control-allow-methods': 'POST',
    'access-control-allow-headers': 'authorization, content-encoding, content-type',
    'access-control-max-age': '600',
    vary: /Origin/u,
  });
  t.equal(asked.headers['access-control-allow-credentials'], undefined);
  for (const [status, answer] of [
    [200, await fromPage(url)],
    [400, await fromPage(url, { body: '{' })],
    [401, await fromPage(url, { authorization: null })],
  ] as const) {
    t.equal(answer.status, status);
    t.match(answer.headers, {
      'access-control-allow-origin': ORIGIN,
      'access-control-expose-headers': /Retry-After/u,
      vary: 'Origin',
    });
  }
});

t.test('a page of another origin gets no permission, and no key is checked', async (t) => {
  const { url } = await startDaemon(t, withOptions(`cors: { allowed_origins: ["${ORIGIN}"] }`));
  for (const origin of [
    'https://app.example.com.evil.test',
    'http://app.example.com',
    'https://APP.example.org',
    'null',
  ]) {
    const asked = await preflight(url, { origin });
    t.equal(asked.status, 204);
    t.equal(asked.headers['access-control-allow-origin'], undefined, origin);
    t.equal((await fromPage(url, {}, origin)).headers['access-control-allow-origin'], undefined, origin);
  }
  t.equal((await preflight(url, {}, '/v1/profiles')).status, 404, 'other paths are 404 for pages as well');
  t.equal(
    (await send(url, { method: 'OPTIONS', authorization: null })).status,
    404,
    'OPTIONS without an origin is not a preflight',
  );
});

t.test('an origin may have a wildcard for a part of its host, or be any origin', async (t) => {
  const some = await startDaemon(
    t,
    withOptions(
      'cors: { allowed_origins: ["https://*.example.com", "http://localhost:*"], allowed_headers: [X-Team] }',
    ),
  );
  const allowed = async (url: string, origin: string) => (await preflight(url, { origin })).headers;
  t.equal(
    (await allowed(some.url, 'https://a.b.example.com'))['access-control-allow-origin'],
    'https://a.b.example.com',
  );
  t.equal((await allowed(some.url, 'http://localhost:5173'))['access-control-allow-origin'], 'http://localhost:5173');
  t.match((await allowed(some.url, 'http://localhost:1'))['access-control-allow-headers'], /, x-team$/u);
  for (const origin of [
    'https://example.com',
    'https://evil.test/.example.com',
    'https://aXexample.com',
    'http://localhost:',
  ])
    t.equal((await allowed(some.url, origin))['access-control-allow-origin'], undefined, origin);

  const any = await startDaemon(t, withOptions('cors: { allowed_origins: ["*"], allowed_headers: ["*"] }'));
  const asked = await preflight(any.url, {
    origin: 'https://x.test',
    'access-control-request-headers': 'authorization,x-any',
  });
  t.match(asked.headers, { 'access-control-allow-origin': '*', 'access-control-allow-headers': 'authorization,x-any' });
});

t.test('each signal may have its own path, which replaces the default', async (t) => {
  const { url, rows } = await startDaemon(
    t,
    withOptions('traces_url_path: /otlp/spans, logs_url_path: collect-logs, metrics_url_path: /m'),
  );
  const logs = JSON.stringify(aLogRequest([{ timeUnixNano: String(START_NS) }]));
  const metrics = JSON.stringify(aMetricRequest([aGauge('g', 1)]));
  t.equal((await send(url, { path: '/otlp/spans', body: body() })).status, 200);
  t.equal((await send(url, { path: '/collect-logs', body: logs })).status, 200);
  t.equal((await send(url, { path: '/m', body: metrics })).status, 200);
  t.equal((await send(url, { path: '/v1/traces', body: body() })).status, 404);
  t.same(
    (await rows()).map((row) => row['signal']),
    ['span', 'log', 'metric'],
  );
  const twice = startDaemon(t, withOptions('traces_url_path: /same, logs_url_path: same'));
  await t.rejects(twice, { message: /sluice\.yaml:2:\d+: error: \/same is the path of traces already/u });
  await t.rejects(startDaemon(t, withOptions('traces_url_path: /health')), {
    message: /the path of liveness already/u,
  });
});

t.test('paths and origins that no client sends are refused: these are ASCII', async (t) => {
  for (const [option, path] of [
    ['traces_url_path: /spüren', 'traces_url_path'],
    ['cors: { allowed_origins: ["https://bücher.example"] }', 'cors.allowed_origins[0]'],
  ] as const)
    await t.rejects(startDaemon(t, withOptions(option)), {
      message: new RegExp(`${path.replaceAll(/[.[\]]/gu, '\\$&')} must be of the form`, 'u'),
    });
});

t.test('without keep-alive every answer closes its connection', async (t) => {
  const { url } = await startDaemon(t, withOptions('keep_alives_enabled: false'));
  const agent = new Agent({ keepAlive: true });
  t.teardown(() => agent.destroy());
  for (const sending of [{ body: body() }, { body: '{' }, { path: '/health', method: 'GET' }])
    t.equal((await send(url, { ...sending, connection: { agent } })).headers['connection'], 'close');
});

t.test('an idle connection is closed after idle_timeout', async (t) => {
  const { port } = await startDaemon(t, withOptions('idle_timeout: 1s'));
  const socket = connect(port, '127.0.0.1');
  socket.write('GET /health HTTP/1.1\r\nHost: x\r\n\r\n');
  let heard = '';
  socket.on('data', (data) => (heard += data.toString()));
  const started = performance.now();
  await new Promise((resolve) => socket.on('end', resolve));
  socket.destroy();
  t.match(heard, /^HTTP\/1\.1 200 /u);
  t.ok(performance.now() - started > 500, 'not at once');
});

function socketFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-socket-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

const viaSocket = (socketPath: string): Promise<Answer> =>
  send('http://localhost', { body: body(), connection: { socketPath } });

t.test('a Unix domain socket is served with its mode', async (t) => {
  const path = join(socketFolder(t), 'sluice.sock');
  const daemon = await startDaemon(t, withOptions(`endpoint: "unix://${path}", socket_mode: "0600"`));
  t.equal((await viaSocket(path)).status, 200);
  t.equal(statSync(path).mode & 0o777, 0o600);
  t.match(
    daemon.log.find(({ message }) => message === 'listening for OTLP/HTTP'),
    { fields: { endpoint: `unix:${path}` } },
  );
  await daemon.stop();
  t.throws(() => statSync(path), { code: 'ENOENT' }, 'and is removed at the stop');
});

t.test('transport unix accepts a plain path, also for gRPC', async (t) => {
  const folder = socketFolder(t);
  const [http, grpc] = [join(folder, 'http.sock'), join(folder, 'grpc.sock')];
  const both = `http: { transport: unix, endpoint: "${http}" }, grpc: { transport: unix, endpoint: "${grpc}" }`;
  await startDaemon(t, { config: FILE_CONFIG.replace('http: { endpoint: "127.0.0.1:0" }', both) });
  t.equal((await viaSocket(http)).status, 200);
  t.equal(statSync(http).mode & 0o777, 0o660);
  const client = new GrpcClient(`unix:${grpc}`);
  t.teardown(() => client.close());
  t.equal((await client.call({ body: protobufWriter()('traces', aTraceRequest([aSpan()])) })).code, 0);
});

t.test('the socket of a killed daemon is replaced; one in use, or a file that is not a socket, is not', async (t) => {
  const folder = socketFolder(t);
  const path = join(folder, 'sluice.sock');
  const living = createServer((socket) => socket.end());
  await new Promise<void>((resolve) => living.listen(path, resolve));
  const start = (where: string): Promise<Daemon> => startDaemon(t, withOptions(`endpoint: "unix://${where}"`));
  await t.rejects(start(path), { message: `unix:${path} is already in use`, hint: /protocols\.http\.endpoint/u });
  await leaveBehind(path, living);
  await start(path);
  t.equal((await viaSocket(path)).status, 200);

  writeFileSync(join(folder, 'notes.txt'), 'mine');
  await t.rejects(start(join(folder, 'notes.txt')), { message: /exists already, and is not a socket/u });
  await t.rejects(start(join(folder, 'none', 'x.sock')), { message: /the folder of the socket .* does not exist/u });
  await t.rejects(start(join(folder, 'x'.repeat(120))), { message: /the path of the socket .* is too long/u });
});

/** Ends a server as `kill -9` would: its socket stays. */
async function leaveBehind(path: string, server: ReturnType<typeof createServer>): Promise<void> {
  const { renameSync } = await import('node:fs');
  renameSync(path, `${path}.kept`);
  await new Promise((resolve) => server.close(resolve));
  renameSync(`${path}.kept`, path);
}

t.test('an endpoint that does not fit its transport is an error with its place', async (t) => {
  for (const options of ['endpoint: "/run/sluice.sock"', 'endpoint: "127.0.0.1:0", transport: unix'])
    await t.rejects(startDaemon(t, withOptions(options)), {
      message: /sluice\.yaml:2:\d+: error: the endpoint does not fit/u,
    });
  for (const endpoint of ['nowhere', 'unix://', 'http://127.0.0.1:4318'])
    await t.rejects(startDaemon(t, withOptions(`endpoint: "${endpoint}"`)), { message: /must be an endpoint/u });
});
