// The order in which a request is checked, row by row of the error table, over a real socket.
import t from 'tap';
import { tracesProtobuf } from '../../../src/pdata/otlp-protobuf.ts';
import { FREE_KEY, KEY, OTHER_KEY, STAGING_KEY, startDaemon } from '../../support/daemon.ts';
import { gzip, send, statusMessage } from '../../support/otlp-client.ts';
import {
  aGauge,
  aLogRequest,
  aMetricRequest,
  aSpan,
  aTraceRequest,
  newTraceId,
  START_NS,
} from '../../support/payloads.ts';
import { startPostgresDaemon } from '../../support/postgres-daemon.ts';

const JSON_TYPE = { 'content-type': 'application/json' };
const PROTOBUF_TYPE = { 'content-type': 'application/x-protobuf' };
const traceBody = (): string => JSON.stringify(aTraceRequest([aSpan()]));
const messageOf = (body: Buffer): string => (JSON.parse(body.toString()) as { message: string }).message;

t.test('health answers without a key', async (t) => {
  const { url } = await startDaemon(t);
  const answer = await send(url, { path: '/health', method: 'GET', authorization: null, headers: {} });
  t.equal(answer.status, 200);
  t.same(JSON.parse(answer.body.toString()), { ok: true });
});

t.test('an unregistered route or method is 404 in JSON, whatever the media type, and never 405', async (t) => {
  const { url } = await startDaemon(t);
  for (const [method, path] of [
    ['GET', '/v1/traces'],
    ['PUT', '/v1/traces'],
    ['POST', '/v1/profiles'],
    ['POST', '/health'],
    ['POST', '/v2/traces'],
    ['GET', '/'],
    ['POST', '/v1/traces/'],
  ] as const) {
    const answer = await send(url, { path, method, authorization: null, headers: PROTOBUF_TYPE });
    t.equal(answer.status, 404, `${method} ${path}`);
    t.equal(answer.headers['content-type'], 'application/json');
    t.same(JSON.parse(answer.body.toString()), { message: 'Route not found' });
  }
});

t.test('every invalid state of a key is 401, before the media type is checked', async (t) => {
  const { url } = await startDaemon(t);
  for (const authorization of [
    null,
    '',
    'Bearer',
    'Bearer ',
    `bearer ${KEY}`,
    `BEARER ${KEY}`,
    `Bearer  ${KEY}`,
    `Basic ${KEY}`,
    KEY,
    `Bearer ${KEY}x`,
    `Bearer ${KEY} x`,
  ]) {
    const answer = await send(url, { authorization, headers: { 'content-type': 'text/plain' }, body: traceBody() });
    t.equal(answer.status, 401, JSON.stringify(authorization));
    t.equal(answer.headers['content-type'], 'application/x-protobuf', 'an unknown media type is answered in protobuf');
    t.match(statusMessage(answer.body), /API key/);
  }
  const header = await send(url, {
    authorization: null,
    headers: { ...JSON_TYPE, 'x-api-key': KEY },
    body: traceBody(),
  });
  t.equal(header.status, 401, 'x-api-key is not accepted');
  t.match(messageOf(header.body), /API key/);
});

t.test('a missing or other media type is 415 in protobuf', async (t) => {
  const { url } = await startDaemon(t);
  for (const headers of [
    {},
    { 'content-type': 'text/plain' },
    { 'content-type': 'application/protobuf' },
    { 'content-type': 'application/jsonx' },
    { 'content-type': '' },
    // White space of other standards is a part of the name.
    { 'content-type': 'application/json\u00a0' },
    { 'content-type': '\u00a0application/json; charset=utf-8' },
  ]) {
    // With a buffer as the body, node:http sends the headers in Latin-1.
    const body = Buffer.from(traceBody());
    const answer = await send(url, { headers: headers as Record<string, string>, body });
    t.equal(answer.status, 415, JSON.stringify(headers));
    t.match(statusMessage(answer.body), /Content-Type/);
  }
});

