// Requests that a proxy and this server could read differently: each is refused, closes its connection and stores
// nothing.
import { connect } from 'node:net';
import t from 'tap';
import { type Daemon, KEY, OTHER_KEY, startDaemon } from '../../support/daemon.ts';
import { aSpan, aTraceRequest } from '../../support/payloads.ts';

type Case = readonly [name: string, raw: string];

const body = (): string => JSON.stringify(aTraceRequest([aSpan()]));
const chunked = (text: string, { extension = '', trailers = '' } = {}): string =>
  `${text.length.toString(16)}${extension}\r\n${text}\r\n0\r\n${trailers}\r\n`;

interface Parts {
  readonly line?: string;
  readonly headers?: readonly string[];
  /** Names of default headers to leave out. */
  readonly without?: readonly string[];
  readonly text?: string;
  readonly end?: string;
}

function request({
  line = 'POST /v1/traces HTTP/1.1',
  headers = [],
  without = [],
  text = body(),
  end = '\r\n',
}: Parts) {
  const usual = [
    'Host: x',
    `Authorization: Bearer ${KEY}`,
    'Content-Type: application/json',
    `Content-Length: ${text.length}`,
  ].filter((each) => !without.some((name) => each.startsWith(name)));
  return [line, ...usual, ...headers, '', text].join(end);
}

function inChunks(coding: string, { headers = [], text = chunked(body()), ...parts }: Parts = {}): string {
  const without = ['Content-Length', ...(parts.without ?? [])];
  return request({ ...parts, without, headers: [`Transfer-Encoding: ${coding}`, ...headers], text });
}

const TUNNEL = 'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n';

