/** What can be set for OTLP over gRPC, under the Collector's names. */
import { LONGEST_WAIT_MS } from '../../component/longest-wait.ts';
import { type LimitOptions, readTimeout, sizeLimits } from './limit-options.ts';
import { type ListenOptions, listenSchema } from './listen-options.ts';

export interface GrpcOptions extends ListenOptions, LimitOptions {
  /** Mebibytes. */
  readonly max_recv_msg_size_mib: number;
  readonly max_concurrent_streams: number;
  readonly keepalive: KeepaliveOptions;
}

/** Milliseconds; 0 stands for never. */
export interface KeepaliveOptions {
  readonly server_parameters: {
    readonly max_connection_idle: number;
    readonly max_connection_age: number;
    readonly max_connection_age_grace: number;
    readonly time: number;
    readonly timeout: number;
  };
  readonly enforcement_policy: {
    readonly min_time: number;
    readonly permit_without_stream: boolean;
  };
}

const duration = (written: string, description: string) => ({
  type: 'integer',
  format: 'duration',
  minimum: 0,
  maximum: LONGEST_WAIT_MS,
  default: written,
  description,
});

const SERVER_PARAMETERS = {
  type: 'object',
  description: 'When connections end, and how it is noticed that a client is gone.',
  additionalProperties: false,
  default: {},
  properties: {
    max_connection_idle: duration('0s', 'A connection without calls is closed after this; 0s keeps it.'),
    max_connection_age: duration(
      '0s',
      'A connection is closed at this age, give or take a tenth, so that clients spread over replicas; 0s keeps it.',
    ),
    max_connection_age_grace: duration('0s', 'What is not done this long after that is cut; 0s waits.'),
    time: duration('2h', 'A connection is asked for a sign of life this often; 0s never.'),
    timeout: duration('20s', 'Without a sign of life for this long the connection is cut.'),
  },
} as const;

const ENFORCEMENT_POLICY = {
  type: 'object',
  description: 'How often a client may ask for signs of life; who does so oftener is sent away.',
  additionalProperties: false,
  default: {},
  properties: {
    min_time: duration('5m', 'Least time between two of them while calls are open.'),
    permit_without_stream: {
      type: 'boolean',
      default: false,
      description: 'Whether the same holds without open calls; otherwise once in two hours is allowed then.',
    },
  },
} as const;

export const GRPC_SCHEMA = {
  type: 'object',
  description: 'OTLP over gRPC: the Export methods of the trace, logs and metrics services.',
  additionalProperties: false,
  properties: {
    ...listenSchema('127.0.0.1:4317'),
    max_recv_msg_size_mib: {
      type: 'integer',
      minimum: 1,
      maximum: 16,
      default: 16,
      description: 'Largest message in MiB, as it is sent and after gzip expansion.',
    },
    ...sizeLimits({
      inFlight:
        'Bytes of all calls being worked on, in all workers together, shared fairly by projects. Beyond it, or its share, a call gets UNAVAILABLE.',
      headers: 'Largest total of the metadata of a call.',
    }),
    max_concurrent_streams: {
      type: 'integer',
      minimum: 1,
      maximum: 10000,
      default: 100,
      description: 'Calls open at once on one connection; the client holds back further ones.',
    },
    read_timeout: readTimeout('Time a client has for its message, and for the greeting of its connection.'),
    keepalive: {
      type: 'object',
      description: 'The life of connections.',
      additionalProperties: false,
      default: {},
      properties: { server_parameters: SERVER_PARAMETERS, enforcement_policy: ENFORCEMENT_POLICY },
    },
  },
} as const;
