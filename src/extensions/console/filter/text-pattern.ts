/**
 * A text is found as it is read, also within JSON, where writers escape what they like: Python every letter beyond
 * ASCII, Go the signs of HTML, and JSON in a string of JSON has each escape doubled.
 */

/** Longer texts are searched as they are. */
const MAX_PATTERN_TEXT = 4096;
/** No writer escapes these. */
const PLAIN_TEXT = /^[\w !#$%()*,.:;=?@[\]^{|}~-]*$/u;
const LETTERS: ReadonlyMap<string, string> = new Map([
  ['\b', 'b'],
  ['\t', 't'],
  ['\n', 'n'],
  ['\f', 'f'],
  ['\r', 'r'],
]);

/** An expression for every spelling, in the syntax that PostgreSQL and JavaScript share; null: there is only one. */
export function patternOf(text: string): string | null {
  if (PLAIN_TEXT.test(text) || text.length > MAX_PATTERN_TEXT) return null;
  return Array.from(text, spellings).join('');
}

function spellings(character: string): string {
  if (PLAIN_TEXT.test(character)) return literal(character);
  if (character === '\\') return '\\\\+';
  const letter = LETTERS.get(character);
  const short = letter === undefined ? [] : [`\\\\+${letter}`];
  const cases = new Set([character, character.toLowerCase(), character.toUpperCase()]);
  const escapes = Array.from(cases, (each) =>
    Array.from({ length: each.length }, (_, at) => escaped(each, at)).join(''),
  );
  // A quote and a slash may have a backslash before them.
  return `(?:\\\\*${literal(character)}|${[...short, ...escapes].join('|')})`;
}

const literal = (character: string): string => character.replace(/[$()*+./?[\\\]^{|}]/u, '\\$&');

const escaped = (text: string, at: number): string => `\\\\+u${text.charCodeAt(at).toString(16).padStart(4, '0')}`;

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