t.test('media types are compared without case and parameters', async (t) => {
  const { url } = await startDaemon(t);
  for (const type of [
    'application/json; charset=utf-8',
    'Application/JSON',
    'application/json;charset=iso-8859-1 ; x=y',
    ' application/json ',
  ]) {
    t.equal((await send(url, { headers: { 'content-type': type }, body: traceBody() })).status, 200, type);
  }
});

t.test('content encodings other than gzip and identity are 415 in the encoding of the request', async (t) => {
  const { url } = await startDaemon(t);
  for (const encoding of ['br', 'deflate', 'gzip, gzip', 'identity, gzip', 'zstd', 'x-gzip', 'gzip\u00a0', '\u00a0']) {
    const body = Buffer.from(traceBody());
    const json = await send(url, { headers: { ...JSON_TYPE, 'content-encoding': encoding }, body });
    t.equal(json.status, 415, encoding);
    t.match(messageOf(json.body), /Content-Encoding/);
    const protobuf = await send(url, { headers: { ...PROTOBUF_TYPE, 'content-encoding': encoding }, body: 'x' });
    t.match(statusMessage(protobuf.body), /Content-Encoding/);
  }
  for (const encoding of ['', 'identity', 'IDENTITY']) {
    t.equal(
      (await send(url, { headers: { ...JSON_TYPE, 'content-encoding': encoding }, body: traceBody() })).status,
      200,
      encoding,
    );
  }
  t.equal(
    (await send(url, { headers: { ...JSON_TYPE, 'content-encoding': 'GZip' }, body: gzip(traceBody()) })).status,
    200,
  );
});

t.test('an empty body is 400, and so is a body without records', async (t) => {
  const { url } = await startDaemon(t);
  for (const body of [
    '',
    '{}',
    '{"resourceSpans":[]}',
    '{"resourceSpans":[{}]}',
    '{"resourceSpans":[{"scopeSpans":[{"spans":[]}]}]}',
  ]) {
    const answer = await send(url, { body });
    t.equal(answer.status, 400, body);
    t.match(messageOf(answer.body), /no records/);
  }
  t.match(statusMessage((await send(url, { headers: PROTOBUF_TYPE })).body), /no records/);
  t.match(
    messageOf((await send(url, { headers: { ...JSON_TYPE, 'content-encoding': 'gzip' }, body: '' })).body),
    /no records/,
  );
  t.match(
    messageOf((await send(url, { headers: { ...JSON_TYPE, 'content-encoding': 'gzip' }, body: gzip('{}') })).body),
    /no records/,
  );
  t.match(
    messageOf((await send(url, { headers: { ...JSON_TYPE, 'content-encoding': 'gzip' }, body: gzip('') })).body),
    /no records/,
  );
  t.match(
    messageOf((await send(url, { path: '/v1/logs', body: '{"resourceLogs":[{"scopeLogs":[{}]}]}' })).body),
    /no records/,
  );
  t.match(
    messageOf(
      (await send(url, { path: '/v1/metrics', body: '{"resourceMetrics":[{"scopeMetrics":[{"metrics":[]}]}]}' })).body,
    ),
    /no records/,
  );
});

t.test('broken gzip is 400', async (t) => {
  const { url } = await startDaemon(t);
  const whole = gzip(traceBody());
  const flipped = Buffer.from(whole);
  flipped[whole.length - 6] = (flipped[whole.length - 6] ?? 0) ^ 0xff;
  for (const [name, body] of [
    ['not gzip', Buffer.from(traceBody())],
    ['truncated', whole.subarray(0, whole.length - 9)],
    ['wrong checksum', flipped],
    ['only a header', whole.subarray(0, 10)],
  ] as const) {
    const answer = await send(url, { headers: { ...JSON_TYPE, 'content-encoding': 'gzip' }, body });
    t.equal(answer.status, 400, name);
    t.match(messageOf(answer.body), /gzip/);
  }
});

t.test('bytes that are not OTLP are 400 in their own encoding', async (t) => {
  const { url } = await startDaemon(t);
  const json = await send(url, { body: '{"resourceSpans":[' });
  t.equal(json.status, 400);
  t.match(messageOf(json.body), /JSON/);
  const protobuf = await send(url, { headers: PROTOBUF_TYPE, body: Buffer.from([0x0a, 0xff]) });
  t.equal(protobuf.status, 400);
  t.match(statusMessage(protobuf.body), /protobuf/);
});

