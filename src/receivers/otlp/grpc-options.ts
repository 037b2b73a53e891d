/** The options of OTLP over gRPC, with the Collector's names. */
import { LONGEST_WAIT_MS } from '../../component/longest-wait.ts';
import { type LimitOptions, readTimeout, sizeLimits } from './limit-options.ts';
import { type ListenOptions, listenSchema } from './listen-options.ts';

export interface GrpcOptions extends ListenOptions, LimitOptions {
  /** Mebibytes. */
  readonly max_recv_msg_size_mib: number;
  readonly max_concurrent_streams: number;
  readonly keepalive: KeepaliveOptions;
}

/** Milliseconds; 0: never. */
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
  description: 'When connections are closed, and how a lost client is detected.',
  additionalProperties: false,
  default: {},
  properties: {
    max_connection_idle: duration('0s', 'A connection without calls is closed after this time; 0s: never.'),
    max_connection_age: duration(
      '0s',
      'A connection is closed at this age, plus or minus 10 %, so that clients spread over replicas; 0s: never.',
    ),
    max_connection_age_grace: duration('0s', 'Calls that are still open this long after that are cut; 0s: never.'),
    time: duration('2h', 'The server sends a keepalive ping this often; 0s: never.'),
    timeout: duration('20s', 'A connection is cut when a ping is not answered within this time.'),
  },
} as const;

const ENFORCEMENT_POLICY = {
  type: 'object',
  description: 'How often a client may send keepalive pings. A client that sends more is disconnected.',
  additionalProperties: false,
  default: {},
  properties: {
    min_time: duration('5m', 'The minimum time between two pings of a client while calls are open.'),
    permit_without_stream: {
      type: 'boolean',
      default: false,
      description:
        'Whether `min_time` also applies without open calls. Otherwise one ping in two hours is allowed then.',
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
      description: 'Largest message in MiB, as sent and after gzip expansion.',
    },
    ...sizeLimits({
      inFlight:
        'Bytes of all open calls in all workers together, shared fairly by projects. A call beyond the limit or the share of its project gets UNAVAILABLE.',
      headers: 'Largest total of the metadata of a call.',
    }),
    max_concurrent_streams: {
      type: 'integer',
      minimum: 1,
      maximum: 10000,
      default: 100,
      description:
        'Concurrent calls on one connection, at most 16 before its first admitted call. The client holds back further calls.',
    },
    read_timeout: readTimeout('Time limit for the message of a call, and for the HTTP/2 preface of a connection.'),
    keepalive: {
      type: 'object',
      description: 'Lifetime and keepalive of connections.',
      additionalProperties: false,
      default: {},
      properties: { server_parameters: SERVER_PARAMETERS, enforcement_policy: ENFORCEMENT_POLICY },
    },
  },
} as const;
