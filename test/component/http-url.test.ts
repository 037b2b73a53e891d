// URLs of HTTP servers in options.
import t from 'tap';
import { isHttpUrl } from '../../src/component/http-url.ts';
import { FORMATS } from '../../src/config/schema.ts';

t.test('a URL has the scheme of HTTP, a host and a valid port', async (t) => {
  for (const url of ['http://h', 'HTTPS://h:65535/x?y=1', 'http://[::1]:4318', 'http://u:p@proxy:3128'])
    t.ok(isHttpUrl(url), url);
  for (const url of [
    ...['', 'h', 'h:3128', 'ftp://h', 'http://', 'http:///x', 'http:h', 'http:// h', 'http://h h', ' http://h'],
    ...['http://h:65536', 'http://h:0', 'http://h:x', 'http://[::1', 'http://h%zz', 'http://h/#part'],
  ])
    t.notOk(isHttpUrl(url), url);
});

t.test('an option may be empty', async (t) => {
  t.ok(FORMATS['http_url']?.(''));
  t.notOk(FORMATS['http_url']?.('h:3128'));
});
