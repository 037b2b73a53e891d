/** Signed requests to one bucket, with retries, and the failures of S3 as those of a store. */
import { randomInt } from 'node:crypto';
import { Agent as HttpAgent, type IncomingMessage } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { CredentialChain, domainOf, type Environment, sharedProfile } from './aws-credentials.ts';
import { amzDate, authorization, encodePath, encodeQuery } from './aws-signature.ts';
import { elementOf, send, textOf } from './http-call.ts';
import { StoreError, type StoreFault } from './object-store.ts';

export interface S3Call {
  readonly method: 'GET' | 'PUT' | 'HEAD' | 'POST';
  /** The key of an object, without the bucket; empty for the bucket itself. */
  readonly key: string;
  readonly query?: readonly (readonly [string, string])[];
  readonly headers?: Readonly<Record<string, string>>;
  /** Made for each attempt. */
  readonly body?: () => Buffer | Readable;
  /** The SHA-256 of the body, in hex. */
  readonly sha256?: string;
}

export interface S3Timing {
  readonly idleMs: number;
  readonly attempts: number;
  /** The first pause at most; each further one is twice as long. */
  readonly pauseMs: number;
}

/** At most about 25 s of pauses. Each attempt may also wait for its idle timeout. */
export const S3_TIMING: S3Timing = { idleMs: 30_000, attempts: 6, pauseMs: 400 };
const MAX_PAUSE_MS = 10_000;
const MAX_SOCKETS = 16;
/** Characters of the message of an error answer that are shown. */
const MAX_REASON = 200;
const DEFAULT_REGION = 'us-east-1';
/** The SHA-256 of no bytes, for a request without a body. */
const EMPTY_SHA256 = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
/** Answers after which the same request may succeed. */
const RETRIED_STATUS = [408, 429, 500, 502, 503, 504];
const RETRIED_CODES = ['RequestTimeout', 'SlowDown', 'InternalError', 'OperationAborted', 'ConditionalRequestConflict'];
/** The credentials ended early or were replaced. */
const EXPIRED_CODES = ['ExpiredToken', 'ExpiredTokenException', 'TokenRefreshRequired'];
/** Credentials that the store does not know: their source may have others now. */
const UNKNOWN_CODES = ['InvalidAccessKeyId', 'SignatureDoesNotMatch', 'InvalidToken'];
const FAULTS: Readonly<Record<number, StoreFault>> = { 401: 'denied', 403: 'denied', 404: 'absent', 412: 'exists' };

/** An answer that is no success. */
class Refused extends Error {
  readonly status: number;
  readonly code: string;
  readonly region: string | undefined;

  constructor({ statusCode = 0, headers }: IncomingMessage, xml: string) {
    const code = elementOf(xml, 'Code') ?? '';
    const reason = (elementOf(xml, 'Message') ?? '').slice(0, MAX_REASON);
    super([String(statusCode), code, reason].filter((text) => text !== '').join(' '));
    this.status = statusCode;
    this.code = code;
    this.region = headers['x-amz-bucket-region']?.toString() ?? elementOf(xml, 'Region');
  }

  get isTransient(): boolean {
    return RETRIED_STATUS.includes(this.status) || RETRIED_CODES.includes(this.code);
  }

  get fault(): StoreFault {
    if (EXPIRED_CODES.includes(this.code)) return 'denied';
    return this.isTransient ? 'unavailable' : (FAULTS[this.status] ?? 'invalid');
  }
}

export class S3Bucket {
  readonly #bucket: string;
  readonly #environment: Environment;
  readonly #timing: S3Timing;
  readonly #credentials: CredentialChain;
  readonly #endpoint: URL | null;
  readonly #agent: HttpAgent | HttpsAgent;
  #region: string | null = null;

  constructor(bucket: string, environment: Environment, timing: S3Timing) {
    this.#bucket = bucket;
    this.#environment = environment;
    this.#timing = timing;
    this.#credentials = new CredentialChain(environment);
    const endpoint = environment['AWS_ENDPOINT_URL_S3'] || environment['AWS_ENDPOINT_URL'];
    this.#endpoint = endpoint ? new URL(endpoint) : null;
    const Agent = this.#endpoint?.protocol === 'http:' ? HttpAgent : HttpsAgent;
    this.#agent = new Agent({ keepAlive: true, maxSockets: MAX_SOCKETS });
  }

