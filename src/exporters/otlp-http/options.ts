/** The exporter's options: the schema and the type. The names are those of the Collector where they exist. */
import type { OptionFault } from '../../component/component.ts';
import { LONGEST_WAIT_MS } from '../../component/longest-wait.ts';
import { booleanOption, choiceOption, optionGroup } from '../../component/option-schema.ts';
import type { RetryOptions } from './retry.ts';

export interface TlsOptions {
  readonly ca_file: string;
  readonly cert_file: string;
  readonly key_file: string;
  readonly server_name_override: string;
  readonly insecure_skip_verify: boolean;
}

export interface OtlpHttpOptions {
  readonly endpoint: string;
  readonly traces_endpoint: string;
  readonly logs_endpoint: string;
  readonly metrics_endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly compression: 'gzip' | 'none';
  readonly encoding: 'proto' | 'json';
  /** Milliseconds. */
  readonly timeout: number;
  readonly proxy_url: string;
  readonly tls: TlsOptions;
  readonly retry_on_failure: RetryOptions;
  readonly outbox: {
    /** Bytes. */
    readonly max_size: number;
    readonly when_full: 'refuse' | 'drop_oldest';
    /** Bytes. */
    readonly max_batch_size: number;
    /** Milliseconds. */
    readonly dead_letter_retention: number;
  };
}

const DURATION = { type: 'integer', format: 'duration' } as const;
const BYTES = { type: 'integer', format: 'byte_size' } as const;
const URL = { type: 'string', format: 'http_url', default: '' } as const;
const FILE = { type: 'string', default: '' } as const;

const RETRY_SCHEMA = optionGroup('When a failed request is sent again.', {
  enabled: booleanOption(true, 'Off: a request that fails once is a dead letter.'),
  initial_interval: { ...DURATION, minimum: 1, default: '5s', description: 'The wait after the first failure.' },
  max_interval: { ...DURATION, minimum: 1, default: '30s', description: 'The longest wait.' },
  multiplier: {
    type: 'number',
    minimum: 1,
    maximum: 100,
    default: 1.5,
    description: 'The factor by which the wait grows.',
  },
  randomization_factor: {
    type: 'number',
    minimum: 0,
    maximum: 1,
    default: 0.5,
    description: 'The random part of the wait, up and down.',
  },
  max_elapsed_time: {
    ...DURATION,
    minimum: 0,
    default: '0s',
    description: 'How long after its first attempt a request becomes a dead letter; 0 means never.',
  },
});

const TLS_SCHEMA = optionGroup('TLS, for endpoints that begin with https.', {
  ca_file: { ...FILE, description: 'Trusted certificates, in PEM, instead of those that Node.js trusts.' },
  cert_file: { ...FILE, description: 'A client certificate, in PEM.' },
  key_file: { ...FILE, description: 'The key of the client certificate, in PEM.' },
  server_name_override: {
    ...FILE,
    description: 'The server name to request and to check, instead of the one in the endpoint.',
  },
  insecure_skip_verify: booleanOption(false, 'Accept any certificate. For tests only.'),
});

const OUTBOX_SCHEMA = optionGroup('The requests that wait in the database until they are sent.', {
  max_size: {
    ...BYTES,
    minimum: 1048576,
    default: '1GiB',
    description: "The largest size of this exporter's requests, before compression; dead letters are removed first.",
  },
  when_full: choiceOption(
    ['refuse', 'drop_oldest'],
    'Refuse new requests with 503, so that no acknowledged request is lost, or drop the oldest ones.',
  ),
  max_batch_size: {
    ...BYTES,
    minimum: 1024,
    maximum: 67108864,
    default: '1MiB',
    description: 'Waiting requests of one project are sent together up to this size, before compression.',
  },
  dead_letter_retention: {
    ...DURATION,
    minimum: 60000,
    default: '7d',
    description: 'How long requests that the remote refused are kept.',
  },
});

