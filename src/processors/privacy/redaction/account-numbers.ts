/** International bank account numbers with valid check digits, and US social security numbers. */
import { ibanLength } from './number-checks.ts';
import {
  afterDigits,
  ALPHANUMERIC,
  classOf,
  DASH,
  DIGIT,
  isDash,
  isSpace,
  LETTER,
  LOWER,
  type Scan,
  WORD,
} from './scan.ts';

const CASE_BIT = 0x20;
const ZERO = 0x30;
/** `A` counts ten. */
const LETTER_VALUE = 0x41 - 10;
const MODULUS = 97;
/** Country and check digits; they are moved to the end for the division. */
const HEAD = 4;
const POINT = 0x2e;
const isSeparator = (code: number): boolean => code === POINT || isSpace(code) || isDash(code);
const NUMBER_LENGTH = 11;

export const scanIbans: Scan = (text, from, end, found) => {
  let at = from;
  let before = at === 0 ? 0 : classOf(text.charCodeAt(at - 1));
  while (at < end) {
    const code = classOf(text.charCodeAt(at));
    const to = (code & LETTER) !== 0 && (before & ALPHANUMERIC) === 0 ? ibanAt(text, at) : -1;
    if (to < 0) {
      before = code;
      at++;
    } else {
      found.push(at, to);
      before = classOf(text.charCodeAt(to - 1));
      at = to;
    }
  }
  return at;
};

/** A single separator is allowed between any two characters. */
function ibanAt(text: string, from: number): number {
  if ((classOf(text.charCodeAt(from + 1)) & LETTER) === 0 || afterDigits(text, from + 2, 2) < 0) return -1;
  const length = ibanLength(text.charCodeAt(from) & ~CASE_BIT, text.charCodeAt(from + 1) & ~CASE_BIT);
  if (length === 0) return -1;
  let count = HEAD;
  let rest = 0;
  let at = from + HEAD;
  while (count < length) {
    const code = text.charCodeAt(at++);
    if ((classOf(code) & ALPHANUMERIC) !== 0) {
      rest = withCharacter(rest, code);
      count++;
    } else if (!isSeparator(code) || isSeparator(text.charCodeAt(at))) return -1;
  }
  if ((classOf(text.charCodeAt(at)) & ALPHANUMERIC) !== 0) return -1;
  for (let head = from; head < from + HEAD; head++) rest = withCharacter(rest, text.charCodeAt(head));
  return rest === 1 ? at : -1;
}

/** ISO 7064: the remainder of the division by 97, with one more character. */
function withCharacter(rest: number, code: number): number {
  const kind = classOf(code);
  if ((kind & DIGIT) !== 0) return (rest * 10 + code - ZERO) % MODULUS;
  return (rest * 100 + ((kind & LOWER) !== 0 ? code & ~CASE_BIT : code) - LETTER_VALUE) % MODULUS;
}

/** `123-45-6789`. */
export const scanSocialSecurity: Scan = (text, from, end, found) => {
  let at = from;
  while (at < end) {
    // A dash is rarer than digits.
    if (isDash(text.charCodeAt(at + 3)) && isSocialSecurity(text, at)) {
      found.push(at, at + NUMBER_LENGTH);
      at += NUMBER_LENGTH;
    } else at++;
  }
  return at;
};

function isSocialSecurity(text: string, at: number): boolean {
  return (
    text.charCodeAt(at + 6) === text.charCodeAt(at + 3) &&
    afterDigits(text, at, 3) > 0 &&
    afterDigits(text, at + 4, 2) > 0 &&
    afterDigits(text, at + 7, 4) > 0 &&
    (classOf(text.charCodeAt(at - 1)) & (WORD | DASH)) === 0 &&
    (classOf(text.charCodeAt(at + NUMBER_LENGTH)) & (WORD | DASH)) === 0
  );
}
