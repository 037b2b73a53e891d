// Log lines about clients: the sender of a refused request, and clients that speak another protocol than the port.
import { credentials } from '@grpc/grpc-js';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { Administration } from '../../../src/extensions/postgres/administration.ts';
import { Database } from '../../../src/extensions/postgres/database.ts';
import { createApiKey, createReadToken } from '../../../src/pdata/api-key.ts';
import { ForeignClients } from '../../../src/receivers/otlp/foreign-clients.ts';
import { TLS_FOLDER } from '../../support/certificates.ts';
import { type Daemon, FILE_CONFIG, type LogLine, STAGING_KEY, startDaemon } from '../../support/daemon.ts';
import { GrpcClient, protobufWriter } from '../../support/grpc-client.ts';
import { send } from '../../support/otlp-client.ts';
import { aSpan, aTraceRequest } from '../../support/payloads.ts';
import { startPostgresDaemon } from '../../support/postgres-daemon.ts';
import { until } from '../../support/worker-scene.ts';

const BOTH = FILE_CONFIG.replace('"127.0.0.1:0" }', '"127.0.0.1:0" }, grpc: { endpoint: "127.0.0.1:0" }');
const TLS = `tls: { cert_file: "${join(TLS_FOLDER, 'server.pem')}", key_file: "${join(TLS_FOLDER, 'server-key.pem')}" }`;
const BOTH_TLS = FILE_CONFIG.replace(
  '"127.0.0.1:0" }',
  `"127.0.0.1:0", ${TLS} }, grpc: { endpoint: "127.0.0.1:0", ${TLS} }`,
);
const PEER = /^127\.0\.0\.1:\d+$/u;
const production = (): object =>
  aTraceRequest([aSpan()], { 'deployment.environment.name': 'production', 'service.name': 'shop' });

const refusalsOf = (daemon: Daemon): readonly LogLine['fields'][] =>
  daemon.log.filter(({ message }) => message === 'request refused').map(({ fields }) => fields);

t.test('a refusal names project, key and address, over HTTP and gRPC', async (t) => {
  const daemon = await startDaemon(t, { config: BOTH });
  const authorization = `Bearer ${STAGING_KEY}`;
  t.equal((await send(daemon.url, { authorization, body: JSON.stringify(production()) })).status, 403);
  const client = new GrpcClient(daemon.grpc);
  t.teardown(() => client.close());
  t.equal((await client.call({ authorization, body: protobufWriter()('traces', production()) })).code, 7);
  const refusals = refusalsOf(daemon);
  t.equal(refusals.length, 2);
  for (const refusal of refusals)
    t.match(refusal, { code: 'environment_mismatch', project: 'demo', key: 'static:2', peer: PEER });
});

t.test('a wrong path is logged with its cause, and a doubled one with the fix', async (t) => {
  const daemon = await startDaemon(t);
  const secret = createApiKey().text;
  const paths = ['/v1/traces/v1/traces', '/', '/api/public', `/${secret}`, `/${'a/'.repeat(200)}`];
  for (const path of paths) t.equal((await send(daemon.url, { path, body: '{}' })).status, 404);
  t.equal((await send(daemon.url, { method: 'GET', path: '/v1/traces' })).status, 404);
  const unknown = { cause: 'unknown path' };
  t.strictSame(
    refusalsOf(daemon).map(({ details }) => details),
    [
      {
        ...unknown,
        hint: 'Give SDKs the endpoint without /v1/traces, /v1/logs or /v1/metrics: they append it.',
        received: '/v1/traces/v1/traces',
      },
      {
        ...unknown,
        hint: 'Use OTEL_EXPORTER_OTLP_ENDPOINT, to which SDKs append the path. The variables of one signal, and most options in code, take a whole URL such as http://127.0.0.1:4318/v1/traces.',
        received: '/',
      },
      { ...unknown, received: '/api/public' },
      { ...unknown, received: '[masked]' },
      unknown,
      { cause: '/v1/traces takes POST only' },
    ],
  );
});

t.test('secrets that a client sends in other places than the key are in no line', async (t) => {
  const daemon = await startDaemon(t, { config: BOTH });
  const authorization = `Bearer ${STAGING_KEY}`;
  const secret = createApiKey().text;
  const inEnvironment = (name: string): object => aTraceRequest([aSpan()], { 'deployment.environment.name': name });
  const client = new GrpcClient(daemon.grpc);
  t.teardown(() => client.close());
  for (const name of [secret, STAGING_KEY, 'eu production 2']) {
    t.equal((await send(daemon.url, { authorization, body: JSON.stringify(inEnvironment(name)) })).status, 403);
    t.equal((await client.call({ authorization, body: protobufWriter()('traces', inEnvironment(name)) })).code, 7);
  }
  for (const contentType of [secret, STAGING_KEY, `application/grpc; token=${secret}`])
    t.equal(
      (await send(daemon.url, { authorization, body: '{}', headers: { 'content-type': contentType } })).status,
      415,
    );
  for (const encoding of [secret, 'deflate'])
    t.equal(
      (
        await send(daemon.url, {
          authorization,
          body: '{}',
          headers: { 'content-type': 'application/json', 'content-encoding': encoding },
        })
      ).status,
      415,
    );

  const expected = 'staging';
  const mismatches = ['[masked]', '[masked]', 'eu production 2'].map((received) => ({ expected, received }));
  const others = ['[masked]', '[masked]', 'application/grpc; token=[masked]', '[masked]', 'deflate'];
  t.strictSame(
    refusalsOf(daemon).map(({ details }) => details),
    [...mismatches.flatMap((details) => [details, details]), ...others.map((received) => ({ received }))],
  );
  const lines = JSON.stringify(daemon.log).toLowerCase();
  for (const text of [secret, STAGING_KEY]) t.notOk(lines.includes(text.toLowerCase()));
});