export const OTLP_HTTP_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  required: ['endpoint'],
  properties: {
    endpoint: {
      type: 'string',
      format: 'http_url',
      minLength: 1,
      examples: ['http://127.0.0.1:14318'],
      description: 'Base URL; `/v1/traces`, `/v1/logs` or `/v1/metrics` is appended.',
    },
    traces_endpoint: { ...URL, description: 'The whole URL for traces, instead of the one made from `endpoint`.' },
    logs_endpoint: { ...URL, description: 'The same for logs.' },
    metrics_endpoint: { ...URL, description: 'The same for metrics.' },
    headers: {
      type: 'object',
      default: {},
      propertyNames: { pattern: "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$" },
      additionalProperties: {
        type: 'string',
        pattern: '^[\\t\\x20-\\x7e\\x80-\\xff]*$',
        secret: true,
        description: 'The value of this header.',
      },
      description: 'Headers to send, for example an API key.',
    },
    compression: choiceOption(['gzip', 'none'], 'Compression of the body.'),
    encoding: choiceOption(['proto', 'json'], 'Encoding of the body.'),
    timeout: {
      ...DURATION,
      minimum: 1,
      maximum: LONGEST_WAIT_MS,
      default: '30s',
      description: 'Limit of one attempt, from connecting to the answer.',
    },
    proxy_url: {
      ...URL,
      secret: true,
      description: 'An HTTP proxy. Empty: none; the proxy variables of the environment are not read.',
    },
    tls: TLS_SCHEMA,
    retry_on_failure: RETRY_SCHEMA,
    outbox: OUTBOX_SCHEMA,
  },
} as const;

const ENDPOINTS = ['endpoint', 'traces_endpoint', 'logs_endpoint', 'metrics_endpoint'] as const;

/** A collector answers 404 to a path that has it twice, so every request would become a dead letter. */
const SIGNAL_PATH = /\/v1\/(?:traces|logs|metrics)\/*$/u;

/** The messages do not repeat an endpoint: it may hold a password. */
export function endpointFaults(options: Pick<OtlpHttpOptions, (typeof ENDPOINTS)[number]>): readonly OptionFault[] {
  const faults: OptionFault[] = ENDPOINTS.filter((option) => /^\w+:\/\/[^/?]*@/u.test(options[option])).map(
    (option) => ({
      option: [option],
      severity: 'error',
      message: 'credentials in an endpoint are not sent',
      hint: 'Put them into headers: { authorization: "Basic …" }.',
    }),
  );
  if (options.endpoint.includes('?'))
    faults.push({
      option: ['endpoint'],
      severity: 'error',
      message: 'a base URL has no query: the path of the signal is appended',
      hint: 'Use traces_endpoint, logs_endpoint and metrics_endpoint.',
    });
  if (SIGNAL_PATH.test(options.endpoint))
    faults.push({
      option: ['endpoint'],
      severity: 'error',
      message: 'a base URL has no path of a signal: it is appended',
      hint: 'Remove /v1/traces, /v1/logs or /v1/metrics, or use traces_endpoint, logs_endpoint and metrics_endpoint.',
    });
  return faults;
}

/** The client refuses these: it decides how a body is sent. */
const UNSENDABLE: ReadonlySet<string> = new Set([
  'content-length',
  'expect',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
]);
/** They describe the body. */
const OWN: ReadonlySet<string> = new Set(['content-encoding', 'content-type']);

/** The messages do not repeat a value: it may be a secret. */
export function headerFaults(options: Pick<OtlpHttpOptions, 'headers' | 'proxy_url'>): readonly OptionFault[] {
  const names = Object.keys(options.headers);
  const lower = names.map((name) => name.toLowerCase());
  return names.flatMap((name, index): readonly OptionFault[] => {
    const option = ['headers', name];
    const key = lower[index] ?? '';
    if (lower.indexOf(key) < index)
      return [{ option, severity: 'error', message: `the header ${name} is given twice`, hint: 'Names have no case.' }];
    if (OWN.has(key))
      return [
        {
          option,
          severity: 'warning',
          message: `the header ${name} is not sent as given`,
          hint: 'The options encoding and compression decide it.',
        },
      ];
    if (UNSENDABLE.has(key))
      return [{ option, severity: 'error', message: `the header ${name} cannot be set`, hint: 'Leave it out.' }];
    if (key === 'proxy-authorization' && options.proxy_url !== '')
      return [
        {
          option,
          severity: 'error',
          message: `the header ${name} cannot be set when there is a proxy`,
          hint: 'Put the credentials into proxy_url: http://user:password@host:port.',
        },
      ];
    return [];
  });
}
