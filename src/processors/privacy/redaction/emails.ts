/** Email addresses, with letters of any script. */
import { ALPHANUMERIC, classOf, DASH, DOT, type Scan, UNDERSCORE, WORD } from './scan.ts';

const MAX_LOCAL_PART = 64;
/** With quotes, and with backslashes before quotes inside. */
const MAX_QUOTED = 128;
const LOCAL_CLASSES = ALPHANUMERIC | UNDERSCORE | DASH | DOT;
const ASCII = 0x80;
const SPACE = 0x20;
const QUOTE = 0x22;
const PERCENT = 0x25;
const PLUS = 0x2b;
const BACKSLASH = 0x5c;
const LOW_SURROGATE_FIRST = 0xdc00;
const LOW_SURROGATE_LAST = 0xdfff;
/** With the marks that follow a letter in many scripts, and in decomposed texts. */
const LETTER_OR_NUMBER = /^[\p{L}\p{M}\p{N}]$/u;
const DOMAIN = /(?:[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,62})\.){1,8}[\p{L}][\p{L}\p{M}\p{N}-]{1,62}/uy;
/** As in `image@2x.png`: the resolution in the name of an image. None of these endings is a top-level domain. */
const RESOLUTION = /^\d(?:\.\d)?x\.(?:avif|bmp|gif|heic|ico|jpe?g|png|svg|tiff?|webp)$/i;
const MAX_RESOLUTION = 9;

export const scanEmails: Scan = (text, from, end, found) => {
  // No address begins inside the one before it.
  let floor = found.at(-1) ?? 0;
  for (let at = text.indexOf('@', from); at >= 0; at = text.indexOf('@', at + 1)) {
    if (at >= end) return at;
    const first = beginOfLocalPart(text, at, floor);
    if (first === at || !mayBeginLabel(text, at + 1)) continue;
    DOMAIN.lastIndex = at + 1;
    if (!DOMAIN.test(text) || isResolution(text, at + 1, DOMAIN.lastIndex)) continue;
    floor = DOMAIN.lastIndex;
    found.push(first, floor);
  }
  return text.length;
};

function beginOfLocalPart(text: string, end: number, floor: number): number {
  if (text.charCodeAt(end - 1) === QUOTE) return beginOfQuoted(text, end, Math.max(floor, end - MAX_QUOTED));
  const least = Math.max(floor, end - MAX_LOCAL_PART);
  let at = end;
  while (at > least) {
    const before = beginOfCharacter(text, at);
    if (before < least || !isLocal(text.slice(before, at))) return at;
    at = before;
  }
  return at;
}

function isLocal(character: string): boolean {
  const code = character.charCodeAt(0);
  if (code < ASCII) return (classOf(code) & LOCAL_CLASSES) !== 0 || code === PERCENT || code === PLUS;
  return LETTER_OR_NUMBER.test(character);
}

/** The begin of the character that ends at `end`, which can be a surrogate pair. */
function beginOfCharacter(text: string, end: number): number {
  const last = text.charCodeAt(end - 1);
  return last >= LOW_SURROGATE_FIRST && last <= LOW_SURROGATE_LAST ? end - 2 : end - 1;
}

/**
 * The begin of a quoted local part that ends with the quote before `end`, or `end`. In a JSON text both quotes have the
 * same number of backslashes before them, and quotes inside have more. Code joins texts, as in `"a"+b+"@c.com"`, so a
 * part begins and ends with a letter or number, and no word precedes it.
 */
function beginOfQuoted(text: string, end: number, floor: number): number {
  const last = beginOfSlashes(text, end - 1, floor);
  const slashes = end - 1 - last;
  if (last === floor || !LETTER_OR_NUMBER.test(text.slice(beginOfCharacter(text, last), last))) return end;
  for (let at = last - 1; at >= floor; at--) {
    const code = text.charCodeAt(at);
    if (code < SPACE) return end;
    if (code !== QUOTE) continue;
    const begin = beginOfSlashes(text, at, floor);
    if (at - begin > slashes) {
      at = begin;
      continue;
    }
    const isPart =
      at - begin === slashes && LETTER_OR_NUMBER.test(String.fromCodePoint(text.codePointAt(at + 1) as number));
    return isPart && (classOf(text.charCodeAt(begin - 1)) & WORD) === 0 ? begin : end;
  }
  return end;
}

function beginOfSlashes(text: string, end: number, floor: number): number {
  let at = end;
  while (at > floor && text.charCodeAt(at - 1) === BACKSLASH) at--;
  return at;
}

function isResolution(text: string, from: number, to: number): boolean {
  return to - from <= MAX_RESOLUTION && RESOLUTION.test(text.slice(from, to));
}

function mayBeginLabel(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= ASCII || (classOf(code) & ALPHANUMERIC) !== 0;
}
