/**
 * Text kernels of the encoders: JSON escaping, unescaping, and plain copies without U+0000. The indexer has checked
 * that texts are UTF-8, so bytes from 0x80 on are copied unchanged. Whole blocks of 16 bytes are loaded even at the end
 * of a text; the bytes past it are masked.
 */
import { TEXT_HAS_NUL, TEXT_JSON_ESCAPED, TEXT_NEEDS_ESCAPE } from '../../layout';
import { mayPauseAt, PAUSE_BYTES, pauseNow } from '../pause';
import { PIECE, checkLimit, copyBytes, out, room, setOut } from './output';

/** The letter after the backslash for each control character; 0: none, written as \u00XX. */
const SHORT_ESCAPES = memory.data<u8>([
  0, 0, 0, 0, 0, 0, 0, 0, 0x62, 0x74, 0x6e, 0, 0x66, 0x72, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
]);

/** U+FFFD, which replaces U+0000 and lone surrogates, in UTF-8; three bytes, lowest first. */
export const REPLACEMENT: u32 = 0xbdbfef;

/** Writes the escape of one quote, backslash or control character; returns the position after it. */
function escapeByte(target: usize, byte: u32): usize {
  if (byte >= 0x20) {
    store<u16>(target, 0x5c | (byte << 8));
    return target + 2;
  }
  const letter = <u32>load<u8>(SHORT_ESCAPES + byte);
  if (letter != 0) {
    store<u16>(target, 0x5c | (letter << 8));
    return target + 2;
  }
  if (byte == 0) {
    store<u32>(target, REPLACEMENT);
    return target + 3;
  }
  store<u32>(target, 0x3030755c); // \u00
  const low = byte & 15;
  store<u16>(target, (0x30 + (byte >> 4)) | ((low + (low < 10 ? 0x30 : 0x57)) << 8), 4);
  return target + 6;
}

/** Escapes for the inside of a JSON string, at most six bytes per byte. Returns the position after the text. */
export function escapeText(target: usize, offset: usize, length: usize): usize {
  const end = offset + length;
  const space = i8x16.splat(0x20);
  const quote = i8x16.splat(0x22);
  const backslash = i8x16.splat(0x5c);
  while (offset < end) {
    const block = v128.load(offset);
    v128.store(target, block);
    let mask = i8x16.bitmask(
      v128.or(i8x16.lt_u(block, space), v128.or(i8x16.eq(block, quote), i8x16.eq(block, backslash))),
    );
    const left = end - offset;
    const step: usize = left < 16 ? left : 16;
    if (left < 16) mask &= (1 << (<i32>left)) - 1;
    let done: usize = 0;
    while (mask != 0) {
      const index = <usize>ctz(mask);
      mask &= mask - 1;
      target = escapeByte(target + (index - done), <u32>load<u8>(offset + index));
      done = index + 1;
      v128.store(target, v128.load(offset + done));
    }
    target += step - done;
    offset += step;
  }
  return target;
}

/** Copies a text and writes U+FFFD for U+0000, at most three bytes per byte. */
export function copyWithoutNul(target: usize, offset: usize, length: usize): usize {
  const end = offset + length;
  const zero = i8x16.splat(0);
  while (offset < end) {
    const block = v128.load(offset);
    v128.store(target, block);
    let mask = i8x16.bitmask(i8x16.eq(block, zero));
    const left = end - offset;
    const step: usize = left < 16 ? left : 16;
    if (left < 16) mask &= (1 << (<i32>left)) - 1;
    let done: usize = 0;
    while (mask != 0) {
      const index = <usize>ctz(mask);
      mask &= mask - 1;
      target += index - done;
      store<u32>(target, REPLACEMENT);
      target += 3;
      done = index + 1;
      v128.store(target, v128.load(offset + done));
    }
    target += step - done;
    offset += step;
  }
  return target;
}

/** Writes a text for the inside of a JSON string, by its flags. Needs room for six times its length, and slack. */
// @ts-ignore: decorator
@inline
export function writeEscaped(target: usize, offset: usize, length: usize, flags: u32): usize {
  if ((flags & TEXT_JSON_ESCAPED) == 0 && (flags & (TEXT_NEEDS_ESCAPE | TEXT_HAS_NUL)) != 0) {
    return escapeText(target, offset, length);
  }
  return copyBytes(target, offset, length);
}

