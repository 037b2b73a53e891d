/** The console behind a proxy, without a login, over TLS, and with content switched off. */
import { request } from 'node:https';
import t from 'tap';
import { makeLink } from '../../../src/extensions/console/auth/make-link.ts';
import { checkConsole, CONSOLE_SCHEMA, type ConsoleOptions } from '../../../src/extensions/console/options.ts';
import { TLS_FOLDER, trust } from '../../support/certificates.ts';
import { startConsole } from '../../support/console.ts';

const ME = '/api/v1/me';

t.test('behind a proxy', async (t) => {
  const { ask, logIn, daemon } = await startConsole(t, {
    options:
      'public_url: "https://sluice.example.com", auth: { mode: proxy, proxy: { header: X-Person, trusted: [127.0.0.1] } }',
  });
  const own = { host: 'sluice.example.com', origin: 'https://sluice.example.com' };
  t.match(await ask(ME, { headers: { 'x-person': 'stranger' } }), {
    status: 200,
    json: { name: 'stranger', by: 'proxy', role: 'viewer', projects: [], sees_content: false },
  });
  const { headers } = await logIn({ name: 'ada', role: 'editor', projects: ['shop'] });
  t.match(await ask(ME, { headers: { 'x-person': 'ada' } }), {
    json: { role: 'editor', projects: ['shop'], sees_content: true },
  });
  t.equal((await ask('/api/v1/projects/shop/keys', { headers: { 'x-person': 'stranger' } })).status, 404);
  t.equal((await ask(ME)).status, 401);
  t.equal((await ask(ME, { headers: { 'x-person': '' } })).status, 401);
  const key = { method: 'POST', body: {}, headers: { 'x-person': 'ada', ...own } };
  t.equal((await ask('/api/v1/projects/shop/keys', key)).status, 201, 'the origin of public_url is the own one');
  t.equal(
    (await ask('/api/v1/projects/shop/keys', { ...key, headers: { ...key.headers, origin: 'https://127.0.0.1' } }))
      .status,
    403,
  );
  t.equal((await ask(ME, { headers: { 'x-person': 'ada', 'sec-fetch-site': 'cross-site' } })).status, 403);
  const secure = headers.cookie.replace(/^sluice_\d+/u, '__Host-sluice');
  t.match(
    await ask(ME, { headers: { cookie: secure } }),
    { status: 200, json: { by: 'cookie', name: 'ada' } },
    'links work beside it',
  );
  t.notOk(daemon.log.some(({ message }) => /not trusted/u.test(message)));
});

t.test('S12: the header of another address is ignored and logged once', async (t) => {
  const { ask, daemon } = await startConsole(t, { options: 'auth: { mode: proxy, proxy: { trusted: [10.0.0.0/8] } }' });
  for (let time = 0; time < 2; time++)
    t.equal((await ask(ME, { headers: { 'x-forwarded-user': 'admin' } })).status, 401);
  t.match(
    daemon.log.filter(({ message }) => /not trusted/u.test(message)),
    { length: 1 },
  );
});

t.test('without a login, and without content', async (t) => {
  const { ask, origin } = await startConsole(t, {
    options: 'content: false, auth: { mode: none, anonymous_role: admin }',
  });
  t.match(await ask(ME), {
    status: 200,
    json: { by: 'none', id: null, role: 'admin', projects: ['blog', 'shop'], sees_content: false },
  });
  t.equal((await ask(ME, { headers: { 'sec-fetch-site': 'cross-site' } })).status, 403, 'another site has no rights');
  const post = (headers: Record<string, string>) =>
    ask('/api/v1/projects', { method: 'POST', headers, body: { name: 'new' } });
  t.equal((await post({})).status, 403);
  t.equal((await post({ origin: 'http://127.0.0.1:1' })).status, 403);
  t.equal((await post({ origin })).status, 201);
});

t.test('S9: over TLS the cookie is for this host only', async (t) => {
  const tls = `tls: { cert_file: "${TLS_FOLDER}/server.pem", key_file: "${TLS_FOLDER}/server-key.pem" }`;
  const { port, people } = await startConsole(t, { options: tls, projects: [] });
  const url = `https://localhost:${port}`;
  const link = await makeLink(people, { name: 'ada', role: 'admin' }, url);
  const cookies = await new Promise<readonly string[] | undefined>((resolve, reject) => {
    const headers = { origin: url, 'content-type': 'application/json' };
    const sent = request(`${url}/api/v1/session`, { method: 'POST', headers, ...trust(), agent: false }, (answer) => {
      answer.resume().on('end', () => resolve(answer.headers['set-cookie']));
    });
    sent.on('error', reject).end(JSON.stringify({ link: new URL(link).hash.slice(1) }));
  });
  t.match(cookies, [/^__Host-sluice=[A-Za-z0-9_-]{43}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict; Secure$/u]);
});

t.test('the options that the schema admits and the console refuses', async (t) => {
  const defaults = {
    ...{
      endpoint: '127.0.0.1:4319',
      public_url: '',
      allowed_hosts: [],
      ui: true,
      tempo: true,
      jaeger: true,
      content: true,
    },
    auth: {
      mode: 'link',
      session_lifetime: 1,
      anonymous_role: 'viewer',
      proxy: { header: 'X', trusted: [], role: 'viewer' },
    },
    ...{ query: { timeout: 1, connections: 1, url: '' }, max_connections: 1 },
  } as const satisfies ConsoleOptions;
  const place = { name: 'extensions.console', resolvePath: (path: string) => path, now: () => 0 };
  const faultsOf = (options: Partial<ConsoleOptions>) => checkConsole({ ...defaults, ...options }, place);
  t.same(faultsOf({}), []);
  t.equal(CONSOLE_SCHEMA.properties.endpoint.default, defaults.endpoint);
  const none = { ...defaults.auth, mode: 'none' as const };
  for (const endpoint of ['127.0.0.1:1', 'localhost:1', '[::1]:1', 'unix:/tmp/s', '127.9.9.9:1'])
    t.same(faultsOf({ endpoint, auth: none }), [], endpoint);
  for (const endpoint of ['0.0.0.0:1', ':1', '[::]:1', '10.0.0.1:1', 'localhost.example:1'])
    t.match(faultsOf({ endpoint, auth: none })[0], { severity: 'error', option: ['auth', 'mode'] }, endpoint);
  t.match(faultsOf({ endpoint: '0.0.0.0:1' }), [{ severity: 'warning', option: ['endpoint'] }]);
  t.same(faultsOf({ endpoint: '0.0.0.0:1', public_url: 'https://x.example' }), []);
  for (const url of ['https://x.example/', 'https://x.example/base', 'https://a:b@x.example', 'https://x.example?y'])
    t.match(faultsOf({ public_url: url }), [{ severity: 'error', option: ['public_url'] }], url);
  const reading = (url: string) => faultsOf({ query: { ...defaults.query, url } });
  t.same(reading('postgres://reader@db/x'), []);
  for (const url of ['mysql://db/x', 'postgres://db:99999/x', 'postgres://db/x?sslmode=verify'])
    t.match(reading(url), [{ severity: 'error', option: ['query', 'url'] }], url);
  const trusting = (range: string) => ({
    auth: { ...defaults.auth, proxy: { ...defaults.auth.proxy, trusted: [range] } },
  });
  for (const range of ['10.0.0.0/8', '::1', 'fd00::/8']) t.same(faultsOf(trusting(range)), []);
  for (const range of ['10.0.0.0/33', 'host', '::1/129', '10.0.0/8'])
    t.match(faultsOf(trusting(range)), [{ severity: 'error' }], range);
});
