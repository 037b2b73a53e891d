// TLS of the receiver: versions, client certificates, renewed certificates, errors in the configuration.
import { credentials } from '@grpc/grpc-js';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Agent } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type ConnectionOptions, type PeerCertificate } from 'node:tls';
import t, { type Test } from 'tap';
import { copyCertificates, pem, replaceCertificate, TLS_FOLDER, trust } from '../../support/certificates.ts';
import { FILE_CONFIG, KEY, startDaemon } from '../../support/daemon.ts';
import { GrpcClient, protobufWriter } from '../../support/grpc-client.ts';
import { send } from '../../support/otlp-client.ts';
import { aSpan, aTraceRequest } from '../../support/payloads.ts';
import { recordTelemetry } from '../../support/sdk-recording.ts';

const protobufOf = protobufWriter();
const body = (): string => JSON.stringify(aTraceRequest([aSpan()]));
const HTTP = 'http: { endpoint: "127.0.0.1:0" }';

/** TLS for both protocols, with the certificates of a folder. */
function withTls(extra = '', { cert = 'server', key = 'server-key', folder = TLS_FOLDER } = {}): string {
  const tls = `tls: { cert_file: "${join(folder, `${cert}.pem`)}", key_file: "${join(folder, `${key}.pem`)}"${extra} }`;
  const both = `http: { endpoint: "127.0.0.1:0", ${tls} }, grpc: { endpoint: "127.0.0.1:0", ${tls} }`;
  return FILE_CONFIG.replace(HTTP, both);
}

const CLIENT_CA = `, client_ca_file: "${join(TLS_FOLDER, 'ca.pem')}"`;

/** The result of a handshake: the certificate and version that the server chose, or the error. */
function shakeHands(
  port: number,
  options: ConnectionOptions = {},
): Promise<{ readonly certificate: PeerCertificate; readonly version: string | null; readonly cipher: string }> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', ca: pem('ca'), ...options }, () => {
      const found = {
        certificate: socket.getPeerCertificate(),
        version: socket.getProtocol(),
        cipher: socket.getCipher().name,
      };
      socket.end();
      resolve(found);
    });
    socket.on('error', reject);
  });
}

function temporaryFolder(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-tls-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise(setImmediate);
}

t.test('HTTP and gRPC are served over TLS, and nothing without TLS', async (t) => {
  const daemon = await startDaemon(t, { config: withTls() });
  t.equal((await send(daemon.url, { body: body(), connection: trust() })).status, 200);
  const client = new GrpcClient(daemon.grpc, credentials.createSsl(pem('ca')));
  t.teardown(() => client.close());
  const message = protobufOf('traces', aTraceRequest([aSpan()]));
  t.equal((await client.call({ body: message })).code, 0);
  const { failures } = await recordTelemetry(
    `https://${daemon.grpc}`,
    KEY,
    { format: 'grpc', compression: 'gzip', credentials: credentials.createSsl(pem('ca')) },
    'sdk',
  );
  t.same(failures, []);
  await t.rejects(send(daemon.url.replace('https', 'http'), { body: body() }), 'plain HTTP is not answered');
  await t.rejects(
    send(daemon.url, { body: body() }),
    { message: /certificate/u },
    'a client that does not trust the certificate fails',
  );
  t.ok((await daemon.rows()).length > 2);
});