t.test('the environment of a scoped key is checked before the replay', async (t) => {
  const daemon = await startDaemon(t);
  const body = JSON.stringify(aTraceRequest([aSpan()], { 'deployment.environment.name': 'production' }));
  t.equal((await send(daemon.url, { body })).status, 200);
  const scoped = await send(daemon.url, { authorization: `Bearer ${STAGING_KEY}`, body });
  t.equal(scoped.status, 403, 'the same bytes with a key of another environment');
  t.match(messageOf(scoped.body), /environment/);
});

t.test('environments are resolved, trimmed and lower-cased per resource block', async (t) => {
  const daemon = await startDaemon(t);
  const staging = { authorization: `Bearer ${STAGING_KEY}` };
  for (const resource of [
    { 'deployment.environment.name': ' Staging ' },
    { 'deployment.environment': 'STAGING' },
    { 'deployment.environment.name': '  ', 'deployment.environment': 'staging' },
    { 'deployment.environment.name': 'staging', 'deployment.environment': 'production' },
  ]) {
    const answer = await send(daemon.url, {
      ...staging,
      body: JSON.stringify(aTraceRequest([aSpan()], resource as unknown as Record<string, string>)),
    });
    t.equal(answer.status, 200, JSON.stringify(resource));
  }
  t.same([...new Set((await daemon.rows()).map(({ environment }) => environment))], ['staging']);
  const nothing = await send(daemon.url, { ...staging, body: traceBody() });
  t.equal(nothing.status, 403, 'without an attribute the environment is "default"');
  const mixed = {
    resourceSpans: [
      ...(aTraceRequest([aSpan()], { 'deployment.environment': 'staging' }) as { resourceSpans: object[] })
        .resourceSpans,
      ...(aTraceRequest([aSpan()]) as { resourceSpans: object[] }).resourceSpans,
    ],
  };
  t.equal(
    (await send(daemon.url, { ...staging, body: JSON.stringify(mixed) })).status,
    403,
    'one resource of another environment refuses the request',
  );
  t.equal((await daemon.rows()).length, 4, 'nothing of a refused request is stored');
});

t.test('a long environment is another one than its beginning', async (t) => {
  const daemon = await startDaemon(t);
  const statusOf = async (environment: string): Promise<number> => {
    const body = JSON.stringify(aTraceRequest([aSpan()], { 'deployment.environment.name': environment }));
    return (await send(daemon.url, { authorization: `Bearer ${STAGING_KEY}`, body })).status;
  };
  for (const spaces of [300, 1_200_000]) {
    const blank = ' '.repeat(spaces);
    t.equal(await statusOf(`${blank}staging${blank}`), 200, `${spaces} spaces around it`);
    t.equal(await statusOf(`staging${blank}x`), 403, `${spaces} spaces in it`);
    t.equal(await statusOf(`${blank}staging${blank}x`), 403, `${spaces} spaces before and in it`);
  }
});

t.test('an environment with U+0000 is the same in both encodings, for a trace too', async (t) => {
  for (const start of [startDaemon, startPostgresDaemon]) {
    const daemon = await start(t);
    const traceId = newTraceId();
    for (const contentType of ['application/json', 'application/x-protobuf', 'application/x-protobuf']) {
      const request = JSON.stringify(aTraceRequest([aSpan({ traceId })], { 'deployment.environment.name': 'a\0b' }));
      const body = contentType === 'application/json' ? request : Buffer.from(tracesProtobuf(request));
      const { status } = await send(daemon.url, { headers: { 'content-type': contentType }, body });
      t.equal(status, 200, `${start.name}, ${contentType}`);
    }
  }
});

