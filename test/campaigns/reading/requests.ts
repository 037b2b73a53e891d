/** Requests to everything that reads, with parameters that are right, at the edges, and wrong. */
import fc from 'fast-check';
import { writeCursor } from '../../../src/extensions/console/api/cursor.ts';
import type { Scene } from './hostile-telemetry.ts';

/** A parameter as docs/openapi-console.yaml describes it. */
export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly schema: { readonly enum?: readonly string[]; readonly maximum?: number; readonly minimum?: number };
}

export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly Parameter[];
}

export interface Sketch {
  readonly operation: Operation;
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

const HOSTILE = [
  '',
  ' ',
  '0',
  '-1',
  '1.5',
  '1e3',
  '٣',
  '9223372036854775807',
  '9223372036854775808',
  '-9223372036854775808',
  '18446744073709551616',
  '9999999999999999999',
  '2147483648',
  'NaN',
  'null',
  'undefined',
  '\0',
  'a\0b',
  '\u2028',
  '\u202e',
  '\ufffd',
  "'",
  "'; DROP TABLE sluice.spans; --",
  '"',
  '\\',
  '%',
  '$1',
  '{}',
  '[]',
  '../..',
  '/',
  'constructor',
  '__proto__',
  'toString',
  'x'.repeat(2000),
  '😀'.repeat(300),
] as const;

const FIELDS = [
  'trace',
  'span',
  'env',
  'name',
  'service',
  'kind',
  'status',
  'category',
  'operation',
  'provider',
  'model',
  'tool',
  'agent',
  'user',
  'conversation',
  'dialect',
  'scope',
  'severity',
  'error',
  'tokens',
  'input',
  'output',
  'cost',
  'duration',
  'latency',
  'ttft',
  'trace.cost',
  'trace.tokens',
  'trace.duration',
  'trace.spans',
  'trace.errors',
  'attr.at',
  'attr.constructor',
  'resource.host.name',
  'text',
  'unpriced',
  'root',
  'nothing',
];
const AMOUNTS = [
  '0',
  '1',
  '0.05',
  '999999999999999',
  '999999999999999M',
  '3k',
  '-1',
  '1e9',
  'NaN',
  '0.0000000001',
  '9999999999999999',
  '2s',
  '150ms',
  '999999999d',
  '999999999d999999999d',
  '1h1m1s1ms1us',
  '0ns',
  '٣',
];

const quoted = (text: string): string => `"${text.replaceAll(/["\\]/gu, '\\$&')}"`;
const anyText = fc.oneof(
  fc.constantFrom(...HOSTILE),
  fc.string({ maxLength: 20 }),
  fc.string({ unit: 'binary', maxLength: 10 }),
);

const term = fc
  .record({
    minus: fc.constantFrom('', '', '-', '--'),
    field: fc.constantFrom(...FIELDS),
    operator: fc.constantFrom('', '', '', '=', '>', '>=', '<', '<=', '~', '=~', '!='),
    value: fc.oneof(
      fc.constantFrom(...AMOUNTS),
      anyText.map(quoted),
      anyText,
      fc.constantFrom('a*', '*', '""*', 'm,n', ',', ''),
    ),
    bare: fc.boolean(),
  })
  .map(
    ({ minus, field, operator, value, bare }) =>
      `${minus}${field}${bare && operator === '' ? '' : `:${operator}${value}`}`,
  );
const filter = fc.oneof(
  { weight: 6, arbitrary: fc.array(term, { maxLength: 4 }).map((terms) => terms.join(' ')) },
  { weight: 1, arbitrary: fc.array(term, { minLength: 19, maxLength: 22 }).map((terms) => terms.join(' ')) },
  { weight: 2, arbitrary: anyText },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '"'.repeat(3000),
      'x'.repeat(4097),
      `text:${'é'.repeat(2000)}`,
      `name:${Array.from({ length: 1000 }, () => 'a').join(',')}`,
      `attr.${'k'.repeat(3000)}:x`,
    ),
  },
);

