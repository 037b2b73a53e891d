/**
 * Card numbers: groups of digits with short separators, with a prefix and length that a network issues and a valid
 * check digit.
 */
import { cardLengths } from './number-checks.ts';
import { isDash, isDigit, isSpace, type Scan } from './scan.ts';

const MAX_DIGITS = 19;
const MIN_DIGITS = 12;
/** The digits that identify the network. */
const NETWORK_DIGITS = 4;
/** Characters between two groups. */
const MAX_SEPARATORS = 2;
/** Two characters of three bytes each. */
const MAX_SEPARATOR_BYTES = 6;
const ZERO = 0x30;

/** A number begins with a group of digits and ends with one. */
export const scanCards: Scan = (text, from, end, found) => {
  let at = from;
  // No number begins inside a group of digits that began before.
  if (at > 0 && isDigit(text.charCodeAt(at - 1))) at = endOfGroup(text, at, end);
  while (at < end) {
    if (!isDigit(text.charCodeAt(at))) {
      at++;
      continue;
    }
    const to = cardAt(text, at);
    if (to > 0) found.push(at, to);
    at = to > 0 ? to : endOfGroup(text, at, end);
  }
  return at;
};

/** Whether a number of enough digits may begin at a digit of a body. Works on bytes, before anything is decoded. */
export function mayBeginCard(bytes: Uint8Array, from: number, end: number): boolean {
  let digits = 0;
  let gap = 0;
  for (let at = from; at < end && gap <= MAX_SEPARATOR_BYTES; at++) {
    const byte = bytes[at] as number;
    if (isDigit(byte)) {
      if (++digits === MIN_DIGITS) return true;
      gap = 0;
    } else if (byte === 0x20 || byte === 0x2e || byte === 0x2d || byte >= 0x80) gap++;
    else return false;
  }
  return false;
}

/** The end of the longest card number that begins at `from`, or -1. Reads at most the length of a card number. */
function cardAt(text: string, from: number): number {
  const first = text.charCodeAt(from) - ZERO;
  if (first < 2 || first > 6) return -1;
  let found = -1;
  let count = 0;
  let network = 0;
  let lengths = 0;
  // Luhn sums for an even and an odd length: the last digit decides which digits are doubled.
  let even = 0;
  let odd = 0;
  let at = from;
  while (count < MAX_DIGITS) {
    const digit = text.charCodeAt(at) - ZERO;
    const doubled = digit > 4 ? digit * 2 - 9 : digit * 2;
    even += count % 2 === 0 ? doubled : digit;
    odd += count % 2 === 0 ? digit : doubled;
    count++;
    at++;
    if (count <= NETWORK_DIGITS) {
      network = network * 10 + digit;
      if (count === NETWORK_DIGITS && (lengths = cardLengths(network)) === 0) return -1;
    }
    if (isDigit(text.charCodeAt(at))) continue;
    const sum = count % 2 === 0 ? even : odd;
    if (count >= MIN_DIGITS && ((lengths >>> count) & 1) !== 0 && sum % 10 === 0) found = at;
    const next = afterSeparators(text, at);
    if (next < 0) return found;
    at = next;
  }
  return found;
}

/** The first digit after the separators at `from`; -1: no digit follows, or too many separators. */
function afterSeparators(text: string, from: number): number {
  for (let at = from; at <= from + MAX_SEPARATORS && at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (isDigit(code)) return at;
    if (!isSeparator(code)) return -1;
  }
  return -1;
}

function endOfGroup(text: string, from: number, end: number): number {
  let at = from;
  while (at < end && isDigit(text.charCodeAt(at))) at++;
  return at;
}

const DOT = 0x2e;
const isSeparator = (code: number): boolean => code === DOT || isSpace(code) || isDash(code);