t.test('a refused key is named by its id and cause, and its text is in no line', async (t) => {
  const daemon = await startPostgresDaemon(t);
  const database = new Database().use({ connectionString: daemon.databaseUrl });
  t.teardown(() => database.close());
  const administration = new Administration(database);
  await administration.createProject('shop', 'paid', null);
  const revoked = await administration.createKey('shop', null, null);
  await administration.revokeKey(revoked.publicId);
  const unknown = createApiKey();
  const forged = createApiKey();
  const cases: readonly (readonly [string | null, object])[] = [
    [`Bearer ${revoked.text}`, { key: revoked.publicId, project: 'shop', details: { cause: 'the key is revoked' } }],
    [`Bearer ${unknown.text}`, { key: unknown.publicId, details: { cause: 'unknown key' } }],
    [
      `Bearer%20${forged.text}`,
      { details: { cause: /URL-encoded, which only the value of OTEL_EXPORTER_OTLP_HEADERS/u } },
    ],
    [`Bearer ${createReadToken().text}`, { details: { cause: /^a read token .*slc_/u } }],
    [`Bearer ${forged.text.slice(0, -1)}`, { details: { cause: 'not the text of a key' } }],
    [`bearer ${unknown.text}`, { details: { cause: 'the Authorization header does not begin with "Bearer "' } }],
    ['Bearer ', { details: { cause: 'no key follows "Bearer" in the Authorization header' } }],
    [null, { details: { cause: 'no Authorization header' } }],
  ];
  for (const [authorization, expected] of cases) {
    const body = JSON.stringify(aTraceRequest([aSpan()]));
    t.equal((await send(daemon.url, { authorization, body })).status, 401);
    t.match(refusalsOf(daemon).at(-1), { code: 'invalid_api_key', peer: PEER, ...expected });
  }
  const text = JSON.stringify(daemon.log);
  for (const key of [revoked, unknown, forged]) t.notMatch(text, key.text.slice(0, 20));
});

/** Sends bytes and waits until the daemon has closed the connection. */
function sendBytes(address: string, bytes: string | Buffer): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(Number(address.split(':').at(-1)), '127.0.0.1', () => socket.write(bytes));
    socket.on('error', () => undefined);
    socket.resume().once('close', () => resolve());
  });
}

async function warned(t: Test, daemon: Daemon, message: RegExp): Promise<void> {
  const find = (): LogLine | undefined =>
    daemon.log.find((line) => line.level === 'warn' && message.test(line.message));
  await until(() => find() !== undefined);
  t.match(find()?.fields, { peer: PEER, hint: /./u });
}

const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
const HTTP1 = 'POST /v1/traces HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n';
const HELLO = Buffer.from([0x16, 3, 1, 0, 4, 1, 0, 0, 0]);

t.test('clients of another protocol are reported with the fix', async (t) => {
  const daemon = await startDaemon(t, { config: BOTH });
  await sendBytes(daemon.url, PREFACE);
  await warned(t, daemon, /speaks HTTP\/2, probably gRPC, to the OTLP\/HTTP port/u);
  await sendBytes(daemon.grpc, HTTP1);
  await warned(t, daemon, /does not speak HTTP\/2 to the OTLP\/gRPC port/u);
  await sendBytes(daemon.url, HELLO);
  await warned(t, daemon, /uses TLS on a port without TLS/u);
  await sendBytes(daemon.url, PREFACE);
  t.equal(daemon.log.filter(({ message }) => /HTTP\/2, probably/u.test(message)).length, 1, 'one line a minute');
});

t.test('a gRPC client on the HTTP port of the default endpoint variable is reported', async (t) => {
  const daemon = await startDaemon(t, { config: BOTH });
  const client = new GrpcClient(daemon.url.replace('http://', ''), credentials.createInsecure());
  t.teardown(() => client.close());
  t.not((await client.call({ body: protobufWriter()('traces', production()) })).code, 0);
  await warned(t, daemon, /probably gRPC/u);
});

t.test('the same on ports with TLS', async (t) => {
  const offering = async (address: string, ...protocols: readonly string[]): Promise<void> => {
    const socket = connectTls({
      port: Number(address.split(':').at(-1)),
      ALPNProtocols: [...protocols],
      rejectUnauthorized: false,
    });
    socket.on('error', () => undefined);
    await new Promise<void>((resolve) => socket.once('close', () => resolve()));
  };
  const first = await startDaemon(t, { config: BOTH_TLS });
  await sendBytes(first.url, HTTP1);
  await warned(t, first, /does not use TLS/u);
  await offering(first.url, 'h2');
  await warned(t, first, /probably gRPC/u);
  await offering(first.grpc, 'http/1.1');
  await warned(t, first, /does not speak HTTP\/2/u);
  const second = await startDaemon(t, { config: BOTH_TLS });
  await sendBytes(second.grpc, PREFACE);
  await warned(t, second, /does not use TLS/u);
});

t.test('the next line of a cause comes after a minute, with the number of connections since then', async (t) => {
  const lines: object[] = [];
  const silent = (): void => undefined;
  const logger = { debug: silent, info: silent, error: silent, warn: (fields: object) => void lines.push(fields) };
  let nowMs = 0;
  const clients = new ForeignClients(logger, () => nowMs);
  for (let count = 0; count < 5; count++) clients.report('http2', null);
  clients.report('tls', null);
  t.equal(lines.length, 2);
  nowMs = 60_000;
  clients.report('http2', '[::1]:5');
  t.match(lines.at(-1), { peer: '[::1]:5', since_last_line: 4 });
});
