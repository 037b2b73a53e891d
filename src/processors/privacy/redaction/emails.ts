/** Email addresses, with letters of any script. */
import { ALPHANUMERIC, classOf, DASH, DOT, type Scan, UNDERSCORE } from './scan.ts';

const MAX_LOCAL_PART = 64;
const LOCAL_CLASSES = ALPHANUMERIC | UNDERSCORE | DASH | DOT;
const ASCII = 0x80;
const PERCENT = 0x25;
const PLUS = 0x2b;
/** With the marks that follow a letter in many scripts, and in decomposed texts. */
const LETTER_OR_NUMBER = /[\p{L}\p{M}\p{N}]/u;
const DOMAIN = /(?:[\p{L}\p{N}](?:[\p{L}\p{M}\p{N}-]{0,62})\.){1,8}[\p{L}][\p{L}\p{M}\p{N}-]{1,62}/uy;
/** As in `image@2x.png`: the resolution in the name of an image. None of these endings is a top-level domain. */
const RESOLUTION = /^\d(?:\.\d)?x\.(?:avif|bmp|gif|heic|ico|jpe?g|png|svg|tiff?|webp)$/i;
const MAX_RESOLUTION = 9;

export const scanEmails: Scan = (text, from, end, found) => {
  // No address begins inside the one before it.
  let floor = found.at(-1) ?? 0;
  for (let at = text.indexOf('@', from); at >= 0; at = text.indexOf('@', at + 1)) {
    if (at >= end) return at;
    const first = beginOfLocalPart(text, at, Math.max(floor, at - MAX_LOCAL_PART));
    if (first === at || !mayBeginLabel(text, at + 1)) continue;
    DOMAIN.lastIndex = at + 1;
    if (!DOMAIN.test(text) || isResolution(text, at + 1, DOMAIN.lastIndex)) continue;
    floor = DOMAIN.lastIndex;
    found.push(first, floor);
  }
  return text.length;
};

function beginOfLocalPart(text: string, end: number, floor: number): number {
  let at = end;
  while (at > floor && isLocal(text, at - 1)) at--;
  return at;
}

function isLocal(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  if (code < ASCII) return (classOf(code) & LOCAL_CLASSES) !== 0 || code === PERCENT || code === PLUS;
  return LETTER_OR_NUMBER.test(text.charAt(at));
}

function isResolution(text: string, from: number, to: number): boolean {
  return to - from <= MAX_RESOLUTION && RESOLUTION.test(text.slice(from, to));
}

function mayBeginLabel(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= ASCII || (classOf(code) & ALPHANUMERIC) !== 0;
}
