// The rules for bodies: ids, timestamps, keys, nesting, sizes; over a real socket, in both encodings.
import { randomBytes } from 'node:crypto';
import t from 'tap';
import { startDaemon } from '../../support/daemon.ts';
import { gzip, send, statusMessage } from '../../support/otlp-client.ts';
import {
  aLogRequest,
  aMetricRequest,
  aSpan,
  aTraceRequest,
  attributes,
  newSpanId,
  newTraceId,
} from '../../support/payloads.ts';

const messageOf = (body: Buffer): string => (JSON.parse(body.toString()) as { message: string }).message;
const withSpan = (fields: object): string => JSON.stringify(aTraceRequest([{ ...aSpan(), ...fields }]));
const MIB = 1024 * 1024;

t.test('ids of spans have their length and are not all zero', async (t) => {
  const daemon = await startDaemon(t);
  const zero = (length: number): string => '0'.repeat(length);
  for (const fields of [
    { traceId: '' },
    { traceId: 'ab' },
    { traceId: zero(32) },
    { traceId: `${newTraceId()}00` },
    { traceId: 'g'.repeat(32) },
    { spanId: '' },
    { spanId: zero(16) },
    { spanId: 'ab' },
    { parentSpanId: 'ab' },
    { parentSpanId: zero(16) },
    { links: [{ traceId: 'ab', spanId: newSpanId() }] },
    { links: [{ traceId: newTraceId(), spanId: zero(16) }] },
  ]) {
    const answer = await send(daemon.url, { body: withSpan(fields) });
    t.equal(answer.status, 400, JSON.stringify(fields));
    t.match(messageOf(answer.body), /id/);
  }
  for (const fields of [
    { parentSpanId: '' },
    { links: [{ traceId: newTraceId(), spanId: newSpanId() }] },
    { traceId: newTraceId().toUpperCase() },
  ]) {
    t.equal((await send(daemon.url, { body: withSpan(fields) })).status, 200, JSON.stringify(fields));
  }
  t.equal((await daemon.rows()).length, 3);
});

t.test('log records may have a trace id, which must be valid', async (t) => {
  const daemon = await startDaemon(t);
  const log = (fields: object): string =>
    JSON.stringify(aLogRequest([{ timeUnixNano: '1', body: { stringValue: 'x' }, ...fields }]));
  for (const fields of [{ traceId: '00' }, { traceId: '0'.repeat(32) }, { spanId: '01' }, { spanId: '0'.repeat(16) }]) {
    t.equal((await send(daemon.url, { path: '/v1/logs', body: log(fields) })).status, 400, JSON.stringify(fields));
  }
  for (const fields of [{}, { traceId: '' }, { traceId: newTraceId() }, { spanId: newSpanId() }]) {
    t.equal((await send(daemon.url, { path: '/v1/logs', body: log(fields) })).status, 200, JSON.stringify(fields));
  }
});

t.test('timestamps are unsigned nanoseconds below 2^63, as text or number, exactly', async (t) => {
  const daemon = await startDaemon(t);
  for (const value of [
    '"-1"',
    '-1',
    '"1.5"',
    '1.5',
    '"1e3"',
    '1e3',
    '"9223372036854775808"',
    '"18446744073709551616"',
    '"+1"',
    '0',
    '"0"',
  ]) {
    const body = withSpan({ startTimeUnixNano: '@' }).replace('"@"', value);
    t.equal((await send(daemon.url, { body })).status, 400, `start ${value}`);
  }
  for (const value of ['"1"', '1', '"9223372036854775807"', '1763720000000000001']) {
    const body = withSpan({ startTimeUnixNano: '@', endTimeUnixNano: '0' }).replace('"@"', value);
    t.equal((await send(daemon.url, { body })).status, 200, `start ${value}`);
  }
  const rows = await daemon.rows();
  t.same(
    rows.map((row) => row['start_time_unix_nano']),
    ['1', '1', '9223372036854775807', '1763720000000000001'],
  );
  t.same(
    rows.map((row) => row['duration_ns']),
    [null, null, null, null],
    'an end of 0 is unknown',
  );
});

