/**
 * What becomes of a body before it is delivered: nothing, mostly. Small gzip bodies are expanded in the pass, straight to where
 * they are indexed; large ones here, in the thread pool, so that they do not block. Projects take turns there. Either way bytes
 * are counted while they expand.
 */
import { createGunzip } from 'node:zlib';
import type { Delivery, Expansion } from '../../component/receiver.ts';
import { Rejection } from '../../errors.ts';
import type { ContentEncoding } from './media-type.ts';

/** Up to here expanding in the pass is cheaper than handing over to the thread pool, and blocks for 2 ms or so. */
const INLINE_BYTES = 1048576;
/** Deflate cannot expand further than this; a larger claim in the trailer is a lie. */
const MAX_EXPANSION = 1032;
const MIN_CHUNK_BYTES = 65536;
/** The thread pool expands so much at once; each piece is copied into the request's buffer. */
const PIECE_BYTES = 1048576;
/** A larger compressed body is never expanded in the pass, whatever its trailer claims: so much of nothing but codes takes 30 ms. */
const INLINE_COMPRESSED_BYTES = 262144;

/** Where a body is expanded to. */
export interface ExpansionRoom extends Expansion {
  /** A buffer of `size` bytes in place of the one before, whose first `kept` bytes it begins with. May throw a `Rejection`. */
  grow(size: number, kept: number): Buffer;
  /** Runs the work in the thread pool when it is the project's turn. */
  inTurn<T>(work: () => Promise<T>): Promise<T>;
}

/** The length a gzip trailer claims, clipped to what is possible: the sender chooses it. */
function claimedLength(compressed: Buffer, limitBytes: number): number {
  if (compressed.length < 4) return MIN_CHUNK_BYTES;
  const claimed = compressed.readUInt32LE(compressed.length - 4);
  return Math.min(claimed, compressed.length * MAX_EXPANSION + 64, limitBytes);
}

/** The body in the form in which it is delivered. Throws `decompression_failed` or `body_too_large`. */
export async function prepareBody(
  raw: Buffer,
  contentEncoding: ContentEncoding,
  room: ExpansionRoom,
): Promise<Pick<Delivery, 'body' | 'gzip'>> {
  const { limitBytes } = room;
  if (contentEncoding === 'gzip') {
    const expectedBytes = claimedLength(raw, limitBytes);
    if (expectedBytes <= INLINE_BYTES && raw.length <= INLINE_COMPRESSED_BYTES)
      return { body: raw, gzip: { ...room, expectedBytes } };
    return { body: await room.inTurn(async () => inflate(raw, expectedBytes, room)), gzip: null };
  }
  if (raw.length > limitBytes)
    throw new Rejection('body_too_large', { limit_bytes: limitBytes, received_bytes: raw.length });
  return { body: raw, gzip: null };
}

/** Room for what the trailer claims is reserved before anything is expanded; a body that is larger after all makes it grow. */
function inflate(compressed: Buffer, expected: number, room: ExpansionRoom): Promise<Buffer> {
  const { limitBytes } = room;
  let body = room.grow(expected, 0);
  let length = 0;
  const add = (piece: Buffer): void => {
    const next = length + piece.length;
    if (next > limitBytes)
      throw new Rejection('body_too_large', { limit_bytes: limitBytes, hint: 'after decompression' });
    if (next > body.length) body = room.grow(Math.min(limitBytes, Math.max(next, 2 * body.length)), length);
    piece.copy(body, length);
    length = next;
  };
  return new Promise((resolve, reject) => {
    const stream = createGunzip({ chunkSize: Math.min(Math.max(expected, MIN_CHUNK_BYTES), PIECE_BYTES) });
    stream.on('data', (piece: Buffer) => {
      try {
        add(piece);
      } catch (error) {
        stream.destroy(error as Error);
      }
    });
    stream.once('end', () => resolve(body.subarray(0, length)));
    stream.once('error', (error) => reject(translate(error)));
    stream.end(compressed);
  });
}

function translate(error: unknown): unknown {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  return code.startsWith('Z_') ? new Rejection('decompression_failed', { cause: code }) : error;
}
