/** The frame of a gRPC message: one byte for the compression flag, four bytes for the length. */
import { Rejection } from '../../errors.ts';
import { partOf } from '../../pdata/buffer-view.ts';
import type { ContentEncoding } from './media-type.ts';

export const FRAME_HEAD_BYTES = 5;
const COMPRESSED = 1;

/** The empty response message in its frame. */
export const EMPTY_MESSAGE = Buffer.alloc(FRAME_HEAD_BYTES);

export interface GrpcMessage {
  /** As received. */
  readonly raw: Buffer;
  readonly contentEncoding: ContentEncoding;
}

/** `body` is the data of the whole call. Throws `invalid_body` unless it is exactly one message. */
export function unframe(body: Buffer, announced: ContentEncoding): GrpcMessage {
  if (body.length < FRAME_HEAD_BYTES) throw new Rejection('invalid_body', { cause: 'there is no message' });
  const flag = body.readUInt8(0);
  const raw = partOf(body, FRAME_HEAD_BYTES, body.length);
  if (body.readUInt32BE(1) !== raw.length) throw new Rejection('invalid_body', { cause: 'not one whole message' });
  if (flag > COMPRESSED || (flag === COMPRESSED && announced === 'identity'))
    throw new Rejection('invalid_body', { cause: 'compressed in a way that was not announced' });
  return { raw, contentEncoding: flag === COMPRESSED ? announced : 'identity' };
}
