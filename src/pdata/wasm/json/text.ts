/**
 * JSON strings: finding their end, checking and decoding their escapes. The host has checked the UTF-8 of the whole
 * body and a zero byte follows it, so a scan needs no bound: the zero is a control character and ends it.
 */
import * as layout from '../../layout';
import { unescapeText } from '../encode/json-text';
import { fail } from '../fail';
import { mayPauseAt, PAUSE_BYTES } from '../pause';
import { allocateScratch } from '../tables';
import { classifyText } from '../text';

export const QUOTE: u32 = 0x22;
const BACKSLASH: u32 = 0x5c;

/** U+FFFD in UTF-8, three bytes, lowest first. */
const REPLACEMENT: u32 = 0xbdbfef;

/** Properties of a scanned string: it has an escape; it has an escape for U+0000 or half a surrogate pair. */
const ESCAPES_SOME: u32 = 1;
export const ESCAPES_BROKEN: u32 = 2;

/** The result of `readText`: the position of the text and its flags. */
export let textOffset: usize = 0;
export let textLength: u32 = 0;
export let textFlags: u32 = 0;

/** The result of `scanString` besides the end: ESCAPES_… */
export let stringEscapes: u32 = 0;

/**
 * The characters that may follow a backslash, as bits: `"` and `/` below 64; `\ b f n r t` above. `u` is not among
 * them.
 */
const ESCAPED_LOW: u64 = (1 << 0x22) | (1 << 0x2f);
const ESCAPED_HIGH: u64 = (1 << 0x1c) | (1 << 0x22) | (1 << 0x26) | (1 << 0x2e) | (1 << 0x32) | (1 << 0x34);

function isSimpleEscape(character: u32): bool {
  const set = character & 64 ? ESCAPED_HIGH : ESCAPED_LOW;
  return character < 128 && ((set >> <u64>(character & 63)) & 1) != 0;
}

/** Bits of the bytes of a block that end or interrupt a string: quote, backslash, control characters. */
function stringStops(block: v128): u32 {
  const stops = v128.or(i8x16.eq(block, i8x16.splat(0x22)), i8x16.eq(block, i8x16.splat(0x5c)));
  return i8x16.bitmask(v128.or(stops, i8x16.lt_u(block, i8x16.splat(0x20))));
}

/** Checks a string from behind its opening quote; returns the address of its closing quote. Sets `stringEscapes`. */
export function scanString(at: usize): usize {
  stringEscapes = 0;
  let mark = at + PAUSE_BYTES;
  while (true) {
    mark = mayPauseAt(at, mark);
    let stops = stringStops(v128.load(at));
    let next = at + 16;
    while (stops) {
      const bit = ctz(stops);
      const stop = at + bit;
      const character = <u32>load<u8>(stop);
      if (character == QUOTE) return stop;
      if (character != BACKSLASH) fail(layout.FAIL_JSON, stop);
      const escaped = <u32>load<u8>(stop, 1);
      if (escaped == 0x75) {
        next = scanUnicode(stop);
        stops = 0;
      } else {
        if (!isSimpleEscape(escaped)) fail(layout.FAIL_JSON, stop);
        stringEscapes |= ESCAPES_SOME;
        if (bit == 15) next = at + 17;
        stops &= ~(3 << bit);
      }
    }
    at = next;
  }
}

/** The value of a hexadecimal digit, or a number that exceeds 0xffff at any place of four digits. */
function hexDigit(character: u32): u32 {
  const digit = character - 0x30;
  const letter = (character | 0x20) - 0x61;
  return digit < 10 ? digit : letter < 6 ? letter + 10 : 0x10000;
}

/** The UTF-16 unit of the four digits at `at`, or a number above 0xffff. */
function hexUnit(at: usize): u32 {
  const high = (hexDigit(load<u8>(at)) << 12) | (hexDigit(load<u8>(at, 1)) << 8);
  return high | (hexDigit(load<u8>(at, 2)) << 4) | hexDigit(load<u8>(at, 3));
}

/** The low surrogate that the six bytes at `at` spell, or 0. */
function lowSurrogate(at: usize): u32 {
  if (load<u16>(at) != 0x755c) return 0;
  const unit = hexUnit(at + 2);
  return (unit & 0xfffffc00) == 0xdc00 ? unit : 0;
}

