/**
 * Helpers of the preset scanners. Scanners read character codes and use no expression with unbounded repetition: the
 * engine keeps a backtracking entry for each repetition, which is slow and overflows in a text of some mebibytes.
 */
import type { Ranges } from './rule.ts';

/** Characters that may follow in a secret of any length. */
export interface Run {
  readonly classes: number;
  /** Characters besides those of the classes. */
  readonly also: string;
}

/**
 * Finds what begins at `at` or later and before `end`, and adds start and end of each range. Returns the position at
 * which to continue; it is beyond `end` when a range ends there. A range of any length may be cut: then the last range
 * ends at the returned position, and `cut` receives what may follow in it.
 */
export type Scan = (text: string, at: number, end: number, found: number[], cut: Run[]) => number;

export function scanAll(scan: Scan, text: string): Ranges {
  const found: number[] = [];
  const cut: Run[] = [];
  for (let at = 0; at < text.length; ) at = advance(scan, text, at, text.length, found, cut);
  return found;
}

/** Characters between two steps of a scan. */
const STEP = 32_768;
/** A longer run is cut. */
export const LONGEST_RUN = 65_536;

/** `scanAll` in steps. */
export function* scanInSteps(scan: Scan, text: string, found: number[]): Generator<void> {
  const cut: Run[] = [];
  for (let at = 0; at < text.length; ) {
    at = advance(scan, text, at, Math.min(at + STEP, text.length), found, cut);
    yield;
  }
}

/** Scans up to `end`, or extends the range that was cut. */
function advance(scan: Scan, text: string, at: number, end: number, found: number[], cut: Run[]): number {
  const run = cut.pop();
  if (run === undefined) return scan(text, at, end, found, cut);
  const to = endOfMixedRun(text, at, run, end - at);
  found[found.length - 1] = to;
  if (to === end) cut.push(run);
  return to;
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

/** Spaces of one line. Models and word processors write narrow, no-break and ideographic ones into numbers. */
export function isSpace(code: number): boolean {
  return code === 0x20 || code === 0xa0 || (code >= 0x2000 && code <= 0x200a) || code === 0x202f || code === 0x3000;
}

/** The dash of ASCII, hyphens and dashes of typographers, and the minus sign. */
export function isDash(code: number): boolean {
  return code === 0x2d || (code >= 0x2010 && code <= 0x2015) || code === 0x2212;
}

/** The end of a run of characters of some classes, at most `limit` characters after `from`. */
export function endOfRun(text: string, from: number, classes: number, limit = LONGEST_RUN): number {
  const end = Math.min(text.length, from + limit);
  let at = from;
  while (at < end && (classOf(text.charCodeAt(at)) & classes) !== 0) at++;
  return at;
}

/** The end of a run of characters of some classes and of further characters. */
export function endOfMixedRun(text: string, from: number, { classes, also }: Run, limit = LONGEST_RUN): number {
  const end = Math.min(text.length, from + limit);
  for (let at = from; ; at++) {
    at = endOfRun(text, at, classes, end - at);
    if (at >= end || !also.includes(text.charAt(at))) return at;
  }
}

/** The position after exactly `count` digits; -1: there are fewer. */
export function afterDigits(text: string, from: number, count: number): number {
  for (let at = from; at < from + count; at++) if (!isDigit(text.charCodeAt(at))) return -1;
  return from + count;
}
