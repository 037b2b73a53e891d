/** How a gzip body is expanded later, in the pass, into the memory in which it is indexed. */
import type { Compression } from '../../component/receiver.ts';
import { Rejection } from '../../errors.ts';
import type { ContentEncoding } from './media-type.ts';

/** The highest ratio of DEFLATE. A larger length in the trailer is false. */
const MAX_EXPANSION = 1032;
/**
 * A gzip body counts at least so many times its size, whatever its trailer declares: it takes as long as a larger body
 * when it consists of code tables.
 */
const MIN_EXPANSION = 4;

/** Null for a body that is not compressed. Throws `body_too_large`. */
export function compressionOf(raw: Buffer, contentEncoding: ContentEncoding, limitBytes: number): Compression | null {
  if (contentEncoding === 'gzip') return { limitBytes, expectedBytes: expectedLength(raw, limitBytes) };
  if (raw.length > limitBytes)
    throw new Rejection('body_too_large', { limit_bytes: limitBytes, received_bytes: raw.length });
  return null;
}

/** The length in the gzip trailer, limited to a possible length, because the sender chooses it. */
function expectedLength(compressed: Buffer, limitBytes: number): number {
  const declared = compressed.length < 4 ? 0 : compressed.readUInt32LE(compressed.length - 4);
  const possible = Math.min(declared, compressed.length * MAX_EXPANSION + 64);
  return Math.min(Math.max(possible, compressed.length * MIN_EXPANSION), limitBytes);
}
