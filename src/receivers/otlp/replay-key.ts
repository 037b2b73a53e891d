/**
 * The identity of a request: the signal, the protocol and encoding of the body, and the bytes as received. The same
 * message over gRPC and over HTTP is two requests, because a client retries with the protocol of the first attempt.
 */
import { hash } from 'node:crypto';
import type { Signal } from '../../pdata/context.ts';
import type { ContentEncoding } from './media-type.ts';

export interface BodyForm {
  readonly mediaType: 'application/x-protobuf' | 'application/json' | 'application/grpc';
  readonly contentEncoding: ContentEncoding;
}

/** Stored in the database: numbers may be added, but never changed. */
const SIGNAL_TAGS: Readonly<Record<Signal, number>> = { traces: 0, logs: 4, metrics: 8 };
const MEDIA_TYPE_TAGS: Readonly<Record<BodyForm['mediaType'], number>> = {
  'application/x-protobuf': 0,
  'application/json': 2,
  'application/grpc': 16,
};
const GZIP_TAG = 1;

/** 33 bytes: one for signal, media type and content encoding, then the SHA-256 of the bytes as received. */
export function replayKey(signal: Signal, { mediaType, contentEncoding }: BodyForm, raw: Buffer): Uint8Array {
  const tag = SIGNAL_TAGS[signal] + MEDIA_TYPE_TAGS[mediaType] + (contentEncoding === 'gzip' ? GZIP_TAG : 0);
  return Buffer.concat([Buffer.from([tag]), hash('sha256', raw, 'buffer')]);
}
