/**
 * JSON of senders. Integers with more digits than a number keeps stay as they were sent: they are parsed as marked
 * strings, and written back as numbers.
 */

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/** A surrogate without its other half, which stored text never contains. */
const MARK = '\udc00';
const LONG_NUMBER = /[:[,\s]-?\d{16,}|\d\.\d{15,}/u;
const STRING_OR_NUMBER = /"(?:[^"\\]+|\\.)*"|-?\d[\d.eE+-]*/gsu;
const MARKED = new RegExp(`"(?:\\\\udc00|${MARK})(-?\\d[\\d.eE+-]*)"`, 'gu');
const LONGEST_EXACT = 15;

/** Undefined: the text is not a JSON list or object. */
export function parseDocument(text: string): Json | undefined {
  const first = /^\s*([[{])/u.exec(text)?.[1];
  if (first === undefined) return undefined;
  try {
    return JSON.parse(LONG_NUMBER.test(text) ? markNumbers(text) : text) as Json;
  } catch {
    return undefined;
  }
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
  return text.replace(STRING_OR_NUMBER, (token) =>
    token.startsWith('"') || token.length <= LONGEST_EXACT ? token : `"${MARK}${token}"`,
  );
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
