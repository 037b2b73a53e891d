/**
 * Texts as a reader of the stored row would come to see them: escapes of JSON and of URLs decoded, full-width letters narrowed,
 * invisible characters gone. A secret must not slip through because it is spelled so; the text itself stays as it was sent, so
 * each character remembers where it stands.
 */
import type { Hint } from './rule.ts';

export interface Canonical {
  readonly text: string;
  /** For each character, and for the end, where it begins in the text as it was sent. */
  readonly starts: Uint32Array;
}

/** Documents inside documents inside documents: every level has its own escapes. Deeper ones are left as they are. */
const MAX_LEVELS = 6;

/** Bytes with which such a spelling begins, for looking over whole bodies. */
export const DISGUISES: Hint = {
  openings: [
    '\\\\u00[2-7aA]',
    '\\\\u20[016]',
    '\\\\u[fF][eEfF]',
    '\\\\x[2-7]',
    '%[2-7][0-9A-Fa-f]',
    '\\xc2\\xad',
    '\\xe2\\x80[\\x8b-\\x8f]',
    '\\xe2\\x81\\xa0',
    '\\xef\\xbb\\xbf',
    '\\xef\\xbc[\\x8b\\x8d\\x8e\\x90-\\x99\\xa0-\\xba\\xbf]',
    '\\xef\\xbd[\\x81-\\x9a]',
  ],
};

/** The same in decoded texts, and every other escape, since the character behind a `\n` stands at the beginning of a word. */
const DISGUISED = /[\\\u00ad\u200b-\u200f\u2060\ufeff\uff01-\uff5e]|%[2-7][0-9A-Fa-f]/;

const NEXT_DISGUISE = new RegExp(DISGUISED, 'g');

const INVISIBLE = /[\u00ad\u200b-\u200f\u2060\ufeff]/;
const SIMPLE_ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };
const LITERAL_ESCAPES = '"\'/\\';
const FULL_WIDTH_FIRST = 0xff01;
const FULL_WIDTH_LAST = 0xff5e;
const FULL_WIDTH_OFFSET = 0xfee0;
const BACKSLASH = 0x5c;
const PERCENT = 0x25;

/** The text at each level of decoding that differs from the one before; none for an ordinary text. */
export function canonicalForms(text: string): readonly Canonical[] {
  const forms: Canonical[] = [];
  let form: Canonical | null = null;
  for (let level = 0; level < MAX_LEVELS && DISGUISED.test(form?.text ?? text); level++) {
    const next: Canonical = decode(form?.text ?? text, form?.starts ?? null);
    if (next.text.length === (form?.text ?? text).length && next.text === (form?.text ?? text)) break;
    forms.push(next);
    form = next;
  }
  return forms;
}

/** One level. `before` says where the characters of `text` stand in the text as it was sent. */
function decode(text: string, before: Uint32Array | null): Canonical {
  const starts = new Uint32Array(text.length + 1);
  const parts: string[] = [];
  let length = 0;
  let copied = 0;
  const copy = (end: number): void => {
    parts.push(text.slice(copied, end));
    for (let index = copied; index < end; index++)
      starts[length++] = before === null ? index : (before[index] as number);
  };
  NEXT_DISGUISE.lastIndex = 0;
  for (let match = NEXT_DISGUISE.exec(text); match !== null; match = NEXT_DISGUISE.exec(text)) {
    const at = match.index;
    const size = spelled(text, at);
    if (size === 0) continue;
    copy(at);
    const character = spelling(text, at, size);
    parts.push(character);
    if (character !== '') starts[length++] = before === null ? at : (before[at] as number);
    copied = at + size;
    NEXT_DISGUISE.lastIndex = copied;
  }
  copy(text.length);
  starts[length] = before === null ? text.length : (before[text.length] as number);
  return { text: parts.join(''), starts: starts.subarray(0, length + 1) };
}

/** How many characters spell one at `at`; 0: it stands for itself. */
function spelled(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code === BACKSLASH) return escapeLength(text, at);
  if (code === PERCENT) return 3;
  if (code >= FULL_WIDTH_FIRST && code <= FULL_WIDTH_LAST) return 1;
  return INVISIBLE.test(text.charAt(at)) ? 1 : 0;
}

function escapeLength(text: string, at: number): number {
  const next = text.charAt(at + 1);
  if (next === 'u') return isHex(text, at + 2, 4) ? 6 : 0;
  if (next === 'x') return isHex(text, at + 2, 2) ? 4 : 0;
  return next !== '' && (LITERAL_ESCAPES.includes(next) || SIMPLE_ESCAPES[next] !== undefined) ? 2 : 0;
}

function spelling(text: string, at: number, size: number): string {
  if (size === 1) {
    const code = text.charCodeAt(at);
    return code >= FULL_WIDTH_FIRST && code <= FULL_WIDTH_LAST ? String.fromCharCode(code - FULL_WIDTH_OFFSET) : '';
  }
  if (size === 2) return SIMPLE_ESCAPES[text.charAt(at + 1)] ?? text.charAt(at + 1);
  const digits = size === 3 ? text.slice(at + 1, at + 3) : text.slice(at + 2, at + size);
  return String.fromCharCode(Number.parseInt(digits, 16));
}

function isHex(text: string, from: number, count: number): boolean {
  if (from + count > text.length) return false;
  for (let at = from; at < from + count; at++) if (!/[0-9a-fA-F]/.test(text.charAt(at))) return false;
  return true;
}
