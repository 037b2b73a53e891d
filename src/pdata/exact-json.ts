/**
 * JSON with exact numbers. A number with more digits than the engine keeps is parsed as a marked string, and written
 * back as it was; for readers of answers an integer becomes a bigint instead. Nothing here needs Node: the console's
 * page reads JSON with it too.
 */

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/** A surrogate without its other half, which stored text never contains. */
const MARK = '\udc00';
const LONG_NUMBER = /(?:^|[:[,\s])-?\d{16,}|\d\.\d{15,}/u;
const NUMBER = /-?\d[\d.eE+-]*/gu;
const MARKED = new RegExp(`"(?:\\\\udc00|${MARK})(-?\\d[\\d.eE+-]*)"`, 'gu');
const INTEGER = /^-?\d+$/u;
const LONGEST_EXACT = 15;
const PIECE_CHARACTERS = 65_536;

/** Undefined: the text is not a JSON list or object. */
export function parseDocument(text: string): Json | undefined {
  const first = /^\s*([[{])/u.exec(text)?.[1];
  if (first === undefined) return undefined;
  return parseJson(text);
}

/** The digits of a number that was too long to parse; null: any other value. */
export const longNumber = (value: Json): string | null =>
  typeof value === 'string' && value.startsWith(MARK) ? value.slice(MARK.length) : null;

/** A number that keeps these digits. */
export const exactNumber = (digits: string): Json => MARK + digits;

/** Whether a number of this JSON text may have more digits than `JSON.parse` keeps. */
export const hasLongNumbers = (text: string): boolean => LONG_NUMBER.test(text);

/** Any JSON text; undefined: it is not valid. */
export function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(hasLongNumbers(text) ? markNumbers(text) : text) as Json;
  } catch {
    return undefined;
  }
}

/** An integer of an answer: a bigint where a number does not keep its digits. */
export type Count = number | bigint;

/** The value of any JSON text, as `JSON.parse`, but with the digits of every integer. */
export function parseExact(text: string): unknown {
  return LONG_NUMBER.test(text) ? JSON.parse(markNumbers(text), (_, value) => withoutMark(value)) : JSON.parse(text);
}

/** JSON text of such a value, as `JSON.stringify`. */
export function exactText(value: unknown, indent?: number): string {
  const text = JSON.stringify(
    value,
    (_, each) => (typeof each === 'bigint' ? exactNumber(String(each)) : each),
    indent,
  );
  return text.replace(MARKED, '$1');
}

/** JSON of Postgres without the spaces that it writes between its tokens. */
export const compactJson = (text: string): string => [...compactJsonInPieces(text)].join('');

/** `compactJson` in pieces, each of which takes a few milliseconds. Only a long string is never divided. */
export function* compactJsonInPieces(text: string): Generator<string> {
  let piece = '';
  for (let at = 0; at < text.length; ) {
    const quote = text.indexOf('"', at);
    const until = quote < 0 ? text.length : quote;
    while (at < until) {
      const end = Math.min(at + PIECE_CHARACTERS, until);
      piece += text.slice(at, end).replaceAll(' ', '');
      at = end;
      if (piece.length < PIECE_CHARACTERS) continue;
      yield piece;
      piece = '';
    }
    if (quote < 0) break;
    at = endOfString(text, quote);
    piece += text.slice(quote, at);
    if (piece.length < PIECE_CHARACTERS) continue;
    yield piece;
    piece = '';
  }
  yield piece;
}

/** About how many values a JSON object or list has, without parsing it; 0 for other texts. */
export function valuesIn(text: string): number {
  if (text[0] !== '{' && text[0] !== '[') return 0;
  let count = 1;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === ',') count++;
    else if (character === '"') at = endOfString(text, at) - 1;
  }
  return count;
}

/** A regular expression over strings could take exponential time where one does not end. */
function outsideStrings(text: string, change: (part: string) => string): string {
  let changed = '';
  let at = 0;
  for (let quote = text.indexOf('"'); quote >= 0; quote = text.indexOf('"', at)) {
    const end = endOfString(text, quote);
    changed += change(text.slice(at, quote)) + text.slice(quote, end);
    at = end;
  }
  return changed + change(text.slice(at));
}

function endOfString(text: string, quote: number): number {
  for (let at = text.indexOf('"', quote + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text[at - 1 - slashes] === '\\') slashes += 1;
    if (slashes % 2 === 0) return at + 1;
  }
  return text.length;
}

export function jsonText(value: Json): string {
  try {
    return JSON.stringify(value).replace(MARKED, '$1');
  } catch {
    // Deeper than the stack.
    return '…';
  }
}

function markNumbers(text: string): string {
  const mark = (number: string): string => (number.length <= LONGEST_EXACT ? number : `"${MARK}${number}"`);
  return outsideStrings(text, (part) => part.replace(NUMBER, mark));
}

function withoutMark(value: Json): unknown {
  const digits = longNumber(value);
  if (digits === null) return value;
  const number = Number(digits);
  return INTEGER.test(digits) && !Number.isSafeInteger(number) ? BigInt(digits) : number;
}

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
export const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value);

/** The first of these fields that is a string and not empty. */
export function stringAt(value: JsonObject, ...keys: readonly string[]): string | null {
  for (const key of keys) {
    const found = Object.hasOwn(value, key) ? value[key] : undefined;
    if (typeof found === 'string' && found !== '') return found;
  }
  return null;
}

/** The first of these fields that is there and not null. */
export function valueAt(value: JsonObject, ...keys: readonly string[]): Json | undefined {
  for (const key of keys) {
    const found = Object.hasOwn(value, key) ? value[key] : undefined;
    if (found !== undefined && found !== null) return found;
  }
  return undefined;
}

/** The first of these fields that is an object. */
export function objectAt(value: JsonObject, ...keys: readonly string[]): JsonObject | undefined {
  for (const key of keys) {
    const found = Object.hasOwn(value, key) ? value[key] : undefined;
    if (isObject(found)) return found;
  }
  return undefined;
}
