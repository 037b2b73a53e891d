/** docs/openapi-console.yaml has the routes of the console, and describes what a running daemon answers. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import t, { type Test } from 'tap';
import { parse } from 'yaml';
import { ROUTES } from '../../src/extensions/console/api/routes.ts';
import { BASE_NS, hex, insertRows, logRow, metricRow, spanRow } from '../support/console-reading.ts';
import { startConsole } from '../support/console.ts';
import { read } from './markdown.ts';

t.setTimeout(300_000);

interface Parameter {
  readonly name: string;
  readonly in: string;
}
interface Operation {
  readonly requestBody?: {
    readonly content: {
      readonly 'application/json': { readonly schema: { readonly properties?: Readonly<Record<string, object>> } };
    };
  };
  readonly parameters?: readonly (Parameter | { readonly $ref: string })[];
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: object }>> }>
  >;
}
const api = parse(read('docs/openapi-console.yaml')) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly parameters: Readonly<Record<string, Parameter>> };
};
const ajv = new Ajv2020({ strict: false, allErrors: true });
ajv.addSchema(api, 'api');

t.test('it has the routes of the API and no others', async (t) => {
  const routes = ROUTES.filter(({ path }) => path.startsWith('/api/v1/') || path === '/mcp').map(
    ({ method, path }) => `${method} ${path}`,
  );
  const described = Object.entries(api.paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
  );
  t.same(described.sort(), routes.sort());
});

t.test('the routes of readers know the parameters that it describes', async (t) => {
  const resolved = (each: Parameter | { readonly $ref: string }): Parameter | undefined =>
    '$ref' in each ? api.components.parameters[each.$ref.split('/').at(-1) ?? ''] : each;
  for (const { path, query } of ROUTES) {
    if (query === undefined) continue;
    const described = (api.paths[path]?.['get']?.parameters ?? []).map(resolved).filter((each) => each?.in === 'query');
    t.same([...query].sort(), described.map((each) => each?.name).sort(), path);
  }
  const unchecked = ROUTES.filter(
    ({ path, readToken, query }) => path.startsWith('/api/v1/') && readToken && query === undefined,
  );
  t.same(unchecked, []);
});

t.test('the routes that change something know the members of bodies that it describes', async (t) => {
  for (const { method, path, body, changes } of ROUTES) {
    if (!changes) continue;
    const described = api.paths[path]?.[method.toLowerCase()]?.requestBody?.content['application/json'].schema;
    t.same([...(body ?? [])].sort(), Object.keys(described?.properties ?? {}).sort(), `${method} ${path}`);
  }
});

const scene = await startConsole(t);
const project = 'shop';
const call = {
  category: 'model_call',
  provider: 'openai',
  response_model: 'm',
  usage_scope: 'own',
  total_tokens: 3,
  total_cost: '0.5',
};
const trace = hex(1, 16).slice(2);
const root = spanRow({
  trace: 1,
  project,
  name: 'agent',
  conversation_id: 'c 1',
  user_id: 'u',
  service_name: 'web',
  error_type: 'e',
});
const child = spanRow({
  ...call,
  trace: 1,
  at: 1,
  project,
  conversation_id: 'c 1',
  input_content: 'hello',
  latency_ms: 4,
  links: [],
  events: [{}],
});
const tool = spanRow({ trace: 1, at: 2, project, category: 'tool_step', tool_name: 'search' });
await insertRows(scene.database, 'spans', [root, child, tool]);
await insertRows(scene.database, 'logs', [
  logRow({ project, trace_id: hex(1, 16), body: { a: 1 }, severity_number: 9 }),
]);
await insertRows(scene.database, 'metric_points', [
  metricRow({ project, name: 'requests', type: 'sum', value_int: 1, attributes: { a: 1 } }),
  metricRow({ project, name: 'requests', type: 'sum', value_int: 2, at: 1 }),
]);
await insertRows(scene.database, 'traces', [
  {
    trace_id: hex(1, 16),
    project,
    environment: 'default',
    first_ns: String(BASE_NS),
    last_ns: String(BASE_NS + 2_000_000n),
    created_at: 'now',
  },
  { trace_id: hex(2, 16), project, environment: 'default', created_at: 'now' },
]);
const span = (child as { readonly span_id: string }).span_id.slice(2);

/** Parameters of the path and the query for each path. */
const VALUES: Readonly<Record<string, string>> = {
  project,
  trace,
  span,
  field: 'input_content',
  conversation: 'c%201',
};
const range = `from=${BASE_NS - 1n}&to=${BASE_NS + 3_600_000_000_000n}`;
const QUERIES: Readonly<Record<string, readonly string[]>> = {
  traces: ['', 'limit=1&q=model:m', `${range}&env=default`],
  histogram: [range, 'by=error'],
  top: [`${range}&by=cost`, `${range}&by=tokens`, `${range}&by=duration`, `${range}&by=errors`],
  usage: [range, `${range}&group=user&interval=1m&q=provider:openai`, `${range}&group=none`, `${range}&group=service`],
  tools: ['', `${range}&q=tool:search`],
  facets: ['', 'fields=kind,status&q=error'],
  series: [`name=requests&${range}`],
  export: ['what=traces', 'what=spans&as=csv', 'what=logs&as=otlp'],
};

