/**
 * The gzip format around the module's inflater: a compressed body is expanded to the place where it is indexed, without
 * a copy and without memory of the garbage collector. Accepts and refuses the same bodies as `gunzipSync`, except one
 * kind: `gunzipSync` ignores all bytes behind a zero after a member. Here only zeros may follow, so that no byte of a
 * body is dropped.
 */
import { crc32 } from 'node:zlib';
import { Rejection } from '../errors.ts';
import { partOf } from './buffer-view.ts';
import * as layout from './layout.ts';
import { type Wire, WireFault } from './load-wasm.ts';
import type { Steps } from './steps.ts';

// RFC 1952.
const MAGIC = 0x8b1f;
const DEFLATE = 8;
const FIXED_HEADER_BYTES = 10;
const TRAILER_BYTES = 8;
const FLAG_HEADER_CRC = 2;
const FLAG_EXTRA = 4;
const FLAG_NAME = 8;
const FLAG_COMMENT = 16;
const RESERVED_FLAGS = 0xe0;

/** A body can have hundreds of thousands of empty members, which take a microsecond or two each. */
const MEMBERS_PER_STEP = 256;
/** To copy so many bytes, or their checksum, takes some tenths of a millisecond. */
const PIECE_BYTES = 1048576;

/**
 * Expands a body into the input region and returns a view of it, which the next request overwrites. Throws
 * `decompression_failed`, or `body_too_large` as soon as there are more bytes than `limitBytes`.
 */
export function* gunzip(wire: Wire, compressed: Uint8Array, limitBytes: number): Steps<Uint8Array> {
  if (compressed.length > layout.COMPRESSED_CAPACITY)
    throw new Rejection('body_too_large', {
      limit_bytes: layout.COMPRESSED_CAPACITY,
      received_bytes: compressed.length,
    });
  const { bytes } = wire;
  const end = layout.COMPRESSED_BASE + compressed.length;
  for (let from = 0; from < compressed.length; from += PIECE_BYTES) {
    if (from > 0) yield;
    bytes.set(partOf(compressed, from, Math.min(from + PIECE_BYTES, compressed.length)), layout.COMPRESSED_BASE + from);
  }
  bytes.fill(0, end, end + layout.COMPRESSED_PADDING);
  const limit = Math.min(limitBytes, layout.INPUT_CAPACITY);
  let at = layout.COMPRESSED_BASE;
  let to = layout.INPUT_BASE;
  for (let members = 1; ; members++) {
    const stream = skipHeader(bytes, at, end);
    yield* expand(wire, { stream, end, to }, limit);
    const expanded = bytes.subarray(to, bytes.readUInt32LE(layout.HEADER_BASE + layout.HEADER_INFLATED));
    at = bytes.readUInt32LE(layout.HEADER_BASE + layout.HEADER_INFLATE_END);
    yield* checkTrailer(bytes, at, end, expanded);
    at += TRAILER_BYTES;
    to += expanded.length;
    // Another member may follow. Zeros to the end are padding; any other byte must begin a member.
    if (at >= end || isPadding(bytes, at, end)) return bytes.subarray(layout.INPUT_BASE, to);
    if (members % MEMBERS_PER_STEP === 0) yield;
  }
}

/** Whether only zeros are left: the first byte is one, and each other byte equals the one before it. */
function isPadding(bytes: Buffer, at: number, end: number): boolean {
  return bytes[at] === 0 && bytes.compare(bytes, at + 1, end, at, end - 1) === 0;
}

function* expand(
  wire: Wire,
  { stream, end, to }: { readonly stream: number; readonly end: number; readonly to: number },
  limitBytes: number,
): Steps {
  try {
    yield* wire.inSteps(() => wire.exports.inflate(stream, end, to, layout.INPUT_BASE + limitBytes));
  } catch (error) {
    if (!(error instanceof WireFault)) throw error;
    if (error.code === layout.FAIL_EXPANDED)
      throw new Rejection('body_too_large', { limit_bytes: limitBytes, hint: 'after decompression' });
    if (error.code === layout.FAIL_INFLATE)
      throw failure(error.position < end ? 'invalid data' : 'unexpected end', error.position);
    throw error;
  }
}

/** Returns the start of the member's data. */
function skipHeader(bytes: Buffer, start: number, end: number): number {
  if (end - start < FIXED_HEADER_BYTES) throw failure('unexpected end', end);
  if (bytes.readUInt16LE(start) !== MAGIC) throw failure('no gzip member', start);
  if (bytes[start + 2] !== DEFLATE) throw failure('unknown method', start + 2);
  const flags = bytes.readUInt8(start + 3);
  if ((flags & RESERVED_FLAGS) !== 0) throw failure('unknown flags', start + 3);
  let at = start + FIXED_HEADER_BYTES;
  if ((flags & FLAG_EXTRA) !== 0) at = requireWithin(at + 2, end) + bytes.readUInt16LE(at);
  if ((flags & FLAG_NAME) !== 0) at = skipText(bytes, at, end);
  if ((flags & FLAG_COMMENT) !== 0) at = skipText(bytes, at, end);
  if ((flags & FLAG_HEADER_CRC) !== 0) {
    requireWithin(at + 2, end);
    if (bytes.readUInt16LE(at) !== (crc32(bytes.subarray(start, at)) & 0xffff)) throw failure('header checksum', at);
    at += 2;
  }
  return requireWithin(at, end);
}

/** Skips a text that ends with a zero. */
function skipText(bytes: Buffer, at: number, end: number): number {
  const zero = at < end ? bytes.subarray(at, end).indexOf(0) : -1;
  if (zero < 0) throw failure('unexpected end', end);
  return at + zero + 1;
}

function requireWithin(at: number, end: number): number {
  if (at > end) throw failure('unexpected end', end);
  return at;
}

function* checkTrailer(bytes: Buffer, at: number, end: number, expanded: Uint8Array): Steps {
  requireWithin(at + TRAILER_BYTES, end);
  let checksum = 0;
  for (let from = 0; from < expanded.length; from += PIECE_BYTES) {
    if (from > 0) yield;
    checksum = crc32(partOf(expanded, from, Math.min(from + PIECE_BYTES, expanded.length)), checksum);
  }
  if (bytes.readUInt32LE(at) !== checksum) throw failure('checksum', at);
  if (bytes.readUInt32LE(at + 4) !== expanded.length) throw failure('length', at + 4);
}

function failure(what: string, position: number): Rejection {
  return new Rejection('decompression_failed', { cause: `${what} at byte ${position - layout.COMPRESSED_BASE}` });
}
