/**
 * Request bodies in which the ids of traces can be replaced. In the gzip form the ids are stored uncompressed, so that
 * a new request costs a copy and a checksum instead of a compression, which would take as long as the server's work.
 */
import { constants, crc32, deflateRawSync, inflateRawSync } from 'node:zlib';

export const TRACE_ID_BYTES = 16;

export interface IdentifiedBody {
  readonly bytes: Buffer;
  /** The offsets of the id of each trace. */
  readonly ids: readonly (readonly number[])[];
}

/** Finds the ids in a body. */
export function identify(bytes: Buffer, ids: Iterable<Buffer>): IdentifiedBody {
  return {
    bytes,
    ids: Array.from(ids, (id) => {
      const places: number[] = [];
      for (let at = bytes.indexOf(id); at >= 0; at = bytes.indexOf(id, at + TRACE_ID_BYTES)) places.push(at);
      return places;
    }),
  };
}

const GZIP_HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
/** The start of a stored block with an id: its length and the complement of that. */
const ID_BLOCK = Buffer.from([0, TRACE_ID_BYTES, 0, 0xff ^ TRACE_ID_BYTES, 0xff]);
/** The last block, empty. */
const LAST_BLOCK = Buffer.from([1, 0, 0, 0xff, 0xff]);
/** The CRC-32 of the content and its length. */
const TRAILER_BYTES = 8;
const WINDOW_BYTES = 32 * 1024;

/** Writes new ids, one after the other in `values`, at the offsets of the former ones. */
export function replaceIds(bytes: Buffer, ids: IdentifiedBody['ids'], values: Buffer): void {
  for (const [trace, places] of ids.entries()) {
    const id = values.subarray(trace * TRACE_ID_BYTES, (trace + 1) * TRACE_ID_BYTES);
    for (const place of places) bytes.set(id, place);
  }
}

/** Compresses a body. The ids of the result are the offsets in the compressed bytes. */
export function gzipWithIds({ bytes, ids }: IdentifiedBody): IdentifiedBody {
  const places = ids.flatMap((offsets, trace) => offsets.map((at) => ({ at, trace }))).sort((a, b) => a.at - b.at);
  const changed = Buffer.from(bytes);
  for (const { at } of places)
    for (let index = 0; index < TRACE_ID_BYTES; index++) changed[at + index] = ~(bytes[at + index] ?? 0);
  const parts: Buffer[] = [GZIP_HEADER];
  const found: number[][] = ids.map(() => []);
  let length = GZIP_HEADER.length;
  const add = (part: Buffer): void => {
    parts.push(part);
    length += part.length;
  };
  let from = 0;
  for (const { at, trace } of places) {
    add(compress(bytes, changed, { from, to: at }));
    add(ID_BLOCK);
    found[trace]?.push(length);
    from = at + TRACE_ID_BYTES;
    add(bytes.subarray(at, from));
  }
  add(compress(bytes, changed, { from, to: bytes.length }));
  add(LAST_BLOCK);
  add(Buffer.alloc(TRAILER_BYTES));
  const gzip = Buffer.concat(parts);
  seal(gzip, bytes);
  return { bytes: gzip, ids: found };
}

/** Writes checksum and length of the content at the end of a gzip body. */
export function seal(gzip: Buffer, content: Buffer): void {
  gzip.writeUInt32LE(crc32(content), gzip.length - TRAILER_BYTES);
  gzip.writeUInt32LE(content.length, gzip.length - TRAILER_BYTES / 2);
}

/** A part of a body, up to a byte boundary. It refers back to text before it, but not to ids, which will differ. */
function compress(bytes: Buffer, changed: Buffer, { from, to }: { from: number; to: number }): Buffer {
  const part = bytes.subarray(from, to);
  const finish = { finishFlush: constants.Z_SYNC_FLUSH };
  if (from === 0) return deflateRawSync(part, finish);
  const [start, end] = [Math.max(0, from - WINDOW_BYTES), from];
  const packed = deflateRawSync(part, { ...finish, dictionary: bytes.subarray(start, end) });
  const read = inflateRawSync(packed, { ...finish, dictionary: changed.subarray(start, end) });
  return read.equals(part) ? packed : deflateRawSync(part, finish);
}
