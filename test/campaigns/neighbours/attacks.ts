/** The attacks of a hostile client, by name. Each continues until its thread is terminated. */
import { connect, type Socket } from 'node:net';
import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { createApiKey } from '../../../src/pdata/api-key.ts';
import { METHODS } from '../../support/grpc-client.ts';
import { ACK, END_HEADERS, END_STREAM, FRAME, frame, headerBlock, RawHttp2 } from '../../support/http2-frames.ts';
import { attribute, resourceOf, spanFields, spans } from '../memory/protobuf.ts';
import { bodyOf } from './honest.ts';
import { FREE_KEY, HOSTILE_KEY, HOSTILE_KEYS, OWNED_TRACE, type Ports, SCOPED_KEY } from './scene.ts';

type Attack = (ports: Ports) => void;

const MIB = 1048576;
const FLOODERS = 32;

interface Head {
  readonly key?: string | null;
  readonly path?: string;
  readonly type?: string;
  readonly length?: number;
  readonly more?: string;
}

function head({
  key = HOSTILE_KEY,
  path = '/v1/traces',
  type = 'application/json',
  length = 0,
  more = '',
}: Head): string {
  const authorization = key === null ? '' : `Authorization: Bearer ${key}\r\n`;
  return `POST ${path} HTTP/1.1\r\nHost: x\r\n${authorization}Content-Type: ${type}\r\n${more}Content-Length: ${length}\r\n\r\n`;
}

/** Keeps a connection open: opens a new one when the server has closed it. */
function persist(port: number, use: (socket: Socket) => void): void {
  const socket = connect(port, '127.0.0.1', () => use(socket));
  socket.on('error', () => undefined);
  socket.on('close', () => setTimeout(() => persist(port, use), 1));
}

/** Requests on many connections, each sent as soon as the one before on its connection is answered. */
function flood(make: () => string | Buffer, connections = FLOODERS): Attack {
  return ({ http }) => {
    for (let index = 0; index < connections; index++)
      persist(http, (socket) => {
        const send = (): void => void (socket.writable && socket.write(make()));
        socket.on('data', send);
        send();
      });
  };
}

const whole = (options: Head, body: string): string => head({ ...options, length: Buffer.byteLength(body) }) + body;

function compressed(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from(head({ length: bytes.length, more: 'Content-Encoding: gzip\r\n' })), bytes]);
}

function slowBodies({ http }: Ports): void {
  for (let index = 0; index < 133; index++) {
    const length = index < 63 ? 4 * MIB : 65_536;
    persist(http, (socket) => {
      socket.write(`${head({ length })}{`);
      const timer = setInterval(() => socket.write(' '), 500);
      socket.on('close', () => clearInterval(timer));
    });
  }
}

function halfBodies({ http }: Ports): void {
  for (let index = 0; index < 200; index++)
    persist(http, (socket) => socket.write(head({ length: 4 * MIB }) + ' '.repeat(3 * MIB)));
}

function pipelining({ http }: Ports): void {
  const many = 'GET /health HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(2000);
  for (let index = 0; index < 8; index++)
    persist(http, (socket) => {
      const pump = (): void => {
        while (socket.writable && socket.write(many));
      };
      socket.on('data', () => undefined).on('drain', pump);
      pump();
    });
}

function silence({ http, grpc }: Ports): void {
  for (let index = 0; index < 1000; index++) persist(index % 2 === 0 ? http : grpc, () => undefined);
}

const GRPC_HEADERS = (key: string): Buffer =>
  headerBlock([
    [':method', 'POST'],
    [':scheme', 'http'],
    [':path', METHODS.traces],
    [':authority', 'x'],
    ['content-type', 'application/grpc'],
    ['te', 'trailers'],
    ['authorization', `Bearer ${key}`],
  ]);

/** The same frames for one stream after the other on several connections, after the `first` ones. */
function http2(frames: (stream: number) => readonly Buffer[], ...first: readonly Buffer[]): Attack {
  return ({ grpc }) => {
    const run = (): void => {
      const raw = new RawHttp2(`127.0.0.1:${grpc}`);
      // The `first` frames may have used stream 1.
      let stream = 3;
      raw.send(...first);
      const pump = (): void => {
        for (let count = 0; count < 200; count++, stream += 2) raw.send(...frames(stream));
        raw.frames.length = 0;
        if (!raw.socket.destroyed) setTimeout(pump, raw.socket.writableNeedDrain ? 20 : 1);
      };
      pump();
      void raw.closed.then(() => setTimeout(run, 1));
    };
    for (let index = 0; index < 8; index++) run();
  };
}

