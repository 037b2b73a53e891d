/**
 * The canonical form of a text: escapes of JSON and URLs decoded, full-width letters narrowed, invisible characters
 * removed. Rules run on it too, so that another spelling does not hide a secret. The text itself stays as sent; each
 * character of the form keeps its position there.
 */
import type { Hint } from './rule.ts';

export interface Canonical {
  readonly text: string;
  /** For each character, and for the end, its position in the text as sent. */
  readonly starts: Uint32Array;
}

/** Levels of documents inside documents, each with its own escapes. Deeper levels are not decoded. */
export const MAX_LEVELS = 6;

/** The bytes with which another spelling begins, for the search over bodies. */
export const RESPELLINGS: Hint = {
  prefixes: [
    '\\\\u00[2-7aA]',
    '\\\\u034[fF]',
    '\\\\u061[cC]',
    '\\\\u11[56]',
    '\\\\u17[bB]',
    '\\\\u180',
    '\\\\u20[0126]',
    '\\\\u2212',
    '\\\\u3000',
    '\\\\u316',
    '\\\\u[dD]82[fF]',
    '\\\\u[dD]834',
    '\\\\u[dD][bB]4',
    '\\\\u[fF][eEfF]',
    '\\\\x[2-7]',
    '%[2-7][0-9A-Fa-f]',
    '\\xc2\\xad',
    '\\xcd\\x8f',
    '\\xd8\\x9c',
    '\\xe1\\x85[\\x9f\\xa0]',
    '\\xe1\\x9e[\\xb4\\xb5]',
    '\\xe1\\xa0[\\x8b-\\x8f]',
    '\\xe2\\x80[\\x8b-\\x8f\\xaa-\\xae]',
    '\\xe2\\x81[\\xa0-\\xaf]',
    '\\xe3\\x85\\xa4',
    '\\xef\\xb8[\\x80-\\x8f]',
    '\\xef\\xbb\\xbf',
    '\\xef\\xbc[\\x8b\\x8d\\x8e\\x90-\\x99\\xa0-\\xba\\xbf]',
    '\\xef\\xbd[\\x81-\\x9a]',
    '\\xef\\xbe\\xa0',
    '\\xef\\xbf[\\xb0-\\xb8]',
    '\\xf0\\x9b\\xb2[\\xa0-\\xa3]',
    '\\xf0\\x9d\\x85[\\xb3-\\xba]',
    '\\xf3\\xa0',
  ],
};

/** Characters that are not shown, as Unicode defines them: joiners, directions of writing, selectors, tags, fillers. */
const INVISIBLE_CHARACTER = /^\p{Default_Ignorable_Code_Point}$/u;
/** The first and last of each range of them. */
const INVISIBLE_RANGES =
  '\u00ad\u00ad\u034f\u034f\u061c\u061c\u115f\u1160\u17b4\u17b5\u180b\u180f\u200b\u200f\u202a\u202e\u2060\u206f' +
  '\u3164\u3164\ufe00\ufe0f\ufeff\ufeff\uffa0\uffa0\ufff0\ufff8';
/** The first halves of those beyond the 65,536th character. */
const INVISIBLE_HALVES = '\ud82f\ud82f\ud834\ud834\udb40\udb43';

const asClass = (ranges: string): string => ranges.replace(/(.)(.)/gs, '$1-$2');
/** Respelled characters in decoded texts, and every other escape, because the character after a `\n` begins a word. */
const RESPELLED = new RegExp(
  `[\\\\\uff01-\uff5e${asClass(INVISIBLE_RANGES)}${asClass(INVISIBLE_HALVES)}]|%[2-7][0-9A-Fa-f]`,
);

const ALONE = 1;
const HALF = 2;
/** By UTF-16 unit: whether it is an invisible character, or may be the first half of one. */
const INVISIBLES = kindsOf([INVISIBLE_RANGES, ALONE], [INVISIBLE_HALVES, HALF]);

function kindsOf(...kinds: readonly (readonly [ranges: string, kind: number])[]): Uint8Array {
  const table = new Uint8Array(0x10000);
  for (const [ranges, kind] of kinds)
    for (let at = 0; at < ranges.length; at += 2)
      table.fill(kind, ranges.charCodeAt(at), ranges.charCodeAt(at + 1) + 1);
  return table;
}

const FULL_WIDTH_FIRST = 0xff01;
const FULL_WIDTH_LAST = 0xff5e;
const FULL_WIDTH_OFFSET = 0xfee0;
const BACKSLASH = 0x5c;
const PERCENT = 0x25;
const SMALL_U = 0x75;
const SMALL_X = 0x78;
const BEYOND_ASCII = 0x80;
const NOT_HEX = -1;
/** Characters between two steps. */
const STEP = 65_536;