/** Puts a text as the inside of a JSON string, and requests the room itself. */
export function putEscaped(offset: usize, length: u32, flags: u32): void {
  if (length <= PIECE) {
    room(<usize>length * 6 + 32);
    setOut(writeEscaped(out, offset, length, flags));
    return;
  }
  const copies = (flags & TEXT_JSON_ESCAPED) != 0 || (flags & (TEXT_NEEDS_ESCAPE | TEXT_HAS_NUL)) == 0;
  if (copies) {
    pauseNow();
    room(<usize>length + 32);
    setOut(copyBytes(out, offset, length));
    return;
  }
  while (length > 0) {
    pauseNow();
    const size = min(length, PIECE);
    checkLimit();
    room(<usize>size * 6 + 32);
    setOut(escapeText(out, offset, size));
    offset += size;
    length -= size;
  }
}

/** Puts a plain text according to its flags: unescaped, and with U+FFFD for U+0000. */
export function putPlain(offset: usize, length: u32, flags: u32): void {
  if ((flags & TEXT_JSON_ESCAPED) != 0) {
    room(<usize>length + 32);
    setOut(unescapeText(out, offset, length));
  } else if ((flags & TEXT_HAS_NUL) != 0) {
    room(<usize>length * 3 + 32);
    setOut(copyLongWithoutNul(out, offset, length));
  } else {
    if (length > PIECE) pauseNow();
    room(<usize>length + 64);
    setOut(copyBytes(out, offset, length));
  }
}

/** As `copyWithoutNul`; may pause. */
function copyLongWithoutNul(target: usize, offset: usize, length: usize): usize {
  for (; length > PIECE; offset += PIECE, length -= PIECE) {
    pauseNow();
    target = copyWithoutNul(target, offset, PIECE);
  }
  return copyWithoutNul(target, offset, length);
}

/** Puts bytes unchanged. */
export function putRawText(offset: usize, length: u32): void {
  room(<usize>length + 64);
  setOut(copyBytes(out, offset, length));
}

function hexDigit(byte: u32): u32 {
  return byte <= 0x39 ? byte - 0x30 : (byte | 0x20) - 0x57;
}

function hexUnit(offset: usize): u32 {
  const digits = load<u32>(offset);
  return (
    (hexDigit(digits & 0xff) << 12) |
    (hexDigit((digits >> 8) & 0xff) << 8) |
    (hexDigit((digits >> 16) & 0xff) << 4) |
    hexDigit(digits >> 24)
  );
}

function putCodePoint(target: usize, code: u32): usize {
  if (code == 0 || (code >= 0xd800 && code <= 0xdfff)) {
    store<u32>(target, REPLACEMENT);
    return target + 3;
  }
  if (code < 0x80) {
    store<u8>(target, code);
    return target + 1;
  }
  if (code < 0x800) {
    store<u16>(target, 0xc0 | (code >> 6) | ((0x80 | (code & 63)) << 8));
    return target + 2;
  }
  if (code < 0x10000) {
    store<u32>(target, 0xe0 | (code >> 12) | ((0x80 | ((code >> 6) & 63)) << 8) | ((0x80 | (code & 63)) << 16));
    return target + 3;
  }
  store<u32>(
    target,
    0xf0 |
      (code >> 18) |
      ((0x80 | ((code >> 12) & 63)) << 8) |
      ((0x80 | ((code >> 6) & 63)) << 16) |
      ((0x80 | (code & 63)) << 24),
  );
  return target + 4;
}

/**
 * Decodes the checked inside of a JSON string literal; never longer than its source. Lone surrogates and U+0000 become
 * U+FFFD. Returns the position after the text.
 */
export function unescapeText(target: usize, offset: usize, length: usize): usize {
  const end = offset + length;
  const backslash = i8x16.splat(0x5c);
  let mark = offset + PAUSE_BYTES;
  while (offset < end) {
    mark = mayPauseAt(offset, mark);
    const block = v128.load(offset);
    v128.store(target, block);
    let mask = i8x16.bitmask(i8x16.eq(block, backslash));
    const left = end - offset;
    if (left < 16) mask &= (1 << (<i32>left)) - 1;
    if (mask == 0) {
      const step: usize = left < 16 ? left : 16;
      target += step;
      offset += step;
      continue;
    }
    const index = <usize>ctz(mask);
    target += index;
    offset += index;
    const letter = <u32>load<u8>(offset, 1);
    offset += 2;
    if (letter != 0x75) {
      let byte = letter;
      if (letter == 0x6e) byte = 10;
      else if (letter == 0x74) byte = 9;
      else if (letter == 0x72) byte = 13;
      else if (letter == 0x62) byte = 8;
      else if (letter == 0x66) byte = 12;
      store<u8>(target, byte);
      target += 1;
      continue;
    }
    let code = hexUnit(offset);
    offset += 4;
    if (code >= 0xd800 && code < 0xdc00 && offset + 6 <= end && load<u16>(offset) == 0x755c) {
      const low = hexUnit(offset + 2);
      if (low >= 0xdc00 && low <= 0xdfff) {
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        offset += 6;
      }
    }
    target = putCodePoint(target, code);
  }
  return target;
}
