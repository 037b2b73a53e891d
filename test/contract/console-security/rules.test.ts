/** The security rules of the console that hold for all routes: names, sites, logins, credentials, answers, limits. */
import { connect, type Socket } from 'node:net';
import t from 'tap';
import { waitFor } from '../../../src/extensions/postgres/embedded/wait.ts';
import { createApiKey } from '../../../src/pdata/api-key.ts';
import { connectTo } from '../../support/connection.ts';
import { type Answer, type Ask, startConsole } from '../../support/console.ts';
import { send } from '../../support/otlp-client.ts';
import { PATIENCE_MS } from '../../support/patience.ts';

const SESSION = '/api/v1/session';
const ME = '/api/v1/me';
const MAX_CONNECTIONS = 64;

t.test('the rules of the console', async (t) => {
  const console = await startConsole(t, {
    options: `allowed_hosts: [Sluice.internal], max_connections: ${MAX_CONNECTIONS}, query: { connections: 8, timeout: 60s }`,
  });
  const { ask, origin, people, database, port } = console;
  const admin = await console.logIn({ name: 'admin', role: 'admin' });
  const viewer = await console.logIn({ name: 'viewer', projects: ['shop'] });
  const withHost = (host: string): Promise<Answer> => ask(ME, { headers: { ...viewer.headers, host } });
  const logIn = (link: string, options: Ask = {}): Promise<Answer> =>
    ask(SESSION, { method: 'POST', headers: { origin }, body: { link }, ...options });
  const newLink = async (person: string): Promise<string> => {
    const answer = await ask(`/api/v1/people/${person}/link`, { method: 'POST', headers: admin.headers, body: {} });
    return new URL(answer.json.link).hash.slice(1);
  };
  /** The whole answer to bytes that no HTTP client would send. */
  const raw = (text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      const socket = connect(port, '127.0.0.1', () => socket.write(text));
      socket.on('data', (chunk) => chunks.push(chunk));
      socket.on('error', reject);
      socket.on('close', () => resolve(Buffer.concat(chunks).toString('latin1')));
    });

  t.test('S1, S2: the request must name the console, whatever the port', async (t) => {
    for (const host of [
      'localhost',
      'LOCALHOST:1',
      'a.localhost:80',
      '127.0.0.1',
      '[::1]:4319',
      '10.1.2.3:99',
      'sluice.internal',
      'SLUICE.internal.:8',
    ])
      t.equal((await withHost(host)).status, 200, host);
    for (const host of [
      'attacker.example',
      'localhost.attacker.example',
      'xlocalhost',
      'sluice.internal.example',
      '127.0.0.1.nip.io',
      '0x7f.1.evil',
      'a b',
      '[',
    ])
      t.match(await withHost(host), { status: 421, json: { error: { hint: /allowed_hosts/u } } }, host);
    t.match(await ask('/', { headers: { host: 'attacker.example' } }), { status: 421 }, 'the page too');
    t.match(await raw('GET / HTTP/1.1\r\nConnection: close\r\n\r\n'), /^HTTP\/1\.1 400 /u, 'without Host');
    const twice = 'GET / HTTP/1.1\r\nHost: localhost\r\nHost: attacker.example\r\nConnection: close\r\n\r\n';
    t.match(await raw(twice), /^HTTP\/1\.1 400 /u, 'with two');
    const absolute = (target: string, host = 'Host: localhost\r\n'): Promise<string> =>
      raw(`GET ${target} HTTP/1.1\r\n${host}Connection: close\r\n\r\n`);
    t.match(await absolute('http://attacker.example/'), /^HTTP\/1\.1 421 /u, 'another name in the target');
    t.match(await absolute('http://localhost@attacker.example/'), /^HTTP\/1\.1 400 /u, 'a user in the target');
    t.match(await absolute('http://localhost/', ''), /^HTTP\/1\.1 400 /u, 'a target with a name, without Host');
    t.match(await absolute('http://sluice.internal:8'), /^HTTP\/1\.1 200 /u, 'the name in the target');
    t.match(await absolute('http://localhost/', 'Host: attacker.example\r\n'), /^HTTP\/1\.1 200 /u, 'not in Host');
  });

  t.test('S3: a change needs the own origin; a program with a token and without a cookie needs none', async (t) => {
    const token = await console.token('shop');
    const create = (headers: Ask['headers']): Promise<Answer> =>
      ask('/api/v1/projects', { method: 'POST', headers: headers ?? {}, body: { name: 'new' } });
    for (const foreign of ['http://127.0.0.1', `https://127.0.0.1:${port}`, 'null', 'http://attacker.example', ''])
      t.match(await create({ ...admin.headers, origin: foreign }), {
        status: 403,
        json: { error: { code: 'cross_origin' } },
      });
    t.match(await create({ authorization: `Bearer ${token}`, cookie: admin.headers.cookie }), {
      status: 403,
      json: { error: { code: 'cross_origin' } },
    });
    t.match(await create({ authorization: `Bearer ${token}` }), {
      status: 403,
      json: { error: { code: 'forbidden' } },
    });
    t.equal((await create(admin.headers)).status, 201);
  });

  t.test('telemetry that is sent to the port of the console is referred to the receiver', async (t) => {
    for (const signal of ['traces', 'logs', 'metrics'])
      t.match(await ask(`/v1/${signal}`, { method: 'POST', headers: { authorization: 'Bearer slc_x' }, body: {} }), {
        status: 404,
        json: { error: { code: 'not_found', message: /receive/u, hint: /4318/u } },
      });
    t.match(await ask('/v1/profiles', { method: 'POST', body: {} }), { json: { error: { code: 'cross_origin' } } });
  });

  t.test('S4: another site cannot use the cookie for reading', async (t) => {
    const from = (site: string, more: Ask['headers'] = viewer.headers): Promise<Answer> =>
      ask(ME, { headers: { ...more, 'sec-fetch-site': site } });
    for (const site of ['cross-site', 'same-site', 'unknown']) t.equal((await from(site)).status, 403, site);
    for (const site of ['same-origin', 'none']) t.equal((await from(site)).status, 200, site);
    const token = await console.token('shop');
    t.equal(
      (await from('cross-site', { authorization: `Bearer ${token}` })).status,
      200,
      'a token is not sent by itself',
    );
  });

  t.test('S5: no CORS header, and preflights are refused', async (t) => {
    const preflight = { origin: 'http://attacker.example', 'access-control-request-method': 'POST' };
    for (const path of [ME, SESSION, '/', '/tempo/api/search']) {
      const answer = await ask(path, { method: 'OPTIONS', headers: preflight });
      t.equal(answer.status, 403, path);
      t.notOk(Object.keys(answer.headers).some((name) => name.startsWith('access-control')));
    }
  });

  t.test('S6: GET and HEAD change nothing', async (t) => {
    const link = await newLink(viewer.id);
    for (const method of ['GET', 'HEAD']) {
      t.equal((await ask(`${SESSION}?link=${link}`, { method, headers: viewer.headers })).status, 405);
      t.equal((await ask(`/login?link=${link}`, { method })).headers['set-cookie'], undefined);
    }
    t.equal((await logIn(link)).status, 201, 'the link is still unused');
    t.match(await ask(ME, { method: 'HEAD', headers: viewer.headers }), { status: 200, text: '' });
  });

  t.test('S7, S9: a link works once and only its hash is stored; each login has a new cookie', async (t) => {
    const link = await newLink(viewer.id);
    t.match(link, /^[A-Za-z0-9_-]{43}$/u);
    const stored = await database.query(
      'SELECT encode(hash, $1) AS hash, expires_at - created_at AS life FROM sluice.console_links',
      ['hex'],
    );
    t.notMatch(JSON.stringify(stored.rows), Buffer.from(link, 'base64url').toString('hex'));
    t.match(JSON.stringify(stored.rows), '"minutes":15');
    const [first, second] = await Promise.all([logIn(link), logIn(link)]);
    t.same([first.status, second.status].sort(), [201, 401]);
    const cookie = String((first.status === 201 ? first : second).headers['set-cookie']);
    t.match(
      cookie,
      new RegExp(`^sluice_${port}=[A-Za-z0-9_-]{43}; Path=/; Max-Age=2592000; HttpOnly; SameSite=Strict$`, 'u'),
    );
    const other = String((await logIn(await newLink(viewer.id))).headers['set-cookie']);
    t.not(cookie, other);
    t.equal((await ask(ME, { headers: { cookie: cookie.split(';')[0] ?? '' } })).status, 200);
    t.equal((await ask(ME, { headers: { cookie: `${(cookie.split(';')[0] ?? '').slice(0, -1)}` } })).status, 401);
  });

  t.test('S8: only an admin makes links', async (t) => {
    const path = `/api/v1/people/${viewer.id}/link`;
    t.equal((await ask(path, { method: 'POST', headers: { origin }, body: {} })).status, 401);
    t.equal((await ask(path, { method: 'POST', headers: viewer.headers, body: {} })).status, 403);
    t.equal((await ask(`/api/v1/people/none/link`, { method: 'POST', headers: admin.headers, body: {} })).status, 404);
  });

  t.test('S10: log-out and removal end sessions at once; idle and old ones have ended', async (t) => {
    const leaving = await console.logIn({ name: 'leaving' });
    const left = await ask(SESSION, { method: 'DELETE', headers: leaving.headers });
    t.match(left, { status: 204, headers: { 'set-cookie': [/^sluice_\d+=; Path=\/; Max-Age=0;/u] } });
    t.equal((await ask(ME, { headers: leaving.headers })).status, 401);
    const removed = await console.logIn({ name: 'removed' });
    t.equal((await ask(`/api/v1/people/${removed.id}`, { method: 'DELETE', headers: admin.headers })).status, 204);
    t.equal((await ask(ME, { headers: removed.headers })).status, 401);
    for (const [column, days] of [
      ['seen_at', 8],
      ['created_at', 31],
    ] as const) {
      const old = await console.logIn({ name: `old ${column}` });
      await database.query(
        `UPDATE sluice.console_sessions SET ${column} = now() - $2::int4 * interval '1 day' WHERE person = $1`,
        [old.id, days],
      );
      t.equal((await ask(ME, { headers: old.headers })).status, 401, column);
    }
    const list = await ask('/api/v1/people', { headers: admin.headers });
    t.ok(list.json.items.find(({ name }: { name: string }) => name === 'viewer').sessions.length > 1);
    await people.change(viewer.id, { role: 'editor' }, { id: null, name: 'a test' });
    t.match(await ask(ME, { headers: viewer.headers }), { json: { role: 'editor' } }, 'a new role applies at once');
    await people.change(viewer.id, { role: 'viewer' }, { id: null, name: 'a test' });
  });

  t.test('S10: the end of a session cuts its open streams', async (t) => {
    const leaving = await console.logIn({ name: 'streaming', projects: ['shop'] });
    const socket = connect(port, '127.0.0.1');
    t.teardown(() => socket.destroy());
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    const begun = new Promise<Buffer>((resolve) => socket.once('data', resolve));
    socket.write(
      `GET /api/v1/projects/shop/live HTTP/1.1\r\nHost: localhost\r\nCookie: ${leaving.headers.cookie}\r\n\r\n`,
    );
    t.match((await begun).toString(), /^HTTP\/1\.1 200 /u);
    t.equal((await ask(SESSION, { method: 'DELETE', headers: leaving.headers })).status, 204);
    await closed;
    t.pass('the stream has ended');
  });

  t.test('S13: ingest keys do not read, and read tokens do not write', async (t) => {
    const { text: key } = await console.administration.createKey('shop', null, null);
    for (const authorization of [
      `Bearer ${key}`,
      `Basic ${Buffer.from(`x:${key}`).toString('base64')}`,
      `Bearer ${createApiKey().text}`,
    ])
      t.match(await ask(ME, { headers: { authorization } }), {
        status: 401,
        json: { error: { message: /ingest key/u } },
      });
    const token = await console.token('shop');
    const sent = await send(console.daemon.url, { authorization: `Bearer ${token}`, body: '{"resourceSpans":[]}' });
    t.equal(sent.status, 401);
    t.match(
      await ask(ME, { headers: { ...viewer.headers, authorization: 'Bearer nonsense' } }),
      { status: 401, json: { error: { message: 'The read token is not valid.', hint: /^Make a read token/u } } },
      'a wrong token is not replaced by the cookie',
    );
  });

  t.test('S14: a read token by Bearer and Basic; it expires and is revoked', async (t) => {
    const token = await console.token('shop');
    const by = (authorization: string): Promise<Answer> => ask(ME, { headers: { authorization } });
    for (const authorization of [`Bearer ${token}`, `Basic ${Buffer.from(`grafana:${token}`).toString('base64')}`])
      t.match(await by(authorization), { status: 200, json: { by: 'token', projects: ['shop'], sees_content: false } });
    t.equal((await ask(`${ME}?token=${token}`)).status, 401, 'never in a URL');
    t.equal(
      (await by(`Bearer ${await console.token('shop', { expiresAt: new Date(Date.now() - 1000) })}`)).status,
      401,
    );
    t.match(await by(`Bearer ${await console.token('shop', { seesContent: true })}`), { json: { sees_content: true } });
    const [id = ''] = token.slice(4).split('_');
    t.equal(
      (await ask(`/api/v1/projects/shop/tokens/${id}`, { method: 'DELETE', headers: admin.headers })).status,
      204,
    );
    t.equal((await by(`Bearer ${token}`)).status, 401);
  });

  t.test(
    'S14, S24: keys and tokens are shown once; a person without content cannot make a token with content',
    async (t) => {
      const editor = await console.logIn({ name: 'editor', role: 'editor', projects: ['shop'], seesContent: false });
      const make = (path: string, body: unknown): Promise<Answer> =>
        ask(`/api/v1/projects/shop/${path}`, { method: 'POST', headers: editor.headers, body });
      t.match(await make('tokens', { sees_content: true }), { status: 403 });
      const token = await make('tokens', { label: 'grafana' });
      t.match(token, { status: 201, json: { token: /^slr_/u } });
      const key = await make('keys', { environment: 'production' });
      t.match(key, { status: 201, json: { key: /^slc_/u } });
      const lists = await Promise.all(
        ['tokens', 'keys'].map((path) => ask(`/api/v1/projects/shop/${path}`, { headers: editor.headers })),
      );
      const shown = lists.map(({ text }) => text).join('') + JSON.stringify(console.daemon.log);
      for (const secret of [token.json.token, key.json.key]) t.notMatch(shown, secret.slice(0, 30));
      t.match(lists[0]?.json.items.at(-1), { label: 'grafana', revocable: true });
      t.match(lists[0]?.json.items[0], { revocable: false });
      const foreign = await ask(`/api/v1/projects/shop/tokens/${lists[0]?.json.items[0].public_id}`, {
        method: 'DELETE',
        headers: editor.headers,
      });
      t.equal(foreign.status, 403, 'an editor revokes only their own');
    },
  );

  t.test('S15, S16: the headers of all kinds of answers', async (t) => {
    const answers: readonly (readonly [string, Answer])[] = [
      ['page', await ask('/')],
      ['page of a path', await ask('/p/shop/conversations/a.b%2Fc')],
      ['login', await ask('/login')],
      ['404', await ask('/api/v1/nothing')],
      ['missing file', await ask('/app-00000000.js')],
      ['405', await ask('/', { method: 'POST', headers: { origin } })],
      ['421', await ask('/', { headers: { host: 'attacker.example' } })],
      ['401', await ask(ME)],
      ['204', await ask(SESSION, { method: 'DELETE', headers: (await console.logIn({ name: 'gone' })).headers })],
    ];
    for (const [name, { headers, text }] of answers) {
      t.match(headers, SECURITY, name);
      t.equal(headers['server'] ?? headers['x-powered-by'], undefined);
      t.notMatch(text, /"version"/u, 'no version before the login');
    }
    t.same(
      answers.map(([, { status }]) => status),
      [200, 200, 200, 404, 404, 405, 421, 401, 204],
    );
    const { headers: admin } = await console.logIn({ name: 'methods', role: 'admin' });
    const allowed = async (path: string, method: string) => (await ask(path, { method, headers: admin })).headers.allow;
    t.same(
      await Promise.all([allowed('/', 'POST'), allowed('/api/v1/projects/shop/keys', 'PUT'), allowed(SESSION, 'GET')]),
      ['GET, HEAD', 'GET, HEAD, POST', 'POST, DELETE'],
      'the methods that a path has',
    );
    for (const [name, { headers }] of answers.slice(0, 3)) t.match(headers['content-type'], /^text\/html/u, name);
    for (const [name, { headers }] of answers.slice(3)) t.notMatch(String(headers['content-type']), /html/u, name);
    for (const [name, { headers }] of answers.slice(5)) t.equal(headers['cache-control'], 'no-store', name);
  });

  t.test('S17: no path of a request reaches the file system', async (t) => {
    for (const path of [
      '/../package.json',
      '/..%2fpackage.json',
      '/%2e%2e/package.json',
      '/index.html',
      '/.env',
      '//etc/passwd',
    ])
      t.notMatch((await ask(path)).text, /"name"|root:|DATABASE/u, path);
    t.equal((await ask('/package.json')).status, 404);
  });

  t.test('S20: a person without the right to content gets a message that says so', async (t) => {
    const blind = await console.logIn({ name: 'blind', seesContent: false });
    t.match(await ask(ME, { headers: blind.headers }), { json: { sees_content: false } });
  });

  t.test('S23: changes are in the audit, with the person', async (t) => {
    await ask('/api/v1/projects/shop/environments/production', {
      method: 'PUT',
      headers: admin.headers,
      body: { capture_content: false },
    });
    await ask('/api/v1/projects/shop', {
      method: 'PATCH',
      headers: admin.headers,
      body: { plan: 'free', monthly_spans: 5 },
    });
    const { rows } = await database.query(
      'SELECT person, actor, action, project, target, details FROM sluice.audit ORDER BY id DESC LIMIT 2',
    );
    t.match(rows, [
      {
        person: admin.id,
        actor: 'admin',
        action: 'project.plan',
        project: 'shop',
        details: { plan: 'free', monthly_spans: 5 },
      },
      { person: admin.id, action: 'environment.set', project: 'shop', target: 'production' },
    ]);
    t.match((await ask('/api/v1/projects/shop/environments', { headers: viewer.headers })).json, {
      items: [{ environment: 'production', capture_content: false }],
    });
  });

  t.test('faulty bodies are refused', async (t) => {
    const post = (body: unknown, headers: Ask['headers'] = {}): Promise<Answer> =>
      ask('/api/v1/projects', { method: 'POST', headers: { ...admin.headers, ...headers }, body });
    for (const body of [
      [],
      'x',
      null,
      { name: 5 },
      {},
      { name: '../x' },
      { name: 'ok', plan: 'gold' },
      { name: 'ok', plan: 'free' },
    ])
      t.match(await post(body), { status: 400, json: { error: { code: 'body_invalid' } } }, JSON.stringify(body));
    t.equal((await post({ name: 'typed' }, { 'content-type': 'text/plain' })).status, 400);
    const nested = (depth: number): object => JSON.parse(`${'{"a":'.repeat(depth)}"]}{["${'}'.repeat(depth)}`);
    for (const path of ['/api/v1/projects', '/mcp']) {
      const deep = await ask(path, { method: 'POST', headers: admin.headers, body: nested(3000) });
      t.match(deep, { status: 400, json: { error: { code: 'body_invalid', message: /100 levels/u } } }, path);
    }
    t.match(await post({ name: nested(99) }), { status: 400, json: { error: { message: /"name"/u } } });
    t.match(await post({ name: 'shop' }), { status: 409, json: { error: { code: 'exists' } } });
  });

  t.test(
    'a member that the body of a route does not have is refused: ignored, it would give more rights',
    async (t) => {
      const project = '/api/v1/projects/shop';
      for (const [method, path, body, message] of [
        ['POST', '/api/v1/projects', { name: 'misspelt', monthly_span: 5 }, /"monthly_span"/u],
        ['PATCH', project, { plan: 'paid', x: 1 }, /"x"/u],
        ['POST', `${project}/keys`, { enviroment: 'production' }, /"enviroment"/u],
        ['POST', `${project}/tokens`, { expires: '2099-01-01T00:00:00Z' }, /"expires"/u],
        ['POST', '/api/v1/people', { name: 'misspelt', project: ['shop'] }, /"project"/u],
        ['PATCH', `/api/v1/people/${viewer.id}`, { name: 'other' }, /"name"/u],
        ['PUT', `${project}/environments/production`, { capture_content: true, capture: false }, /"capture"/u],
      ] as const)
        t.match(
          await ask(path, { method, headers: admin.headers, body }),
          { status: 400, json: { error: { code: 'body_invalid', message } } },
          `${method} ${path}`,
        );
      const { json } = await ask(`${project}/keys`, {
        method: 'POST',
        headers: admin.headers,
        body: { enviroment: 'production' },
      });
      t.match(json.error.hint, '"environment"');
    },
  );

  t.test('U+0000, which PostgreSQL does not take, is refused wherever a text can be', async (t) => {
    const [code, project] = ['\0', '/api/v1/projects/shop'];
    const [one, other] = ['0'.repeat(32), '0'.repeat(16)];
    for (const [method, path] of [
      ['GET', '/api/v1/projects/%00/traces'],
      ['GET', `${project}/traces/${one}/spans/${other}/content/%00`],
      ['GET', `${project}/conversations/a%00/turns`],
      ['PUT', `${project}/environments/%00`],
      ['DELETE', `${project}/keys/%00`],
      ['DELETE', `${project}/tokens/%00`],
      ['PATCH', '/api/v1/people/%00'],
      ['DELETE', '/api/v1/people/%00'],
      ['POST', '/api/v1/people/%00/link'],
      ['GET', '/jaeger/api/services/%00/operations?project=shop'],
    ] as const) {
      const body = method === 'PUT' ? { body: { capture_content: true } } : method === 'PATCH' ? { body: {} } : {};
      t.match(await ask(path, { method, headers: admin.headers, ...body }), { status: 404 }, `${method} ${path}`);
    }
    for (const path of [
      `${project}/traces?q=%00`,
      `${project}/traces?env=%00`,
      `${project}/metrics/series?name=%00`,
      `${project}/metrics/series?name=x&by=attr.%00`,
      '/tempo/api/search?project=%00',
      '/tempo/api/search?project=shop&q=%00',
      '/tempo/api/v2/search/tag/%2500/values?project=shop',
      '/tempo/api/search/tag/a%2500/values?project=shop',
      '/jaeger/api/traces?project=shop&operation=%00',
      '/jaeger/api/traces?project=shop&service=%00',
      '/jaeger/api/traces?project=shop&tag=a:%00',
      `/jaeger/api/traces?project=shop&tags=${encodeURIComponent(JSON.stringify({ a: code }))}`,
      `/jaeger/api/traces?project=shop&tags=${encodeURIComponent(JSON.stringify({ [code]: 'a' }))}`,
    ])
      t.match(await ask(path, { headers: admin.headers }), { status: 400, text: /U\+0000/u }, path);
    for (const path of ['/?project=%00', '/p/shop/traces?env=%00'])
      t.match(await ask(path), { status: 200, text: /<title>/u }, `${path}: the page shows what it cannot use`);
    // PostgreSQL does not take half of a surrogate pair either.
    for (const text of [code, '\ud800', 'a\udc00'])
      for (const [path, body] of [
        ['/api/v1/people', { name: text }],
        ['/api/v1/people', { name: 'nul', projects: [text] }],
        ['/api/v1/projects', { name: text }],
        [`${project}/keys`, { label: text }],
        [`${project}/keys`, { environment: text }],
        [`${project}/tokens`, { label: text }],
      ] as const)
        t.match(await ask(path, { method: 'POST', headers: admin.headers, body }), { status: 400 }, path);
    t.match(await logIn(code), { status: 400 });
    t.notOk(console.daemon.log.find(({ message }) => message === 'a request to the console failed'));
  });

  t.test('S25: a request beyond a limit is refused', async (t) => {
    const long = await ask(ME, { headers: { ...viewer.headers, 'x-filler': 'x'.repeat(17_000) } }).catch(() => null);
    t.equal(long?.status, 431);
    t.match(long?.headers, SECURITY);
    t.equal((await ask(`${ME}?${'x'.repeat(8200)}`, { headers: viewer.headers })).status, 414);
    t.equal(
      (await ask('/api/v1/projects', { method: 'POST', headers: admin.headers, body: { name: 'x'.repeat(70_000) } }))
        .status,
      413,
    );
    t.match(await raw('NONSENSE\r\n\r\n'), /^HTTP\/1\.1 400 Bad Request\r\n(?:.|[\r\n])*Content-Security-Policy: /u);
  });

  t.test('S25, S26: four queries at once for a person, and a client that leaves ends its query', async (t) => {
    const lock = await connectTo(t, console.databaseUrl);
    await lock.query('BEGIN; LOCK TABLE sluice.traces IN ACCESS EXCLUSIVE MODE');
    const waiting = async (): Promise<number> => {
      // A transaction sees the state of its first look, so the holder of the lock cannot ask.
      const { rows } = await database.query(
        "SELECT count(*)::int4 AS n FROM pg_stat_activity WHERE application_name = 'sluice-console' AND wait_event_type = 'Lock' AND datname = current_database()",
      );
      return Number(rows[0]?.['n']);
    };
    const becomes = (count: number) =>
      waitFor(async () => ((await waiting()) === count ? true : undefined), { timeoutMs: PATIENCE_MS });
    const leave = Array.from({ length: 4 }, () =>
      openRequest(port, '/api/v1/projects/shop/traces', viewer.headers.cookie),
    );
    t.ok(await becomes(4));
    const fifth = await ask('/api/v1/projects/shop/traces', { headers: viewer.headers });
    t.match(fifth, { status: 429, json: { error: { code: 'too_many' } }, headers: { 'retry-after': '1' } });
    for (const cut of leave) cut();
    t.ok(await becomes(0));
    await lock.query('ROLLBACK');
    t.equal((await ask('/api/v1/projects/shop/traces', { headers: viewer.headers })).status, 200);
  });

  t.test('S25: a connection above the limit is closed, of the address with the most', async (t) => {
    const open = new Set<Socket>();
    t.teardown(() => {
      for (const socket of open) socket.destroy();
    });
    const closed = new Promise<void>((resolve) => {
      for (let number = 0; number < MAX_CONNECTIONS; number++) {
        const socket = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.2' });
        open.add(socket);
        socket.on('error', () => undefined).once('close', () => resolve());
      }
    });
    // The other connections of this test use one place at least.
    await closed;
    t.equal((await ask(ME, { headers: viewer.headers })).status, 200, 'an earlier connection is served');
    t.match(await raw('GET /health HTTP/1.0\r\n\r\n'), /^HTTP\/1\.1 \d/u, 'a new connection of another address');
  });

  t.test('S11: one answer for wrong links, and a pause after ten', async (t) => {
    const link = await newLink(viewer.id);
    t.equal((await logIn(link)).status, 201);
    const wrong = [await logIn(link), await logIn('x'.repeat(43)), await logIn(''), await logIn('short')];
    t.equal(new Set(wrong.map(({ status, text }) => `${status} ${text}`)).size, 1);
    t.equal(wrong[0]?.status, 401);
    // Earlier tests have failed once or twice.
    const later: number[] = [];
    for (let attempt = 0; attempt < 10; attempt++) later.push((await logIn('x'.repeat(43))).status);
    t.equal(later.at(-1), 429);
    const valid = await newLink(viewer.id);
    t.equal((await logIn(valid)).status, 429);
  });
});

const SECURITY = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': /camera=\(\), /u,
};

/** Sends a request and returns the function that cuts its connection. */
function openRequest(port: number, path: string, cookie: string): () => void {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nCookie: ${cookie}\r\n\r\n`);
  return () => socket.destroy();
}
