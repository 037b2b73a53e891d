/**
 * AWS Signature Version 4 in the form that S3 wants. Written here, because `@aws-sdk/client-s3` brings 11 direct
 * dependencies and 22 MB for the five requests that the archive makes.
 */
import { createHash, createHmac } from 'node:crypto';

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
  /** When they end; undefined for keys that do not. */
  readonly expiration?: Date | undefined;
}

export interface UnsignedRequest {
  readonly method: string;
  /** As sent, with `encodePath` applied. */
  readonly path: string;
  /** Not encoded. */
  readonly query: readonly (readonly [string, string])[];
  /** All headers to be signed, in lower case, with `host`. */
  readonly headers: Readonly<Record<string, string>>;
  /** The SHA-256 of the body, in hex. */
  readonly payloadHash: string;
}

export interface SigningScope {
  readonly region: string;
  readonly service: string;
  readonly at: Date;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';

/** The value of `Authorization`. The date, hash and token headers are among the signed ones already. */
export function authorization(request: UnsignedRequest, credentials: Credentials, scope: SigningScope): string {
  const names = Object.keys(request.headers).sort();
  const canonical = [
    request.method,
    request.path,
    encodeQuery(request.query),
    ...names.map((name) => `${name}:${(request.headers[name] ?? '').trim().replace(/ +/gu, ' ')}`),
    '',
    names.join(';'),
    request.payloadHash,
  ].join('\n');
  const time = amzDate(scope.at);
  const parts = [time.slice(0, 8), scope.region, scope.service, 'aws4_request'];
  const text = [ALGORITHM, time, parts.join('/'), sha256(canonical)].join('\n');
  let key: Buffer = Buffer.from(`AWS4${credentials.secretAccessKey}`);
  for (const part of parts) key = createHmac('sha256', key).update(part).digest();
  const signature = createHmac('sha256', key).update(text).digest('hex');
  const credential = `${credentials.accessKeyId}/${parts.join('/')}`;
  return `${ALGORITHM} Credential=${credential}, SignedHeaders=${names.join(';')}, Signature=${signature}`;
}

/** `20261122T093000Z`. */
export function amzDate(at: Date): string {
  return `${at.toISOString().slice(0, 19).replace(/[-:]/gu, '')}Z`;
}

/** Encodes each name once, as S3 does; other services encode twice. */
export const encodePath = (path: string): string => path.split('/').map(encode).join('/');

/** Sorted by the encoded names, as the signature wants it, and sent like this. */
export function encodeQuery(query: readonly (readonly [string, string])[]): string {
  const pairs = query.map(([name, value]) => [encode(name), encode(value)] as const);
  const order = (left: string, right: string): number => (left < right ? -1 : left > right ? 1 : 0);
  return [...pairs]
    .sort(([a, x], [b, y]) => order(a, b) || order(x, y))
    .map((pair) => pair.join('='))
    .join('&');
}

/** `encodeURIComponent` leaves five characters that the signature wants encoded. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/gu, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
