/** The character classes of a text, found in one pass for all rules: most rules can find nothing in most texts. */
import { ALPHANUMERIC, classOf, DIGIT, DOT, LETTER } from './scan.ts';

export const HAS_LETTER = 1;
export const HAS_DIGIT = 2;
export const HAS_DOT = 4;
export const HAS_AT = 8;
export const HAS_COLON = 16;
export const HAS_SLASH = 32;
export const HAS_DASH = 64;
const ALL = 127;

const ASCII = 128;
const SIGNS = Uint8Array.from({ length: ASCII }, (_, code) => {
  const kind = classOf(code);
  if ((kind & ALPHANUMERIC) !== 0) return (kind & LETTER) !== 0 ? HAS_LETTER : (kind & DIGIT) !== 0 ? HAS_DIGIT : 0;
  if ((kind & DOT) !== 0) return HAS_DOT;
  return { '@': HAS_AT, ':': HAS_COLON, '/': HAS_SLASH, '-': HAS_DASH }[String.fromCharCode(code)] ?? 0;
});

/** Characters between two steps. */
const STEP = 262_144;

/** The classes of a text, as bits. */
export function signsOf(text: string): number {
  return signsWithin(text, 0, text.length);
}

/** `signsOf` in steps, for long texts. */
export function* signsInSteps(text: string): Generator<void, number> {
  let signs = 0;
  for (let at = 0; at < text.length && signs !== ALL; at += STEP) {
    if (at > 0) yield;
    signs |= signsWithin(text, at, Math.min(at + STEP, text.length));
  }
  return signs;
}

function signsWithin(text: string, from: number, to: number): number {
  let signs = 0;
  for (let at = from; at < to && signs !== ALL; at++) {
    const code = text.charCodeAt(at);
    if (code < ASCII) signs |= SIGNS[code] as number;
  }
  return signs;
}
