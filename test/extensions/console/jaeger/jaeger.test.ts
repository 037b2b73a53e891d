/** The Jaeger API below /jaeger, with the requests that Grafana's data source and Jaeger UI send. */
import t from 'tap';
import { startConsole } from '../../../support/console.ts';
import { BASE_NS, hex, insertRows, spanRow } from '../../../support/console-reading.ts';

t.setTimeout(300_000);
const scene = await startConsole(t);
const { ask, database } = scene;
const idOf = (trace: number): string => hex(trace, 16).slice(2);
const BASE_US = Number(BASE_NS / 1000n);
const project = 'shop';
const web = { project, service_name: 'web', resource: { 'service.name': 'web', 'host.name': 'web-1' } };
const worker = { project, service_name: 'worker', resource: { 'service.name': 'worker' } };

const spans = [
  spanRow({
    ...web,
    trace: 1,
    span_id: hex(1, 8),
    name: 'GET /chat',
    kind: 'server',
    duration_ns: '2000000000',
    end_time_unix_nano: String(BASE_NS + 2_000_000_000n),
    trace_state: 'a=b',
    scope_name: 'http',
    scope_version: '1.2',
    attributes: {
      'http.status_code': 500,
      'http.route': '/chat',
      sampled: true,
      share: 0.25,
      big: 9_007_199_254_740_993n,
      list: ['a', 1, 9_007_199_254_740_993n],
    },
    events: [
      { name: 'exception', time_unix_nano: String(BASE_NS + 5000n), attributes: { 'exception.type': 'Timeout' } },
    ],
    links: [{ trace_id: idOf(9), span_id: '00000000000000aa' }],
  }),
  spanRow({
    ...worker,
    trace: 1,
    at: 1,
    span_id: hex(2, 8),
    parent_span_id: hex(1, 8),
    name: 'chat gpt-5',
    kind: 'client',
    status: 'error',
    status_message: 'quota',
    category: 'model_call',
    input_content: 'a secret prompt',
    attributes: { 'gen_ai.request.model': 'gpt-5' },
  }),
  spanRow({ ...worker, trace: 2, at: 1000, name: 'job', parent_span_id: hex(77, 8), duration_ns: '150000000' }),
  spanRow({ project, trace: 3, at: 2000, name: 'no service' }),
  ...Array.from({ length: 1002 }, (_, at) =>
    spanRow({ ...web, service_name: 'bulk', trace: 4, at: 3000 + at, name: 'embed' }),
  ),
  spanRow({ ...web, project: 'blog', trace: 5, at: 4000, name: 'post', service_name: 'blog' }),
];
await insertRows(database, 'spans', spans);
await database.query(`INSERT INTO sluice.traces (trace_id, project, environment, first_ns, last_ns)
  SELECT trace_id, project, min(environment), min(start_time_unix_nano), max(start_time_unix_nano) FROM sluice.spans GROUP BY 1, 2`);

const bearer = { authorization: `Bearer ${await scene.token('shop', { seesContent: true })}` };
const blind = { authorization: `Bearer ${await scene.token('shop')}` };
// biome-ignore lint/suspicious/noExplicitAny: the shapes are checked by the tests.
type Tags = Record<string, any>;
const tagsOf = (span: { readonly tags: readonly { readonly key: string }[] }): Tags =>
  Object.fromEntries(span.tags.map((tag) => [tag.key, tag]));
const get = (path: string, headers: Readonly<Record<string, string>> = bearer) =>
  ask(`/jaeger/api${path}`, { headers });

