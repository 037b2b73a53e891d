/**
 * Refuses ambiguous messages, because a proxy in front may have read them differently (request smuggling): repeated
 * headers that matter for the request, and bodies without a certain end (RFC 9112, sections 3.2, 6.1 and 11.2).
 * node:http refuses other cases itself, for example two lengths.
 */
import type { IncomingMessage } from 'node:http';
import { Rejection } from '../../errors.ts';
import type { Encoding } from '../../pdata/context.ts';
import { encodingOf } from './media-type.ts';

type CheckedHeader = 'authorization' | 'content-type' | 'content-encoding' | 'host' | 'grpc-encoding';

/** `rawHeaders` as Node gives them: name, value, name, value. */
export const isRepeated = (rawHeaders: readonly string[], name: CheckedHeader): boolean =>
  timesOf(rawHeaders, name) > 1;

function timesOf(rawHeaders: readonly string[], name: string): number {
  let times = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const candidate = rawHeaders[index];
    if (candidate?.length === name.length && candidate.toLowerCase() === name) times++;
  }
  return times;
}

/**
 * Throws `invalid_body`. Node.js before 20.19 accepts a space in the name of a header, which a proxy may have removed
 * (RFC 9112, section 5.1).
 */
export function requireNames({ rawHeaders }: IncomingMessage): void {
  if (hasSpacedName(rawHeaders)) throw new Rejection('invalid_body', { cause: SPACED });
}

/** Throws `invalid_api_key`. */
export function requireOneKey(rawHeaders: readonly string[]): void {
  if (isRepeated(rawHeaders, 'authorization')) throw new Rejection('invalid_api_key', { cause: REPEATED });
}

/** Throws `unsupported_media_type`, `unsupported_encoding` or `invalid_body`. */
export function requireOneReading(request: IncomingMessage): void {
  const { rawHeaders } = request;
  if (isRepeated(rawHeaders, 'content-type')) throw new Rejection('unsupported_media_type', { received: REPEATED });
  if (isRepeated(rawHeaders, 'content-encoding')) throw new Rejection('unsupported_encoding', { received: REPEATED });
  requireOneEnd(request);
}

/** The encoding of the body; null when the media type is neither of the two, or repeated: node:http keeps the first. */
export function identifiedEncoding({ headers, rawHeaders }: IncomingMessage): Encoding | null {
  return isRepeated(rawHeaders, 'content-type') ? null : encodingOf(headers['content-type']);
}

/** Throws `invalid_body` if the end of the body is not certain. Trailers are known when the body was read. */
export function requireOneEnd(request: IncomingMessage): void {
  const fault = framingFault(request);
  if (fault !== null) throw new Rejection('invalid_body', { cause: fault });
}

/** Whether later bytes of the connection cannot be trusted. */
export function isAmbiguous(request: IncomingMessage): boolean {
  return CHECKED_HEADERS.some((name) => isRepeated(request.rawHeaders, name)) || framingFault(request) !== null;
}

function framingFault({ headers, httpVersion, rawHeaders, rawTrailers }: IncomingMessage): string | null {
  const coding = headers['transfer-encoding'];
  // node:http joins repeated headers with a comma.
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') return 'Transfer-Encoding is not chunked';
  if (coding !== undefined && httpVersion !== '1.1') return `chunks over HTTP/${httpVersion}`;
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return `HTTP/${httpVersion} in the form of HTTP/1`;
  if (hasSpacedName(rawHeaders)) return SPACED;
  // Node.js before 20.19 accepts it.
  if (timesOf(rawTrailers, 'content-length') > 0) return 'a length behind the body';
  return isRepeated(rawHeaders, 'host') ? 'Host is repeated' : null;
}

const hasSpacedName = (rawHeaders: readonly string[]): boolean =>
  rawHeaders.some((text, index) => index % 2 === 0 && text.includes(' '));

const CHECKED_HEADERS = ['authorization', 'content-type', 'content-encoding'] as const;
const REPEATED = 'the header is repeated';
const SPACED = 'the name of a header has a space';
