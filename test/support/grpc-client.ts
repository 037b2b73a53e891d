/** Calls OTLP/gRPC with given bytes, through the official client without its serialization. */
import { Client, compressionAlgorithms, credentials, type ChannelCredentials, Metadata } from '@grpc/grpc-js';
import type { Signal } from '../../src/pdata/context.ts';
import { KEY } from './daemon.ts';
import { encodeProtobuf, loadProtos, type Message } from './protos.ts';

export interface Outcome {
  readonly code: number;
  readonly details: string;
  /** Headers and trailers. */
  readonly headers: Metadata;
  readonly trailers: Metadata;
  readonly body: Buffer | null;
}

export interface Calling {
  readonly signal?: Signal;
  readonly method?: string;
  readonly body?: Buffer;
  /** Left out: the test key. Null: none. */
  readonly authorization?: string | null;
  readonly gzip?: boolean;
}

export const METHODS: Readonly<Record<Signal, string>> = {
  traces: '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
  logs: '/opentelemetry.proto.collector.logs.v1.LogsService/Export',
  metrics: '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export',
};

const identity = (bytes: Buffer): Buffer => bytes;

export class GrpcClient {
  readonly #client: Client;
  readonly #zipping: Client;

  constructor(address: string, channel: ChannelCredentials = credentials.createInsecure(), options: object = {}) {
    const base = { 'grpc.use_local_subchannel_pool': 1, ...options };
    this.#client = new Client(address, channel, base);
    const gzip = { 'grpc.default_compression_algorithm': compressionAlgorithms.gzip };
    this.#zipping = new Client(address, channel, { ...base, ...gzip });
  }

  call({ signal = 'traces', method = METHODS[signal], ...rest }: Calling): Promise<Outcome> {
    const { authorization = `Bearer ${KEY}`, body = Buffer.alloc(0), gzip = false } = rest;
    const metadata = new Metadata();
    if (authorization !== null) metadata.set('authorization', authorization);
    const client = gzip ? this.#zipping : this.#client;
    return new Promise((resolve) => {
      let headers = new Metadata();
      let received: Buffer | null = null;
      const call = client.makeUnaryRequest(method, identity, identity, body, metadata, {}, (_error, answer) => {
        received = answer ?? null;
      });
      call.on('metadata', (got: Metadata) => {
        headers = got;
      });
      call.on('status', ({ code, details, metadata: trailers }) =>
        resolve({ code, details, headers, trailers, body: received }),
      );
    });
  }

  close(): void {
    this.#client.close();
    this.#zipping.close();
  }
}

/** Encodes requests in the form of OTLP/JSON as protobuf. */
export function protobufWriter(): (signal: Signal, request: object) => Buffer {
  const [traces, logs, metrics] = loadProtos().requests;
  const types = { traces, logs, metrics };
  return (signal, request) => encodeProtobuf(types[signal], withBytes(request) as Message);
}

/** Converts ids to bytes. 64-bit integers stay strings, which the encoder accepts. */
function withBytes(value: unknown, key = ''): unknown {
  if (typeof value === 'string' && /^(?:traceId|spanId|parentSpanId)$/u.test(key)) return Buffer.from(value, 'hex');
  if (typeof value === 'string' && /^(?:start|end)?[tT]imeUnixNano$|^intValue$/u.test(key)) return BigInt(value);
  if (Array.isArray(value)) return value.map((item) => withBytes(item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withBytes(inner, name)]));
}
