import t from 'tap';
import { formatEndpoint, localUrl, parseEndpoint, parseListenEndpoint } from '../../src/component/endpoint.ts';

t.test('endpoints have a port, and brackets around IPv6', async (t) => {
  t.same(parseEndpoint('127.0.0.1:4318'), { host: '127.0.0.1', port: 4318 });
  t.same(parseEndpoint('[::1]:0'), { host: '::1', port: 0 });
  t.same(parseEndpoint(':80'), { host: '', port: 80 });
  for (const text of ['localhost', '::1:80', 'a:65536', 'http://a:80', 'a b:1', 'user@a:1', 'a:'])
    t.equal(parseEndpoint(text), null, text);
});

t.test('a formatted endpoint parses to the same endpoint', async (t) => {
  for (const text of ['127.0.0.1:4318', '[::1]:0', ':80', 'localhost:65535']) {
    const endpoint = parseEndpoint(text);
    t.equal(endpoint === null ? null : formatEndpoint(endpoint), text);
  }
});

t.test('a Unix domain socket has the scheme unix', async (t) => {
  t.same(parseListenEndpoint('unix:///run/sluice.sock'), { path: '/run/sluice.sock' });
  t.same(parseListenEndpoint('unix:/run/sluice.sock'), { path: '/run/sluice.sock' });
  t.same(parseListenEndpoint('unix:data/sluice.sock'), { path: 'data/sluice.sock' });
  t.same(parseListenEndpoint('[::1]:4318'), { host: '::1', port: 4318 });
  for (const text of ['unix:', 'unix://', '/run/sluice.sock', 'UNIX:///x'])
    t.equal(parseListenEndpoint(text), null, text);
});

t.test('the local URL of a server at all addresses names the loopback address', async (t) => {
  const urlOf = (text: string): string | null => {
    const endpoint = parseEndpoint(text);
    return endpoint === null ? null : localUrl(endpoint, 'http');
  };
  for (const host of ['', '0.0.0.0', '[::]']) t.equal(urlOf(`${host}:80`), 'http://127.0.0.1:80', host);
  t.equal(urlOf('[::1]:80'), 'http://[::1]:80');
  t.equal(urlOf('localhost:80'), 'http://localhost:80');
});