const pathOf = (path: string): string => path.replaceAll(/\{([a-z]+)\}/gu, (_, name: string) => VALUES[name] ?? 'none');

t.test('answers have the described shape, with the right to content and without', async (t) => {
  for (const seesContent of [true, false]) {
    const authorization = `Bearer ${await scene.token(project, { seesContent })}`;
    for (const [path, { get }] of Object.entries(api.paths)) {
      const content = get?.responses['200']?.content;
      if (content === undefined || content['text/event-stream'] !== undefined) continue;
      for (const query of QUERIES[path.split('/').at(-1) ?? ''] ?? ['']) {
        const url = `${pathOf(path)}${query === '' ? '' : `?${query}`}`;
        const answer = await scene.ask(url, { headers: { authorization } });
        if (!seesContent && path.endsWith('{field}')) {
          t.equal(answer.status, 403, url);
          continue;
        }
        t.equal(answer.status, 200, `${url}: ${answer.text.slice(0, 300)}`);
        const type = String(answer.headers['content-type']).split(';')[0] ?? '';
        t.ok(content[type], `${url} is ${type}`);
        const schema = content['application/json']?.schema as { readonly $ref?: string } | undefined;
        if (schema?.$ref !== undefined) check(t, url, schema.$ref, answer.json);
        if (!seesContent) t.notMatch(answer.text, /hello|"a":1/u, url);
      }
    }
  }
});

t.test('a parameter that a path does not have is refused', async (t) => {
  const headers = { authorization: `Bearer ${await scene.token(project, { seesContent: true })}` };
  const refused = async (path: string, message: string, hint?: string): Promise<void> => {
    const { status, json } = await scene.ask(`/api/v1/projects/shop${path}`, { headers });
    t.same(
      [status, json.error.code, json.error.message, json.error.hint],
      [400, 'request_invalid', message, hint],
      path,
    );
  };
  await refused('/traces?form=-1h', 'There is no parameter "form" here.', 'did you mean "from"?');
  await refused('/traces?Q=error', 'There is no parameter "Q" here.', 'did you mean "q"?');
  await refused(
    '/traces/top?q=error',
    'There is no parameter "q" here.',
    'known parameters: env, from, to, by, limit, archived',
  );
  await refused('/prices?x=1', 'There is no parameter "x" here.', 'This path has no parameters.');
  await refused('/export?what=spans&env=a&env=b', 'The parameter "env" is given twice.');
  t.equal((await scene.ask('/tempo/api/search?unknown=1', { headers })).status, 200);
});