const ATTRIBUTES = [
  'name',
  'status',
  'kind',
  'duration',
  'rootName',
  'rootServiceName',
  'traceDuration',
  'trace:id',
  'span:id',
  'statusMessage',
  'span.at',
  '.at',
  'resource.service.name',
  'span.gen_ai.request.model',
  'span.gen_ai.usage.input_tokens',
  'span.sluice.cost_usd',
  '.constructor',
  'span.',
  'nothing',
  'span."a \\" b"',
  'resource.host.name',
  'event.name',
  'parent.x',
];
const LITERALS = [
  '"x"',
  '`x`',
  '1',
  '-1',
  '1.5',
  '1s',
  '999999999999999h',
  'error',
  'server',
  'nil',
  'true',
  '"(a+)+$"',
  '"[a-z"',
  '".*"',
  '"\\u0000"',
  '"a{9}"',
  '9999999999999999',
  '',
];
const comparison = fc
  .record({
    name: fc.constantFrom(...ATTRIBUTES),
    operator: fc.constantFrom('=', '!=', '>', '>=', '<', '<=', '=~', '!~', '', '=='),
    value: fc.constantFrom(...LITERALS),
  })
  .map(({ name, operator, value }) => `${name} ${operator} ${value}`);
const traceQl = fc.oneof(
  fc
    .array(comparison, { maxLength: 4 })
    .chain((all) => fc.constantFrom('&&', '||', '', '>>').map((join) => `{ ${all.join(` ${join} `)} }`)),
  fc
    .tuple(comparison, fc.array(fc.constantFrom(...ATTRIBUTES), { maxLength: 3 }))
    .map(([one, shown]) => `{ ${one} } | select(${shown.join(', ')})`),
  fc.constantFrom(
    '{',
    '}',
    '{ } >> { }',
    `{ ${'!'.repeat(60)}true }`,
    `{ ${'('.repeat(49)}true${')'.repeat(49)} }`,
    `{ name =~ "${'(a|b)*'.repeat(80)}" }`,
    `{ name =~ "${'.*'.repeat(240)}z" }`,
    `{ ${'true && '.repeat(500)}true }`,
    `{ .a = "${'x'.repeat(4000)}" }`,
  ),
  anyText,
);

function times(nowNs: bigint): fc.Arbitrary<string> {
  return fc.oneof(
    fc.constantFrom(
      'now',
      '-1h',
      '-24h',
      '-400d',
      '-999999999d',
      '-1h30m',
      String(nowNs),
      String(nowNs - 3_600_000_000_000n),
      String(nowNs + 3_600_000_000_000n),
      '0',
      '1',
      '2026-11-20T14:05:09Z',
      '2026-11-20T14:05:09.123456789Z',
      '2026-02-30T00:00:00Z',
      '9999-12-31T23:59:59Z',
      '0000-01-01T00:00:00Z',
      '2026-11-20T14:05:09+14:00',
      '2026-11-20',
      'now-1h',
      '+1h',
      '9223372036854775807',
      '9223372036854775808',
      '99999999999999999999',
    ),
    anyText,
  );
}

const cursorOf = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
/** Right for the questions without a filter, at places that no answer gives. */
const FORGED = ['traces', 'logs', 'conversations'].flatMap((list) =>
  ['9223372036854775807', '9223372036854775808', '9999999999999999999', '0'].flatMap((ns) => [
    writeCursor([list, 'shop', '', ''], [ns, '0'.repeat(32)]),
    writeCursor([list, 'shop', '', ''], [ns, '999999999']),
    writeCursor([list, 'shop', '', ''], [ns, ns, '']),
    writeCursor(['turns', 'shop', 'shop-c'], [ns, '0'.repeat(32)]),
    writeCursor(['turns', 'shop', 'shop-logs'], [ns, '999999999']),
  ]),
);

/** Values by the name of a parameter; cursors that earlier answers gave are among them. */
export class Generator {
  readonly #scene: Scene;
  readonly #other: Scene;
  readonly #times: fc.Arbitrary<string>;
  readonly #nowNs: bigint;

  constructor(scene: Scene, other: Scene, nowNs: bigint) {
    this.#scene = scene;
    this.#other = other;
    this.#times = times(nowNs);
    this.#nowNs = nowNs;
  }

