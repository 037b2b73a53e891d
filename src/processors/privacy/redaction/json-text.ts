/**
 * Replaces strings inside a JSON text one by one: keys, values, and numbers if a rule applies to numbers. The text is
 * scanned, not parsed, so that integers keep all digits and nothing else changes.
 */

import type { Steps } from '../../../pdata/steps.ts';
import { endOfWhole, lengthOfEscape } from '../../../pdata/text.ts';
import { LONG_TEXT } from './redactor.ts';
import { UniqueKeys } from './unique-keys.ts';

export interface JsonReplacer {
  /** The string itself when nothing changes; null when it cannot be redacted. */
  text(value: string): string | null;
  /** `text` in steps, for strings of more than `LONG_TEXT` characters. */
  longText(value: string): Steps<string | null>;
  /** The replacement of the digits of a number; a changed number becomes a string. */
  number(written: string): string | null;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const NUMBER = /-?\d[\d.eE+-]*/y;

/** Characters between two steps. */
const STEP = 65_536;
/** A string or number that is redacted counts as so many characters: each rule costs time for a short one too. */
const REDACTED = 256;
/** Characters of a long string that are parsed or written in one step. */
const PIECE = 262_144;
/** Parts that are joined in one step. */
const JOINED_PARTS = 4096;

/** The text itself when nothing changed; null when a part of it cannot be redacted. */
export function* redactJson(json: string, replacer: JsonReplacer): Steps<string | null> {
  const whole: string[] = [];
  let parts: string[] = [];
  let keys: UniqueKeys | null = null;
  let copied = 0;
  let at = 0;
  const put = (from: number, to: number, quoted: string): void => {
    parts.push(json.slice(copied, from), quoted);
    copied = to;
  };
  let pause = STEP;
  while (at < json.length) {
    if (at > pause) {
      pause = at + STEP;
      yield;
    }
    if (parts.length >= JOINED_PARTS) {
      whole.push(parts.join(''));
      parts = [];
    }
    const code = json.charCodeAt(at);
    if (code === QUOTE) {
      const { value, end } = yield* stringAt(json, at);
      const replaced = value.length > LONG_TEXT ? yield* replacer.longText(value) : replacer.text(value);
      pause -= REDACTED;
      if (replaced === null) return null;
      if (replaced !== value) {
        let next = replaced;
        if (json.charAt(end) === ':') {
          keys ??= new UniqueKeys(yield* keysOf(json));
          next = keys.unique(replaced);
        }
        put(at, end, next.length > LONG_TEXT ? yield* quoteInSteps(next) : JSON.stringify(next));
      }
      at = end;
    } else if (isDigit(code)) {
      NUMBER.lastIndex = at;
      const written = NUMBER.exec(json)?.[0] ?? '';
      const replaced = replacer.number(written);
      pause -= REDACTED;
      if (replaced === null) return null;
      if (replaced !== written) put(at, at + written.length, JSON.stringify(replaced));
      at += Math.max(written.length, 1);
    } else {
      at++;
    }
  }
  if (copied === 0) return json;
  whole.push(...parts, json.slice(copied));
  return whole.join('');
}

/** The keys of all objects. */
function* keysOf(json: string): Steps<Set<string>> {
  const keys = new Set<string>();
  let pause = STEP;
  for (let at = json.indexOf('"'); at >= 0; ) {
    const { value, end } = yield* stringAt(json, at);
    if (json.charAt(end) === ':') keys.add(value);
    at = json.indexOf('"', end);
    if (end < pause) continue;
    pause = end + STEP;
    yield;
  }
  return keys;
}

interface Parsed {
  readonly value: string;
  /** The position after the closing quote. */
  readonly end: number;
}

/** The string whose opening quote is at `at`. */
function* stringAt(json: string, at: number): Steps<Parsed> {
  const short = endOfShort(json, at);
  return short === null ? yield* parseInSteps(json, at + 1) : parse(json, at, short);
}

const parse = (json: string, begin: number, end: number): Parsed => ({
  value: JSON.parse(json.slice(begin, end)) as string,
  end,
});

/** As `parse`, for a string of any length; `from`: the position after the opening quote. */
function* parseInSteps(json: string, from: number): Steps<Parsed> {
  const pieces: string[] = [];
  let at = from;
  while (at < json.length && json.charCodeAt(at) !== QUOTE) {
    const to = endOfPiece(json, at);
    pieces.push(JSON.parse(`"${json.slice(at, to)}"`) as string);
    at = to;
    yield;
  }
  return { value: pieces.join(''), end: at + 1 };
}

/** The end of the string, or a position between two of its characters. */
function endOfPiece(json: string, from: number): number {
  const limit = Math.min(from + PIECE, json.length);
  let at = from;
  while (at < limit) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code !== BACKSLASH) at++;
    else at += lengthOfEscape(json.charCodeAt(at + 1));
  }
  return at;
}

/** The string as JSON. */
function* quoteInSteps(value: string): Steps<string> {
  const pieces: string[] = [];
  for (let at = 0; at < value.length; ) {
    // Half of a surrogate pair would be written as an escape.
    const to = endOfWhole(value, Math.min(at + PIECE, value.length));
    pieces.push(JSON.stringify(value.slice(at, to)).slice(1, -1));
    at = to;
    yield;
  }
  return `"${pieces.join('')}"`;
}

/** The position after the closing quote; null for a string of more than `LONG_TEXT` characters. */
function endOfShort(json: string, begin: number): number | null {
  let at = begin + 1;
  for (;;) {
    const quote = json.indexOf('"', at);
    if (quote < 0 || quote - begin > LONG_TEXT) return null;
    let slashes = 0;
    while (json.charCodeAt(quote - 1 - slashes) === BACKSLASH) slashes++;
    at = quote + 1;
    if (slashes % 2 === 0) return at;
  }
}

const isDigit = (code: number): boolean => (code >= 0x30 && code <= 0x39) || code === 0x2d;