/** Checks a `\u` escape, both halves of a pair together; returns the address behind it. */
function scanUnicode(at: usize): usize {
  const unit = hexUnit(at + 2);
  if (unit > 0xffff) fail(layout.FAIL_JSON, at);
  stringEscapes |= ESCAPES_SOME;
  if ((unit & 0xf800) != 0xd800) {
    if (!unit) stringEscapes |= ESCAPES_BROKEN;
    return at + 6;
  }
  if (unit < 0xdc00 && lowSurrogate(at + 6)) return at + 12;
  stringEscapes |= ESCAPES_BROKEN;
  return at + 6;
}

/**
 * Reads the string whose opening quote should be at `at`; returns the address behind it. Sets `textOffset`,
 * `textLength`, `textFlags`.
 */
export function readText(at: usize): usize {
  if (load<u8>(at) != QUOTE) fail(layout.FAIL_JSON, at);
  const end = scanString(at + 1);
  textOffset = at + 1;
  textLength = <u32>(end - at - 1);
  textFlags = stringEscapes ? layout.TEXT_JSON_ESCAPED : 0;
  if (stringEscapes & ESCAPES_BROKEN) decodeText();
  return end + 1;
}

/** Reads a text into (offset, length) at `field` of `row` and its flags at `flags`. */
export function readTextField(at: usize, row: usize, field: usize, flags: usize): usize {
  at = readText(at);
  store<u64>(row + field, <u64>textOffset | ((<u64>textLength) << 32));
  store<u8>(row + flags, textFlags);
  return at;
}

/** As `readText`, for texts that are read rather than stored: escapes are decoded. A quote follows the text. */
export function readPlainText(at: usize): usize {
  at = readText(at);
  if (textFlags & layout.TEXT_JSON_ESCAPED) decodeText();
  return at;
}

/** Makes the text just read an empty one. */
export function setEmptyText(): void {
  textLength = 0;
  textFlags = 0;
}

/** Replaces the text just read by its decoded form in scratch, with a quote behind it. */
export function decodeText(): void {
  const target = allocateScratch(textLength + 16, textOffset);
  const end = unescapeText(target, textOffset, textLength);
  store<u8>(end, <u8>QUOTE);
  store<u32>(layout.HEADER_BASE, <u32>end + 1, layout.HEADER_SCRATCH);
  textOffset = target;
  textLength = <u32>(end - target);
  textFlags = classifyText(target, textLength);
}

/** Decodes the inside of a JSON string literal into scratch; the result is in the header. */
export function unescapeJson(offset: usize, length: u32): void {
  textOffset = offset;
  textLength = length;
  decodeText();
  store<u32>(layout.HEADER_BASE, <u32>textOffset, layout.HEADER_TEXT_OFFSET);
  store<u32>(layout.HEADER_BASE, textLength, layout.HEADER_TEXT_LENGTH);
  store<u32>(layout.HEADER_BASE, textFlags, layout.HEADER_TEXT_FLAGS);
}

/**
 * Copies the inside of a checked JSON string to `target` unchanged, except U+0000 and lone surrogates, which become
 * U+FFFD; returns the address behind. The copy is never longer than the source, but up to 16 bytes more are written.
 */
export function copyEscaped(target: usize, offset: usize, length: u32): usize {
  const end = offset + length;
  let mark = offset + PAUSE_BYTES;
  while (offset < end) {
    mark = mayPauseAt(offset, mark);
    const block = v128.load(offset);
    v128.store(target, block);
    const stops = <u32>i8x16.bitmask(i8x16.eq(block, i8x16.splat(0x5c)));
    const clean: usize = stops ? <usize>ctz(stops) : 16;
    if (offset + clean >= end) return target + (end - offset);
    offset += clean;
    target += clean;
    if (!stops) continue;
    if (load<u8>(offset, 1) != 0x75) {
      store<u16>(target, load<u16>(offset));
      offset += 2;
      target += 2;
      continue;
    }
    stringEscapes = 0;
    const next = scanUnicode(offset);
    if (stringEscapes & ESCAPES_BROKEN) {
      store<u32>(target, REPLACEMENT);
      target += 3;
    } else {
      memory.copy(target, offset, next - offset);
      target += next - offset;
    }
    offset = next;
  }
  return target;
}
