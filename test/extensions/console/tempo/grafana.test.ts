/** The API below /tempo, asked as Grafana's Tempo data source asks it, over a real socket and database. */
import { readFileSync } from 'node:fs';
import protobuf from 'protobufjs';
import t from 'tap';
import { startConsole } from '../../../support/console.ts';
import { send } from '../../../support/otlp-client.ts';
import { aSpan, attributes, aTraceRequest } from '../../../support/payloads.ts';
import { loadProtos } from '../../../support/protos.ts';

interface Recorded {
  readonly what: string;
  readonly path: string;
  readonly accept: string;
  readonly type: string;
}

const FIXTURE = new URL('../../../../../test/fixtures/grafana/tempo-requests.json', import.meta.url);
const RECORDED = JSON.parse(readFileSync(FIXTURE, 'utf8')) as readonly Recorded[];
const TRACE = '00000000000000004bf92f3577b34da6';
const OTHER = 'ab'.repeat(16);
const START_S = Math.floor(Date.now() / 1000) - 60;
const START = BigInt(START_S) * 1_000_000_000n;

/** The answer of version 2, as Grafana reads it. */
const ANSWER = loadProtos()
  .root.define('tempo')
  .add(
    new protobuf.Type('TraceByIDResponse')
      .add(new protobuf.Field('trace', 1, 'opentelemetry.proto.trace.v1.TracesData'))
      .add(new protobuf.Field('status', 3, 'int32'))
      .add(new protobuf.Field('message', 4, 'string')),
  )
  .lookupType('TraceByIDResponse');
const TRACES = loadProtos().root.lookupType('opentelemetry.proto.trace.v1.TracesData');

const bodyOf = (): string => {
  const root = aSpan({ traceId: TRACE, spanId: '00000000000000a1', name: 'POST /chat', start: START });
  const call = aSpan({
    ...{ traceId: TRACE, spanId: '00000000000000a2', name: 'chat gpt-5', start: START + 1_000_000n },
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'gpt-5',
      'gen_ai.usage.input_tokens': 12,
      'gen_ai.input.messages': 'wordofinput',
      'http.route': '/chat',
    },
  });
  const spans = [
    { ...root, endTimeUnixNano: String(START + 20_000_000n), attributes: attributes({ 'http.route': '/chat' }) },
    {
      ...call,
      parentSpanId: '00000000000000a1',
      endTimeUnixNano: String(START + 6_000_000n),
      status: { code: 2, message: 'wordofstatus' },
    },
  ];
  return JSON.stringify(aTraceRequest(spans, { 'service.name': 'web' }));
};