t.test('TLS 1.2 is the lowest version by default, and its suites can be configured', async (t) => {
  const plain = await startDaemon(t, { config: withTls() });
  t.equal((await shakeHands(plain.port)).version, 'TLSv1.3');
  t.equal((await shakeHands(plain.port, { maxVersion: 'TLSv1.2' })).version, 'TLSv1.2');
  await t.rejects(shakeHands(plain.port, { maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'ALL:@SECLEVEL=0' }));
  const newest = await startDaemon(t, { config: withTls(', min_version: "1.3"') });
  await t.rejects(shakeHands(newest.port, { maxVersion: 'TLSv1.2' }));
  const chosen = await startDaemon(t, {
    config: withTls(', max_version: "1.2", cipher_suites: [TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256]'),
  });
  t.match(await shakeHands(chosen.port), { version: 'TLSv1.2', cipher: 'ECDHE-ECDSA-CHACHA20-POLY1305' });
  await t.rejects(shakeHands(chosen.port, { ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256', maxVersion: 'TLSv1.2' }));
  const both = await startDaemon(t, {
    config: withTls(', cipher_suites: [TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256]'),
  });
  t.equal((await shakeHands(both.port)).version, 'TLSv1.3', 'suites of TLS 1.2 do not switch TLS 1.3 off');
});

t.test('with client_ca_file a client must send a certificate of that authority', async (t) => {
  const daemon = await startDaemon(t, { config: withTls(CLIENT_CA) });
  const attempt = (client?: 'client' | 'stranger') => send(daemon.url, { body: body(), connection: trust(client) });
  t.equal((await attempt('client')).status, 200);
  await t.rejects(attempt(), 'no certificate');
  await t.rejects(attempt('stranger'), 'a certificate of another authority');
  const call = async (client?: 'client' | 'stranger'): Promise<number> => {
    const { ca, cert = null, key = null } = { cert: null, key: null, ...trust(client) };
    const grpc = new GrpcClient(daemon.grpc, credentials.createSsl(ca, key, cert));
    const outcome = await grpc.call({ body: protobufOf('traces', aTraceRequest([aSpan()])) });
    grpc.close();
    return outcome.code;
  };
  t.equal(await call('client'), 0);
  t.equal(await call(), 14);
  t.equal(await call('stranger'), 14);
  t.equal((await daemon.rows()).length, 2);
});

t.test('new connections use renewed certificates, and an open connection stays', async (t) => {
  const folder = temporaryFolder(t);
  copyCertificates(folder);
  const daemon = await startDaemon(t, { config: withTls(', reload_interval: 20ms', { folder }) });
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: pem('ca') });
  t.teardown(() => agent.destroy());
  t.equal((await send(daemon.url, { body: body(), connection: { agent } })).status, 200);
  t.equal((await shakeHands(daemon.port)).certificate.subject.CN, 'server');

  replaceCertificate(folder, 'server', 'renewed');
  await until(async () => (await shakeHands(daemon.port)).certificate.subject.CN === 'renewed');
  t.match(
    daemon.log.find(({ message }) => message === 'new certificates are in use'),
    { fields: { expires: '2125-01-01T00:00:00.000Z' } },
  );
  t.equal((await send(daemon.url, { body: body(), connection: { agent } })).status, 200, 'on the open connection');

  writeFileSync(join(folder, 'server.pem'), 'half of a file');
  await until(() => daemon.log.some(({ level, message }) => level === 'error' && message.includes('stay')));
  t.equal((await shakeHands(daemon.port)).certificate.subject.CN, 'renewed', 'bad files change nothing');
  const told = daemon.log.filter(({ message }) => message.includes('the certificates in use stay')).length;
  replaceCertificate(folder, 'server', 'server');
  await until(async () => (await shakeHands(daemon.port)).certificate.subject.CN === 'server');
  t.ok(told <= 2, 'each protocol logs them once');
});

t.test('an expired certificate is served, with a warning', async (t) => {
  const daemon = await startDaemon(t, { config: withTls('', { cert: 'expired', key: 'expired-key' }) });
  t.match(
    daemon.log.find(({ level }) => level === 'warn'),
    { message: /^the certificate of cert_file expired on Jan {2}1 00:00:00 2021 GMT$/u },
  );
  await t.rejects(send(daemon.url, { body: body(), connection: trust() }), { code: 'CERT_HAS_EXPIRED' });
});

t.test('an error in the files is reported with its place in the configuration, before the start', async (t) => {
  const folder = temporaryFolder(t);
  copyCertificates(folder);
  writeFileSync(join(folder, 'garbage.pem'), '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n');
  const refused = async (config: string, message: RegExp) => {
    const error = await startDaemon(t, { config }).then(
      () => new Error('it started'),
      (caught: Error) => caught,
    );
    t.match(error.message, message);
    t.match(error.message, /sluice\.yaml:2:\d+: error: /u, 'file, line and column');
    t.match(error.message, /hint: /u);
  };
  await refused(
    withTls('', { folder, cert: 'missing' }),
    /cert_file \/.*missing\.pem cannot be read: there is no such file/u,
  );
  await refused(
    withTls('', { folder, key: 'missing' }),
    /key_file \/.*missing\.pem cannot be read: there is no such file/u,
  );
  await refused(withTls('', { folder, cert: '.' }), /cannot be read: there is no such file/u);
  // Without a writer, a pipe must not stop the start.
  t.equal(spawnSync('mkfifo', [join(folder, 'pipe.pem')]).status, 0);
  await refused(withTls('', { folder, cert: 'pipe' }), /pipe\.pem cannot be read: it is not a file/u);
  await refused(withTls('', { folder, cert: 'garbage' }), /garbage\.pem holds no certificate in PEM/u);
  await refused(withTls('', { folder, cert: 'server-key' }), /server-key\.pem holds no certificate in PEM/u);
  await refused(withTls('', { folder, key: 'server' }), /key_file .*server\.pem holds no private key in PEM/u);
  await refused(withTls('', { folder, key: 'encrypted-key' }), /encrypted-key\.pem is encrypted/u);
  await refused(withTls('', { folder, key: 'renewed-key' }), /the key of key_file does not belong to the certificate/u);
  await refused(
    withTls(`, client_ca_file: "${join(folder, 'garbage.pem')}"`),
    /client_ca_file .*garbage\.pem holds no certificate/u,
  );
  await refused(withTls(', cipher_suites: [TLS_RSA_WITH_AES_128_CBC_SHA]'), /must be one of TLS_ECDHE/u);
  await refused(withTls(', min_version: "1.1"'), /must be one of 1\.2, 1\.3/u);
  const error = await startDaemon(t, { config: withTls(', min_version: "1.3", max_version: "1.2"') }).catch(String);
  t.match(error, /max_version 1\.2 is below min_version 1\.3/u);
});