t.test('an end before the start is kept, and the duration is 0', async (t) => {
  const daemon = await startDaemon(t);
  t.equal(
    (await send(daemon.url, { body: withSpan({ startTimeUnixNano: '2000', endTimeUnixNano: '1000' }) })).status,
    200,
  );
  t.match((await daemon.rows())[0], { start_time_unix_nano: '2000', end_time_unix_nano: '1000', duration_ns: '0' });
});

t.test('JSON keys are lowerCamelCase and unique at every level', async (t) => {
  const daemon = await startDaemon(t);
  const good = withSpan({});
  for (const [name, body] of [
    ['a duplicate key', good.replace('"name":"work"', '"name":"work","name":"work"')],
    ['a duplicate by escape', good.replace('"name":"work"', '"name":"work","n\\u0061me":"work"')],
    ['a duplicate inside an unknown object', good.replace('"name":"work"', '"name":"work","unknown":{"a":1,"a":2}')],
    ['a duplicate at the top', `{"resourceSpans":[],${good.slice(1)}`],
    ['snake_case', good.replace('"startTimeUnixNano"', '"start_time_unix_nano"')],
    ['snake_case at the top', good.replace('"resourceSpans"', '"resource_spans"')],
  ] as const) {
    const answer = await send(daemon.url, { body });
    t.equal(answer.status, 400, name);
    t.match(messageOf(answer.body), /lowerCamelCase/, name);
  }
  const unknown = good.replace('"name":"work"', '"name":"work","unknownField":{"a":[1,{"b":null}],"snake_case":1}');
  t.equal((await send(daemon.url, { body: unknown })).status, 200, 'unknown fields are ignored');
});

t.test('JSON is parsed strictly', async (t) => {
  const daemon = await startDaemon(t);
  const good = withSpan({});
  for (const [name, body] of [
    ['a byte order mark', Buffer.from(`\uFEFF${good}`)],
    ['trailing bytes', Buffer.from(`${good}x`)],
    ['a second document', Buffer.from(`${good}${good}`)],
    [
      'invalid UTF-8',
      Buffer.concat([Buffer.from(good.slice(0, -2)), Buffer.from([0xff]), Buffer.from(good.slice(-2))]),
    ],
    ['a comment', Buffer.from(`/**/${good}`)],
    ['a trailing comma', Buffer.from(good.replace(/}$/, ',}'))],
    ['a wrong type', Buffer.from(good.replace('"name":"work"', '"name":1'))],
    ['an enum by name', Buffer.from(good.replace('"name":"work"', '"name":"work","kind":"SPAN_KIND_SERVER"'))],
    ['an array', Buffer.from('[]')],
    ['null', Buffer.from('null')],
  ] as const) {
    const answer = await send(daemon.url, { body });
    t.equal(answer.status, 400, name);
    t.match(messageOf(answer.body), /JSON/, name);
  }
});

t.test('values may be nested 32 deep and no deeper', async (t) => {
  const daemon = await startDaemon(t);
  const nested = (depth: number): object =>
    depth === 1 ? { stringValue: 'x' } : { arrayValue: { values: [nested(depth - 1)] } };
  const body = (depth: number): string => withSpan({ attributes: [{ key: 'deep', value: nested(depth) }] });
  t.equal((await send(daemon.url, { body: body(32) })).status, 200);
  const refused = await send(daemon.url, { body: body(33) });
  t.equal(refused.status, 400);
  t.match(messageOf(refused.body), /nesting/);
  t.equal(
    (await send(daemon.url, { body: `${'['.repeat(100000)}` })).status,
    400,
    'depth outside values is limited as well',
  );
});

t.test('duplicate attribute keys: the last wins', async (t) => {
  const daemon = await startDaemon(t);
  t.equal(
    (
      await send(daemon.url, {
        body: withSpan({
          attributes: [...attributes({ a: 1 }), ...attributes({ b: 2 }), ...attributes({ a: 'last' })],
        }),
      })
    ).status,
    200,
  );
  t.same((await daemon.rows())[0]?.['attributes'], { a: 'last', b: 2 });
});

