/** Writes gRPC answers: the empty response, or the gRPC status of a refusal. The HTTP status is 200 in both cases. */
import { constants, type OutgoingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { Acceptance } from '../../component/receiver.ts';
import type { Rejection } from '../../errors.ts';
import type { Signal } from '../../pdata/context.ts';
import { statusDetails } from './status.ts';
import { EMPTY_MESSAGE } from './grpc-message.ts';

const CONTENT_TYPE = 'application/grpc';
const ENCODINGS = 'identity,gzip';
const UNSUPPORTED_MEDIA_TYPE = 415;
/** An answer that the client does not read, because its flow-control window is closed, is dropped after this. */
const ANSWER_TIMEOUT_MS = 30_000;

export function answerAccepted(stream: ServerHttp2Stream, signal: Signal, { quota }: Acceptance): void {
  if (isGone(stream)) return;
  const headers: OutgoingHttpHeaders = { ':status': 200, 'content-type': CONTENT_TYPE };
  if (signal === 'traces' && quota !== null) Object.assign(headers, quotaHeaders(quota));
  stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
  stream.respond(headers, { waitForTrailers: true });
  stream.setTimeout(ANSWER_TIMEOUT_MS, () => stream.destroy());
  stream.end(EMPTY_MESSAGE);
}

/** Sends headers only. A client that still sends gets a reset with NO_ERROR. */
export function answerRefused(stream: ServerHttp2Stream, rejection: Rejection): void {
  if (isGone(stream)) return;
  const { grpc, message, retryable } = rejection.refusal;
  const headers: OutgoingHttpHeaders = {
    ':status': 200,
    'content-type': CONTENT_TYPE,
    'grpc-status': String(grpc),
    'grpc-message': percentEncode(message),
  };
  if (rejection.code === 'unsupported_encoding') headers['grpc-accept-encoding'] = ENCODINGS;
  if (retryable && rejection.retryAfterSeconds !== null) {
    const details = statusDetails(grpc, message, rejection.retryAfterSeconds);
    headers['grpc-status-details-bin'] = details.toString('base64');
  }
  if (rejection.quota !== null) Object.assign(headers, quotaHeaders(rejection.quota));
  finish(stream, headers);
}

/** To a client that does not speak gRPC. */
export function answerForeign(stream: ServerHttp2Stream): void {
  if (!isGone(stream)) finish(stream, { ':status': UNSUPPORTED_MEDIA_TYPE });
}

function finish(stream: ServerHttp2Stream, headers: OutgoingHttpHeaders): void {
  stream.respond(headers, { endStream: true });
  if (stream.readableEnded) return;
  // NO_ERROR tells the client to stop sending. Data that has arrived is discarded, because a stream with paused data
  // never ends, and neither does its connection.
  stream.close(constants.NGHTTP2_NO_ERROR);
  stream.resume();
}

const isGone = (stream: ServerHttp2Stream): boolean => stream.destroyed || stream.closed || stream.headersSent;

const quotaHeaders = ({ limit, resetSeconds }: { readonly limit: number; readonly resetSeconds: number }) => ({
  'ratelimit-limit': limit,
  'ratelimit-reset': resetSeconds,
});

/** Percent-encodes all bytes except printable ASCII without the percent sign, as the gRPC specification requires. */
function percentEncode(message: string): string {
  return [...Buffer.from(message)]
    .map((byte) =>
      byte >= 0x20 && byte <= 0x7e && byte !== 0x25
        ? String.fromCharCode(byte)
        : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
    )
    .join('');
}
