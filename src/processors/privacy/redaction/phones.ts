/** Phone numbers: international ones with a plus, and North American ones in their usual notation. */
import { afterDigits, classOf, DASH, DOT, isDash, isDigit, isSpace, type Scan, WORD } from './scan.ts';

const PLUS = 0x2b;
const OPEN = 0x28;
const CLOSE = 0x29;
const ONE = 0x31;
const MIN_DIGITS = 8;
const MAX_DIGITS = 15;
/** Characters between two digits. */
const MAX_SEPARATORS = 2;
const POINT = 0x2e;
const SLASH = 0x2f;

export const scanPhones: Scan = (text, from, end, found) => {
  let at = from;
  while (at < end) {
    const code = text.charCodeAt(at);
    const to = code === PLUS ? internationalAt(text, at) : code === OPEN || isDigit(code) ? americanAt(text, at) : -1;
    if (to < 0) at++;
    else {
      found.push(at, to);
      at = to;
    }
  }
  return at;
};

function internationalAt(text: string, from: number): number {
  const before = text.charCodeAt(from - 1);
  if (before === PLUS || (classOf(before) & WORD) !== 0) return -1;
  let to = from + 1;
  let digits = 0;
  for (let at = to; digits < MAX_DIGITS; ) {
    const first = at;
    while (at < first + MAX_SEPARATORS && isAnySeparator(text.charCodeAt(at))) at++;
    if (!isDigit(text.charCodeAt(at))) break;
    to = ++at;
    digits++;
  }
  return digits < MIN_DIGITS ? -1 : to;
}

/** `212-555-0100`, `(212) 555-0100`, `1 212.555.0100`. */
function americanAt(text: string, from: number): number {
  const before = text.charCodeAt(from - 1);
  if (before === PLUS || (classOf(before) & (WORD | DOT | DASH)) !== 0) return -1;
  const hasPrefix = text.charCodeAt(from) === ONE && isSeparator(text.charCodeAt(from + 1));
  let at = afterArea(text, hasPrefix ? from + 2 : from);
  at = at < 0 ? -1 : afterDigits(text, at, 3);
  if (at < 0 || !isSeparator(text.charCodeAt(at))) return -1;
  at = afterDigits(text, at + 1, 4);
  return at < 0 || isDigit(text.charCodeAt(at)) ? -1 : at;
}

function afterArea(text: string, from: number): number {
  const isBracketed = text.charCodeAt(from) === OPEN;
  const at = afterDigits(text, isBracketed ? from + 1 : from, 3);
  if (at < 0) return -1;
  if (!isBracketed) return isSeparator(text.charCodeAt(at)) ? at + 1 : -1;
  if (text.charCodeAt(at) !== CLOSE) return -1;
  return isSpace(text.charCodeAt(at + 1)) ? at + 2 : at + 1;
}

const isSeparator = (code: number): boolean => code === POINT || isSpace(code) || isDash(code);
const isAnySeparator = (code: number): boolean =>
  isSeparator(code) || code === OPEN || code === CLOSE || code === SLASH;