t.test('NUL and lone surrogates are stored as U+FFFD, NaN and infinities as words', async (t) => {
  const daemon = await startDaemon(t);
  const body = withSpan({
    attributes: [
      { key: 'nul', value: { stringValue: 'a\u0000b' } },
      { key: 'half', value: { stringValue: '@' } },
      { key: 'nan', value: { doubleValue: 'NaN' } },
      { key: 'inf', value: { doubleValue: '-Infinity' } },
    ],
  });
  t.equal((await send(daemon.url, { body: body.replace('"@"', '"x\\ud800y"') })).status, 200);
  t.same((await daemon.rows())[0]?.['attributes'], { nul: 'a\uFFFDb', half: 'x\uFFFDy', nan: 'NaN', inf: '-Infinity' });
});

t.test('64-bit integers are exact', async (t) => {
  const daemon = await startDaemon(t);
  const body = withSpan({
    attributes: [
      { key: 'big', value: { intValue: '9007199254740993' } },
      { key: 'low', value: { intValue: '-9223372036854775808' } },
    ],
  });
  t.equal((await send(daemon.url, { body })).status, 200);
  const text = await daemon.file();
  t.match(text, '"big":9007199254740993');
  t.match(text, '"low":-9223372036854775808');
});

t.test('integers other than timestamps may be written with a fraction or an exponent, as in ProtoJSON', async (t) => {
  const daemon = await startDaemon(t);
  const sent = (value: string): string =>
    withSpan({
      droppedAttributesCount: '@',
      attributes: [
        { key: 'flat', value: { intValue: '@' } },
        { key: 'list', value: { arrayValue: { values: [{ intValue: '@' }] } } },
      ],
    }).replaceAll('"@"', value);
  for (const [value, whole] of [
    ['5.0', '5'],
    ['"5.00"', '5'],
    ['1e2', '100'],
    ['"12.5E+1"', '125'],
    ['-0.0', '0'],
    ['3000e-3', '3'],
    ['4.2949672950e9', '4294967295'],
    ['0e99999999999', '0'],
  ] as const) {
    const answer = await send(daemon.url, { body: sent(value) });
    // A count has no sign.
    t.equal(answer.status, value.startsWith('-') ? 400 : 200, value);
    if (answer.status === 200) t.match(await daemon.file(), `"attributes":{"flat":${whole},"list":[${whole}]}`, value);
  }
  const attribute = (value: string): string =>
    withSpan({ attributes: [{ key: 'k', value: { intValue: '@' } }] }).replace('"@"', value);
  t.equal((await send(daemon.url, { body: attribute('-9.223372036854775808e18') })).status, 200);
  t.match(await daemon.file(), '"k":-9223372036854775808');
  for (const value of [
    '5.5',
    '1e-1',
    '9.223372036854775808e18',
    '1e19',
    '1e99999999999',
    '5.',
    '"5.0 "',
    '12345678901234567890.5',
  ]) {
    const answer = await send(daemon.url, { body: attribute(value) });
    t.equal(answer.status, 400, value);
    t.match(messageOf(answer.body), /JSON/, value);
  }
});

