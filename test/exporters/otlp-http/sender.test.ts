/** Single attempts over real sockets: TLS, headers, and faults of the options. */
import { createServer } from 'node:https';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { endpointFaults, type OtlpHttpOptions } from '../../../src/exporters/otlp-http/options.ts';
import { Sender } from '../../../src/exporters/otlp-http/sender.ts';
import { aPipe } from '../../support/named-pipe.ts';
import { refuse, startRemote } from '../../support/fake-remote.ts';

const FIXTURES = fileURLToPath(new URL('../../../../test/fixtures/tls/', import.meta.url));
const NEVER = new AbortController().signal;
const BODY = Buffer.from('0a00', 'hex');

const OPTIONS: OtlpHttpOptions = {
  endpoint: '',
  traces_endpoint: '',
  logs_endpoint: '',
  metrics_endpoint: '',
  headers: {},
  compression: 'gzip',
  encoding: 'proto',
  timeout: 5000,
  proxy_url: '',
  tls: { ca_file: '', cert_file: '', key_file: '', server_name_override: '', insecure_skip_verify: false },
  retry_on_failure: {
    enabled: true,
    initial_interval: 1,
    max_interval: 1,
    multiplier: 1,
    randomization_factor: 0,
    max_elapsed_time: 0,
  },
  outbox: { max_size: 1048576, when_full: 'refuse', max_batch_size: 1024, dead_letter_retention: 60000 },
};

async function opened(t: Tap.Test, options: Partial<OtlpHttpOptions>): Promise<Sender> {
  const sender = new Sender({ ...OPTIONS, ...options }, () => 0);
  t.teardown(() => sender.close());
  await sender.open((path) => `${FIXTURES}${path}`);
  return sender;
}

declare namespace Tap {
  type Test = { teardown(task: () => Promise<void>): unknown };
}

t.test('over TLS a certificate must be trusted and be valid for the requested name', async (t) => {
  const server = createServer(
    {
      cert: readFileSync(`${FIXTURES}cert.pem`),
      key: readFileSync(`${FIXTURES}key.pem`),
      ca: readFileSync(`${FIXTURES}cert.pem`),
      requestCert: true,
      rejectUnauthorized: false,
    },
    (request, response) => {
      const { authorized } = request.socket as unknown as { readonly authorized: boolean };
      response.writeHead(authorized ? 200 : 403).end();
      request.resume();
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => void server.close());
  const endpoint = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const send = async (tls: Partial<OtlpHttpOptions['tls']>) =>
    (await opened(t, { endpoint, tls: { ...OPTIONS.tls, ...tls } })).send('traces', BODY, NEVER);
  const trusted = { ca_file: 'cert.pem', server_name_override: 'remote.test' };

  t.match(await send({}), { kind: 'failed', result: 'unreachable' }, 'it is not trusted');
  t.match(await send({ ca_file: 'cert.pem' }), { kind: 'failed', error: /altnames|IP/u }, 'it is for another name');
  t.match(await send(trusted), { kind: 'refused', error: '403' }, 'the server wants a certificate, too');
  t.match(await send({ ...trusted, cert_file: 'cert.pem', key_file: 'key.pem' }), { kind: 'delivered' });
  t.match(await send({ insecure_skip_verify: true }), { kind: 'refused', error: '403' }, 'or none is checked');
});

t.test('a proxy is used only when it is configured; the environment is not read', async (t) => {
  const remote = await startRemote(t);
  const before = process.env['http_proxy'];
  process.env['http_proxy'] = 'http://127.0.0.1:1';
  t.teardown(() => {
    if (before === undefined) delete process.env['http_proxy'];
    else process.env['http_proxy'] = before;
  });
  const sender = await opened(t, { endpoint: remote.url });
  t.match(await sender.send('logs', BODY, NEVER), { kind: 'delivered' });
  const proxied = await opened(t, { endpoint: remote.url, proxy_url: 'http://127.0.0.1:1' });
  t.match(await proxied.send('logs', BODY, NEVER), { kind: 'failed', result: 'unreachable' });
});

t.test('an answer is classified by its status as OTLP specifies', async (t) => {
  const remote = await startRemote(t);
  const sender = await opened(t, { endpoint: remote.url });
  for (const status of [200, 202, 204, 299]) {
    remote.answer = refuse(status);
    t.match(await sender.send('traces', BODY, NEVER), { kind: 'delivered' }, String(status));
  }
  for (const status of [429, 502, 503, 504]) {
    remote.answer = refuse(status, { 'retry-after': '7' });
    const retryAfterMs = status === 429 || status === 503 ? 7000 : null;
    t.match(await sender.send('traces', BODY, NEVER), { kind: 'failed', retryAfterMs }, String(status));
  }
  for (const status of [301, 400, 401, 404, 408, 413, 500, 501, 505]) {
    remote.answer = refuse(status);
    t.match(await sender.send('traces', BODY, NEVER), { kind: 'refused', error: String(status) }, String(status));
  }
});

t.test('an endless answer is not read to its end', async (t) => {
  const remote = await startRemote(t);
  remote.answer = (_request, response) => {
    response.writeHead(400);
    const more = (): void => {
      while (response.writable && response.write('x'.repeat(65536)));
      response.once('drain', more);
    };
    more();
  };
  const sender = await opened(t, { endpoint: remote.url });
  const attempt = await sender.send('traces', BODY, NEVER);
  t.match(attempt, { kind: 'refused', cause: '400', error: /^400 x{500}$/u });
});

t.test('endpoints that cannot be used are refused', async (t) => {
  const faultsOf = (options: Partial<OtlpHttpOptions>) => endpointFaults({ ...OPTIONS, ...options });
  t.same(faultsOf({ endpoint: 'https://host:4318/base', logs_endpoint: 'https://host/x?y=1@2' }), []);
  t.match(faultsOf({ endpoint: 'http://a:b@host', metrics_endpoint: 'https://a@host/x' }), [
    { option: ['endpoint'], message: /^credentials/u },
    { option: ['metrics_endpoint'], message: /^credentials/u },
  ]);
  t.match(faultsOf({ endpoint: 'https://host/?token=1' }), [{ option: ['endpoint'], message: /no query/u }]);
  for (const endpoint of ['https://host/v1/traces', 'http://host:4318/base/v1/logs/'])
    t.match(faultsOf({ endpoint }), [{ option: ['endpoint'], message: /no path of a signal/u, hint: /Remove/u }]);
});

t.test('an unreadable file is found at the start', async (t) => {
  const refused = (path: string, message: RegExp) => {
    const tls = { ...OPTIONS.tls, ca_file: relative(FIXTURES, path) };
    return t.rejects(opened(t, { endpoint: 'http://host', tls }), { message });
  };
  await refused(join(FIXTURES, 'nothing.pem'), /tls.ca_file cannot be read: ENOENT/u);
  await refused(t.testdir(), /tls.ca_file cannot be read: it is a folder/u);
  await refused('/dev/zero', /tls.ca_file cannot be read: it is not a file/u);
  await refused(aPipe(t.testdir()), /tls.ca_file cannot be read: it is not a file/u);
});
