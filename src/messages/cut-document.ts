/**
 * Reads JSON that ends too early: only its beginning was loaded, or the sender cut it. The values that are there can
 * then be shown as messages.
 */
import { type Json, parseJson } from '../pdata/exact-json.ts';

const CUT = '…';
/** An escape that is not complete. */
const PART_OF_ESCAPE = /^\\(?:u[\da-f]{0,3})?$/iu;

/** Undefined: the text is not the beginning of a JSON list or object. A text that was cut ends in `…`. */
export function parseCutDocument(text: string): Json | undefined {
  const beginning = text.trimStart();
  return /^[[{]/u.test(beginning) ? parseJson(closed(beginning)) : undefined;
}

/** The text up to its last whole value or in its last string, with the missing brackets; empty: it cannot be closed. */
function closed(text: string): string {
  const open: string[] = [];
  let isString = false;
  let isKey = false;
  // The value before this place is whole.
  let end = 0;
  let escapeAt = 0;
  for (let at = 0; at < text.length; at += 1) {
    const letter = text[at] ?? '';
    if (isString) {
      if (letter === '\\') {
        escapeAt = at;
        at += 1;
      } else if (letter === '"') {
        isString = false;
        if (!isKey) end = at + 1;
        isKey = false;
      }
    } else if (letter === '"') isString = true;
    else if (letter === '{' || letter === '[') {
      open.push(letter === '{' ? '}' : ']');
      isKey = letter === '{';
      end = at + 1;
    } else if (letter === '}' || letter === ']') {
      if (open.pop() !== letter || open.length === 0) return '';
      isKey = false;
      end = at + 1;
    } else if (letter === ',') {
      isKey = open.at(-1) === '}';
      end = at;
    }
  }
  const missing = open.reverse().join('');
  if (isString && !isKey) {
    const whole = PART_OF_ESCAPE.test(text.slice(escapeAt)) ? text.slice(0, escapeAt) : text;
    return `${whole}${CUT}"${missing}`;
  }
  // Little of a text that is not JSON can be closed.
  return 2 * end < text.length ? '' : text.slice(0, end) + missing;
}