/** Made once, because a hostile client does not spend its time on making bodies. */
function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

const PLACEHOLDER = 'f'.repeat(32);
const manySpans = once(() => bodyOf(PLACEHOLDER, 30_000));
const freshSpans = (): string => manySpans().replaceAll(PLACEHOLDER, randomBytes(16).toString('hex'));
const tooMuch = once(() => compressed(gzipSync(Buffer.alloc(17 * MIB, 0x20))));
const spaces = once(() => gzipSync(Buffer.alloc(15 * MIB, 0x20)));
const giants = once(() =>
  Array.from({ length: 16 }, () =>
    compressed(gzipSync(Buffer.concat([Buffer.alloc(15 * MIB, 0x20), Buffer.from(bodyOf())]))),
  ),
);
const giant = (): Buffer => giants()[Math.floor(Math.random() * giants().length)] ?? Buffer.alloc(0);
/** The trailer of the last gzip member declares a small size. */
const giantInMembers = (): Buffer => compressed(Buffer.concat([spaces(), gzipSync(bodyOf())]));

const protobuf = (bytes: Buffer, key = HOSTILE_KEY): Buffer => {
  const more = 'Content-Encoding: gzip\r\n';
  return Buffer.concat([Buffer.from(head({ key, type: 'application/x-protobuf', length: bytes.length, more })), bytes]);
};
/** Spans without attributes, each in its own trace, made anew for each request. */
const tracesOf =
  (count: number, key = HOSTILE_KEY) =>
  (): Buffer =>
    protobuf(gzipSync(resourceOf([], spans(count, spanFields('x'))), { level: 1 }), key);

const MESSAGES = JSON.stringify([{ role: 'user', content: 'What is known about the order 4711? '.repeat(50) }]);
const modelCallFields = once(() =>
  spanFields('chat', [
    attribute(9, 'gen_ai.operation.name', 'chat'),
    attribute(9, 'gen_ai.provider.name', 'openai'),
    attribute(9, 'gen_ai.request.model', 'gpt-4o'),
    attribute(9, 'gen_ai.usage.input_tokens', '900'),
    attribute(9, 'gen_ai.usage.output_tokens', '90'),
    attribute(9, 'gen_ai.input.messages', MESSAGES),
    attribute(9, 'gen_ai.output.messages', MESSAGES),
  ]),
);
/** Model calls of 4 KiB, made anew for each request. */
const modelCalls =
  (count: number, key = HOSTILE_KEY) =>
  (): Buffer =>
    protobuf(gzipSync(resourceOf([], spans(count, modelCallFields())), { level: 1 }), key);

const RESET = Buffer.from([0, 0, 0, 8]);
const EMPTY_MESSAGE = Buffer.alloc(5);

const unknownCall = (stream: number): readonly Buffer[] => [
  frame(FRAME.headers, END_HEADERS, stream, GRPC_HEADERS('not-a-key-0123456789')),
  frame(FRAME.data, END_STREAM, stream, EMPTY_MESSAGE),
];

/** 12 bytes: the fields `:method`, `:scheme` and `:path` from the static table of HPACK. */
const shortCall = (stream: number): readonly Buffer[] => [
  frame(FRAME.headers, END_HEADERS | END_STREAM, stream, Buffer.from([0x83, 0x86, 0x84])),
];

/** A long header enters the table of HPACK, and 4,000 bytes then name it once each. */
const headerBomb = Buffer.concat([
  headerBlock([[':method', 'POST']]),
  Buffer.from([0x40]),
  headerBlock([['x', 'v'.repeat(3900)]]).subarray(1),
  Buffer.alloc(4000, 0xbe),
]);
/** A call that is admitted: the peer is not an unknown client then. */
const admittedCall: readonly Buffer[] = [
  frame(FRAME.settings, ACK, 0),
  frame(FRAME.headers, END_HEADERS, 1, GRPC_HEADERS(HOSTILE_KEY)),
  frame(FRAME.data, END_STREAM, 1, EMPTY_MESSAGE),
];
const INCREMENT = Buffer.from([0, 0, 0, 1]);
const PRIORITY = Buffer.from([0, 0, 0, 0, 1]);

