/** Makes one attempt to send one body and classifies the result: delivered, retry, or refused. */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { MAX_TLS_FILE_BYTES, readLimitedFile } from '../../component/limited-file.ts';
import { UserError } from '../../errors.ts';
import { MEDIA_TYPES, type Signal } from '../../pdata/context.ts';
import { requestAsJson } from './request-json.ts';
import { messageOf, type PartialSuccess, partialSuccessOf } from './answer.ts';
import type { OtlpHttpOptions, TlsOptions } from './options.ts';
import { parseRetryAfter } from './retry.ts';

/** The limit of the bytes that are read of an answer. */
const MAX_ANSWER_BYTES = 65536;
/** From the OTLP specification. Every other status below 200 or from 300 on is permanent. */
const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);
const compress = promisify(gzip);

/**
 * `error` is kept with the entry. `cause` is logged, so it contains no data that the remote may have received from us.
 */
export type Attempt =
  | { readonly kind: 'delivered'; readonly partial: PartialSuccess }
  | {
      readonly kind: 'failed';
      readonly result: 'throttled' | 'unavailable' | 'unreachable' | 'timeout';
      readonly cause: string;
      readonly error: string;
      readonly retryAfterMs: number | null;
    }
  | { readonly kind: 'refused'; readonly cause: string; readonly error: string };

export class Sender {
  readonly #options: OtlpHttpOptions;
  readonly #urls: Readonly<Record<Signal, string>>;
  readonly #now: () => number;
  #dispatcher: Dispatcher | null = null;

  constructor(options: OtlpHttpOptions, now: () => number) {
    this.#options = options;
    this.#urls = urlsOf(options);
    this.#now = now;
  }

  /** Reads the files that TLS needs. */
  async open(resolvePath: (path: string) => string): Promise<void> {
    const { tls, proxy_url: proxy, timeout } = this.#options;
    const connect = { ...connectOptions(tls, resolvePath), timeout };
    // Loaded here, so that only a daemon that forwards loads the client.
    const { Agent, ProxyAgent } = await import('undici');
    const settings = { headersTimeout: timeout, bodyTimeout: timeout };
    this.#dispatcher =
      proxy === ''
        ? new Agent({ ...settings, connect })
        : new ProxyAgent({ ...settings, uri: proxy, requestTls: connect });
  }

  async close(): Promise<void> {
    const dispatcher = this.#dispatcher;
    this.#dispatcher = null;
    await dispatcher?.destroy().catch(() => undefined);
  }

  /** `body` is an OTLP request in protobuf. Rejects only when `abort` fires; the outcome is unknown then. */
  async send(signal: Signal, body: Buffer, abort: AbortSignal): Promise<Attempt> {
    const { timeout } = this.#options;
    // Not AbortSignal.any: listeners on a signal that lives as long as the process are never released.
    const limit = new AbortController();
    const cut = (): void => limit.abort();
    const timer = setTimeout(cut, timeout);
    abort.addEventListener('abort', cut, { once: true });
    try {
      return await this.#post(signal, body, limit.signal);
    } catch (error) {
      if (abort.aborted) throw error;
      if (limit.signal.aborted || isTimeout(error)) {
        return withoutAnswer('timeout', `no answer within ${timeout} ms`);
      }
      return withoutAnswer('unreachable', describe(error));
    } finally {
      clearTimeout(timer);
      abort.removeEventListener('abort', cut);
    }
  }

  async #post(signal: Signal, body: Buffer, limit: AbortSignal): Promise<Attempt> {
    const { encoding, compression, headers } = this.#options;
    const plain = encoding === 'json' ? requestAsJson(signal, body) : body;
    const dispatcher = this.#dispatcher;
    // Without a dispatcher, the request would use the TLS and proxy rules of the default client.
    if (dispatcher === null) throw new Error('the sender is not open');
    const { request } = await import('undici');
    const answer = await request(this.#urls[signal], {
      method: 'POST',
      headers: {
        'user-agent': 'sluice',
        ...headers,
        'content-type': MEDIA_TYPES[encoding === 'json' ? 'json' : 'protobuf'],
        ...(compression === 'gzip' ? { 'content-encoding': 'gzip' } : {}),
      },
      body: compression === 'gzip' ? await compress(plain) : plain,
      signal: limit,
      dispatcher,
    });
    return this.#judge(answer);
  }

  async #judge({ statusCode, headers, body }: Dispatcher.ResponseData): Promise<Attempt> {
    const answer = await readSome(body);
    if (statusCode >= 200 && statusCode < 300) {
      const encoding = this.#options.encoding === 'json' ? 'json' : 'protobuf';
      return { kind: 'delivered', partial: partialSuccessOf(encoding, answer) };
    }
    const place = textOf(headers['location']);
    const hint = statusCode < 400 && place !== undefined ? ` to ${place}; redirects are not followed` : '';
    const error = `${statusCode}${hint} ${messageOf(textOf(headers['content-type']), answer)}`.trim();
    const cause = String(statusCode);
    if (!RETRYABLE.has(statusCode)) return { kind: 'refused', cause, error };
    const mayAsk = statusCode === 429 || statusCode === 503;
    return {
      kind: 'failed',
      result: statusCode === 429 ? 'throttled' : 'unavailable',
      cause,
      error,
      retryAfterMs: mayAsk ? parseRetryAfter(textOf(headers['retry-after']), this.#now()) : null,
    };
  }
}

const withoutAnswer = (result: 'timeout' | 'unreachable', error: string): Attempt => ({
  kind: 'failed',
  result,
  cause: error,
  error,
  retryAfterMs: null,
});

function urlsOf(options: OtlpHttpOptions): Readonly<Record<Signal, string>> {
  const base = options.endpoint.replace(/\/+$/, '');
  return {
    traces: options.traces_endpoint || `${base}/v1/traces`,
    logs: options.logs_endpoint || `${base}/v1/logs`,
    metrics: options.metrics_endpoint || `${base}/v1/metrics`,
  };
}

function connectOptions(tls: TlsOptions, resolvePath: (path: string) => string) {
  const read = (option: keyof TlsOptions): Buffer | undefined => {
    const path = String(tls[option]);
    if (path === '') return undefined;
    try {
      return readLimitedFile(resolvePath(path), { maxBytes: MAX_TLS_FILE_BYTES });
    } catch (error) {
      throw new UserError(`tls.${option} cannot be read: ${describe(error)}`, 'Check the path and its permissions.');
    }
  };
  const [ca, cert, key] = [read('ca_file'), read('cert_file'), read('key_file')];
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(tls.server_name_override === '' ? {} : { servername: tls.server_name_override }),
    rejectUnauthorized: !tls.insecure_skip_verify,
  };
}

/** The rest of a longer answer is discarded with its connection. */
async function readSome(body: Dispatcher.ResponseData['body']): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    chunks.push(chunk as Buffer);
    length += (chunk as Buffer).length;
    if (length >= MAX_ANSWER_BYTES) break;
  }
  return Buffer.concat(chunks).subarray(0, MAX_ANSWER_BYTES);
}

const textOf = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header[0] : header;

const isTimeout = (error: unknown): boolean => /TIMEOUT/.test(String((error as { code?: unknown }).code ?? ''));

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as { code?: unknown };
  return error.message === '' || error.message === 'other side closed'
    ? `the connection broke (${code})`
    : error.message;
}