t.test('a trace has one environment, within a request and afterwards', async (t) => {
  const daemon = await startDaemon(t);
  const traceId = newTraceId();
  const block = (environment: string): object =>
    (aTraceRequest([aSpan({ traceId })], { 'deployment.environment.name': environment }) as { resourceSpans: object[] })
      .resourceSpans[0] as object;
  const both = await send(daemon.url, { body: JSON.stringify({ resourceSpans: [block('a'), block('b')] }) });
  t.equal(both.status, 403);
  t.equal((await send(daemon.url, { body: JSON.stringify({ resourceSpans: [block('a')] }) })).status, 200);
  t.equal((await send(daemon.url, { body: JSON.stringify({ resourceSpans: [block('b')] }) })).status, 403);
  const log = { timeUnixNano: String(START_NS), traceId, body: { stringValue: 'x' } };
  t.equal(
    (
      await send(daemon.url, {
        path: '/v1/logs',
        body: JSON.stringify(aLogRequest([log], { 'deployment.environment.name': 'b' })),
      })
    ).status,
    403,
    'a log record claims its trace too',
  );
});

t.test('a trace of another project is 409, for spans and for logs', async (t) => {
  const daemon = await startDaemon(t);
  const traceId = newTraceId();
  t.equal((await send(daemon.url, { body: JSON.stringify(aTraceRequest([aSpan({ traceId })])) })).status, 200);
  const other = { authorization: `Bearer ${OTHER_KEY}` };
  const conflict = await send(daemon.url, {
    ...other,
    body: JSON.stringify(aTraceRequest([aSpan({ traceId }), aSpan()])),
  });
  t.equal(conflict.status, 409);
  t.match(messageOf(conflict.body), /another project/);
  const log = { timeUnixNano: String(START_NS), traceId, body: { stringValue: 'x' } };
  t.equal(
    (await send(daemon.url, { ...other, path: '/v1/logs', body: JSON.stringify(aLogRequest([log])) })).status,
    409,
  );
  t.equal((await daemon.rows()).length, 1);
});

t.test('a trace of another project decides before one of another environment, in any order', async (t) => {
  for (const start of [startDaemon, startPostgresDaemon]) {
    const daemon = await start(t);
    const body = (environment: string, ...traceIds: string[]): string =>
      JSON.stringify(
        aTraceRequest(
          traceIds.map((traceId) => aSpan({ traceId })),
          { 'deployment.environment.name': environment },
        ),
      );
    for (const [foreign, own] of [
      ['1'.repeat(32), '2'.repeat(32)],
      ['4'.repeat(32), '3'.repeat(32)],
    ] as const) {
      const authorization = `Bearer ${OTHER_KEY}`;
      t.equal((await send(daemon.url, { authorization, body: body('a', foreign) })).status, 200);
      t.equal((await send(daemon.url, { body: body('a', own) })).status, 200);
      t.equal((await send(daemon.url, { body: body('b', own, foreign) })).status, 409, start.name);
    }
  }
});

t.test('exemplars refer to traces without claiming them', async (t) => {
  const daemon = await startDaemon(t);
  const traceId = newTraceId();
  const exemplar = { timeUnixNano: String(START_NS), asDouble: 1, traceId, spanId: '0102030405060708' };
  const metric = {
    name: 'm',
    gauge: { dataPoints: [{ timeUnixNano: String(START_NS), asDouble: 1, exemplars: [exemplar] }] },
  };
  t.equal(
    (await send(daemon.url, { path: '/v1/metrics', body: JSON.stringify(aMetricRequest([metric])) })).status,
    200,
  );
  const other = { authorization: `Bearer ${OTHER_KEY}`, body: JSON.stringify(aTraceRequest([aSpan({ traceId })])) };
  t.equal((await send(daemon.url, other)).status, 200);
});

t.test('identical bytes are stored once in each project and always answered 200', async (t) => {
  const daemon = await startDaemon(t);
  const body = JSON.stringify(aLogRequest([{ timeUnixNano: String(START_NS), body: { stringValue: 'once' } }]));
  const answers = await Promise.all(Array.from({ length: 5 }, () => send(daemon.url, { path: '/v1/logs', body })));
  t.same(
    answers.map(({ status }) => status),
    [200, 200, 200, 200, 200],
  );
  t.equal((await daemon.rows()).length, 1, 'duplicates in flight are stored once');
  t.equal((await send(daemon.url, { path: '/v1/logs', authorization: `Bearer ${OTHER_KEY}`, body })).status, 200);
  t.equal((await daemon.rows()).length, 2, 'another project stores its own');
  t.equal(
    (
      await send(daemon.url, {
        path: '/v1/logs',
        headers: { ...JSON_TYPE, 'content-encoding': 'gzip' },
        body: gzip(body),
      })
    ).status,
    200,
  );
  t.equal((await daemon.rows()).length, 3, 'compressed bytes are other bytes');
});

