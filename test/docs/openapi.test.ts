/**
 * docs/openapi.yaml describes the answers of a running daemon: every status of every path, its headers and its body.
 */
import { Ajv } from 'ajv';
import t, { type Test } from 'tap';
import { parse } from 'yaml';
import { defineExporter } from '../../src/component/exporter.ts';
import { defineProcessor } from '../../src/component/processor.ts';
import { COMPONENTS } from '../../src/components.ts';
import { REFUSALS } from '../../src/errors.ts';
import { SIGNALS } from '../../src/pdata/context.ts';
import { FILE_CONFIG, FREE_KEY, OTHER_KEY, STAGING_KEY, startDaemon } from '../support/daemon.ts';
import { type Answer, gzip, type Sending, send, statusMessage } from '../support/otlp-client.ts';
import {
  aGauge,
  aLogRequest,
  aMetricRequest,
  aSpan,
  aTraceRequest,
  newTraceId,
  START_NS,
} from '../support/payloads.ts';
import { double, fixed64, hex, message, request, span, text } from '../pdata/wasm/protobuf-writer.ts';
import { read } from './markdown.ts';

interface Reference {
  readonly $ref?: string;
}
interface Header extends Reference {
  readonly required?: boolean;
  readonly schema: object;
}
interface Response extends Reference {
  readonly headers?: Readonly<Record<string, Header>>;
  readonly content: Readonly<Record<string, { readonly schema: Reference }>>;
}
interface Operation {
  readonly responses: Readonly<Record<string, Response>>;
  readonly requestBody?: Reference;
}
interface Api {
  readonly info: { readonly version: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

const api = parse(read('docs/openapi.yaml')) as Api;
const MESSAGES: readonly string[] = Object.values(REFUSALS).map(({ message }) => message);
/** Headers with a meaning for clients. An answer may carry only those of them that are described. */
const MEANINGFUL = ['retry-after', 'ratelimit-limit', 'ratelimit-reset', 'sunset'];
const seen = new Set<string>();

function resolve<T extends Reference>(part: T): T {
  if (part.$ref === undefined) return part;
  const steps = part.$ref.replace('#/', '').split('/');
  return steps.reduce<unknown>((inner, step) => (inner as Record<string, unknown>)[step], api) as T;
}

function check(t: Test, answer: Answer, path: string, expected: number, method = 'post'): void {
  t.equal(answer.status, expected, `${method} ${path} is answered ${expected}`);
  const described = api.paths[path]?.[method]?.responses[String(expected)];
  if (described === undefined) {
    t.fail(`${method} ${path} ${expected} is not described`);
    return;
  }
  seen.add(`${method} ${path} ${expected}`);
  checkResponse(t, answer, resolve(described));
}

function checkResponse(t: Test, answer: Answer, { headers = {}, content }: Response): void {
  const known = Object.entries(headers).map(([name, header]) => [name.toLowerCase(), resolve(header)] as const);
  for (const [name, { required = false, schema }] of known) {
    const value = answer.headers[name];
    if (required) t.type(value, 'string', `has ${name}`);
    if (value !== undefined) t.ok(isValid(schema, /^\d+$/.test(value) ? Number(value) : value), `${name}: ${value}`);
  }
  const names = known.map(([name]) => name);
  t.same(
    MEANINGFUL.filter((name) => answer.headers[name] !== undefined && !names.includes(name)),
    [],
    'no header that is not described',
  );
  const mediaType = answer.headers['content-type'] ?? '';
  const schema = content[mediaType]?.schema;
  if (schema === undefined) t.fail(`the media type ${mediaType} is not described`);
  else checkBody(t, answer.body, mediaType, resolve(schema));
}

function checkBody(t: Test, body: Buffer, mediaType: string, schema: object): void {
  if (mediaType === 'application/json') {
    const value: unknown = JSON.parse(body.toString());
    t.ok(isValid(schema, value), `the body is as described: ${body.toString()}`);
  } else if ('maxLength' in schema) t.equal(body.length, schema.maxLength);
  else t.ok(MESSAGES.includes(statusMessage(body)), 'a Status with a message of the catalogue');
}

const ajv = new Ajv({ strict: false, formats: { binary: true } });
const isValid = (schema: object, value: unknown): boolean => ajv.validate(schema, value);

const PATHS = { traces: '/v1/traces', logs: '/v1/logs', metrics: '/v1/metrics' } as const;
const TYPES = { json: 'application/json', protobuf: 'application/x-protobuf' } as const;

const log = (traceId: string): object => ({ timeUnixNano: String(START_NS), traceId, body: { stringValue: 'hello' } });
const point = message(5, message(1, fixed64(3, START_NS), double(4, 1)));
const BODIES = {
  traces: {
    json: (traceId: string) => Buffer.from(JSON.stringify(aTraceRequest([aSpan({ traceId })]))),
    protobuf: (traceId: string) => request(Buffer.concat([span(), hex(1, traceId)])),
  },
  logs: {
    json: (traceId: string) => Buffer.from(JSON.stringify(aLogRequest([log(traceId)]))),
    protobuf: (traceId: string) => request(Buffer.concat([fixed64(1, START_NS), hex(9, traceId)])),
  },
  metrics: {
    json: (traceId: string) => Buffer.from(JSON.stringify(aMetricRequest([aGauge(traceId, 1)]))),
    protobuf: (traceId: string) => request(Buffer.concat([text(1, traceId), point])),
  },
} as const;

for (const signal of SIGNALS) {
  for (const encoding of ['json', 'protobuf'] as const) {
    const path = PATHS[signal];
    const type = { 'content-type': TYPES[encoding] };
    const body = BODIES[signal][encoding];

    t.test(`${signal} in ${encoding}: accepted requests, and refusals before the commit`, async (t) => {
      const { url } = await startDaemon(t);
      const ask = async (expected: number, sending: Sending): Promise<void> =>
        check(t, await send(url, { path, headers: type, ...sending }), path, expected);
      const traceId = newTraceId();
      await ask(200, { body: body(traceId) });
      await ask(200, { body: gzip(body(traceId)), headers: { ...type, 'content-encoding': 'gzip' } });
      await ask(400, { body: '{' });
      await ask(400, {});
      await ask(400, { body: 'no gzip', headers: { ...type, 'content-encoding': 'gzip' } });
      await ask(401, { authorization: null, body: body(traceId) });
      await ask(403, { authorization: `Bearer ${STAGING_KEY}`, body: body(newTraceId()) });
      if (signal !== 'metrics') await ask(409, { authorization: `Bearer ${OTHER_KEY}`, body: body(traceId) });
      await ask(413, { body: Buffer.alloc(4194305) });
      await ask(415, { body: body(traceId), headers: { 'content-type': 'text/plain' } });
      await ask(415, { body: body(traceId), headers: { ...type, 'content-encoding': 'br' } });
    });

    t.test(`${signal} in ${encoding}: a free project within and over its quota`, async (t) => {
      const { url } = await startDaemon(t);
      const authorization = `Bearer ${FREE_KEY}`;
      const spans = (count: number) => JSON.stringify(aTraceRequest(Array.from({ length: count }, () => aSpan())));
      check(t, await send(url, { authorization, body: spans(10) }), '/v1/traces', 200);
      const answer = await send(url, { authorization, path, headers: type, body: body(newTraceId()) });
      check(t, answer, path, 429);
    });
  }
}

const broken = defineProcessor({
  type: 'broken',
  summary: 'Fails.',
  stability: 'development',
  schema: { type: 'object' },
  example: '{}',
  requires: [],
  provides: [],
  create: () => ({
    process() {
      throw new Error('a fault');
    },
  }),
});

const full = defineExporter({
  type: 'full',
  summary: 'Has no room.',
  stability: 'development',
  schema: { type: 'object' },
  example: '{}',
  requires: [],
  signals: SIGNALS,
  create: () => ({
    encode: ({ signal }) => ({ signal, count: 0, bytes: 0, chunks: [], release: () => undefined }),
    write: () => Promise.reject(new Error('no room')),
  }),
});

t.test('faults of the server are 500, a failed store is 503, and both are described', async (t) => {
  const faulty = await startDaemon(t, {
    definitions: [...COMPONENTS, broken],
    config: FILE_CONFIG.replace('environment: {}', 'environment: {}\n  broken: {}').replaceAll(
      '[auth, environment]',
      '[auth, environment, broken]',
    ),
  });
  const closed = await startDaemon(t, {
    definitions: [...COMPONENTS, full],
    config: FILE_CONFIG.replace('exporters: {', 'exporters: { full: {},').replaceAll('[file]', '[file, full]'),
  });
  for (const signal of SIGNALS) {
    for (const encoding of ['json', 'protobuf'] as const) {
      const sending = {
        path: PATHS[signal],
        headers: { 'content-type': TYPES[encoding] },
        body: BODIES[signal][encoding](newTraceId()),
      };
      check(t, await send(faulty.url, sending), sending.path, 500);
      check(t, await send(closed.url, sending), sending.path, 503);
    }
  }
});

t.test('a signal without a pipeline, and any other route or method, is 404 in JSON', async (t) => {
  const only = (kept: string): string =>
    FILE_CONFIG.split('\n')
      .filter((line) => !/^ {4}(traces|logs|metrics):/.test(line) || line.includes(`    ${kept}:`))
      .join('\n');
  const traces = await startDaemon(t, { config: only('traces') });
  const metrics = await startDaemon(t, { config: only('metrics') });
  check(t, await send(traces.url, { path: '/v1/logs' }), '/v1/logs', 404);
  check(t, await send(traces.url, { path: '/v1/metrics' }), '/v1/metrics', 404);
  check(t, await send(metrics.url, { path: '/v1/traces' }), '/v1/traces', 404);
  const notFound = resolve<Response>({ $ref: '#/components/responses/NotFound', content: {} });
  for (const [method, path] of [
    ['GET', '/v1/traces'],
    ['POST', '/health'],
    ['POST', '/v2/traces'],
  ] as const) {
    const answer = await send(traces.url, { method, path });
    t.equal(answer.status, 404);
    checkResponse(t, answer, notFound);
  }
});

t.test('the date of removal is in every answer once it is set', async (t) => {
  const config = FILE_CONFIG.replace('"127.0.0.1:0"', '"127.0.0.1:0", sunset: 2030-01-31');
  const { url } = await startDaemon(t, { config });
  for (const [expected, sending] of [
    [200, { body: BODIES.traces.json(newTraceId()) }],
    [400, { body: '{' }],
    [401, { authorization: null }],
  ] as const) {
    const answer = await send(url, sending);
    check(t, answer, '/v1/traces', expected);
    t.equal(answer.headers['sunset'], 'Thu, 31 Jan 2030 00:00:00 GMT');
  }
});

t.test('the schemas of JSON bodies allow what is stored, and refuse bodies without records', async (t) => {
  const { url } = await startDaemon(t);
  const bodies = {
    traces: aTraceRequest([aSpan()]),
    logs: aLogRequest([{ timeUnixNano: String(START_NS), body: { stringValue: 'a line' } }]),
    metrics: aMetricRequest([aGauge('depth', 3)]),
  };
  for (const signal of SIGNALS) {
    const path = `/v1/${signal}`;
    const { content } = resolve(api.paths[path]?.['post']?.requestBody ?? {}) as Response;
    const isDescribed = new Ajv({ strict: false }).compile(content['application/json']?.schema ?? false);
    const [list = ''] = Object.keys(bodies[signal]);
    for (const body of [{}, { [list]: [] }, { [list]: null }, { [list]: {} }, []]) {
      t.notOk(isDescribed(body), `${signal} ${JSON.stringify(body)}`);
      t.equal((await send(url, { path, body: JSON.stringify(body) })).status, 400, `${signal} ${JSON.stringify(body)}`);
    }
    t.ok(isDescribed(bodies[signal]), signal);
    t.equal((await send(url, { path, body: JSON.stringify(bodies[signal]) })).status, 200, signal);
  }
});

t.test('liveness needs no key', async (t) => {
  const { url } = await startDaemon(t);
  const answer = await send(url, { path: '/health', method: 'GET', authorization: null, headers: {} });
  check(t, answer, '/health', 200, 'get');
});

t.test('every described answer was seen, and every reference is valid', async (t) => {
  const described = Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { responses }]) =>
      Object.keys(responses).map((status) => `${method} ${path} ${status}`),
    ),
  );
  t.same([...seen].sort(), described.sort());
  t.equal(api.info.version, '1.0.0');
  for (const [, reference = ''] of read('docs/openapi.yaml').matchAll(/\$ref: '([^']+)'/g)) {
    t.not(resolve({ $ref: reference }), undefined, reference);
  }
});