/** The character after a backslash, and the character that both spell. */
const SIMPLE_ESCAPES: ReadonlyMap<number, number> = new Map(
  (
    [
      ['n', '\n'],
      ['r', '\r'],
      ['t', '\t'],
      ['b', '\b'],
      ['f', '\f'],
      ['"', '"'],
      ["'", "'"],
      ['/', '/'],
      ['\\', '\\'],
    ] as const
  ).map(([letter, character]) => [letter.charCodeAt(0), character.charCodeAt(0)]),
);

/** Whether a text may have another spelling of a character. */
export function mayBeRespelled(text: string): boolean {
  return RESPELLED.test(text);
}

/** The longest match of `RESPELLED`. */
const LONGEST_SIGN = 3;
/** Characters that are searched between two steps. */
const SEARCHED_STEP = 1_048_576;

/** `mayBeRespelled` in steps, for long texts. */
export function* mayBeRespelledInSteps(text: string): Generator<void, boolean> {
  for (let at = 0; at < text.length; at += SEARCHED_STEP) {
    if (at > 0) yield;
    if (mayBeRespelled(text.slice(at, at + SEARCHED_STEP + LONGEST_SIGN - 1))) return true;
  }
  return false;
}

/** A character and the number of characters that spell it, in one number; 0: an ordinary character. */
const spelling = (code: number, size: number): number => code * SIZES + size;
const SIZES = 8;
/** In place of a character: the spelling of an invisible one. */
const INVISIBLE = 0x10000;

/**
 * Decodes one level, in steps; null when nothing changes. `before`: the positions of the characters of `text` in the
 * text as sent.
 */
export function* decodeOnce(text: string, before: Uint32Array | null): Generator<void, Canonical | null> {
  const starts = new Uint32Array(text.length + 1);
  const codes = new Uint16Array(text.length);
  let length = 0;
  let changed = false;
  for (let at = 0; at < text.length; ) {
    const end = Math.min(at + STEP, text.length);
    while (at < end) {
      const start = before === null ? at : (before[at] as number);
      const code = text.charCodeAt(at);
      const spelled = mayRespell(code) ? spellingAt(text, at, code) : 0;
      if (spelled === 0) {
        starts[length] = start;
        codes[length++] = code;
        at++;
        continue;
      }
      changed = true;
      at += spelled % SIZES;
      if (spelled >= INVISIBLE * SIZES) continue;
      starts[length] = start;
      codes[length++] = Math.floor(spelled / SIZES);
    }
    if (at < text.length) yield;
  }
  if (!changed) return null;
  starts[length] = before === null ? text.length : (before[text.length] as number);
  const decoded = Buffer.from(codes.buffer, 0, length * 2).toString('utf16le');
  return { text: decoded, starts: starts.subarray(0, length + 1) };
}

function mayRespell(code: number): boolean {
  return code === BACKSLASH || code === PERCENT || code >= BEYOND_ASCII;
}

function spellingAt(text: string, at: number, code: number): number {
  if (code === BACKSLASH) return escapeAt(text, at + 1);
  if (code === PERCENT) return percentAt(text, at + 1);
  if (code >= FULL_WIDTH_FIRST && code <= FULL_WIDTH_LAST) return spelling(code - FULL_WIDTH_OFFSET, 1);
  const kind = INVISIBLES[code];
  if (kind === HALF) return INVISIBLE_CHARACTER.test(text.slice(at, at + 2)) ? spelling(INVISIBLE, 2) : 0;
  return kind === ALONE ? spelling(INVISIBLE, 1) : 0;
}

function escapeAt(text: string, at: number): number {
  const next = text.charCodeAt(at);
  if (next === SMALL_U || next === SMALL_X) {
    const digits = next === SMALL_U ? 4 : 2;
    const code = hexAt(text, at + 1, digits);
    return code === NOT_HEX ? 0 : spelling(code, digits + 2);
  }
  const simple = SIMPLE_ESCAPES.get(next);
  return simple === undefined ? 0 : spelling(simple, 2);
}

/** Printable ASCII only: other bytes are parts of characters. */
function percentAt(text: string, at: number): number {
  const first = text.charCodeAt(at);
  const code = first < 0x32 || first > 0x37 ? NOT_HEX : hexAt(text, at, 2);
  return code === NOT_HEX ? 0 : spelling(code, 3);
}

function hexAt(text: string, from: number, count: number): number {
  let value = 0;
  for (let at = from; at < from + count; at++) {
    const code = text.charCodeAt(at);
    const letter = code | 0x20;
    if (code >= 0x30 && code <= 0x39) value = value * 16 + code - 0x30;
    else if (letter >= 0x61 && letter <= 0x66) value = value * 16 + letter - 0x57;
    else return NOT_HEX;
  }
  return value;
}