t.test("Grafana's data source", async (t) => {
  // Its password is that of Basic authentication.
  const token = bearer.authorization.slice('Bearer '.length);
  const basic = { authorization: `Basic ${Buffer.from(`shop:${token}`).toString('base64')}` };
  const services = await get('/services', basic);
  t.same(services.json, {
    data: ['bulk', 'unknown_service', 'web', 'worker'],
    total: 4,
    limit: 0,
    offset: 0,
    errors: null,
  });
  t.match(services.headers, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  t.match(await get('/services/worker/operations', basic), { json: { data: ['chat gpt-5', 'job'], total: 2 } });
  t.same((await get('/services/none/operations', basic)).json.data, []);

  const search = await get(
    `/traces?limit=20&maxDuration=3s&minDuration=1.5s&operation=GET+%2Fchat&service=web&tags=%7B%22http.status_code%22%3A%22500%22%7D&start=${BASE_US}&end=${BASE_US + 1_000_000}`,
    basic,
  );
  t.equal(search.status, 200);
  const [trace, ...others] = search.json.data;
  t.same(others, []);
  t.match(trace, {
    traceID: idOf(1),
    warnings: null,
  });
  const names = trace.spans.map(({ processID }: { processID: string }) => trace.processes[processID].serviceName);
  t.same([...new Set(names)].sort(), ['web', 'worker']);
  t.equal(Object.keys(trace.processes).length, 2);
  t.notMatch(search.text, 'secret', 'a search has no content columns');

  const one = await get(`/traces/${idOf(1)}?start=1&end=2`, basic);
  const [root, call] = one.json.data[0].spans;
  t.match(root, {
    traceID: idOf(1),
    spanID: '0000000000000001',
    operationName: 'GET /chat',
    references: [{ refType: 'FOLLOWS_FROM', traceID: idOf(9), spanID: '00000000000000aa' }],
    startTime: BASE_US,
    duration: 2_000_000,
    logs: [
      {
        timestamp: BASE_US + 5,
        fields: [
          { key: 'event', type: 'string', value: 'exception' },
          { key: 'exception.type', type: 'string', value: 'Timeout' },
        ],
      },
    ],
  });
  t.match(tagsOf(root), {
    'http.status_code': { type: 'int64', value: 500 },
    sampled: { type: 'bool', value: true },
    share: { type: 'float64', value: 0.25 },
    big: { type: 'int64', value: '9007199254740993' },
    list: { type: 'string', value: '["a",1,9007199254740993]' },
    'span.kind': { type: 'string', value: 'server' },
    'otel.scope.name': { value: 'http' },
    'w3c.tracestate': { value: 'a=b' },
  });
  t.same(one.json.data[0].processes[root.processID], {
    serviceName: 'web',
    tags: [{ key: 'host.name', type: 'string', value: 'web-1' }],
  });
  t.same(call.references, [{ refType: 'CHILD_OF', traceID: idOf(1), spanID: '0000000000000001' }]);
  t.match(tagsOf(call), {
    error: { type: 'bool', value: true },
    'otel.status_code': { value: 'ERROR' },
    'otel.status_description': { value: 'quota' },
  });
  t.match(await get('/dependencies?endTs=1795132800000&lookback=604800000', basic), {
    status: 200,
    json: { data: [], errors: null },
  });
});

t.test('version 3 of the API answers the Jaeger UI', async (t) => {
  t.same((await get('/v3/services')).json, { services: ['bulk', 'unknown_service', 'web', 'worker'] });
  t.same((await get('/v3/operations?service=web')).json, { operations: [{ name: 'GET /chat', spanKind: 'server' }] });
  const from = new Date(BASE_US / 1000).toISOString();
  const until = new Date(BASE_US / 1000 + 60_000).toISOString();
  const query = new URLSearchParams({
    'query.service_name': 'worker',
    'query.start_time_min': from,
    'query.start_time_max': until,
    'query.num_traces': '20',
  });
  const found = await get(`/v3/trace-summaries?${query}`);
  t.same(found.json, {
    summaries: [
      {
        traceId: idOf(2),
        rootServiceName: 'worker',
        rootOperationName: 'job',
        minStartTimeUnixNano: String(BASE_NS + 1_000_000_000n),
        maxEndTimeUnixNano: String(BASE_NS + 1_005_000_000n),
        spanCount: 1,
        errorSpanCount: 0,
        orphanSpanCount: 1,
        services: [{ name: 'worker', spanCount: 1, errorSpanCount: 0 }],
      },
      {
        traceId: idOf(1),
        rootServiceName: 'web',
        rootOperationName: 'GET /chat',
        minStartTimeUnixNano: String(BASE_NS),
        maxEndTimeUnixNano: String(BASE_NS + 2_000_000_000n),
        spanCount: 2,
        errorSpanCount: 1,
        orphanSpanCount: 0,
        services: [
          { name: 'web', spanCount: 1, errorSpanCount: 0 },
          { name: 'worker', spanCount: 1, errorSpanCount: 1 },
        ],
      },
    ],
  });
  const camel = `query.serviceName=worker&query.operationName=chat+gpt-5&query.startTimeMin=${from}&query.searchDepth=1&query.durationMax=10ms&query.attributes=${encodeURIComponent('{"error":"true"}')}`;
  t.same(
    (await get(`/v3/trace-summaries?${camel}`)).json.summaries.map((each: { traceId: string }) => each.traceId),
    [idOf(1)],
  );
  const whole = await get(`/v3/traces/${idOf(1)}`);
  t.equal(whole.json.result.resourceSpans.length, 2);
  // Ids of Jaeger may lack their leading zeros.
  t.match(await get('/traces/1'), { status: 200, json: { data: [{ traceID: idOf(1) }] } });
});

t.test('a search finds traces by service, duration, tag and time', async (t) => {
  const ids = async (query: string, headers = bearer): Promise<readonly string[]> => {
    const { status, json, text } = await get(`/traces?${query}`, headers);
    t.equal(status, 200, text.slice(0, 200));
    return json.data.map((trace: { traceID: string }) => trace.traceID);
  };
  t.same(await ids(''), [4, 3, 2, 1].map(idOf), 'no service is required; the newest is first');
  t.same(await ids('service=unknown_service'), [idOf(3)]);
  t.same(await ids('minDuration=.15s&maxDuration=0.2s'), [idOf(2)]);
  t.same(await ids('minDuration=149%CE%BCs&service=worker&maxDuration=6ms'), [idOf(1)]);
  t.same(await ids('tag=http.route:/chat'), [idOf(1)]);
  t.same(await ids(`tags=${encodeURIComponent('{"host.name":"web-1","sampled":true}')}`), [idOf(1)]);
  t.same(await ids(`tags=${encodeURIComponent('{"span.kind":"client","otel.status_code":"ERROR"}')}`), [idOf(1)]);
  t.same(await ids(`tags=${encodeURIComponent('{"error":"false"}')}&service=worker`), [idOf(2)]);
  t.same(await ids(`tags=${encodeURIComponent('{"http.route":"/chat","span.kind":"client"}')}`), [], 'all on one span');
  t.same(await ids('limit=1'), [idOf(4)]);
  t.same(await ids(`traceID=${idOf(2)}&traceID=${idOf(1)}&traceID=${idOf(8)}`), [idOf(2), idOf(1)]);
  t.same(await ids(`start=${BASE_US}&end=${BASE_US + 1_500_000}`), [idOf(2), idOf(1)]);
  const bulk = await get('/traces?service=bulk');
  t.equal(bulk.json.data[0].spans.length, 1000);
  t.same(bulk.json.data[0].warnings, ['The first 1000 of 1002 spans are shown.']);
  t.equal((await get(`/traces/${idOf(4)}`)).json.data[0].spans.length, 1002);
});

t.test('errors have the shape of Jaeger', async (t) => {
  const unknown = await get(`/traces/${idOf(8)}`);
  t.match(unknown, { status: 404, json: { data: null, errors: [{ code: 404, msg: 'trace not found' }] } });
  t.match(await get(`/traces/${idOf(5)}`), { status: 404 }, 'of another project');
  t.match(await get(`/v3/traces/${idOf(8)}`), {
    status: 404,
    json: { error: { httpCode: 404, message: 'trace not found' } },
  });
  const wrong = [
    'minDuration=5',
    'maxDuration=1d',
    'minDuration=2s&maxDuration=1s',
    'tags=x',
    'tags=[]',
    'tags={"a":{}}',
    'tags={"":"x"}',
    'tag=x',
    'start=now',
    'start=5&end=5',
    'limit=0',
    'traceID=xyz',
  ];
  for (const query of wrong)
    t.match(
      await get(`/traces?${encodeURI(query)}`),
      { status: 400, json: { data: null, errors: [{ code: 400, msg: String }] } },
      query,
    );
  for (const query of [
    'query.start_time_min=yesterday',
    'query.duration_min=x',
    'query.attributes=1',
    'query.search_depth=-1',
  ])
    t.match(await get(`/v3/trace-summaries?${query}`), { status: 400, json: { error: { httpCode: 400 } } }, query);
  t.match(await get('/v3/operations'), { status: 400 });
});

t.test('a reader without the right to content gets no tags, and cannot search for them', async (t) => {
  const { json, text } = await get(`/traces/${idOf(1)}`, blind);
  for (const secret of ['secret', 'quota', '/chat"', 'Timeout']) t.notMatch(text.replaceAll('GET /chat', ''), secret);
  t.same(json.data[0].spans[0].logs, []);
  // Attributes cannot be guessed by searching for them; those of the resource can be seen.
  t.same((await get('/traces?tag=http.route:/chat', blind)).json.data, []);
  t.equal((await get('/traces?tag=host.name:web-1&service=web', blind)).json.data.length, 1);
});

t.test('the project is that of the request', async (t) => {
  const person = await scene.logIn({ name: 'both', role: 'viewer', projects: ['shop', 'blog'] });
  t.match(await get('/services', person.headers), {
    status: 400,
    json: { errors: [{ msg: 'The request must name a project.' }] },
  });
  t.same((await get('/services?project=blog', person.headers)).json.data, ['blog']);
  t.same((await get('/v3/services', { ...person.headers, 'x-scope-orgid': 'blog' })).json.services, ['blog']);
  t.match(await get('/services?project=other', person.headers), { status: 404 });
  t.match(await get('/services?project=blog', bearer), { status: 404 }, 'a token has one project');
  const admin = await scene.logIn({ name: 'admin', role: 'admin' });
  t.match(await get('/services?project=blgo', admin.headers), { status: 404 }, 'a project that does not exist');
  const none = await scene.logIn({ name: 'none', role: 'viewer', projects: [] });
  t.match(await get('/services', none.headers), { status: 400 });
});
