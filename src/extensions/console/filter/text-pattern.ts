/**
 * A text is found as it is read, also within JSON, where writers escape what they like: Python every letter beyond
 * ASCII, Go the signs of HTML, and JSON in a string of JSON has each escape doubled.
 */
import { literalPattern } from '../../../pdata/literal-pattern.ts';

/** Longer texts are searched as they are: their expression would be too complex for PostgreSQL. */
const MAX_PATTERN_TEXT = 1024;
/** No writer escapes these. */
const PLAIN_TEXT = /^[\w !#$%()*,.:;=?@[\]^{|}~-]*$/u;
const LETTERS: ReadonlyMap<string, string> = new Map([
  ['\b', 'b'],
  ['\t', 't'],
  ['\n', 'n'],
  ['\f', 'f'],
  ['\r', 'r'],
]);

/** The highest repetition in an expression of PostgreSQL. */
const MAX_REPETITION = 255;
/** A run of backslashes, or one other character. */
const TOKEN = /\\+|[^\\]/gu;

/** What precedes a token: nothing, so that the text may begin anywhere; a run of backslashes; or another token. */
type Before = 'nothing' | 'backslashes' | 'other';

/**
 * An expression for every spelling, in the syntax that PostgreSQL and JavaScript share; null: there is only one. It
 * takes linear time in JavaScript too: it is tried once for a run of backslashes, and a run is matched by one part.
 */
export function patternOf(text: string): string | null {
  if (PLAIN_TEXT.test(text) || text.length > MAX_PATTERN_TEXT) return null;
  let before: Before = 'nothing';
  let pattern = '';
  for (const [token] of text.matchAll(TOKEN)) {
    const isRun = token.startsWith('\\');
    pattern += isRun ? backslashes(token.length, before) : spellings(token, before);
    before = isRun ? 'backslashes' : 'other';
  }
  return pattern;
}

function backslashes(count: number, before: Before): string {
  const run = `\\\\{${Math.min(count, MAX_REPETITION)},}`;
  return before === 'nothing' ? `(?<!\\\\)${run}` : run;
}

/** The backslashes of an escape. */
const LEADS: Readonly<Record<Before, string>> = { nothing: '\\\\', backslashes: '', other: '\\\\+' };

function spellings(token: string, before: Before): string {
  if (PLAIN_TEXT.test(token)) return literalPattern(token);
  const lead = LEADS[before];
  const letter = LETTERS.get(token);
  const short = letter === undefined ? [] : [`${lead}${letter}`];
  const cases = new Set([token, token.toLowerCase(), token.toUpperCase()]);
  const escapes = Array.from(cases, (each) =>
    Array.from({ length: each.length }, (_, at) => `${at === 0 ? lead : '\\\\+'}${unitOf(each, at)}`).join(''),
  );
  // A quote and a slash may have a backslash before them.
  return `(?:${before === 'other' ? '\\\\*' : ''}${literalPattern(token)}|${[...short, ...escapes].join('|')})`;
}

/** A code unit as JSON escapes it, after the backslash. */
const unitOf = (text: string, at: number): string => `u${text.charCodeAt(at).toString(16).padStart(4, '0')}`;

/** Whether a text contains another one, whatever the case of letters. */
export function textMatcher(wanted: string): (text: string) => boolean {
  const pattern = patternOf(wanted);
  if (pattern !== null) {
    const expression = new RegExp(pattern, 'iu');
    return (text) => expression.test(text);
  }
  const folded = wanted.toLowerCase();
  return (text) => text.toLowerCase().includes(folded);
}

/** The condition that an SQL expression contains the text, whatever the case of letters. */
export function containsText(text: string, place: (value: string) => string): (expression: string) => string {
  const pattern = patternOf(text);
  if (pattern !== null) {
    const value = place(pattern);
    return (expression) => `${expression} ~* ${value}`;
  }
  const value = place(text);
  return (expression) => `strpos(lower(${expression}), lower(${value})) > 0`;
}