t.test('Grafana', async (t) => {
  const console = await startConsole(t, { processors: 'auth, environment, normalization' });
  const post = async (project: string, body: string): Promise<void> => {
    const { text: key } = await console.administration.createKey(project, null, null);
    t.equal((await send(console.daemon.url, { authorization: `Bearer ${key}`, body })).status, 200);
  };
  await post('shop', bodyOf());
  await post('blog', JSON.stringify(aTraceRequest([aSpan({ traceId: OTHER, name: 'other', start: START })])));
  const basic = (token: string) => ({ authorization: `Basic ${Buffer.from(`shop:${token}`).toString('base64')}` });
  const seeing = basic(await console.token('shop', { seesContent: true }));
  const blind = basic(await console.token('shop'));
  const ask = (path: string, headers: Readonly<Record<string, string>> = seeing, accept = 'application/json') =>
    console.ask(`/tempo${path}`, { headers: { ...headers, accept } });
  const search = (query: string, headers = seeing) => ask(`/api/search?q=${encodeURIComponent(query)}`, headers);

  t.test('every recorded request is answered', async (t) => {
    for (const { what, path, accept, type } of RECORDED) {
      const filled = path
        .replace('{trace}', TRACE)
        .replace('{start}', String(START_S - 60))
        .replace('{end}', String(START_S + 60));
      const answer = await ask(filled, seeing, accept);
      t.match(answer, { status: 200, headers: { 'content-type': type } }, `${what}: ${answer.text.slice(0, 200)}`);
      if (path.startsWith('/api/search?') || path.includes('values'))
        t.equal((answer.json.traces ?? answer.json.tagValues).length > 0, true, `${what} finds something`);
    }
    t.equal((await ask('/api/echo')).text, 'echo');
    t.match(await ask('/api/status/buildinfo'), { json: { version: /^2\./u } });
  });

  t.test('a trace is answered in protobuf and in JSON', async (t) => {
    const v1 = await ask(`/api/traces/${TRACE}`, seeing, 'application/protobuf');
    const v2 = await ask(`/api/v2/traces/${TRACE.slice(16)}`, seeing, 'application/protobuf');
    const read = (type: protobuf.Type, bytes: Uint8Array) =>
      type.toObject(type.decode(bytes), { longs: String, bytes: String, arrays: true });
    const trace = read(TRACES, v1.bytes);
    t.same(read(ANSWER, v2.bytes), { trace });
    const [{ resource, scopeSpans }] = trace['resourceSpans'];
    t.match(resource.attributes, [{ key: 'service.name', value: { stringValue: 'web' } }]);
    t.match(scopeSpans[0].spans, [
      {
        name: 'POST /chat',
        startTimeUnixNano: String(START),
        spanId: Buffer.from('00000000000000a1', 'hex').toString('base64'),
      },
      { name: 'chat gpt-5', status: { code: 2, message: 'wordofstatus' } },
    ]);
    const json = (await ask(`/api/v2/traces/${TRACE}`)).json;
    t.match(json.trace.resourceSpans[0].scopeSpans[0].spans, [{ traceId: TRACE, name: 'POST /chat' }, {}]);
    t.same((await ask(`/api/traces/${TRACE}`)).json, { batches: json.trace.resourceSpans });
    for (const version of ['', 'v2/'])
      for (const id of [OTHER, 'cd'.repeat(16), 'none'])
        t.match(await ask(`/api/${version}traces/${id}`), {
          status: 404,
          text: 'trace not found',
          headers: { 'content-type': /^text\/plain/u },
        });
  });

  t.test('a search finds traces by TraceQL', async (t) => {
    t.match(
      (await search('{ span.gen_ai.request.model =~ "gpt-.*" && status = error } | select(span.http.route)')).json,
      {
        traces: [
          {
            traceID: TRACE,
            rootServiceName: 'web',
            rootTraceName: 'POST /chat',
            startTimeUnixNano: String(START),
            durationMs: 20,
            spanSets: [
              {
                matched: 1,
                spans: [
                  {
                    spanID: '00000000000000a2',
                    name: 'chat gpt-5',
                    startTimeUnixNano: String(START + 1_000_000n),
                    durationNanos: '5000000',
                    attributes: [
                      { key: 'gen_ai.request.model', value: { stringValue: 'gpt-5' } },
                      { key: 'status', value: { stringValue: 'error' } },
                      { key: 'http.route', value: { stringValue: '/chat' } },
                    ],
                  },
                ],
              },
            ],
          },
        ],
        metrics: { inspectedTraces: 1 },
      },
    );
    const found = async (query: string): Promise<number> => {
      const { json, text } = await search(query);
      t.ok(json, `${query}: ${text}`);
      return json?.traces.length ?? -1;
    };
    for (const [query, count] of [
      ['{ name = "other" }', 0],
      ['{ span.gen_ai.usage.input_tokens = 12 }', 1],
      ['{ span.gen_ai.usage.input_tokens > 12 }', 0],
      ['{ name = "chat gpt-5" && duration > 10ms }', 0],
      ['{ traceDuration >= 20ms && rootName = "POST /chat" && rootServiceName =~ "w.b" }', 1],
      ['{ traceDuration > 20ms }', 0],
      ['{ !(name =~ ".*") }', 0],
      ['{ span.missing != "x" }', 0],
      ['{ span.missing = nil }', 1],
      ['{ .http.route = "/chat" || rootName = "no" }', 1],
      ['{ .service.name != "web" }', 0],
      [`{ trace:id = "${TRACE}" }`, 1],
      ['{ span:id = "00000000000000a2" }', 1],
    ] as const)
      t.equal(await found(query), count, query);
    t.match((await search('{}')).json.traces[0].spanSets[0], { matched: 2, spans: { length: 2 } });
    t.match((await ask('/api/search?spss=1')).json.traces[0].spanSets[0], { matched: 2, spans: { length: 1 } });
    t.same((await ask(`/api/search?end=${START_S - 10}`)).json.traces, []);
    const refused = await search('{ name = "a" &&\n  nome = "b" }');
    t.match(refused, { status: 400, text: /^parse error at line 2, col 3: "nome" is no field.*\(name\)/u });
    t.match(refused.headers['content-type'], /^text\/plain/u);
    t.match(await ask('/api/search?start=soon'), { status: 400, text: /seconds/u });
    t.match(await ask('/api/metrics/query_range?q=%7B%7D%20%7C%20rate()'), { status: 404, text: /no metrics/u });
  });

  t.test('tags and their values are completed', async (t) => {
    const { json } = await ask('/api/v2/search/tags');
    const tags = (scopes: readonly { name: string; tags: readonly string[] }[], scope: string) =>
      scopes.find(({ name }) => name === scope)?.tags ?? [];
    t.ok(tags(json.scopes, 'span').includes('http.route'));
    t.ok(tags(json.scopes, 'resource').includes('service.name'));
    t.ok(tags(json.scopes, 'intrinsic').includes('traceDuration'));
    t.same((await ask('/api/v2/search/tags?scope=resource')).json.scopes.length, 1);
    t.ok((await ask('/api/search/tags')).json.tagNames.includes('http.route'));
    const values = async (tag: string, query = '', headers = seeing) =>
      (await ask(`/api/v2/search/tag/${encodeURIComponent(encodeURIComponent(tag))}/values${query}`, headers)).json
        .tagValues;
    t.same(await values('span.gen_ai.request.model'), [{ type: 'string', value: 'gpt-5' }]);
    t.same(await values('span.gen_ai.usage.input_tokens'), [{ type: 'int', value: '12' }]);
    t.same(await values('.http.route'), [{ type: 'string', value: '/chat' }]);
    t.same(await values('rootName'), [{ type: 'string', value: 'POST /chat' }]);
    t.same(await values('name', `?q=${encodeURIComponent('{ status = error }')}`), [
      { type: 'string', value: 'chat gpt-5' },
    ]);
    t.equal((await values('name', `?q=${encodeURIComponent('{ status = ')}`)).length, 2, 'a broken query is ignored');
    t.match(await values('status'), [{ type: 'keyword', value: 'error' }]);
    t.same(await values('duration'), []);
    t.match(await ask('/api/v2/search/tag/nome/values'), { status: 400, text: /no field/u });
  });

  t.test('a reader without the right to content gets no attributes, and cannot search for them', async (t) => {
    const trace = await ask(`/api/v2/traces/${TRACE}`, blind);
    t.equal(trace.status, 200);
    t.notMatch(trace.text, /wordof|http\.route/u);
    t.match(trace.text, /"gen_ai.request.model","value":\{"stringValue":"gpt-5"\}/u, 'the columns are told');
    t.match(await search('{ span.http.route = "/chat" }', blind), { status: 400, text: /line 1, col 3: .*content/u });
    t.match(await search('{ } | select(span.http.route)', blind), { status: 400, text: /content/u });
    t.match(await search('{ statusMessage =~ "wordof.*" }', blind), { status: 400 });
    t.equal((await search('{ span.gen_ai.request.model = "gpt-5" }', blind)).json.traces.length, 1);
    t.notMatch((await ask('/api/v2/search/tags', blind)).text, /http\.route/u);
    for (const tag of ['span.http.route', '.http.route', 'statusMessage'])
      t.same((await ask(`/api/v2/search/tag/${tag}/values`, blind)).json.tagValues, [], tag);
    const guess = encodeURIComponent('{ span.http.route =~ "/c.*" }');
    const names = (await ask(`/api/v2/search/tag/name/values?q=${guess}`, blind)).json.tagValues;
    t.equal(names.length, 2, 'a condition on content is ignored');
  });

  t.test('a request reads the data of its project only', async (t) => {
    const both = (await console.logIn({ name: 'both', projects: ['shop', 'blog'] })).headers;
    t.match(await ask('/api/search', both), { status: 400, text: /X-Scope-OrgID/u });
    const named = await ask('/api/search', { ...both, 'x-scope-orgid': 'blog' });
    t.match(named.json.traces, [{ traceID: OTHER }]);
    t.match(await ask('/api/search', { ...seeing, 'x-scope-orgid': 'blog' }), { status: 404 });
    t.match(await ask('/api/search', {}), { status: 401 });
    t.match(await ask('/api/search', { ...both, 'x-scope-orgid': 'shop', 'sec-fetch-site': 'same-site' }), {
      status: 403,
    });
  });
});