  /** The answer, of a status 2xx. Retries what may succeed later. Rejects with a `StoreError`. */
  async call(call: S3Call): Promise<IncomingMessage> {
    // An earlier attempt may have written although it failed.
    for (let attempt = 1, isRepeated = false; ; attempt++) {
      try {
        return await this.#attempt(call);
      } catch (error) {
        if (error instanceof StoreError) throw error;
        const isLast = attempt >= this.#timing.attempts;
        if (isLast || !(this.#corrects(error) || isTransient(error))) throw this.#failureOf(call, error, isRepeated);
        isRepeated ||= isTransient(error);
      }
      const most = Math.min(this.#timing.pauseMs * 2 ** (attempt - 1), MAX_PAUSE_MS);
      await pause(randomInt(Math.ceil(most / 2), most + 1));
    }
  }

  /** The text of an answer. A fault while it arrives is retried as well. */
  async text(call: S3Call, isWhole: (text: string) => boolean): Promise<string> {
    for (let attempt = 1; ; attempt++) {
      const answer = await this.call(call);
      try {
        const text = await textOf(answer);
        if (isWhole(text)) return text;
        throw new Error('the answer is cut');
      } catch (error) {
        if (attempt >= this.#timing.attempts) throw this.failure(call.key, error as Error);
      }
    }
  }

  failure(key: string, error: Error, fault: StoreFault = 'unavailable'): StoreError {
    return new StoreError(fault, `${this.urlOf(key)}: ${error.message}`, error);
  }

  urlOf(key: string): string {
    return `s3://${this.#bucket}/${key}`;
  }

  close(): void {
    this.#agent.destroy();
  }

  async #attempt(call: S3Call): Promise<IncomingMessage> {
    const credentials = await this.#credentials.get();
    const region = (this.#region ??= await this.#configuredRegion());
    const { url, path } = addressOf({ bucket: this.#bucket, key: call.key, region, endpoint: this.#endpoint });
    const query = encodeQuery(call.query ?? []);
    const at = new Date();
    const payloadHash = call.sha256 ?? EMPTY_SHA256;
    const { 'content-length': length, ...others } = call.headers ?? {};
    const headers: Record<string, string> = {
      ...others,
      host: url.host,
      'x-amz-date': amzDate(at),
      'x-amz-content-sha256': payloadHash,
    };
    if (credentials.sessionToken !== undefined) headers['x-amz-security-token'] = credentials.sessionToken;
    const unsigned = { method: call.method, path, query: call.query ?? [], headers, payloadHash };
    headers['authorization'] = authorization(unsigned, credentials, { region, service: 's3', at });
    if (length !== undefined) headers['content-length'] = length;
    const answer = await send({
      method: call.method,
      url: new URL(query === '' ? path : `${path}?${query}`, url),
      headers,
      body: call.body?.(),
      agent: this.#agent,
      idleMs: this.#timing.idleMs,
    });
    const { statusCode = 0 } = answer;
    if (statusCode >= 200 && statusCode < 300) {
      if (call.method !== 'PUT' || answer.headers.etag !== undefined) return answer;
      // A proxy has answered, for example with a page about maintenance, and nothing is stored.
      answer.resume();
      throw new Error(`${statusCode} without an ETag: it is not the store that answered`);
    }
    const refused = new Refused(answer, await textOf(answer));
    if ([...EXPIRED_CODES, ...UNKNOWN_CODES].includes(refused.code)) this.#credentials.forget(credentials);
    throw refused;
  }

  async #configuredRegion(): Promise<string> {
    const configured = this.#environment['AWS_REGION'] || this.#environment['AWS_DEFAULT_REGION'];
    return configured || (await sharedProfile(this.#environment))['region'] || DEFAULT_REGION;
  }

  /** Whether the refusal names something that the next attempt can correct: the region, or that credentials ended. */
  #corrects(error: unknown): boolean {
    if (!(error instanceof Refused)) return false;
    if (EXPIRED_CODES.includes(error.code)) return true;
    if (error.region === undefined || error.region === this.#region) return false;
    this.#region = error.region;
    return true;
  }

  #failureOf(call: S3Call, error: unknown, isRepeated: boolean): StoreError {
    if (!(error instanceof Refused)) return this.failure(call.key, error as Error);
    // An earlier attempt may have written, so the store may have changed.
    const isUnknown = isRepeated && call.method === 'PUT' && error.fault !== 'exists';
    return this.failure(call.key, error, isUnknown ? 'unavailable' : error.fault);
  }
}

interface Place {
  readonly bucket: string;
  readonly key: string;
  readonly region: string;
  /** Null for AWS. */
  readonly endpoint: URL | null;
}

/** Path style at an own endpoint, and for names with dots, which the certificates of AWS do not cover. */
export function addressOf({ bucket, key, region, endpoint }: Place): { readonly url: URL; readonly path: string } {
  const host = `s3.${region}.${domainOf(region)}`;
  if (endpoint === null && !bucket.includes('.')) {
    return { url: new URL(`https://${bucket}.${host}`), path: `/${encodePath(key)}` };
  }
  const url = endpoint ?? new URL(`https://${host}`);
  const folder = url.pathname.replace(/\/$/u, '');
  return { url, path: `${folder}/${bucket}${key === '' ? '' : `/${encodePath(key)}`}` };
}

/** An attempt without an answer is transient, but not a body that cannot be read. */
function isTransient(error: unknown): boolean {
  if (error instanceof Refused) return error.isTransient;
  return (error as NodeJS.ErrnoException).syscall !== 'open';
}