t.test('exactly 4 MiB pass, one byte more does not, declared or streamed', async (t) => {
  const daemon = await startDaemon(t);
  const base = withSpan({ attributes: attributes({ pad: '' }) });
  const exact = base.replace('"stringValue":""', `"stringValue":"${'x'.repeat(4 * MIB - base.length)}"`);
  t.equal(exact.length, 4 * MIB);
  t.equal((await send(daemon.url, { body: exact })).status, 200);
  const over = `${exact} `;
  const declared = await send(daemon.url, { body: over });
  t.equal(declared.status, 413);
  t.equal(declared.headers['connection'], 'close', 'an early refusal closes the connection');
  const streamed = await send(daemon.url, {
    body: over,
    headers: { 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
  });
  t.equal(streamed.status, 413);
});

t.test('exactly 16 MiB after expansion pass, one byte more does not', async (t) => {
  const daemon = await startDaemon(t);
  const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
  const base = withSpan({ attributes: attributes({ pad: '' }) });
  const exact = base.replace('"stringValue":""', `"stringValue":"${'x'.repeat(16 * MIB - base.length)}"`);
  t.equal((await send(daemon.url, { headers, body: gzip(exact) })).status, 200);
  const over = await send(daemon.url, { headers, body: gzip(`${exact} `) });
  t.equal(over.status, 413);
  t.match(messageOf(over.body), /too large/);
  const bomb = await send(daemon.url, { headers, body: gzip(Buffer.alloc(200 * MIB)) });
  t.equal(bomb.status, 413, 'a gzip bomb is refused during the expansion');
});

t.test('one bad item refuses the whole request, and nothing of it is stored', async (t) => {
  const daemon = await startDaemon(t);
  const traceId = newTraceId();
  const body = JSON.stringify(
    aTraceRequest([aSpan({ traceId }), { ...aSpan({ traceId }), spanId: 'ab' }, aSpan({ traceId })]),
  );
  t.equal((await send(daemon.url, { body })).status, 400);
  t.equal(await daemon.file(), '');
  t.equal(
    (
      await send(daemon.url, {
        authorization: 'Bearer other-key-0123456789',
        body: JSON.stringify(aTraceRequest([aSpan({ traceId })])),
      })
    ).status,
    200,
    'its trace is not claimed',
  );
});

t.test('a metric without points counts as a record, and makes no row', async (t) => {
  const daemon = await startDaemon(t);
  t.equal(
    (await send(daemon.url, { path: '/v1/metrics', body: JSON.stringify(aMetricRequest([{ name: 'empty' }])) })).status,
    200,
  );
  t.equal(await daemon.file(), '');
});

t.test('invalid protobuf is refused in protobuf', async (t) => {
  const daemon = await startDaemon(t);
  const headers = { 'content-type': 'application/x-protobuf' };
  const wrap = (field: number, inner: Buffer): Buffer =>
    Buffer.concat([Buffer.from([field * 8 + 2, inner.length]), inner]);
  const request = (span: Buffer): Buffer => wrap(1, wrap(2, wrap(2, span)));
  const ids = (trace: Buffer, span: Buffer): Buffer => Buffer.concat([wrap(1, trace), wrap(2, span)]);
  const start = Buffer.from('390000000000000001', 'hex');
  const good = Buffer.concat([ids(randomBytes(16), randomBytes(8)), start]);
  for (const [name, body, message] of [
    ['a short trace id', request(Buffer.concat([ids(randomBytes(15), randomBytes(8)), start])), /id/],
    ['a zero span id', request(Buffer.concat([ids(randomBytes(16), Buffer.alloc(8)), start])), /id/],
    ['no start', request(ids(randomBytes(16), randomBytes(8))), /timestamp/],
    [
      'a start of 2^63',
      request(Buffer.concat([ids(randomBytes(16), randomBytes(8)), Buffer.from('390000000000000080', 'hex')])),
      /timestamp/,
    ],
    ['field number 0', request(Buffer.concat([good, Buffer.from([0x02, 0x00])])), /protobuf/],
    ['a wrong wire type', request(Buffer.concat([good, Buffer.from([0x28, 0x01])])), /protobuf/],
    ['a name that is not UTF-8', request(Buffer.concat([good, Buffer.from([0x2a, 0x01, 0xff])])), /protobuf/],
    ['truncation', request(good).subarray(0, -1), /protobuf/],
    ['an open group', request(Buffer.concat([good, Buffer.from([0xf3, 0x06])])), /protobuf/],
  ] as const) {
    const answer = await send(daemon.url, { headers, body });
    t.equal(answer.status, 400, name);
    t.match(statusMessage(answer.body), message, name);
  }
  const unknown = Buffer.concat([
    good,
    Buffer.from([0xf8, 0x06, 0x01]),
    Buffer.from([0xf3, 0x06, 0x08, 0x01, 0xf4, 0x06]),
  ]);
  t.equal(
    (await send(daemon.url, { headers, body: request(unknown) })).status,
    200,
    'unknown fields and groups are skipped',
  );
});
