/** Makes one attempt to send one body and classifies the result: delivered, retry, or refused. */
import { isDeepStrictEqual, promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { errorCode, UserError } from '../../errors.ts';
import { type ClientTlsMaterial, type FileAccess, readClientCertificates } from '../../net/certificates.ts';
import { MEDIA_TYPES, type Signal } from '../../pdata/context.ts';
import { requestAsJson } from './request-json.ts';
import { messageOf, type PartialSuccess, partialSuccessOf } from './answer.ts';
import type { OtlpHttpOptions } from './options.ts';
import { connectorThrough, proxyHeaders } from './proxy.ts';
import { parseRetryAfter } from './retry.ts';

/** The limit of the bytes that are read of an answer. */
const MAX_ANSWER_BYTES = 65536;
/** The interval at which the files of TLS are read again. */
const RENEW_MS = 60_000;
/** From the OTLP specification. Every other status below 200 or from 300 on is permanent. */
const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);
/** The answer of a proxy to missing credentials. A tunnel fails with it, too. */
const PROXY_REFUSED = 407;
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
  readonly #targets: Readonly<Record<Signal, Target>>;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #now: () => number;
  #files: FileAccess | null = null;
  #material: ClientTlsMaterial = {};
  #readMs = 0;
  #dispatcher: Dispatcher | null = null;

  constructor(options: OtlpHttpOptions, now: () => number) {
    this.#options = options;
    this.#targets = targetsOf(options);
    this.#headers = headersOf(options);
    this.#now = now;
  }

  /** Reads the files that TLS needs. Throws a `UserError` when they cannot be used. */
  async open(files: FileAccess): Promise<void> {
    const { material, faults } = readClientCertificates(this.#options.tls, files);
    if (material === null) {
      const fault = faults.find(({ severity }) => severity === 'error');
      throw new UserError(`tls: ${fault?.message}`, fault?.hint ?? null);
    }
    this.#files = files;
    await this.#use(material);
  }

  async #use(material: ClientTlsMaterial): Promise<void> {
    const { tls, proxy_url: proxy, timeout } = this.#options;
    // Loaded here, so that only a daemon that forwards loads the client.
    const { Agent, buildConnector } = await import('undici');
    const secure = buildConnector({
      ...material,
      ...(tls.server_name_override === '' ? {} : { servername: tls.server_name_override }),
      rejectUnauthorized: !tls.insecure_skip_verify,
      timeout,
    });
    const through = { proxy, timeout, secure, connect: buildConnector({ timeout }) };
    this.#material = material;
    this.#readMs = this.#now();
    this.#dispatcher = new Agent({
      headersTimeout: timeout,
      bodyTimeout: timeout,
      connect: proxy === '' ? secure : connectorThrough(through),
    });
  }

  /** A client certificate may be valid for hours only: changed files are used without a restart. */
  async #renew(): Promise<void> {
    const sinceMs = this.#now() - this.#readMs;
    if (this.#files === null || (sinceMs >= 0 && sinceMs < RENEW_MS)) return;
    this.#readMs = this.#now();
    const { material } = readClientCertificates(this.#options.tls, this.#files);
    if (material === null || isDeepStrictEqual(material, this.#material)) return;
    await this.close();
    await this.#use(material);
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
    const { encoding, compression } = this.#options;
    await this.#renew();
    const plain = encoding === 'json' ? requestAsJson(signal, body) : body;
    const dispatcher = this.#dispatcher;
    // Without a dispatcher, the request would use the TLS and proxy rules of the default client.
    if (dispatcher === null) throw new Error('the sender is not open');
    const { origin, path, headers } = this.#targets[signal];
    const sent = compression === 'gzip' ? await compress(plain) : plain;
    // The client notices the signal only after it has connected.
    const cutOff = new Promise<never>((_, reject) => {
      limit.addEventListener('abort', () => reject(limit.reason), { once: true });
    });
    const request = dispatcher.request({
      origin,
      path,
      method: 'POST',
      headers: { ...this.#headers, ...headers },
      body: sent,
      signal: limit,
    });
    return this.#judge(await Promise.race([request, cutOff]));
  }

  async #judge({ statusCode, headers, body }: Dispatcher.ResponseData): Promise<Attempt> {
    const answer = await readSome(body);
    if (statusCode >= 200 && statusCode < 300) {
      const type = textOf(headers['content-type'])?.toLowerCase() ?? '';
      const isProtobuf = type.startsWith(MEDIA_TYPES.protobuf);
      const isJson = type.startsWith(MEDIA_TYPES.json) || (this.#options.encoding === 'json' && !isProtobuf);
      return { kind: 'delivered', partial: partialSuccessOf(isJson ? 'json' : 'protobuf', answer) };
    }
    const place = textOf(headers['location']);
    const hint = statusCode < 400 && place !== undefined ? ` to ${place}; redirects are not followed` : '';
    const error = `${statusCode}${hint} ${messageOf(textOf(headers['content-type']), answer)}`.trim();
    const cause = String(statusCode);
    const isOfProxy = statusCode === PROXY_REFUSED && this.#options.proxy_url !== '';
    if (!isOfProxy && !RETRYABLE.has(statusCode)) return { kind: 'refused', cause, error };
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

interface Target {
  readonly origin: string;
  readonly path: string;
  /** In addition to those of the options. */
  readonly headers: Readonly<Record<string, string>>;
}

function targetsOf(options: OtlpHttpOptions): Readonly<Record<Signal, Target>> {
  const { proxy_url: proxy } = options;
  const base = options.endpoint.replace(/\/+$/, '');
  const target = (text: string): Target => {
    const { origin, protocol, pathname, search } = new URL(text);
    const path = `${pathname}${search}`;
    if (proxy === '' || protocol === 'https:') return { origin, path, headers: {} };
    return { origin, path: `${origin}${path}`, headers: proxyHeaders(proxy) };
  };
  return {
    traces: target(options.traces_endpoint || `${base}/v1/traces`),
    logs: target(options.logs_endpoint || `${base}/v1/logs`),
    metrics: target(options.metrics_endpoint || `${base}/v1/metrics`),
  };
}

/** Lower-case names, because the client sends a name again that has another case. */
function headersOf({ headers, encoding, compression }: OtlpHttpOptions): Readonly<Record<string, string>> {
  const sent = new Map([['user-agent', 'sluice']]);
  for (const [name, value] of Object.entries(headers)) sent.set(name.toLowerCase(), value);
  sent.set('content-type', MEDIA_TYPES[encoding === 'json' ? 'json' : 'protobuf']);
  if (compression === 'gzip') sent.set('content-encoding', 'gzip');
  else sent.delete('content-encoding');
  return Object.fromEntries(sent);
}

/**
 * The rest of a longer answer is discarded with its connection. An answer that breaks off counts with its status: a
 * request that the remote has accepted must not be sent again.
 */
async function readSome(body: Dispatcher.ResponseData['body']): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk as Buffer);
      length += (chunk as Buffer).length;
      if (length >= MAX_ANSWER_BYTES) break;
    }
  } catch {
    // The connection broke, or the time is over.
  }
  return Buffer.concat(chunks).subarray(0, MAX_ANSWER_BYTES);
}

const textOf = (header: string | string[] | undefined): string | undefined =>
  Array.isArray(header) ? header[0] : header;

const isTimeout = (error: unknown): boolean => /TIMEOUT/.test(errorCode(error));

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as { code?: unknown };
  return error.message === '' || error.message === 'other side closed'
    ? `the connection broke (${code})`
    : error.message;
}
