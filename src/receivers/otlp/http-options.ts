/** The options of OTLP over HTTP, with the Collector's names. */
import { timerOption } from '../../component/longest-wait.ts';
import { CORS_SCHEMA, type CorsOptions } from './cors.ts';
import { type LimitOptions, readTimeout, sizeLimits } from './limit-options.ts';
import { type ListenOptions, listenSchema } from './listen-options.ts';

export interface HttpOptions extends ListenOptions, LimitOptions {
  readonly cors?: CorsOptions;
  /** With or without the leading slash. */
  readonly traces_url_path: string;
  readonly logs_url_path: string;
  readonly metrics_url_path: string;
  /** Bytes. */
  readonly max_request_body_size: number;
  readonly max_decompressed_size: number;
  /** Milliseconds. */
  readonly read_header_timeout: number;
  readonly idle_timeout: number;
  readonly keep_alives_enabled: boolean;
  /** RFC 3339 date. */
  readonly sunset?: string;
}

/** Clients percent-encode characters outside ASCII. */
const urlPath = (path: string, signal: string) => ({
  type: 'string',
  pattern: '^(?=[!-~]+$)/?[^/?#][^?#]*$',
  maxLength: 200,
  default: path,
  description: `The path for ${signal}.`,
});

export const HTTP_SCHEMA = {
  type: 'object',
  description: 'OTLP over HTTP: POST /v1/traces, /v1/logs, /v1/metrics; GET /health.',
  additionalProperties: false,
  properties: {
    ...listenSchema('127.0.0.1:4318'),
    cors: CORS_SCHEMA,
    traces_url_path: urlPath('/v1/traces', 'traces'),
    logs_url_path: urlPath('/v1/logs', 'logs'),
    metrics_url_path: urlPath('/v1/metrics', 'metrics'),
    max_request_body_size: {
      type: 'integer',
      format: 'byte_size',
      minimum: 1,
      maximum: 16777216,
      default: '4MiB',
      description: 'Largest raw body, declared or streamed, inclusive.',
    },
    max_decompressed_size: {
      type: 'integer',
      format: 'byte_size',
      minimum: 1,
      maximum: 16777216,
      default: '16MiB',
      description: 'Largest body after gzip expansion.',
    },
    ...sizeLimits({
      inFlight:
        'Bytes of all requests in flight in all workers together, shared fairly by projects. A request beyond the limit or the share of its project gets 503 with Retry-After.',
      headers: 'Largest total of request headers.',
    }),
    read_header_timeout: timerOption(100, '5s', 'Time limit for the request headers.'),
    read_timeout: readTimeout('Time limit for the request body.'),
    idle_timeout: timerOption(
      1000,
      '75s',
      'How long an idle connection is kept. The default is above the 60 s of common load balancers.',
    ),
    keep_alives_enabled: {
      type: 'boolean',
      default: true,
      description: 'Whether a connection stays open for further requests.',
    },
    sunset: {
      type: 'string',
      format: 'date',
      description: 'Date on which /v1 will be removed (YYYY-MM-DD). When set, it is sent as the Sunset header.',
    },
  },
} as const;
