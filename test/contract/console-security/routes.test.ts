/** Every route of the console for every kind of caller: role, project, read token, host and origin. */
import t from 'tap';
import { ROLES } from '../../../src/component/capabilities/people.ts';
import { ROUTES } from '../../../src/extensions/console/api/routes.ts';
import type { Route } from '../../../src/extensions/console/server/route.ts';
import { createApiKey } from '../../../src/pdata/api-key.ts';
import { type Ask, startConsole, type TestConsole } from '../../support/console.ts';
import { send } from '../../support/otlp-client.ts';
import { aSpan, aTraceRequest } from '../../support/payloads.ts';

const ID = 'ab'.repeat(16);

/** A text of the stored span. */
const SECRET = 'the-secret-of-blog';
const STORED = { conversation: SECRET, field: 'input_content' };

/** A path of the route. The things that it names do not exist, except for the project. */
const pathOf = ({ path }: Route, project: string, named: Readonly<Record<string, string>> = {}): string =>
  path
    .replace('{project}', project)
    .replace('{trace}', ID)
    .replace('{span}', ID.slice(16))
    .replaceAll(/\{([a-z_]+)\}/gu, (_, name: string) => named[name] ?? 'none');

/** Stores a model call whose texts all hold the secret. */
async function store({ administration, daemon }: TestConsole, project: string, trace: string): Promise<void> {
  const { text: key } = await administration.createKey(project, null, null);
  const attributes = {
    'gen_ai.operation.name': 'chat',
    'gen_ai.request.model': SECRET,
    'gen_ai.conversation.id': SECRET,
    'user.id': SECRET,
    'gen_ai.input.messages': JSON.stringify([{ role: 'user', parts: [{ type: 'text', content: SECRET }] }]),
  };
  const span = aSpan({ traceId: trace, spanId: trace.slice(16), name: SECRET, attributes });
  const body = JSON.stringify(aTraceRequest([span], { 'service.name': SECRET }));
  const answer = await send(daemon.url, { body, authorization: `Bearer ${key}` });
  if (answer.status !== 200) throw new Error(`the span was not stored: ${answer.status}`);
}

const nameOf = ({ method, path }: Route): string => `${method} ${path}`;
const bodyOf = ({ method }: Route): Pick<Ask, 'body'> => (method === 'GET' || method === 'DELETE' ? {} : { body: {} });
/** The caller passed all checks, and the handler answered. */
const passed = (status: number): boolean => ![401, 403, 405, 421, 429].includes(status) && status < 500;
/** The answer to a project that the caller may not see. Routes whose things do not exist give the same. */
const HIDDEN = { error: { code: 'not_found', message: 'Not found' } };