  of(operations: readonly Operation[]): fc.Arbitrary<Sketch> {
    return fc.constantFrom(...operations).chain((operation) => this.#request(operation));
  }

  #request(operation: Operation): fc.Arbitrary<Sketch> {
    const { parameters, path } = operation;
    const inPath = parameters.filter((each) => each.in === 'path');
    const inQuery = parameters.filter((each) => each.in === 'query');
    const inHeader = parameters.filter((each) => each.in === 'header');
    return fc
      .record({
        path: fc.tuple(...inPath.map((each) => this.#pathValue(each))),
        query: fc.tuple(...inQuery.map((each) => this.#values(each))),
        extra: fc.oneof(
          { weight: 9, arbitrary: fc.constant('') },
          {
            weight: 1,
            arbitrary: fc.constantFrom(
              'unknown=1',
              '%zz=1',
              'limit',
              '=',
              '&&&',
              'q=%ff%fe',
              'from=%',
              'limit=1&limit=2',
              'cursor=&cursor=x',
            ),
          },
        ),
        headers: fc.tuple(
          ...inHeader.map(() =>
            fc.option(
              fc.oneof(fc.constantFrom('0', '1', '1763720000000', '999999999999999', '9'.repeat(30), '-1', 'x')),
            ),
          ),
        ),
        method: fc.oneof(
          { weight: 30, arbitrary: fc.constant(operation.method) },
          {
            weight: 1,
            arbitrary: fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'),
          },
        ),
        body: this.#body(operation),
        type: fc.oneof(
          { weight: 20, arbitrary: fc.constant('application/json') },
          {
            weight: 1,
            arbitrary: fc.constantFrom('text/plain', 'application/json; charset=utf-16', 'application/x-protobuf', ''),
          },
        ),
        accept: fc.constantFrom('*/*', 'application/protobuf', 'application/json', 'text/html', ''),
        scope:
          path.startsWith('/tempo') || path.startsWith('/jaeger')
            ? fc.constantFrom('shop', 'shop', 'shop', 'blog', 'none', '%00')
            : fc.constant(''),
      })
      .map(({ path: values, query, extra, headers, method, body, type, accept, scope }) => {
        let filled = path;
        for (const [at, { name }] of inPath.entries()) filled = filled.replace(`{${name}}`, () => values[at] ?? '');
        const pairs = query.flatMap((each, at) =>
          each.map((value) => `${encodeURIComponent(inQuery[at]?.name ?? '')}=${value}`),
        );
        const joined = [...pairs, ...(extra === '' ? [] : [extra])].join('&');
        const sent = Object.fromEntries(
          inHeader.flatMap(({ name }, at) => (headers[at] == null ? [] : [[name, headers[at]]])),
        );
        const changes = method !== 'GET' && method !== 'HEAD';
        return {
          operation,
          url: `${filled}${joined === '' ? '' : `?${joined}`}`,
          method,
          headers: {
            accept: path === '/mcp' ? 'application/json, text/event-stream' : accept,
            ...sent,
            ...(scope === '' ? {} : { 'x-scope-orgid': scope }),
            ...(changes && type !== '' ? { 'content-type': type } : {}),
          },
          body: changes ? body : null,
        };
      });
  }

  #encoded(text: string): string {
    return encodeURIComponent(Buffer.from(text).toString());
  }

  #pathValue(parameter: Parameter): fc.Arbitrary<string> {
    const good = this.#good(kindOf(parameter), parameter.schema);
    return fc.oneof(
      { weight: 12, arbitrary: good.map((text) => this.#encoded(text)) },
      { weight: 1, arbitrary: anyText.map((text) => this.#encoded(text)) },
      { weight: 1, arbitrary: fc.constantFrom('%', '%zz', '%00', '%ff', '%ed%a0%80', '..', '.', '') },
    );
  }

  /** No value, one, or several. */
  #values(parameter: Parameter): fc.Arbitrary<readonly string[]> {
    const value = fc
      .oneof(
        { weight: 3, arbitrary: this.#good(kindOf(parameter), parameter.schema) },
        { weight: 1, arbitrary: anyText },
      )
      .map((text) => this.#encoded(text));
    return fc.oneof(
      { weight: 5, arbitrary: fc.constant([]) },
      { weight: 6, arbitrary: value.map((one) => [one]) },
      { weight: 1, arbitrary: fc.array(value, { minLength: 2, maxLength: 3 }) },
    );
  }

  #good(name: string, schema: Parameter['schema']): fc.Arbitrary<string> {
    const { traces, spans, conversations, metrics } = this.#scene;
    if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
    if (schema.maximum !== undefined)
      return fc
        .constantFrom(schema.minimum ?? 0, (schema.minimum ?? 0) - 1, 1, 2, 3, schema.maximum, schema.maximum + 1)
        .map(String);
    const ns = fc.constantFrom(
      '0',
      '1',
      String(this.#nowNs),
      '9223372036854775807',
      '9223372036854775808',
      '9999999999999999999',
    );
    switch (name) {
      case 'project':
        return fc.oneof(
          { weight: 9, arbitrary: fc.constant('shop') },
          { weight: 1, arbitrary: fc.constantFrom('blog', 'SHOP', 'none') },
        );
      case 'trace':
      case 'traceID':
        return fc.constantFrom(
          ...traces,
          ...this.#other.traces.slice(0, 2),
          '0'.repeat(32),
          traces[0]?.toUpperCase() ?? '',
          '1',
        );
      case 'span':
      case 'under':
        return fc.constantFrom(...spans, '0'.repeat(16));
      case 'conversation':
        return fc.constantFrom(...conversations, ...this.#other.conversations);
      case 'name':
        return fc.constantFrom(...metrics, ...this.#other.metrics);
      case 'q':
        return filter;
      case 'traceql':
        return traceQl;
      case 'from':
      case 'to':
        return this.#times;
      case 'env':
        return fc.constantFrom('default', 'Default', 'default,other', ',,', 'x'.repeat(600));
      case 'after':
        return fc.oneof(
          fc.tuple(ns, fc.constantFrom(...spans)).map((parts) => parts.join('.')),
          fc.constantFrom('0', '1', '1000000', '1000001'),
        );
      case 'start':
        return ns;
      case 'cursor':
        return fc.constantFrom(
          ...FORGED,
          'x',
          cursorOf([1]),
          cursorOf([1, 'x', '9999999999999999999', '0'.repeat(32)]),
          cursorOf({}),
          cursorOf(null),
          'e30',
          '='.repeat(9),
          'x'.repeat(3000),
        );
      case 'only':
        return fc.constantFrom('model', 'tool', 'error', 'model,tool', 'constructor', ',');
      case 'fields':
        return fc.constantFrom('service', 'model,name', 'constructor', 'a', ',', 'user,user');
      case 'by':
        return fc.constantFrom('', 'none', 'service', 'env', 'attr.at', 'attr.', 'attr.\0', 'constructor', '__proto__');
      case 'interval':
        return fc.constantFrom('1m', '1h', '1d', '1ns', '0s', '999999999d', '-1h', '1', '1h1m');
      case 'seconds':
        return fc.constantFrom(
          '0',
          '1',
          String(this.#nowNs / 1_000_000_000n),
          '9999999999',
          '9999999999.5',
          '-1',
          '1e9',
        );
      case 'microseconds':
        return fc.constantFrom('0', '1', String(this.#nowNs / 1000n), '9999999999999999', '-1', '1e9');
      case 'instant':
        return fc.constantFrom(
          '2026-11-20T14:05:09.123Z',
          '1969-12-31T23:59:59.5Z',
          '9999-12-31T23:59:59Z',
          '2026-13-01T00:00:00Z',
          'now',
        );
      case 'length':
        return fc.constantFrom(
          '1s',
          '0',
          '1.5ms',
          '999999999h',
          '-1s',
          '+1s',
          '.5s',
          '1d',
          '9999999999s',
          '1µs',
          '1μs',
        );
      case 'logfmt':
        return fc.constantFrom(
          'name=x',
          'a="b c"',
          'constructor=1',
          '__proto__=1',
          'status.code=error',
          '"',
          'a="\\"',
          'status=1',
        );
      case 'tags':
        return fc.constantFrom(
          '{}',
          '{"a":"b"}',
          '{"error":"true"}',
          '{"a":{}}',
          '{"a":null}',
          '{"a":"\\u0000"}',
          '{"\\u0000":"a"}',
          '{"constructor":"x"}',
          '{"__proto__":"x"}',
          '{"a":"\\ud800"}',
          '{"a":1e400}',
          '[]',
          'null',
          '{"otel.status_code":"error"}',
          '{"":""}',
          '{"a":"1"}',
          '{"a":"9999999999999999999999"}',
        );
      case 'pair':
        return fc.constantFrom('a:b', ':', 'a:', 'error:true', 'a', 'a:b:c', 'a:\0', '\0:a');
      case 'tag':
        return fc.constantFrom(
          'name',
          'span.at',
          'resource.service.name',
          '.at',
          'at',
          'status',
          'traceDuration',
          'rootName',
          'constructor',
          '%2500',
          'span.gen_ai.usage.input_tokens',
          'service.name',
        );
      case 'service':
        return fc.constantFrom('shop-web', 'unknown_service', 'constructor');
      default:
        return anyText;
    }
  }

  #body({ path }: Operation): fc.Arbitrary<string> {
    if (path !== '/mcp') {
      const value = fc.oneof(
        anyText,
        fc.constantFrom(
          null,
          true,
          0,
          -1,
          1.5,
          2 ** 60,
          [],
          {},
          ['shop'],
          ['\0'],
          'viewer',
          'free',
          '2999-01-01T00:00:00Z',
          '2026-11-20T',
          '+99999-01-01T00:00:00Z',
          '9999-12-31T23:59:59Z',
        ),
      );
      const fields = [
        'name',
        'role',
        'projects',
        'sees_content',
        'plan',
        'monthly_spans',
        'environment',
        'label',
        'expires_at',
        'capture_content',
        'link',
        '__proto__',
      ];
      return fc.oneof(
        fc.dictionary(fc.constantFrom(...fields), value).map((each) => JSON.stringify(each)),
        fc.constantFrom(
          '',
          '{',
          '[]',
          'null',
          '"x"',
          '['.repeat(30_000),
          `${'{"a":'.repeat(9000)}1${'}'.repeat(9000)}`,
          `{"name":"${'x'.repeat(70_000)}"}`,
          '\ufeff{}',
        ),
      );
    }
    const { traces, spans, conversations } = this.#scene;
    const any = fc.oneof(anyText, fc.constantFrom<unknown>(0, -1, 1, 5, 1e9, 1.5, null, true, [], {}));
    const texts: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
      project: fc.constantFrom('shop', 'shop', 'blog'),
      trace: fc.constantFrom(...traces),
      span: fc.constantFrom(...spans),
      under: fc.constantFrom(...spans),
      conversation: fc.constantFrom(...conversations),
      filter,
      environment: fc.constantFrom('default', ''),
      from: this.#times,
      to: this.#times,
      sort: fc.constantFrom('newest', 'cost', 'tokens', 'duration', 'errors'),
      limit: fc.constantFrom(0, 1, 5, 1000),
      cursor: fc.constantFrom(...FORGED),
      only: fc.constantFrom('model', 'tool', 'error'),
      after: fc.constantFrom('9223372036854775808.0000000000000000', '1'),
      field: fc.constantFrom('input_content', 'attributes', 'events'),
      offset: fc.constantFrom(0, 1, 2 ** 30),
      group: fc.constantFrom('model', 'tool', 'user'),
      interval: fc.constantFrom('1h', '1ns'),
      statement: fc.constantFrom('SELECT 1'),
    };
    /** The tools with their arguments, and names of none. */
    const tools: readonly (readonly [string, readonly string[]])[] = [
      ['list_projects', []],
      ['search_traces', ['filter', 'environment', 'from', 'to', 'sort', 'limit', 'cursor']],
      ['get_trace', ['trace', 'under', 'only', 'after']],
      ['get_span', ['trace', 'span', 'field', 'offset']],
      ['get_conversation', ['conversation', 'cursor']],
      ['usage', ['group', 'interval', 'from', 'to', 'filter', 'environment', 'limit']],
      ['explain_span', ['trace', 'span']],
      ['query_sql', ['statement']],
      ['schema', []],
      ['nothing', []],
      ['constructor', []],
    ];
    const argumentOf = (key: string): fc.Arbitrary<unknown> =>
      fc.oneof({ weight: 8, arbitrary: texts[key] ?? any }, { weight: 1, arbitrary: any });
    const call = fc.constantFrom(...tools).chain(([name, keys]) =>
      fc
        .record({
          values: fc.record(Object.fromEntries(keys.map((key) => [key, argumentOf(key)])), {
            requiredKeys: keys.filter((key) => ['trace', 'span', 'conversation'].includes(key)),
          }),
          project: fc.boolean(),
          more: fc.dictionary(fc.constantFrom('__proto__', 'nothing'), any, { maxKeys: 1 }),
        })
        .map(({ values, project, more }) => ({
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: { name, arguments: { ...values, ...(project ? { project: 'shop' } : {}), ...more } },
        })),
    );
    return fc.oneof(
      { weight: 8, arbitrary: call.map((each) => JSON.stringify(each)) },
      {
        weight: 2,
        arbitrary: fc.constantFrom(
          '{}',
          '[]',
          '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
          '{"jsonrpc":"2.0","method":"notifications/initialized"}',
          '{"jsonrpc":"2.0","id":{},"method":"ping"}',
          '{"jsonrpc":"1.0","id":1,"method":"ping"}',
          '{"jsonrpc":"2.0","id":1,"method":"constructor"}',
          '{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen"}',
          '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}',
          '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}',
          `${'{"a":'.repeat(9000)}1${'}'.repeat(9000)}`,
          `{"jsonrpc":"2.0","id":1,"method":"ping","params":${'{"a":'.repeat(9000)}1${'}'.repeat(9000)}}`,
          `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_traces","arguments":{"project":"shop","filter":${'['.repeat(25_000)}${']'.repeat(25_000)}}}}`,
        ),
      },
    );
  }
}

const inQuery = (name: string, kind = name): Parameter => ({
  name,
  in: 'query',
  schema: {},
  ...(kind === name ? {} : { kind }),
});
const inPath = (name: string): Parameter => ({ name, in: 'path', schema: {} });
const kindOf = (parameter: Parameter): string => (parameter as { readonly kind?: string }).kind ?? parameter.name;

const get = (path: string, ...parameters: readonly Parameter[]): Operation => ({ method: 'GET', path, parameters });
const LIMIT: Parameter = { name: 'limit', in: 'query', schema: { minimum: 0, maximum: 1_000_000 } };
const search = [inQuery('q', 'traceql'), inQuery('start', 'seconds'), inQuery('end', 'seconds'), LIMIT];

/** The subsets of Tempo and Jaeger, which docs/openapi-console.yaml does not have. */
export const FOREIGN: readonly Operation[] = [
  get('/tempo/api/echo'),
  get('/tempo/api/v2/traces/{trace}', inPath('trace')),
  get('/tempo/api/traces/{trace}', inPath('trace')),
  get(
    '/tempo/api/search',
    ...search,
    inQuery('spss'),
    inQuery('tags', 'logfmt'),
    inQuery('minDuration', 'length'),
    inQuery('maxDuration', 'length'),
  ),
  get('/tempo/api/v2/search/tags', ...search, inQuery('scope')),
  get('/tempo/api/search/tags', ...search),
  get('/tempo/api/v2/search/tag/{tag}/values', inPath('tag'), ...search),
  get('/tempo/api/search/tag/{tag}/values', inPath('tag'), ...search),
  get('/jaeger/api/services'),
  get('/jaeger/api/services/{service}/operations', inPath('service')),
  get(
    '/jaeger/api/traces',
    inQuery('service'),
    inQuery('operation'),
    inQuery('tags'),
    inQuery('tag', 'pair'),
    inQuery('start', 'microseconds'),
    inQuery('end', 'microseconds'),
    inQuery('minDuration', 'length'),
    inQuery('maxDuration', 'length'),
    inQuery('limit'),
    inQuery('traceID'),
  ),
  get('/jaeger/api/traces/{trace}', inPath('trace')),
  get('/jaeger/api/v3/services'),
  get('/jaeger/api/v3/operations', inQuery('service'), inQuery('span_kind')),
  get(
    '/jaeger/api/v3/trace-summaries',
    inQuery('query.service_name', 'service'),
    inQuery('query.attributes', 'tags'),
    inQuery('query.start_time_min', 'instant'),
    inQuery('query.start_time_max', 'instant'),
    inQuery('query.duration_min', 'length'),
    inQuery('query.search_depth', 'limit'),
  ),
  get('/jaeger/api/v3/traces/{trace}', inPath('trace')),
];