function check(t: Test, url: string, reference: string, value: unknown): void {
  const validate = ajv.getSchema(`api${reference}`);
  if (validate === undefined) throw new Error(`there is no ${reference}`);
  t.ok(
    validate(value),
    `${url}: ${JSON.stringify(validate.errors?.slice(0, 3))} in ${JSON.stringify(value).slice(0, 500)}`,
  );
}

t.test('the header of a trace of log records alone, the end of spans, and refusals', async (t) => {
  const headers = { authorization: `Bearer ${await scene.token(project, { seesContent: true })}` };
  const empty = await scene.ask(`/api/v1/projects/${project}/traces/${hex(2, 16).slice(2)}`, { headers });
  check(t, 'empty', '#/components/schemas/TraceHeader', empty.json);
  const lines = (await scene.ask(`/api/v1/projects/${project}/traces/${trace}/spans`, { headers })).text
    .trimEnd()
    .split('\n');
  check(t, 'end', '#/components/schemas/SpansEnd', JSON.parse(lines.at(-1) ?? ''));
  const refusals: readonly (readonly [string, number, string])[] = [
    ['traces?q=modell:x', 400, 'filter_invalid'],
    ['traces?cursor=x', 400, 'cursor_invalid'],
    ['traces?from=2&to=1', 400, 'range_invalid'],
    [`traces/${'0'.repeat(32)}`, 404, 'not_found'],
  ];
  for (const [path, status, code] of refusals) {
    const answer = await scene.ask(`/api/v1/projects/${project}/${path}`, { headers });
    t.match(answer, { status, json: { error: { code } } });
    check(t, path, '#/components/schemas/ErrorAnswer', answer.json);
  }
  t.equal((await scene.ask('/api/v1/projects/blog/traces', { headers })).status, 404, 'the token is for one project');
});

t.test('changes are answered with the described status', async (t) => {
  const { headers } = await scene.logIn({ name: 'admin', role: 'admin' });
  const done = new Set<string>();
  const change = async (name: string, values: Readonly<Record<string, string>> = {}, body?: object) => {
    const [method = '', path = ''] = name.split(' ');
    const url = path.replaceAll(/\{([a-z]+)\}/gu, (_, key: string) => values[key] ?? 'made');
    const answer = await scene.ask(url, { method, headers, ...(body === undefined ? {} : { body }) });
    const { responses = {} } = api.paths[path]?.[method.toLowerCase()] ?? {};
    t.ok(answer.status < 300 && Object.hasOwn(responses, String(answer.status)), `${name}: ${answer.status}`);
    done.add(name);
    return answer.json;
  };
  const made = '/api/v1/projects/{project}';
  await change('POST /api/v1/projects', {}, { name: 'made' });
  await change(`PATCH ${made}`, {}, { plan: 'free', monthly_spans: 5 });
  const key = await change(`POST ${made}/keys`, {}, { environment: 'production', label: null });
  await change(`DELETE ${made}/keys/{key}`, { key: key.public_id });
  const token = await change(`POST ${made}/tokens`, {}, { label: 'x', expires_at: '2999-01-01T00:00:00Z' });
  await change(`DELETE ${made}/tokens/{token}`, { token: token.public_id });
  await change(`PUT ${made}/environments/{environment}`, {}, { capture_content: false });
  await change(`DELETE ${made}/traces/{trace}`, { project, trace });
  const person = await change('POST /api/v1/people', {}, { name: 'made', projects: ['made'] });
  await change('PATCH /api/v1/people/{person}', { person: person.id }, { role: 'editor', projects: null });
  const { link } = await change('POST /api/v1/people/{person}/link', { person: person.id }, {});
  await change('POST /api/v1/session', {}, { link: new URL(link).hash.slice(1) });
  await change('DELETE /api/v1/people/{person}', { person: person.id });
  await change('DELETE /api/v1/session');
  const all = ROUTES.filter(({ changes }) => changes).map(({ method, path }) => `${method} ${path}`);
  t.same([...done].sort(), all.sort());
});