t.test('every route checks its callers', async (t) => {
  const console = await startConsole(t, {
    options: 'query: { connections: 8 }',
    processors: 'auth, environment, normalization',
  });
  const { ask } = console;
  const people = {
    viewer: await console.logIn({ name: 'viewer', role: 'viewer', projects: ['shop'] }),
    'viewer without content': await console.logIn({
      name: 'blind',
      role: 'viewer',
      projects: ['shop'],
      seesContent: false,
    }),
    editor: await console.logIn({ name: 'editor', role: 'editor', projects: ['shop'] }),
    'other editor': await console.logIn({ name: 'other', role: 'editor', projects: ['blog'] }),
    admin: await console.logIn({ name: 'admin', role: 'admin' }),
  };
  const token = await console.token('shop');
  const withToken = { authorization: `Bearer ${token}` };
  const routes = ROUTES.filter(({ role }) => role !== 'anyone');
  // Each log-out ends a session, so it is tested elsewhere.
  const tried = routes.filter((route) => nameOf(route) !== 'DELETE /api/v1/session');
  t.ok(tried.length > 15);

  t.test('every route refuses a request without a login', async (t) => {
    for (const route of routes) {
      const answer = await ask(pathOf(route, 'shop'), {
        method: route.method,
        headers: { origin: console.origin },
        ...bodyOf(route),
      });
      t.match(answer, { status: 401, json: { error: { code: 'login_required' } } }, nameOf(route));
    }
  });

  t.test('an ingest key is refused', async (t) => {
    const headers = { authorization: `Bearer ${createApiKey().text}` };
    for (const route of routes) {
      const answer = await ask(pathOf(route, 'shop'), { method: route.method, headers, ...bodyOf(route) });
      t.match(answer, { status: 401, json: { error: { message: /ingest key/u } } }, nameOf(route));
    }
  });

  t.test('the least role of each route', async (t) => {
    const callers = Object.entries(people).filter(([name]) => name !== 'other editor');
    const check = async (route: Route, name: string, headers: Ask['headers'] = {}): Promise<void> => {
      const answer = await ask(pathOf(route, 'shop'), { method: route.method, headers, ...bodyOf(route) });
      const rank = ROLES.indexOf((name.split(' ')[0] ?? '') as never);
      const about = `${nameOf(route)} as ${name}: ${answer.status} ${answer.text.slice(0, 200)}`;
      if (rank >= ROLES.indexOf(route.role as never)) t.ok(passed(answer.status), about);
      else t.match(answer, { status: 403, json: { error: { code: 'forbidden' } } }, about);
    };
    for (const route of tried) await Promise.all(callers.map(([name, { headers }]) => check(route, name, headers)));
  });

  t.test('a project of others is answered like one that does not exist', async (t) => {
    const tries = [
      ['viewer', 'blog'],
      ['viewer', 'nothing'],
      ['editor', 'blog'],
      ['editor', 'nothing'],
      ['other editor', 'shop'],
      ['admin', 'nothing'],
    ] as const;
    for (const route of tried.filter(({ path }) => path.includes('{project}'))) {
      const answers = await Promise.all(
        tries.map(([name, project]) =>
          ask(pathOf(route, project), { method: route.method, headers: people[name].headers, ...bodyOf(route) }),
        ),
      );
      for (const answer of answers) t.match(answer, { status: 404, json: HIDDEN }, nameOf(route));
    }
  });

  t.test('what is stored in one project is not found through another', async (t) => {
    await store(console, 'blog', ID);
    const paths = tried.filter(({ method, path }) => method === 'GET' && /\{(?:trace|conversation)\}/u.test(path));
    t.ok(paths.length > 8);
    for (const route of paths) {
      const owner = await ask(pathOf(route, 'blog', STORED), { headers: people['other editor'].headers });
      t.equal(owner.status, 200, `${nameOf(route)} of its owner: ${owner.text.slice(0, 200)}`);
      // Without a project in the path, the rights of the caller name the projects.
      const { headers } = route.path.includes('{project}') ? people.admin : people.viewer;
      const answer = await ask(pathOf(route, 'shop', STORED), { headers });
      t.equal(answer.status, 404, nameOf(route));
      t.notMatch(answer.text, SECRET, nameOf(route));
    }
    const path = `/api/v1/projects/shop/traces/${ID}`;
    t.match(await ask(path, { method: 'DELETE', headers: people.admin.headers }), { status: 404 });
    const lists = tried.filter(({ method, path }) => method === 'GET' && /^[^{]*\{project\}[^{]*$/u.test(path));
    t.ok(lists.length > 8);
    for (const route of lists.filter(({ path }) => !path.endsWith('/live')))
      t.notMatch((await ask(pathOf(route, 'shop'), { headers: people.admin.headers })).text, SECRET, nameOf(route));
  });

  t.test('a read token only reads, and only its project', async (t) => {
    for (const route of tried) {
      const answer = await ask(pathOf(route, 'shop'), { method: route.method, headers: withToken, ...bodyOf(route) });
      if (route.readToken)
        t.ok(passed(answer.status), `${nameOf(route)}: ${answer.status} ${answer.text.slice(0, 200)}`);
      else t.match(answer, { status: 403, json: { error: { code: 'forbidden' } } }, nameOf(route));
      if (!route.path.includes('{project}') || !route.readToken) continue;
      const foreign = await ask(pathOf(route, 'blog'), { method: route.method, headers: withToken, ...bodyOf(route) });
      t.match(foreign, { status: 404, json: HIDDEN }, `${nameOf(route)}, another project`);
    }
  });

  t.test('the host and the site of the request', async (t) => {
    const { headers } = people.admin;
    for (const route of ROUTES) {
      const path = pathOf(route, 'shop');
      const rebound = await ask(path, {
        method: route.method,
        headers: { ...headers, host: 'attacker.example' },
        ...bodyOf(route),
      });
      t.match(
        rebound,
        { status: 421, json: { error: { code: 'host_not_allowed', hint: /allowed_hosts/u } } },
        nameOf(route),
      );
      const site = { ...headers, 'sec-fetch-site': 'same-site' };
      const riding = await ask(path, { method: route.method, headers: site, ...bodyOf(route) });
      t.match(riding, { status: 403, json: { error: { code: 'cross_origin' } } }, nameOf(route));
      if (!route.changes) continue;
      for (const origin of ['http://127.0.0.1:3000', 'null', undefined]) {
        const foreign = { cookie: headers.cookie, ...(origin === undefined ? {} : { origin }) };
        const answer = await ask(path, { method: route.method, headers: foreign, ...bodyOf(route) });
        t.match(answer, { status: 403, json: { error: { code: 'cross_origin' } } }, `${nameOf(route)} from ${origin}`);
      }
    }
  });

  t.test('every answer has the security headers', async (t) => {
    const { headers } = people.admin;
    for (const route of tried.filter(({ method }) => method === 'GET')) {
      const answer = await ask(pathOf(route, 'shop'), { headers });
      t.match(answer.headers, SECURITY, nameOf(route));
      t.equal(answer.headers['cache-control'], 'no-store');
      t.match(String(answer.headers['content-type']), API_TYPES, nameOf(route));
    }
  });
});

const SECURITY = {
  'content-security-policy': /default-src 'none'.*frame-ancestors 'none'.*trusted-types 'none'/u,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': /camera=\(\)/u,
};
const API_TYPES =
  /^(?:application\/json|application\/x-ndjson|text\/event-stream|text\/plain|application\/(?:x-)?protobuf|text\/csv)/u;
