/**
 * Helpers of the preset scanners. Scanners read character codes and use no expression with unbounded repetition: the
 * engine keeps a backtracking entry for each repetition, which is slow and overflows in a text of some mebibytes.
 */
import type { Ranges } from './rule.ts';

/**
 * Finds what begins at `at` or later and before `end`, and adds start and end of each range. Returns the position at
 * which to continue; it is beyond `end` when a range ends there.
 */
export type Scan = (text: string, at: number, end: number, found: number[]) => number;

/** All ranges of a text. */
export function scanAll(scan: Scan, text: string): Ranges {
  const found: number[] = [];
  for (let at = 0; at < text.length; ) at = scan(text, at, text.length, found);
  return found;
}

/** Characters between two steps of a scan. */
const STEP = 262_144;

/** The same in steps. */
export function* scanInSteps(scan: Scan, text: string, found: number[]): Generator<void> {
  for (let at = 0; at < text.length; ) {
    at = scan(text, at, Math.min(at + STEP, text.length), found);
    yield;
  }
}

// Classes of ASCII characters, as bits.
export const UPPER = 1;
export const LOWER = 2;
export const DIGIT = 4;
export const UNDERSCORE = 8;
export const DASH = 16;
export const DOT = 32;
/** `A` to `F` and `a` to `f`; they have their bit as letters too. */
const HEX_UPPER = 64;
export const HEX_LOWER = 128;
export const LETTER = UPPER | LOWER;
export const ALPHANUMERIC = LETTER | DIGIT;
/** `\w` of expressions. */
export const WORD = ALPHANUMERIC | UNDERSCORE;
export const BASE64_URL = WORD | DASH;
export const HEX = DIGIT | HEX_UPPER | HEX_LOWER;

const ASCII = 128;
const CLASSES = Uint8Array.from({ length: ASCII }, (_, code) => {
  const character = String.fromCharCode(code);
  if (/[0-9]/.test(character)) return DIGIT;
  if (/[A-F]/.test(character)) return UPPER | HEX_UPPER;
  if (/[a-f]/.test(character)) return LOWER | HEX_LOWER;
  if (/[A-Z]/.test(character)) return UPPER;
  if (/[a-z]/.test(character)) return LOWER;
  return { _: UNDERSCORE, '-': DASH, '.': DOT }[character] ?? 0;
});

/** The classes of a character; none beyond ASCII and beyond the end of the text, where codes are NaN. */
export function classOf(code: number): number {
  return code < ASCII ? (CLASSES[code] as number) : 0;
}

export function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** The end of a run of characters of some classes, at most `limit` characters after `from`. */
export function endOfRun(text: string, from: number, classes: number, limit = text.length): number {
  const end = Math.min(text.length, from + limit);
  let at = from;
  while (at < end && (classOf(text.charCodeAt(at)) & classes) !== 0) at++;
  return at;
}

/** The position after exactly `count` digits; -1: there are fewer. */
export function afterDigits(text: string, from: number, count: number): number {
  for (let at = from; at < from + count; at++) if (!isDigit(text.charCodeAt(at))) return -1;
  return from + count;
}
