/** Single attempts over real sockets: TLS, headers, and faults of the options. */
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { endpointFaults, headerFaults, type OtlpHttpOptions } from '../../../src/exporters/otlp-http/options.ts';
import { otlpHttpExporter } from '../../../src/exporters/otlp-http/otlp-http.ts';
import { Sender } from '../../../src/exporters/otlp-http/sender.ts';
import { SIGNALS } from '../../../src/pdata/context.ts';
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

const FILES = { resolvePath: (path: string) => join(FIXTURES, path), now: () => Date.now() };

async function opened(t: Tap.Test, options: Partial<OtlpHttpOptions>): Promise<Sender> {
  const sender = new Sender({ ...OPTIONS, ...options }, () => 0);
  t.teardown(() => sender.close());
  await sender.open(FILES);
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

t.test('a proxy gets a request for http itself, and makes a tunnel for https', async (t) => {
  const proxy = await startRemote(t);
  const sender = await opened(t, { endpoint: 'http://remote.test:4318', proxy_url: proxy.url });
  t.match(await sender.send('logs', BODY, NEVER), { kind: 'delivered' });
  t.match(proxy.requests, [{ path: 'http://remote.test:4318/v1/logs', headers: { host: 'remote.test:4318' } }]);
  const secure = await opened(t, { endpoint: 'https://remote.test', proxy_url: proxy.url });
  t.match(await secure.send('logs', BODY, NEVER), { kind: 'failed', result: 'unreachable' });
  t.equal(proxy.requests.length, 1, 'a request for https is not shown to the proxy');
});

/** A proxy that acts on a request. `asked` counts them, `head` is the last one. */
async function aProxy(t: Tap.Test, act: (connection: Socket) => void) {
  const proxy = { url: '', asked: 0, head: '' };
  const open = new Set<Socket>();
  const server = createTcpServer((connection) => {
    open.add(connection.on('error', () => undefined));
    connection.once('data', (head: Buffer) => {
      proxy.asked += 1;
      proxy.head = head.toString();
      act(connection);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(async () => {
    for (const connection of open) connection.destroy();
    server.close();
  });
  proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return proxy;
}

t.test('a proxy that makes no tunnel fails the attempt, after one connection', async (t) => {
  const attempt = async (act: (connection: Socket) => void) => {
    const proxy = await aProxy(t, act);
    const sender = await opened(t, { endpoint: 'https://remote.test', proxy_url: proxy.url, timeout: 3000 });
    const result = await sender.send('traces', BODY, NEVER);
    t.equal(proxy.asked, 1);
    return result;
  };
  t.match(await attempt((connection) => connection.end()), { kind: 'failed', result: 'unreachable' });
  t.match(await attempt((connection) => connection.resetAndDestroy()), { kind: 'failed', result: 'unreachable' });
  t.match(await attempt(() => undefined), { kind: 'failed', result: 'timeout' });
  const forbid = (connection: Socket): void => void connection.write('HTTP/1.1 403 Forbidden\r\n\r\n');
  t.match(await attempt(forbid), { kind: 'failed', result: 'unreachable', error: 'the proxy answered 403' });
});

t.test('a remote is reached through a tunnel, and its certificate is checked', async (t) => {
  const remote = createServer(
    { cert: readFileSync(`${FIXTURES}cert.pem`), key: readFileSync(`${FIXTURES}key.pem`) },
    (request, response) => {
      response.end();
      request.resume();
    },
  );
  await new Promise<void>((resolve) => remote.listen(0, '127.0.0.1', resolve));
  t.teardown(async () => void remote.close());
  const { port } = remote.address() as AddressInfo;
  const proxy = await aProxy(t, (connection) => {
    connection.write('HTTP/1.1 200 OK\r\n\r\n');
    connection.pipe(connect(port, '127.0.0.1')).pipe(connection);
  });
  const send = async (host: string, ca_file: string) => {
    const tls = { ...OPTIONS.tls, ca_file };
    const proxy_url = proxy.url.replace('://', '://100%:a@');
    const sender = await opened(t, { endpoint: `https://${host}`, proxy_url, tls });
    return sender.send('traces', BODY, NEVER);
  };
  t.match(await send('remote.test', 'cert.pem'), { kind: 'delivered' });
  t.match(proxy.head, /^CONNECT remote.test:443 HTTP.*\r\nproxy-authorization: Basic MTAwJTph\r\n/su);
  t.notMatch(proxy.head, /^authorization/imu);
  t.match(await send('remote.test:4318', 'cert.pem'), { kind: 'delivered' });
  t.match(await send('other.test', 'cert.pem'), { kind: 'failed', error: /altnames/u });
  t.match(await send('remote.test', ''), { kind: 'failed', error: /self-signed/u });
});

t.test('missing credentials for a proxy are no answer of the remote', async (t) => {
  const remote = await startRemote(t);
  remote.answer = refuse(407);
  const proxied = await opened(t, { endpoint: 'http://remote.test', proxy_url: remote.url });
  t.match(await proxied.send('traces', BODY, NEVER), { kind: 'failed', cause: '407' });
  const direct = await opened(t, { endpoint: remote.url });
  t.match(await direct.send('traces', BODY, NEVER), { kind: 'refused', cause: '407' });
});

t.test('a stop does not wait for a remote that does not end its handshake', async (t) => {
  const abort = new AbortController();
  const silent = await aProxy(t, () => abort.abort());
  const sender = await opened(t, { endpoint: silent.url.replace('http:', 'https:'), timeout: 60_000 });
  await t.rejects(sender.send('traces', BODY, abort.signal), { name: 'AbortError' });
});

t.test('the credentials of a proxy are sent to it, also a name without a password', async (t) => {
  const proxy = await startRemote(t);
  for (const credentials of ['user:p%40ss', 'user', 'user:', '100%:a'])
    await (
      await opened(t, {
        endpoint: 'http://remote.test',
        proxy_url: proxy.url.replace('://', `://${credentials}@`),
      })
    ).send('logs', BODY, NEVER);
  const sent = proxy.requests.map(({ headers }) => headers['proxy-authorization']);
  t.same(
    sent,
    ['dXNlcjpwQHNz', 'dXNlcjo=', 'dXNlcjo=', 'MTAwJTph'].map((encoded) => `Basic ${encoded}`),
  );
});

t.test('a header is sent once, whatever the case of its name, and the exporter describes the body', async (t) => {
  const remote = await startRemote(t);
  const headers = { 'User-Agent': 'gateway', 'Content-Type': 'text/plain', 'CONTENT-ENCODING': 'br', 'X-Key': 'k' };
  for (const compression of ['gzip', 'none'] as const)
    await (await opened(t, { endpoint: remote.url, headers, compression })).send('traces', BODY, NEVER);
  const sent = { 'user-agent': 'gateway', 'content-type': 'application/x-protobuf', 'x-key': 'k' };
  t.match(remote.requests, [
    { headers: { ...sent, 'content-encoding': 'gzip' } },
    { headers: { ...sent, 'content-encoding': undefined } },
  ]);
  for (const { names } of remote.requests) t.equal(new Set(names).size, names.length, 'no name is sent twice');
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

t.test('an answer that breaks off or does not end counts with its status', async (t) => {
  const remote = await startRemote(t);
  const statuses: Readonly<Record<string, number>> = { '/v1/traces': 200, '/v1/logs': 400, '/v1/metrics': 503 };
  const sender = await opened(t, { endpoint: remote.url, timeout: 3000 });
  for (const end of [(response: ServerResponse): void => void response.destroy(), (): void => undefined]) {
    remote.answer = ({ path }, response) => {
      response.writeHead(statuses[path] ?? 500, { 'content-length': '10' });
      response.write('half', () => end(response));
    };
    const attempts = SIGNALS.map((signal) => sender.send(signal, BODY, NEVER));
    t.match(await Promise.all(attempts), [
      { kind: 'delivered' },
      { kind: 'refused', cause: '400' },
      { kind: 'failed', result: 'unavailable' },
    ]);
  }
});

t.test('a partial success is read in the encoding of the answer', async (t) => {
  const remote = await startRemote(t);
  const json = '{"partialSuccess":{"rejectedSpans":"2","errorMessage":"no"}}';
  const protobuf = Buffer.from('0a06080212026e6f', 'hex').toString();
  for (const encoding of ['proto', 'json'] as const) {
    const sender = await opened(t, { endpoint: remote.url, encoding });
    for (const [type, body] of [
      ['application/json; charset=utf-8', json],
      ['application/x-protobuf', protobuf],
    ] as const) {
      remote.answer = refuse(200, { 'content-type': type }, body);
      const attempt = await sender.send('traces', BODY, NEVER);
      t.same(attempt, { kind: 'delivered', partial: { rejected: 2, message: 'no' } }, `${encoding}, ${type}`);
    }
  }
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

t.test('headers that cannot be sent are refused, and those that are not sent are warned about', async (t) => {
  const faultsOf = (headers: Record<string, string>, proxy_url = '') =>
    headerFaults({ ...OPTIONS, headers, proxy_url }).map(({ option, severity }) => [option[1], severity]);
  t.same(faultsOf({ Authorization: 'a', Host: 'b', Connection: 'close', 'Proxy-Authorization': 'c' }), []);
  for (const name of ['Content-Length', 'Expect', 'keep-alive', 'Transfer-Encoding', 'Upgrade'])
    t.same(faultsOf({ [name]: '1' }), [[name, 'error']]);
  t.same(faultsOf({ 'Proxy-Authorization': 'a' }, 'http://proxy'), [['Proxy-Authorization', 'error']]);
  t.same(faultsOf({ 'Content-Type': 'a', 'content-encoding': 'b' }), [
    ['Content-Type', 'warning'],
    ['content-encoding', 'warning'],
  ]);
  t.same(faultsOf({ 'X-Key': 'a', 'x-key': 'b' }), [['x-key', 'error']]);
});

t.test('an unreadable file is found at the start', async (t) => {
  const refused = (path: string, message: RegExp) => {
    const tls = { ...OPTIONS.tls, ca_file: relative(FIXTURES, path) };
    return t.rejects(opened(t, { endpoint: 'http://host', tls }), { message });
  };
  await refused(
    join(FIXTURES, 'nothing.pem'),
    /tls: ca_file \S+nothing.pem cannot be read: there is no such file or folder$/u,
  );
  await refused(t.testdir(), /tls: ca_file \S+ cannot be read: it is a folder$/u);
  await refused('/dev/zero', /tls: ca_file \S+ cannot be read: it is not a file$/u);
  await refused(aPipe(t.testdir()), /tls: ca_file \S+ cannot be read: it is not a file$/u);
});

t.test('files of TLS that cannot be used are faults of the configuration', async (t) => {
  const faultsOf = async (tls: Partial<OtlpHttpOptions['tls']>) => {
    const options = { ...OPTIONS, endpoint: 'https://host', tls: { ...OPTIONS.tls, ...tls } };
    const found = await otlpHttpExporter.check?.(options, { name: 'exporters.otlp_http', ...FILES });
    return (found ?? []).map(({ option, severity, message }) => [option.join('.'), severity, message]);
  };
  t.same(await faultsOf({ ca_file: 'cert.pem', cert_file: 'cert.pem', key_file: 'key.pem' }), []);
  t.match(await faultsOf({ ca_file: 'nothing.pem' }), [['tls.ca_file', 'error', /there is no such file/u]]);
  t.match(await faultsOf({ ca_file: 'key.pem' }), [['tls.ca_file', 'error', /holds no certificate in PEM/u]]);
  t.match(await faultsOf({ cert_file: 'cert.pem' }), [['tls.cert_file', 'error', /together/u]]);
  t.match(await faultsOf({ key_file: 'key.pem' }), [['tls.key_file', 'error', /together/u]]);
  t.match(await faultsOf({ cert_file: 'cert.pem', key_file: 'client-key.pem' }), [
    ['tls.key_file', 'error', /does not belong/u],
  ]);
  t.match(await faultsOf({ cert_file: 'cert.pem', key_file: 'encrypted-key.pem' }), [
    ['tls.key_file', 'error', /is encrypted/u],
  ]);
  t.match(await faultsOf({ cert_file: 'expired.pem', key_file: 'expired-key.pem' }), [
    ['tls.cert_file', 'warning', /expired on/u],
  ]);
});

t.test('a renewed client certificate is used without a restart', async (t) => {
  const files = { cert: readFileSync(`${FIXTURES}server.pem`), key: readFileSync(`${FIXTURES}server-key.pem`) };
  const server = createServer(
    { ...files, ca: readFileSync(`${FIXTURES}ca.pem`), requestCert: true, rejectUnauthorized: true },
    (request, response) => {
      response.end();
      request.resume();
    },
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(async () => void server.close());
  const folder = t.testdir();
  const install = (name: string): void => {
    copyFileSync(`${FIXTURES}${name}.pem`, join(folder, 'cert.pem'));
    copyFileSync(`${FIXTURES}${name}-key.pem`, join(folder, 'key.pem'));
  };
  install('stranger');
  let nowMs = 0;
  const sender = new Sender(
    {
      ...OPTIONS,
      endpoint: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
      tls: { ...OPTIONS.tls, cert_file: 'cert.pem', key_file: 'key.pem', insecure_skip_verify: true },
    },
    () => nowMs,
  );
  t.teardown(() => sender.close());
  await sender.open({ resolvePath: (path) => join(folder, path), now: () => nowMs });
  t.match(await sender.send('traces', BODY, NEVER), { kind: 'failed', result: 'unreachable' });
  install('client');
  nowMs += 59_999;
  t.match(await sender.send('traces', BODY, NEVER), { kind: 'failed' }, 'the files are not read for each request');
  nowMs += 1;
  t.match(await sender.send('traces', BODY, NEVER), { kind: 'delivered' });
  writeFileSync(join(folder, 'cert.pem'), 'half of a');
  nowMs += 60_000;
  t.match(await sender.send('traces', BODY, NEVER), { kind: 'delivered' }, 'files that cannot be used are not');
});
