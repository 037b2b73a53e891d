/**
 * Prepares a body for delivery. Small gzip bodies are expanded later, in the pass, directly into the memory in which
 * they are indexed. Large ones are expanded here in the thread pool, so that they do not block the event loop, with
 * fair turns for projects. In both cases the expanded bytes are limited while they are produced.
 */
import { createGunzip } from 'node:zlib';
import type { Delivery, Expansion } from '../../component/receiver.ts';
import { Rejection } from '../../errors.ts';
import { partOf } from '../../pdata/buffer-view.ts';
import type { ContentEncoding } from './media-type.ts';

/** Up to this size the expansion in the pass is cheaper than the thread pool, and blocks for about 2 ms. */
const INLINE_BYTES = 1048576;
/** The highest ratio of DEFLATE. A larger length in the trailer is false. */
const MAX_EXPANSION = 1032;
const MIN_CHUNK_BYTES = 65536;
/** The size of a piece that the thread pool expands. Each piece is copied into the request's buffer. */
const PIECE_BYTES = 1048576;
/**
 * Larger compressed bodies are not expanded in the pass, whatever their trailer says: code tables of this size take 30
 * ms.
 */
const INLINE_COMPRESSED_BYTES = 262144;

/** The memory into which a body is expanded. */
export interface ExpansionRoom extends Expansion {
  /**
   * Replaces the buffer by one of `size` bytes that begins with the first `kept` bytes of the old one. May throw a
   * `Rejection`.
   */
  grow(size: number, kept: number): Buffer;
  /** Runs the work when the project has its turn. */
  inTurn<T>(work: () => Promise<T>): Promise<T>;
}

/** The length in the gzip trailer, limited to the possible length, because the sender chooses it. */
function claimedLength(compressed: Buffer, limitBytes: number): number {
  if (compressed.length < 4) return MIN_CHUNK_BYTES;
  const claimed = compressed.readUInt32LE(compressed.length - 4);
  return Math.min(claimed, compressed.length * MAX_EXPANSION + 64, limitBytes);
}

/**
 * The body in the form for delivery. Callers name its members: V8 makes new hidden classes for an object that is spread
 * into a larger one. Throws `decompression_failed` or `body_too_large`.
 */
export async function prepareBody(
  raw: Buffer,
  contentEncoding: ContentEncoding,
  room: ExpansionRoom,
): Promise<Pick<Delivery, 'body' | 'gzip'>> {
  const { limitBytes, reserve } = room;
  if (contentEncoding === 'gzip') {
    const expectedBytes = claimedLength(raw, limitBytes);
    if (expectedBytes <= INLINE_BYTES && raw.length <= INLINE_COMPRESSED_BYTES) {
      const expand = (): Promise<Buffer> => inflateInTurn(raw, INLINE_BYTES, room);
      return { body: raw, gzip: { limitBytes, reserve, expectedBytes, expand } };
    }
    return { body: await inflateInTurn(raw, expectedBytes, room), gzip: null };
  }
  if (raw.length > limitBytes)
    throw new Rejection('body_too_large', { limit_bytes: limitBytes, received_bytes: raw.length });
  return { body: raw, gzip: null };
}

const inflateInTurn = (raw: Buffer, expectedBytes: number, room: ExpansionRoom): Promise<Buffer> =>
  room.inTurn(async () => inflate(raw, expectedBytes, room));

/** The length in the trailer is reserved before the expansion. The buffer grows when the body is larger. */
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
    stream.once('end', () => resolve(partOf(body, 0, length)));
    stream.once('error', (error) => reject(translate(error)));
    stream.end(compressed);
  });
}

function translate(error: unknown): unknown {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  return code.startsWith('Z_') ? new Rejection('decompression_failed', { cause: code }) : error;
}
