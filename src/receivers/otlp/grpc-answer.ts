/** Writing gRPC answers: the empty response, or the status that stands for a refusal. HTTP's status is 200 in both cases. */
import { constants, type OutgoingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import type { Acceptance } from '../../component/receiver.ts';
import type { Rejection } from '../../errors.ts';
import type { Signal } from '../../pdata/context.ts';
import { statusDetails } from './status.ts';
import { EMPTY_MESSAGE } from './grpc-message.ts';

const CONTENT_TYPE = 'application/grpc';
const ENCODINGS = 'identity,gzip';
const UNSUPPORTED_MEDIA_TYPE = 415;
/** An answer that the client does not take, because its window is closed, is dropped after this. */
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

/** Headers only. A client that still sends is told to stop. */
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
  // What is still under way is not wanted any more, and that is no error. What has come is thrown away: a stream that was paused
  // over it would never end, nor would its connection.
  stream.close(constants.NGHTTP2_NO_ERROR);
  stream.resume();
}

const isGone = (stream: ServerHttp2Stream): boolean => stream.destroyed || stream.closed || stream.headersSent;

const quotaHeaders = ({ limit, resetSeconds }: { readonly limit: number; readonly resetSeconds: number }) => ({
  'ratelimit-limit': limit,
  'ratelimit-reset': resetSeconds,
});

/** As the protocol wants it: printable ASCII but the percent sign stands for itself. */
function percentEncode(message: string): string {
  return [...Buffer.from(message)]
    .map((byte) =>
      byte >= 0x20 && byte <= 0x7e && byte !== 0x25
        ? String.fromCharCode(byte)
        : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
    )
    .join('');
}
