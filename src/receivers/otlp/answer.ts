/** Writes HTTP answers: the contract's status, headers and body encoding for success and for each refusal. */
import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Acceptance } from '../../component/receiver.ts';
import type { Rejection } from '../../errors.ts';
import { MEDIA_TYPES, type Encoding, type Signal } from '../../pdata/context.ts';
import { statusBody, successBody } from './status.ts';

/** Headers of every answer of this server. */
export type CommonHeaders = Readonly<Record<string, string>>;

export function answerSuccess(
  response: ServerResponse,
  signal: Signal,
  encoding: Encoding,
  acceptance: Acceptance,
  common: CommonHeaders,
): void {
  const body = successBody(encoding);
  const headers: Record<string, string | number> = {
    ...common,
    'Content-Type': MEDIA_TYPES[encoding],
    'Content-Length': body.length,
  };
  if (signal === 'traces' && acceptance.quota !== null) {
    headers['RateLimit-Limit'] = acceptance.quota.limit;
    headers['RateLimit-Reset'] = acceptance.quota.resetSeconds;
  }
  response.writeHead(200, headers).end(body);
}

export function answerRejection(
  response: ServerResponse,
  rejection: Rejection,
  encoding: Encoding,
  common: CommonHeaders,
): void {
  const { status, message } = rejection.refusal;
  const body = statusBody(rejection.code === 'not_found' ? 'json' : encoding, message);
  const headers: Record<string, string | number> = {
    ...common,
    'Content-Type': MEDIA_TYPES[rejection.code === 'not_found' ? 'json' : encoding],
    'Content-Length': body.length,
  };
  if (rejection.retryAfterSeconds !== null) headers['Retry-After'] = rejection.retryAfterSeconds;
  if (rejection.quota !== null) {
    headers['RateLimit-Limit'] = rejection.quota.limit;
    headers['RateLimit-Reset'] = rejection.quota.resetSeconds;
  }
  // node:http sends a string together with the headers, a buffer in a packet of its own.
  response.writeHead(status, headers).end(body.toString('latin1'), 'latin1');
}

const MALFORMED = {
  400: ['Bad Request', 'The request is not valid HTTP.'],
  408: ['Request Timeout', 'The request headers took too long.'],
  431: ['Request Header Fields Too Large', 'The request headers are too large.'],
} as const;

export type MalformedStatus = keyof typeof MALFORMED;

/** The raw answer to what node:http does not accept as a request. The socket closes after it. */
export function malformedRequestAnswer(fault: Rejection | MalformedStatus): string {
  const isCoded = typeof fault !== 'number';
  const status = isCoded ? fault.refusal.status : fault;
  const [reason, message] = isCoded ? [STATUS_CODES[status], fault.message] : MALFORMED[fault];
  const body = JSON.stringify({ message });
  return `HTTP/1.1 ${status} ${reason}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`;
}
