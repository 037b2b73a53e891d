/** Random bytes of clients: HTTP/1.1 requests and HTTP/2 frames of many kinds, whole or damaged. */
import { gzipSync } from 'node:zlib';
import { KEY } from '../../support/daemon.ts';
import type { Random } from '../../support/generators-random.ts';
import { protobufWriter } from '../../support/grpc-client.ts';
import { END_HEADERS, END_STREAM, FRAME, frame, headerBlock } from '../../support/http2-frames.ts';
import { aSpan, aTraceRequest } from '../../support/payloads.ts';

export type Dialect = 'http' | 'http2';

const MOST_PARTS = 40;
/** Long streams make pieces and reads of every length end within a request. */
const MOST_PADDING = 3000;

const METHODS = ['GET', 'POST', 'PUT', 'HEAD', 'OPTIONS', 'TRACE', 'DELETE', 'CONNECT', 'PRI', 'get', ''] as const;
const TARGETS = [
  ...['/', '*', '/v1/traces', '/v1/logs', '/v1/metrics', '/health', '/metrics', '/api/v1/projects', '/mcp', 'x:1'],
  ...['http://x/v1/traces', '/v1/traces?a=b', '//', '/assets/x.js', '/api/search', '/v1/traces/', ''],
] as const;
const VERSIONS = ['HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'HTTP/0.9', ''] as const;
const EXTRA_HEADERS = [
  ...['Expect: 100-continue', 'Expect: x', 'Connection: close', 'Connection: keep-alive', 'Connection: Upgrade'],
  ...['Upgrade: websocket', 'Upgrade: h2c', 'Transfer-Encoding: chunked', 'Transfer-Encoding: gzip, chunked'],
  ...['Content-Encoding: gzip', 'Content-Encoding: br', 'Content-Length: 5', 'Content-Length: 99999999', 'Host: y'],
  ...['Authorization: Bearer x', 'Authorization:', 'Content-Type: application/x-protobuf', 'Origin: http://x', 'X'],
  ...['Trailer: X', 'Sec-Fetch-Site: cross-site', 'Accept-Encoding: gzip', 'Keep-Alive: timeout=0'],
] as const;

const json = (): Buffer => Buffer.from(JSON.stringify(aTraceRequest([aSpan()])));
const protobuf = protobufWriter();

function bodyOf(random: Random): Buffer {
  const whole = random.pick([json, () => protobuf('traces', aTraceRequest([aSpan()])), () => Buffer.from('{')])();
  const body = random.once(3) ? gzipSync(whole) : whole;
  return random.once(4) ? body.subarray(0, random.below(body.length)) : body;
}

function chunked(body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n0\r\n\r\n')]);
}

/** An honest request once in three, otherwise a random one. */
function httpRequest(random: Random): Buffer {
  if (random.once(3)) {
    const body = json();
    return Buffer.concat([
      Buffer.from(
        `POST /v1/traces HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
      ),
      body,
    ]);
  }
  const headers = ['Host: x', `Authorization: Bearer ${KEY}`, 'Content-Type: application/json'].filter(
    () => !random.once(5),
  );
  while (random.once(2)) headers.push(random.pick(EXTRA_HEADERS));
  if (random.once(3)) headers.push(`X-Padding: ${'x'.repeat(random.below(MOST_PADDING))}`);
  const body = random.once(2) ? bodyOf(random) : Buffer.alloc(0);
  const inChunks = random.once(4);
  if (inChunks) headers.push('Transfer-Encoding: chunked');
  else if (body.length > 0 && !random.once(6)) headers.push(`Content-Length: ${body.length}`);
  const line = `${random.pick(METHODS)} ${random.pick(TARGETS)} ${random.pick(VERSIONS)}`;
  const head = Buffer.from([line, ...headers, '', ''].join(random.once(20) ? '\n' : '\r\n'));
  return Buffer.concat([head, inChunks ? chunked(body) : body]);
}

const CALL_HEADERS: readonly (readonly [string, string])[] = [
  [':method', 'POST'],
  [':scheme', 'http'],
  [':path', '/opentelemetry.proto.collector.trace.v1.TraceService/Export'],
  [':authority', 'x'],
  ['content-type', 'application/grpc'],
  ['te', 'trailers'],
  ['authorization', `Bearer ${KEY}`],
];
const OTHER_HEADERS: readonly (readonly [string, string])[] = [
  [':method', 'CONNECT'],
  [':protocol', 'websocket'],
  [':path', '*'],
  [':path', ''],
  ['content-type', 'application/json'],
  ['grpc-encoding', 'gzip'],
  ['grpc-timeout', '1n'],
  ['content-length', '5'],
  ['Upper', 'x'],
  ['', 'x'],
  ['connection', 'close'],
  ['x', 'y'.repeat(5000)],
];

function message(random: Random): Buffer {
  const body = random.once(2) ? protobuf('traces', aTraceRequest([aSpan()])) : bodyOf(random);
  const prefix = Buffer.alloc(5);
  prefix.writeUInt8(random.once(4) ? random.below(256) : 0, 0);
  prefix.writeUInt32BE(random.once(5) ? random.next() : body.length, 1);
  return Buffer.concat([prefix, body]);
}

function randomBytes(random: Random, most: number): Buffer {
  return Buffer.from(Array.from({ length: random.below(most) }, () => random.below(256)));
}

/** A whole call, or one frame of any type, flags and length. `next` is the number of the next stream of the client. */
function http2Frames(random: Random, next: number): Buffer {
  const stream = random.once(6) ? random.below(2 ** 31) : Math.max(1, next - 2 * random.below(3));
  if (random.once(3)) {
    const headers = CALL_HEADERS.filter(() => !random.once(12));
    while (random.once(4)) headers.push(random.pick(OTHER_HEADERS));
    const shown = random.once(6) ? random.shuffle(headers) : headers;
    const block = headerBlock(shown);
    const bodyless = random.once(5) ? END_STREAM : 0;
    return Buffer.concat([
      frame(FRAME.headers, END_HEADERS | bodyless, next, block),
      frame(FRAME.data, random.once(3) ? 0 : END_STREAM, next, message(random)),
    ]);
  }
  const four = Buffer.alloc(4);
  four.writeUInt32BE(random.next());
  return random.pick([
    () => frame(FRAME.reset, 0, stream, four),
    () => frame(FRAME.ping, random.below(2), 0, Buffer.alloc(8)),
    () => frame(FRAME.settings, random.below(2), 0, randomBytes(random, 40)),
    () => frame(FRAME.goaway, 0, 0, Buffer.concat([four, four, randomBytes(random, 20)])),
    () => frame(FRAME.continuation, random.below(8), stream, headerBlock(CALL_HEADERS)),
    () => frame(FRAME.data, random.below(16), stream, randomBytes(random, 200)),
    () => frame(FRAME.headers, random.below(64), stream, randomBytes(random, 200)),
    () => frame(8, 0, random.once(2) ? 0 : stream, four),
    () => frame(random.below(16), random.below(256), stream, randomBytes(random, 100)),
  ])();
}

/** Flips, drops, doubles or inserts bytes at one place. */
function damage(random: Random, bytes: Buffer): Buffer {
  const [from, to] = [random.below(bytes.length + 1), random.below(bytes.length + 1)].sort((a, b) => a - b) as [
    number,
    number,
  ];
  return random.pick([
    () => Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)]),
    () => Buffer.concat([bytes.subarray(0, to), bytes.subarray(from)]),
    () => Buffer.concat([bytes.subarray(0, from), randomBytes(random, 20), bytes.subarray(from)]),
    () => Buffer.concat([bytes.subarray(0, from), Buffer.from('\r\n'), bytes.subarray(from)]),
    () => {
      const copy = Buffer.from(bytes);
      if (from < copy.length) copy[from] = (copy[from] ?? 0) ^ (1 << random.below(8));
      return copy;
    },
  ])();
}

/** What a client sends on one connection. Once in ten it speaks the other protocol. */
export function streamOf(random: Random, dialect: Dialect): Buffer {
  const isHttp2 = random.once(10) ? dialect === 'http' : dialect === 'http2';
  const parts: Buffer[] = isHttp2 ? [Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(FRAME.settings, 0, 0)] : [];
  for (let count = 1 + random.below(MOST_PARTS), next = 1; count > 0; count--, next += 2)
    parts.push(isHttp2 ? http2Frames(random, next) : httpRequest(random));
  const whole = Buffer.concat(parts);
  return random.once(3) ? damage(random, whole) : whole;
}
