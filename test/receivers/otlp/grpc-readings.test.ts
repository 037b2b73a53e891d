// Ambiguous gRPC calls, and HTTP/2 floods.
import { constants } from 'node:http2';
import { gzipSync } from 'node:zlib';
import t from 'tap';
import { acceptedConnections } from '../../support/accepted-connections.ts';
import { type Daemon, FILE_CONFIG, KEY, OTHER_KEY, startDaemon } from '../../support/daemon.ts';
import { GrpcClient, METHODS, protobufWriter } from '../../support/grpc-client.ts';
import { END_HEADERS, END_STREAM, FRAME, frame, headerBlock, RawHttp2 } from '../../support/http2-frames.ts';
import { aSpan, aTraceRequest } from '../../support/payloads.ts';
import { until } from '../../support/worker-scene.ts';

const CONFIG = FILE_CONFIG.replace('"127.0.0.1:0" }', '"127.0.0.1:0" }, grpc: { endpoint: "127.0.0.1:0" }');
const ENHANCE_YOUR_CALM = constants.NGHTTP2_ENHANCE_YOUR_CALM;
const write = protobufWriter();
const message = (): Buffer => write('traces', aTraceRequest([aSpan()]));

type Header = readonly [name: string, value: string];
const HEADERS: readonly Header[] = [
  [':method', 'POST'],
  [':scheme', 'http'],
  [':path', METHODS.traces],
  [':authority', 'x'],
  ['content-type', 'application/grpc'],
  ['te', 'trailers'],
  ['authorization', `Bearer ${KEY}`],
];
const without = (name: string): readonly Header[] => HEADERS.filter(([each]) => each !== name);

function framed(body: Buffer, { flag = 0, length = body.length } = {}): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(flag, 0);
  head.writeUInt32BE(length, 1);
  return Buffer.concat([head, body]);
}

interface Call {
  readonly headers?: readonly Header[];
  readonly data?: Buffer;
}

/** The frames that answer one call. */
async function call(daemon: Daemon, { headers = HEADERS, data = framed(message()) }: Call): Promise<string> {
  const raw = new RawHttp2(daemon.grpc);
  raw.send(frame(FRAME.headers, END_HEADERS, 1, headerBlock(headers)), frame(FRAME.data, END_STREAM, 1, data));
  const answered = (): boolean => raw.frames.some(({ type, stream }) => stream === 1 && type !== FRAME.data);
  await until(() => answered() || raw.socket.destroyed);
  raw.socket.destroy();
  return raw.frames.some(({ type }) => type === FRAME.goaway) ? 'goaway' : 'answer';
}

/** The code of the only refusal in the log, and the number of stored rows. */
async function refusalOf(t: Parameters<typeof startDaemon>[0], calling: Call): Promise<unknown> {
  const daemon = await startDaemon(t, { config: CONFIG });
  await call(daemon, calling);
  const codes = daemon.log
    .filter(({ message: said }) => said === 'request refused')
    .map(({ fields }) => fields['code']);
  return [...codes, (await daemon.rows()).length];
}

t.test('metadata that is repeated, and messages that are not exactly one, are refused and store nothing', async (t) => {
  const cases: readonly (readonly [string, Call, readonly unknown[]])[] = [
    ['two keys', { headers: [...HEADERS, ['authorization', `Bearer ${OTHER_KEY}`]] }, ['invalid_api_key', 0]],
    ['two equal keys', { headers: [...HEADERS, ['authorization', `Bearer ${KEY}`]] }, ['invalid_api_key', 0]],
    ['two media types', { headers: [...HEADERS, ['content-type', 'application/grpc+json']] }, [0]],
    ['two equal media types', { headers: [...HEADERS, ['content-type', 'application/grpc']] }, [0]],
    [
      'two encodings',
      { headers: [...HEADERS, ['grpc-encoding', 'identity'], ['grpc-encoding', 'gzip']] },
      ['unsupported_encoding', 0],
    ],
    [
      'two equal encodings',
      { headers: [...HEADERS, ['grpc-encoding', 'gzip'], ['grpc-encoding', 'gzip']] },
      ['unsupported_encoding', 0],
    ],
    ['an unannounced compression', { data: framed(gzipSync(message()), { flag: 1 }) }, ['invalid_body', 0]],
    ['an unknown flag', { data: framed(message(), { flag: 2 }) }, ['invalid_body', 0]],
    ['two messages', { data: Buffer.concat([framed(message()), framed(message())]) }, ['invalid_body', 0]],
    ['bytes behind the message', { data: Buffer.concat([framed(message()), Buffer.from('x')]) }, ['invalid_body', 0]],
    ['a length beyond the bytes', { data: framed(message(), { length: 2 ** 32 - 1 }) }, ['invalid_body', 0]],
    ['a length short of the bytes', { data: framed(message(), { length: 3 }) }, ['invalid_body', 0]],
    ['half a frame head', { data: Buffer.from([0, 0, 0]) }, ['invalid_body', 0]],
    ['no te', { headers: without('te') }, [1]],
    ['a timeout of nothing', { headers: [...HEADERS, ['grpc-timeout', '0n']] }, [1]],
    ['a timeout of ages', { headers: [...HEADERS, ['grpc-timeout', '99999999H']] }, [1]],
    ['a timeout that is none', { headers: [...HEADERS, ['grpc-timeout', '-1x']] }, [1]],
    ['a length that is not that of the bytes', { headers: [...HEADERS, ['content-length', '3']] }, ['invalid_body', 0]],
    ['a name in capitals', { headers: [...HEADERS, ['X-Name', 'x']] }, [0]],
    ['an option of connections', { headers: [...HEADERS, ['connection', 'close']] }, [0]],
    ['coded chunks', { headers: [...HEADERS, ['transfer-encoding', 'chunked']] }, [0]],
    ['two paths', { headers: [[':path', '/x'], ...HEADERS] }, [0]],
  ];
  for (const [name, calling, expected] of cases) t.same(await refusalOf(t, calling), expected, name);
});

