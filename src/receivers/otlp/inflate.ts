/**
 * What becomes of a body before it is delivered: nothing, mostly. Small gzip bodies are expanded in the pass, straight to where
 * they are indexed; large ones here, in the thread pool, so that they block nobody. Either way bytes are counted while they expand.
 */
import { promisify } from 'node:util';
import { gunzip, type ZlibOptions } from 'node:zlib';
import type { Delivery, Expansion } from '../../component/receiver.ts';
import { Rejection } from '../../errors.ts';
import type { ContentEncoding } from './media-type.ts';

/** Up to here expanding in the pass is cheaper than handing over to the thread pool, and blocks for 2 ms or so. */
const INLINE_BYTES = 1048576;
/** Deflate cannot expand further than this; a larger claim in the trailer is a lie. */
const MAX_EXPANSION = 1032;
const MIN_CHUNK_BYTES = 65536;
/** A larger compressed body is never expanded in the pass, whatever its trailer claims: so much of nothing but codes takes 30 ms. */
const INLINE_COMPRESSED_BYTES = 262144;

const gunzipPooled = promisify<Buffer, ZlibOptions, Buffer>(gunzip);

/** The length a gzip trailer claims, clipped to what is possible: the sender chooses it. */
function claimedLength(compressed: Buffer, limitBytes: number): number {
  if (compressed.length < 4) return MIN_CHUNK_BYTES;
  const claimed = compressed.readUInt32LE(compressed.length - 4);
  return Math.min(claimed + 1, compressed.length * MAX_EXPANSION + 64, limitBytes + 1);
}

/** The body in the form in which it is delivered. Throws `decompression_failed` or `body_too_large`. */
export async function prepareBody(
  raw: Buffer,
  contentEncoding: ContentEncoding,
  expansion: Expansion,
): Promise<Pick<Delivery, 'body' | 'gzip'>> {
  const { limitBytes } = expansion;
  if (contentEncoding === 'gzip') {
    const expectedBytes = claimedLength(raw, limitBytes);
    if (expectedBytes <= INLINE_BYTES && raw.length <= INLINE_COMPRESSED_BYTES)
      return { body: raw, gzip: { ...expansion, expectedBytes } };
    expansion.reserve(Math.min(expectedBytes, limitBytes));
    const body = await inflate(raw, limitBytes, expectedBytes);
    expansion.reserve(body.length);
    return { body, gzip: null };
  }
  if (raw.length > limitBytes)
    throw new Rejection('body_too_large', { limit_bytes: limitBytes, received_bytes: raw.length });
  expansion.reserve(raw.length);
  return { body: raw, gzip: null };
}

async function inflate(compressed: Buffer, limitBytes: number, expected: number): Promise<Buffer> {
  try {
    return await gunzipPooled(compressed, {
      maxOutputLength: limitBytes,
      chunkSize: Math.max(expected, MIN_CHUNK_BYTES),
    });
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