/** Refused with 400, and the connection closes. */
const FRAMING: readonly Case[] = [
  ...[
    ...['gzip, chunked', 'identity, chunked', 'chunked, chunked', 'chunked, identity', 'xchunked', 'identity', 'gzip'],
    ...['"chunked"', 'chunked;q=1', 'chunked,', ',chunked', '', '\x0bchunked', '\r\n chunked'],
  ].map((coding): Case => [`Transfer-Encoding: ${coding}`, inChunks(coding)]),
  ['two Transfer-Encodings', inChunks('chunked', { headers: ['Transfer-Encoding: chunked'] })],
  ['another Transfer-Encoding', inChunks('chunked', { headers: ['Transfer-Encoding: identity'] })],
  ['a space in the name of Transfer-Encoding', request({ headers: ['Transfer-Encoding : chunked'] })],
  ['a length and chunks', request({ headers: ['Transfer-Encoding: chunked'], text: chunked(body()) })],
  ['chunks over HTTP/1.0', inChunks('chunked', { line: 'POST /v1/traces HTTP/1.0' })],
  ['coded chunks over HTTP/1.0', inChunks('gzip, chunked', { line: 'POST /v1/traces HTTP/1.0' })],
  ...['HTTP/2.0', 'HTTP/0.9', 'HTTP/1.2', 'HTTP/3.0', 'HTTP/1.10', ''].map(
    (version): Case => [`version "${version}"`, request({ line: `POST /v1/traces ${version}` })],
  ),
  ...['+3', '0x10', '3,3', '3, 3', '-1', '1e3', '', ' ', '3 3', '9'.repeat(23)].map(
    (length): Case => [
      `Content-Length: ${length}`,
      request({ without: ['Content-Length'], headers: [`Content-Length: ${length}`] }),
    ],
  ),
  ['two lengths', request({ headers: ['Content-Length: 5'] })],
  ['two equal lengths', request({ headers: [`content-length: ${body().length}`] })],
  ['two Hosts', request({ headers: ['HOST: y'] })],
  ['a space before a colon', request({ without: ['Authorization'], headers: [`Authorization : Bearer ${KEY}`] })],
  ['a folded line', request({ headers: ['X: a', ' b'] })],
  ['a zero byte in a value', request({ headers: ['X: a\0b'] })],
  ['a carriage return in a value', request({ headers: ['X: a\rContent-Length: 5'] })],
  ['a line feed in a value', request({ headers: ['X: a\nContent-Length: 5'] })],
  ['lines that end with a line feed', request({ end: '\n' })],
  ['a header without a colon', request({ headers: ['Xabc'] })],
  ['a space in the target', request({ line: 'POST /v1/traces x HTTP/1.1' })],
  ['tabs in the request line', request({ line: 'POST\t/v1/traces\tHTTP/1.1' })],
  ['no target', request({ line: 'POST HTTP/1.1' })],
  ['an authority as the target', request({ line: 'POST x:80 HTTP/1.1' })],
  ['an unknown method of another version', request({ line: 'FETCH /v1/traces HTTP/2.0' })],
  ['the greeting of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['an extension of a chunk with a line feed', inChunks('chunked', { text: chunked(body(), { extension: ';a\nb' }) })],
  ['an endless extension', inChunks('chunked', { text: chunked(body(), { extension: `;${'a'.repeat(20000)}` }) })],
  ['a chunk with a hexadecimal prefix', inChunks('chunked', { text: `0x${chunked(body())}` })],
  ['a chunk with a space after its size', inChunks('chunked', { text: chunked(body(), { extension: ' ' }) })],
  ['a chunk of 2^68 bytes', inChunks('chunked', { text: `fffffffffffffffff\r\n${body()}` })],
  ['chunks whose lines end with a line feed', inChunks('chunked', { text: chunked(body()).replaceAll('\r\n', '\n') })],
  ['a length in the trailers', inChunks('chunked', { text: chunked(body(), { trailers: 'content-length: 3\r\n' }) })],
  ['a request behind one with coded chunks', inChunks('gzip, chunked') + request({})],
];

/** Refused with 401, and the connection closes. */
const KEYS: readonly Case[] = [
  ['two keys', request({ headers: [`Authorization: Bearer ${OTHER_KEY}`] })],
  ['two equal keys', request({ headers: [`authorization: Bearer ${KEY}`] })],
  ['a key and an empty one', request({ headers: ['AUTHORIZATION:'] })],
  ['a request behind one with two keys', request({ headers: [`Authorization: Bearer ${OTHER_KEY}`] }) + request({})],
];

/** Refused with 415, and the connection closes. */
const MEDIA: readonly Case[] = [
  ['two media types', request({ headers: ['Content-Type: application/x-protobuf'] })],
  ['two equal media types', request({ headers: ['content-type: application/json'] })],
  ['two encodings', request({ headers: ['Content-Encoding: identity', 'Content-Encoding: gzip'] })],
  ['two equal encodings', request({ headers: ['Content-Encoding: identity', 'content-encoding: identity'] })],
  ['two empty encodings', request({ headers: ['Content-Encoding:', 'Content-Encoding:'] })],
];

/** Not a route of this server: 404. */
const ROUTES: readonly Case[] = [
  ...[
    ...['ftp://x/v1/traces', 'http:///v1/traces', 'http://u@x/v1/traces', '*', '//:0'],
    ...['//v1/traces', '/v1%2ftraces', '/v1/%74races', '/v1/traces/', '/V1/traces'],
    ...['/v1/./traces', '/v1/traces/../logs', '/v1\\traces', '/v1/traces;x=1', '/v1/traces#x'],
  ].map((target): Case => [`POST ${target}`, request({ line: `POST ${target} HTTP/1.1` })]),
  ...[
    ...['GET', 'PUT', 'TRACE', 'OPTIONS', 'HEAD', 'DELETE', 'PATCH', 'PROPFIND'],
    // Methods that the parser of node:http does not accept, by no letter, by the last one, or with HTTP.
    ...['FETCH', 'post', 'Post', 'POSTS', 'PO', 'DESCRIBE', 'X-Y.Z'],
  ].map((method): Case => [`${method} /v1/traces`, request({ line: `${method} /v1/traces HTTP/1.1` })]),
  ['a tunnel', TUNNEL],
  ['a tunnel to a route', request({ line: 'CONNECT /v1/traces HTTP/1.1' })],
  ['requests behind a tunnel', TUNNEL + request({}) + request({})],
  // The server reads pieces of 1024 bytes: a request begins in the second one.
  ['a request in the next piece behind a tunnel', TUNNEL.replace(': x', `: ${'x'.repeat(992)}`) + request({})],
];

/** Not ambiguous: accepted. */
const PLAIN: readonly Case[] = [
  ['nothing special', request({})],
  ['chunks', inChunks('chunked')],
  ['chunks in capitals', inChunks('Chunked')],
  ['space around a value', inChunks(' \tchunked ')],
  ['HTTP/1.0', request({ line: 'POST /v1/traces HTTP/1.0' })],
  ['no Host', request({ without: ['Host'] })],
  ['an expectation of something else', request({ headers: ['Expect: 200-ok'] })],
  ['two options of the connection', request({ headers: ['Connection: keep-alive', 'Connection: x'] })],
  ['underscores', request({ headers: ['Content_Length: 5', 'Transfer_Encoding: chunked'] })],
  ['a query', request({ line: 'POST /v1/traces?a=b HTTP/1.1' })],
  ...['http://x/v1/traces', 'HTTPS://other.example:4318/v1/traces?a=b', 'http://[::1]/v1/traces'].map(
    (target): Case => [`target ${target}`, request({ line: `POST ${target} HTTP/1.1` })],
  ),
  ['an offer of HTTP/2', request({ headers: ['Connection: Upgrade', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQ'] })],
  ['an extension of a chunk', inChunks('chunked', { text: chunked(body(), { extension: ';a=b' }) })],
  ['a key in the trailers', inChunks('chunked', { text: chunked(body(), { trailers: 'authorization: x\r\n' }) })],
  ['bytes behind the request', `${request({})}garbage`],
  ['a tunnel behind the request', `${request({})}${TUNNEL}`],
];

/** Everything the server sends until it has answered or closes the connection. */
function talk(daemon: Daemon, raw: string, closes: boolean): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(daemon.port, '127.0.0.1', () => socket.write(raw, 'latin1'));
    let heard = '';
    socket.on('data', (data) => {
      heard += data.toString('latin1');
      if (!closes) socket.destroy();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(heard));
  });
}

const statusesOf = (heard: string): readonly number[] =>
  [...heard.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, code]) => Number(code));

const REFUSED = [
  [400, FRAMING],
  [401, KEYS],
  [415, MEDIA],
  [404, ROUTES],
] as const;

t.test('an ambiguous request gets one refusal and a closed connection, and stores nothing', async (t) => {
  const daemon = await startDaemon(t);
  for (const [status, cases] of REFUSED)
    await Promise.all(
      cases.map(async ([name, raw]) => t.same(statusesOf(await talk(daemon, raw, true)), [status], name)),
    );
  t.equal((await daemon.rows()).length, 0);
});

t.test('an answer to two media types is protobuf, because neither is identified', async (t) => {
  const daemon = await startDaemon(t);
  for (const [name, raw] of MEDIA) {
    const answer = await talk(daemon, raw, true);
    const type = name.includes('media types') ? 'application/x-protobuf' : 'application/json';
    t.match(answer, `Content-Type: ${type}\r\n`, name);
  }
});

t.test('an unusual but unambiguous request is stored once', async (t) => {
  const daemon = await startDaemon(t);
  await Promise.all(PLAIN.map(async ([name, raw]) => t.same(statusesOf(await talk(daemon, raw, false)), [200], name)));
  t.equal((await daemon.rows()).length, PLAIN.length);
});

t.test('/health ignores a body, and closes the connection after an ambiguous one', async (t) => {
  const daemon = await startDaemon(t);
  const line = 'GET /health HTTP/1.1';
  for (const raw of [
    inChunks('gzip, chunked', { line }) + request({}),
    request({ line, text: request({}) }).slice(0, -1),
  ])
    t.same(statusesOf(await talk(daemon, raw, true)), [200]);
  const offer = ['Connection: Upgrade', 'Upgrade: websocket'];
  t.same(statusesOf(await talk(daemon, request({ line, headers: offer, text: '' }), false)), [200]);
  t.equal((await daemon.rows()).length, 0);
});