export const ATTACKS: Readonly<Record<string, Attack>> = {
  'slow bodies': slowBodies,
  'half bodies': halfBodies,
  pipelining,
  'silent connections': silence,
  'unknown keys': flood(() => whole({ key: createApiKey().text }, '{}'), 128),
  'flood of 401': flood(() => whole({ key: null }, '{}')),
  'flood of 403': flood(() => whole({ key: SCOPED_KEY }, bodyOf())),
  'flood of 404': flood(() => whole({ path: '/nowhere' }, '{}')),
  'flood of 409': flood(() => whole({}, bodyOf(OWNED_TRACE))),
  'flood of 413 declared': flood(() => head({ length: 100 * MIB })),
  'flood of 413 expanded': flood(tooMuch, 8),
  'flood of 415': flood(() => whole({ type: 'text/plain' }, '{}')),
  'flood of 429': flood(() => whole({ key: FREE_KEY }, bodyOf())),
  'empty bodies': flood(() => head({})),
  'giant bodies': flood(giant, 8),
  'giant bodies in members': flood(giantInMembers, 8),
  'many spans': flood(freshSpans, 4),
  'requests as large as a group': flood(tracesOf(8000), 4),
  'requests larger than a group': flood(tracesOf(20_000), 2),
  'requests of very many traces': flood(tracesOf(250_000), 1),
  // 16 MiB. More of these at a time do not fit the limit of bytes in flight.
  'giant model calls': flood(modelCalls(4000), 2),
  'large model calls of eight projects': (ports) => {
    for (const key of HOSTILE_KEYS) flood(modelCalls(1000, key), 1)(ports);
  },
  'large requests of eight projects': (ports) => {
    for (const key of HOSTILE_KEYS) flood(tracesOf(20_000, key), 1)(ports);
  },
  'grpc 401': http2(unknownCall),
  'grpc 401, settings acknowledged': http2(unknownCall, frame(FRAME.settings, ACK, 0)),
  'grpc short calls': http2(shortCall),
  'grpc short calls, settings acknowledged': http2(shortCall, frame(FRAME.settings, ACK, 0)),
  'grpc resets': http2((stream) => [
    frame(FRAME.headers, END_HEADERS, stream, GRPC_HEADERS(HOSTILE_KEY)),
    frame(FRAME.reset, 0, stream, RESET),
  ]),
  'grpc pings': http2(() => [frame(FRAME.ping, 0, 0, Buffer.alloc(8))]),
  'grpc settings': http2(() => [frame(FRAME.settings, 0, 0)]),
  'grpc continuations': http2(
    () => [frame(FRAME.continuation, 0, 1, headerBlock([['x', 'v'.repeat(100)]]))],
    frame(FRAME.headers, 0, 1, headerBlock([[':method', 'POST']])),
  ),
  'grpc header bombs': http2((stream) => [frame(FRAME.headers, END_HEADERS | END_STREAM, stream, headerBomb)]),
  'grpc header bombs with a key': http2(
    (stream) => [frame(FRAME.headers, END_HEADERS | END_STREAM, stream, headerBomb)],
    ...admittedCall,
  ),
  'grpc priorities with a key': http2((stream) => [frame(FRAME.priority, 0, stream, PRIORITY)], ...admittedCall),
  'grpc settings with a key': http2(() => [frame(FRAME.settings, 0, 0)], ...admittedCall),
  'grpc unknown frames with a key': http2((stream) => [frame(0xfa, 0, stream, PRIORITY)], ...admittedCall),
  'grpc empty data with a key': http2(
    () => [frame(FRAME.data, 0, 3)],
    ...admittedCall,
    frame(FRAME.headers, END_HEADERS, 3, GRPC_HEADERS(HOSTILE_KEY)),
  ),
  'grpc window updates': http2(() => [frame(FRAME.window, 0, 0, INCREMENT)]),
  'grpc priorities': http2((stream) => [frame(FRAME.priority, 0, stream, PRIORITY)]),
  'grpc unknown frames': http2((stream) => [frame(0xfa, 0, stream, PRIORITY)]),
  'grpc empty data': http2(
    () => [frame(FRAME.data, 0, 1)],
    frame(FRAME.headers, END_HEADERS, 1, GRPC_HEADERS(HOSTILE_KEY)),
  ),
  'grpc slow messages': ({ grpc }) => {
    for (let index = 0; index < 64; index++) {
      const raw = new RawHttp2(`127.0.0.1:${grpc}`);
      raw.send(frame(FRAME.headers, END_HEADERS, 1, GRPC_HEADERS(HOSTILE_KEY)));
      raw.send(frame(FRAME.data, 0, 1, Buffer.from([0, 0, 0x3f, 0xff, 0xff])));
      setInterval(() => raw.send(frame(FRAME.data, 0, 1, Buffer.alloc(1))), 5);
    }
  },
  'grpc open streams': http2((stream) => [frame(FRAME.headers, END_HEADERS, stream, GRPC_HEADERS(HOSTILE_KEY))]),
};
