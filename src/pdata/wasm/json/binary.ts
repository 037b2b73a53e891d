/** Bytes that JSON carries as text: ids in hexadecimal, values in base64. */
import { FAIL_JSON } from '../../layout';
import { fail, failId } from '../fail';
import { mayPauseAt, PAUSE_BYTES } from '../pause';
import { allocateScratch } from '../tables';
import { readPlainText, textLength, textOffset } from './text';

/** The position of the bytes that `decodeBase64` decoded. */
export let bytesOffset: usize = 0;
export let bytesLength: u32 = 0;

/**
 * Reads an id of `bytes` bytes (8 or 16) to `target`, in either case of hexadecimal. An empty text means that the id is
 * absent.
 */
export function readId(at: usize, target: usize, bytes: u32): usize {
  const next = readPlainText(at);
  if (!textLength) return next;
  if (textLength != bytes << 1) failId(at, textLength);
  let bits: u64 = 0;
  for (let i: u32 = 0; i < bytes; i += 8) {
    const half = hexBytes(textOffset + ((<usize>i) << 1));
    store<u64>(target + i, half);
    bits |= half;
  }
  if (!bits) failId(at, textLength);
  return next;
}

/** The eight bytes of the sixteen digits at `at`. */
function hexBytes(at: usize): u64 {
  const text = v128.load(at);
  const digits = i8x16.sub(text, i8x16.splat(0x30));
  const letters = i8x16.sub(v128.or(text, i8x16.splat(0x20)), i8x16.splat(0x61));
  const areDigits = i8x16.lt_u(digits, i8x16.splat(10));
  const areLetters = i8x16.lt_u(letters, i8x16.splat(6));
  if (!i8x16.all_true(v128.or(areDigits, areLetters))) failId(at, textLength);
  const values = v128.bitselect(digits, i8x16.add(letters, i8x16.splat(10)), areDigits);
  const pairs = v128.or(i16x8.shl(v128.and(values, i16x8.splat(15)), 4), i16x8.shr_u(values, 8));
  return <u64>i64x2.extract_lane(i8x16.narrow_i16x8_u(pairs, pairs), 0);
}

/** The six bits of a base64 character in either alphabet, above 63 for any other. */
function sixBits(character: u32): u32 {
  if (character - 0x41 < 26) return character - 0x41;
  if (character - 0x61 < 26) return character - 0x61 + 26;
  if (character - 0x30 < 10) return character - 0x30 + 52;
  if (character == 0x2b || character == 0x2d) return 62;
  return character == 0x2f || character == 0x5f ? 63 : 64;
}

/** The number of characters of the base64 text without padding; `fail`s for an impossible length or padding. */
function significant(offset: usize, length: u32): u32 {
  let end = length;
  while (end && length - end < 2 && load<u8>(offset + end - 1) == 0x3d) end--;
  if ((end & 3) == 1 || (end != length && (length & 3) != 0)) fail(FAIL_JSON, offset);
  return end;
}

/** Whether a checked text is base64 in the usual form: standard alphabet, padded, no stray bits. */
export function isCanonicalBase64(offset: usize, length: u32): bool {
  if (length & 3) return false;
  const end = significant(offset, length);
  let mark = PAUSE_BYTES;
  for (let i: u32 = 0; i < end; i++) {
    mark = mayPauseAt(i, mark);
    const character = <u32>load<u8>(offset + i);
    if (character == 0x2d || character == 0x5f) return false;
  }
  if (end == length) return true;
  const stray = length - end == 1 ? 3 : 15;
  return (sixBits(load<u8>(offset + end - 1)) & stray) == 0;
}

/** Checks that a text is base64 in either alphabet, padded or not. */
export function checkBase64(offset: usize, length: u32): void {
  const end = significant(offset, length);
  let mark = PAUSE_BYTES;
  for (let i: u32 = 0; i < end; i++) {
    mark = mayPauseAt(i, mark);
    if (sixBits(load<u8>(offset + i)) > 63) fail(FAIL_JSON, offset + i);
  }
}

/** Decodes a checked text into scratch; the result is `bytesOffset`, `bytesLength`. */
export function decodeBase64(offset: usize, length: u32): void {
  const end = significant(offset, length);
  bytesLength = (end >> 2) * 3 + (end & 3 ? (end & 3) - 1 : 0);
  bytesOffset = allocateScratch(bytesLength + 8, offset);
  let target = bytesOffset;
  let mark = PAUSE_BYTES;
  for (let i: u32 = 0; i < end; i += 4) {
    mark = mayPauseAt(i, mark);
    let bits: u32 = 0;
    for (let j: u32 = 0; j < 4; j++) bits = (bits << 6) | (i + j < end ? sixBits(load<u8>(offset + i + j)) : 0);
    store<u8>(target, bits >> 16);
    store<u8>(target, bits >> 8, 1);
    store<u8>(target, bits, 2);
    target += 3;
  }
}
