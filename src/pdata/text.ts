/** Texts in linear memory. */
import { TEXT_JSON_ESCAPED } from './layout.ts';
import type { Memory } from './memory.ts';
import type { Steps } from './steps.ts';

/** Bytes that are decoded in one step. */
const STEP_BYTES = 262_144;
const BACKSLASH = 0x5c;
const SMALL_U = 0x75;
const LONG_ESCAPE = '\\u0000'.length;
const SHORT_ESCAPE = '\\n'.length;
/** The range of the first halves of surrogate pairs. */
const FIRST_HALF = 0xd800;
const LAST_HALF = 0xdbff;

/**
 * The location and form of a text (TEXT_… flags of layout.ts). Small and short-lived; hot loops pass the three numbers
 * instead.
 */
export interface TextRef {
  readonly offset: number;
  readonly length: number;
  readonly flags: number;
}

/** Decodes a text without using scratch: for processors that read many texts. */
export function readText(memory: Memory, offset: number, length: number, flags: number): string {
  const text = memory.bytes.toString('utf8', offset, offset + length);
  // The indexer has checked that this is the inside of a JSON string.
  return (flags & TEXT_JSON_ESCAPED) === 0 ? text : (JSON.parse(`"${text}"`) as string);
}

/** `readText` in steps: parsing the escapes of a text of 16 MiB takes longer than one step may. */
export function* readTextInSteps(memory: Memory, offset: number, length: number, flags: number): Steps<string> {
  if (length <= STEP_BYTES) return readText(memory, offset, length, flags);
  const pieces: string[] = [];
  for (const piece of piecesOf(memory, offset, length, flags)) {
    pieces.push(piece);
    yield;
  }
  return pieces.join('');
}

/** A text in pieces of whole characters, each of which takes one step to decode. */
export function* piecesOf(memory: Memory, offset: number, length: number, flags: number): Generator<string, void> {
  const end = offset + length;
  for (let from = offset; from < end; ) {
    const to = endOfPiece(memory.u8, from, end, flags, STEP_BYTES);
    yield readText(memory, from, to - from, flags);
    from = to;
  }
}

/** The most bytes that are read of a text where a name, a word or a number is expected. */
export const MAX_HEAD_BYTES = 262_144;

/** The number of bytes to read of such a text. */
export function lengthOfHead(memory: Memory, offset: number, length: number, flags: number): number {
  if (length <= MAX_HEAD_BYTES) return length;
  return endOfPiece(memory.u8, offset, offset + length, flags, MAX_HEAD_BYTES) - offset;
}

/** `end`, or one less where it would divide a surrogate pair: where a piece of a string may end. */
export function endOfWhole(text: string, end: number): number {
  const last = text.charCodeAt(end - 1);
  return end < text.length && last >= FIRST_HALF && last <= LAST_HALF ? end - 1 : end;
}

/** The characters of an escape whose letter, after the backslash, is given. */
export const lengthOfEscape = (letter: number): number => (letter === SMALL_U ? LONG_ESCAPE : SHORT_ESCAPE);

/** Where a character ends, and an escape. A pair of surrogates may be divided: both halves are escapes of their own. */
function endOfPiece(bytes: Uint8Array, from: number, end: number, flags: number, most: number): number {
  const limit = Math.min(from + most, end);
  let at = from;
  if ((flags & TEXT_JSON_ESCAPED) === 0) at = limit;
  while (at < limit) {
    if (bytes[at] !== BACKSLASH) at++;
    else at += lengthOfEscape(bytes[at + 1] as number);
  }
  while (at < end && isContinuation(bytes[at] as number)) at++;
  return at;
}

const isContinuation = (byte: number): boolean => (byte & 0xc0) === 0x80;