/** The code of the GOAWAY frame, after the server has closed the connection. */
async function goawayCode(raw: RawHttp2): Promise<number | undefined> {
  await raw.closed;
  return raw.frames.find(({ type }) => type === FRAME.goaway)?.payload.readUInt32BE(4);
}

t.test('a peer that resets its calls or floods with frames is disconnected, and others are served', async (t) => {
  const daemon = await startDaemon(t, { config: CONFIG });
  const block = headerBlock(HEADERS);
  const unknown = headerBlock([...without('authorization'), ['authorization', 'Bearer unknown-key-0123456789']]);
  const floods: Readonly<Record<string, (stream: number) => readonly Buffer[]>> = {
    resets: (stream) => [
      frame(FRAME.headers, END_HEADERS, stream, block),
      frame(FRAME.reset, 0, stream, Buffer.from([0, 0, 0, 8])),
    ],
    pings: () => [frame(FRAME.ping, 0, 0, Buffer.alloc(8))],
    settings: () => [frame(FRAME.settings, 0, 0)],
    continuations: (stream) =>
      stream === 1
        ? [frame(FRAME.headers, 0, 1, block)]
        : [frame(FRAME.continuation, 0, 1, headerBlock([['x', 'y'.repeat(1000)]]))],
    'open calls': (stream) => [frame(FRAME.headers, END_HEADERS, stream, block)],
    'calls with a wrong key': (stream) => [
      frame(FRAME.headers, END_HEADERS, stream, unknown),
      frame(FRAME.data, END_STREAM, stream, framed(message())),
    ],
  };
  const client = new GrpcClient(daemon.grpc);
  t.teardown(() => client.close());
  for (const [name, flood] of Object.entries(floods)) {
    const raw = new RawHttp2(daemon.grpc);
    for (let stream = 1; stream < 20_000; stream += 2) raw.send(...flood(stream));
    if (name === 'open calls') await raw.closed;
    else if (name === 'pings' || name === 'resets') t.equal(await goawayCode(raw), ENHANCE_YOUR_CALM, name);
    else await until(() => raw.frames.length > 1 || raw.socket.destroyed);
    t.equal((await client.call({ body: message() })).code, 0, `beside a flood of ${name}`);
    raw.socket.destroy();
  }
  await until(() => /sluice_requests_in_flight 0\n/.test(daemon.registry.print()));
  t.match(daemon.registry.print(), /sluice_bytes_in_flight 0\n/, 'no call of a flood stays in flight');
});

t.test('a connection with an error of the protocol is closed when its client is gone', async (t) => {
  const daemon = await startDaemon(t, { config: CONFIG });
  const errors: Readonly<Record<string, readonly Buffer[]>> = {
    'settings of a stream': [frame(FRAME.settings, 0, 1, Buffer.alloc(3))],
    'data of no call': [frame(FRAME.data, 0, 1, Buffer.alloc(10))],
    'data of no call, and more': [frame(FRAME.data, 0, 1, Buffer.alloc(10)), Buffer.alloc(20_000)],
    'an open call before it': [
      frame(FRAME.headers, END_HEADERS, 1, headerBlock(HEADERS)),
      frame(FRAME.settings, 0, 1, Buffer.alloc(3)),
    ],
  };
  for (const [name, frames] of Object.entries(errors)) {
    const raw = new RawHttp2(daemon.grpc);
    raw.send(...frames);
    await until(() => raw.frames.some(({ type }) => type === FRAME.goaway) || raw.socket.destroyed);
    raw.socket.destroy();
    await until(() => acceptedConnections(daemon.grpc) === 0);
    t.equal(acceptedConnections(daemon.grpc), 0, name);
  }
});
