/** The frame around a gRPC message: one byte that says whether it is compressed, four for its length. */
import { Rejection } from '../../errors.ts';
import type { ContentEncoding } from './media-type.ts';

export const FRAME_HEAD_BYTES = 5;
const COMPRESSED = 1;

/** An empty response message: nothing of it is ever set. */
export const EMPTY_MESSAGE = Buffer.alloc(FRAME_HEAD_BYTES);

export interface GrpcMessage {
  /** As it was sent. */
  readonly raw: Buffer;
  readonly contentEncoding: ContentEncoding;
}

/** `body` is all that was sent. Throws `invalid_body` when it is anything but one whole message. */
export function unframe(body: Buffer, announced: ContentEncoding): GrpcMessage {
  if (body.length < FRAME_HEAD_BYTES) throw new Rejection('invalid_body', { cause: 'there is no message' });
  const flag = body.readUInt8(0);
  const raw = body.subarray(FRAME_HEAD_BYTES);
  if (body.readUInt32BE(1) !== raw.length) throw new Rejection('invalid_body', { cause: 'not one whole message' });
  if (flag > COMPRESSED || (flag === COMPRESSED && announced === 'identity'))
    throw new Rejection('invalid_body', { cause: 'compressed in a way that was not announced' });
  return { raw, contentEncoding: flag === COMPRESSED ? announced : 'identity' };
}
