/** Expanding gzip bodies, counted while they expand. */
import { promisify } from 'node:util';
import { gunzip, gunzipSync, type ZlibOptions } from 'node:zlib';
import { Rejection } from '../../errors.ts';
import type { ContentEncoding } from './media-type.ts';

/** Up to here expanding on the spot is cheaper than handing over to the thread pool, and blocks for at most 1.5 ms or so. */
const INLINE_BYTES = 1048576;
/** Deflate cannot expand further than this; a larger claim in the trailer is a lie. */
const MAX_EXPANSION = 1032;
const MIN_CHUNK_BYTES = 65536;
/** A larger compressed body is never expanded on the spot, whatever its trailer claims. */
const INLINE_COMPRESSED_BYTES = 262144;

const gunzipPooled = promisify<Buffer, ZlibOptions, Buffer>(gunzip);

/** The length a gzip trailer claims, clipped to what is possible: the sender chooses it. */
export function claimedLength(compressed: Buffer, limitBytes: number): number {
  if (compressed.length < 4) return MIN_CHUNK_BYTES;
  const claimed = compressed.readUInt32LE(compressed.length - 4);
  return Math.min(claimed + 1, compressed.length * MAX_EXPANSION + 64, limitBytes + 1);
}

/** The body as it is read. Throws `decompression_failed` or `body_too_large`. */
export async function expand(raw: Buffer, contentEncoding: ContentEncoding, limitBytes: number): Promise<Buffer> {
  if (contentEncoding === 'gzip') return inflate(raw, limitBytes);
  if (raw.length > limitBytes)
    throw new Rejection('body_too_large', { limit_bytes: limitBytes, received_bytes: raw.length });
  return raw;
}

/** Throws `decompression_failed` or `body_too_large`. */
export async function inflate(compressed: Buffer, limitBytes: number): Promise<Buffer> {
  const expected = claimedLength(compressed, limitBytes);
  const options = { maxOutputLength: limitBytes, chunkSize: Math.max(expected, MIN_CHUNK_BYTES) };
  try {
    const inline = expected <= INLINE_BYTES && compressed.length <= INLINE_COMPRESSED_BYTES;
    return inline ? gunzipSync(compressed, options) : await gunzipPooled(compressed, options);
  } catch (error) {
    throw translate(error, limitBytes);
  }
}

function translate(error: unknown, limitBytes: number): unknown {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  if (code === 'ERR_BUFFER_TOO_LARGE')
    return new Rejection('body_too_large', { limit_bytes: limitBytes, hint: 'after decompression' });
  if (code.startsWith('Z_')) return new Rejection('decompression_failed', { cause: code });
  return error;
}