t.test('a refused request leaves no marker: its bytes are checked again', async (t) => {
  let now = Date.UTC(2026, 10, 30, 23, 59, 50);
  const daemon = await startDaemon(t, {
    config: (await import('../../support/daemon.ts')).FILE_CONFIG,
    now: () => now,
  });
  const body = JSON.stringify(aTraceRequest(Array.from({ length: 11 }, () => aSpan())));
  t.equal((await send(daemon.url, { authorization: `Bearer ${FREE_KEY}`, body })).status, 429);
  t.equal((await send(daemon.url, { authorization: `Bearer ${FREE_KEY}`, body })).status, 429);
  now += 20000;
  const small = JSON.stringify(aTraceRequest([aSpan()]));
  t.equal((await send(daemon.url, { authorization: `Bearer ${FREE_KEY}`, body: small })).status, 200);
});

t.test('the free plan: headers on traces, 429 with the seconds to the next month, replays still 200', async (t) => {
  const now = Date.UTC(2026, 10, 30, 23, 59, 50);
  const { FILE_CONFIG } = await import('../../support/daemon.ts');
  const daemon = await startDaemon(t, { config: FILE_CONFIG, now: () => now });
  const free = { authorization: `Bearer ${FREE_KEY}` };
  const ten = JSON.stringify(aTraceRequest(Array.from({ length: 10 }, () => aSpan())));
  const accepted = await send(daemon.url, { ...free, body: ten });
  t.equal(accepted.status, 200);
  t.equal(accepted.headers['ratelimit-limit'], '10');
  t.equal(accepted.headers['ratelimit-reset'], '10');
  const over = await send(daemon.url, { ...free, body: traceBody() });
  t.equal(over.status, 429);
  t.equal(over.headers['retry-after'], '10');
  t.equal(over.headers['ratelimit-limit'], '10');
  t.equal(over.headers['ratelimit-reset'], '10');
  const logs = { ...free, path: '/v1/logs', body: JSON.stringify(aLogRequest([{ body: { stringValue: 'x' } }])) };
  const log = await send(daemon.url, logs);
  t.equal(log.status, 429, 'at the cap logs are refused too');
  t.equal(log.headers['ratelimit-limit'], undefined, 'the headers belong to traces');
  t.equal(
    (await send(daemon.url, { ...free, path: '/v1/metrics', body: JSON.stringify(aMetricRequest([aGauge('g', 1)])) }))
      .status,
    429,
  );
  t.equal((await send(daemon.url, { ...free, body: ten })).status, 200, 'a replay of what was accepted');
  const paid = await send(daemon.url, { body: traceBody() });
  t.equal(paid.headers['ratelimit-limit'], undefined, 'paid plans have no headers');
  t.equal((await daemon.rows()).length, 11);
});

t.test('success is an empty body in the encoding of the request', async (t) => {
  const { url } = await startDaemon(t);
  const json = await send(url, { body: traceBody() });
  t.equal(json.status, 200);
  t.equal(json.headers['content-type'], 'application/json');
  t.equal(json.body.toString(), '{}');
  const span = Buffer.from(
    '0a10' + '0102030405060708090a0b0c0d0e0f10' + '1208' + '0102030405060708' + '39' + '0000000000000001',
    'hex',
  );
  const wrap = (field: number, inner: Buffer): Buffer =>
    Buffer.concat([Buffer.from([field * 8 + 2, inner.length]), inner]);
  const protobuf = await send(url, { headers: PROTOBUF_TYPE, body: wrap(1, wrap(2, wrap(2, span))) });
  t.equal(protobuf.status, 200);
  t.equal(protobuf.headers['content-type'], 'application/x-protobuf');
  t.equal(protobuf.headers['content-length'], '0');
  t.equal(protobuf.body.length, 0);
});
