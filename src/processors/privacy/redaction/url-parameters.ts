/**
 * Secrets in the parameters of URLs and connection strings: `?access_token=…`, `&user[password]=…`, `;Password="…"`.
 * The convention of `url.full` asks for them to be redacted:
 * https://opentelemetry.io/docs/specs/semconv/attributes-registry/url/
 */
import { BASE64_URL, classOf, DOT, LONGEST_RUN, type Run, type Scan } from './scan.ts';

/** Each name of a parameter that the scanner finds ends with one of these. */
export const PARAMETER_ENDS: readonly string[] = [
  '[Ww][Oo][Rr][Dd]=',
  '[Ss][Ww][Dd]=',
  '[Pp][Ww][Dd]=',
  '[Rr][Aa][Ss][Ee]=',
  '[Rr][Ee][Tt]=',
  '[Uu][Rr][Ee]=',
  '[Ss][Ii][Gg]=',
  '[Kk][Ee][Yy]=',
  '[Kk][Ee][Yy][Ii][Dd]=',
  '[Kk][Ee][Nn]=',
  '\\]=',
];
/** `trustStorePassword`, `client_secret`, `X-Amz-Signature`, `accessToken`. Other tokens than these are of pages. */
const SECRET_NAME =
  /(?:passw(?:or)?d|pwd|passphrase|secret|signature|api[_-]?key|secret[_-]?key|(?:access|refresh|id|auth|session|security)[_-]?token)$|^(?:token|sig|awsaccesskeyid)$/i;
const LONGEST_NAME = 64;
const NAME = BASE64_URL | DOT;
const BRACKETS = '[]';
/** The brackets of a name, and its indexes: `user[password]`, `tokens[0]`, `key[]`. */
const INDEXES = /\[\d*\]/g;
const BRACKET = /[[\]]/;
const BEFORE_NAME = '?&;#';
const SEMICOLON = ';';
/** These and white space end a value, beside the character before the name of the next parameter. */
const VALUE_ENDS = '"\'<>';
const WHITE_SPACE = /\s/;
/** What may follow in a value longer than a step, and be in a quoted value of a URL. */
const LONG_VALUE: Run = { classes: NAME, also: '~+/=%' };
/** Signs around a value that may hold a separator: the one that ends it, by the one that begins it. */
const ENCLOSED: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ["'", "'"],
  ['{', '}'],
]);
const NOT_ENCLOSED = '<>\r\n';
/** What follows the sign that ends a value, beside white space and the end. Before another character it is no end. */
const AFTER_ENCLOSED = `${VALUE_ENDS}&;#,)]}\\\``;

/** Only the value is replaced. */
export const scanUrlParameters: Scan = (text, start, end, found, cut) => {
  for (let equals = text.indexOf('=', start); equals >= 0; ) {
    if (equals >= end) return equals;
    const before = beforeName(text, equals);
    if (before < 0) {
      equals = text.indexOf('=', equals + 1);
      continue;
    }
    const [from, to] = valueAt(text, equals + 1, text.charAt(before) === SEMICOLON ? SEMICOLON : '&');
    if (to > from) found.push(from, to);
    if (to - from >= LONGEST_RUN) {
      cut.push(LONG_VALUE);
      return to;
    }
    equals = text.indexOf('=', to);
  }
  return text.length;
};

/** The place before the name of a secret parameter that ends at `equals`, or -1. */
function beforeName(text: string, equals: number): number {
  const floor = Math.max(0, equals - LONGEST_NAME);
  let at = equals;
  while (at > floor && isOfName(text, at - 1)) at--;
  return at > 0 && BEFORE_NAME.includes(text.charAt(at - 1)) && isSecret(text.slice(at, equals)) ? at - 1 : -1;
}

const isOfName = (text: string, at: number): boolean =>
  (classOf(text.charCodeAt(at)) & NAME) !== 0 || BRACKETS.includes(text.charAt(at));

/** A name in brackets is a secret alone, as `user[token]`, or with the names around it, as `api[key]`. */
function isSecret(name: string): boolean {
  if (!BRACKET.test(name)) return SECRET_NAME.test(name);
  const parts = name
    .replace(INDEXES, '')
    .split(BRACKET)
    .filter((part) => part !== '');
  return SECRET_NAME.test(parts.at(-1) ?? '') || SECRET_NAME.test(parts.join('_'));
}

/** Begin and end of the value at `from`, without the quotes or braces around it. */
function valueAt(text: string, from: number, separator: string): readonly [from: number, to: number] {
  const closing = ENCLOSED.get(text.charAt(from));
  const to = closing === undefined ? from : endOfEnclosed(text, from + 1, closing, separator);
  return to > from ? [from + 1, to] : [from, endOfValue(text, from, separator)];
}

/**
 * The end of a value in quotes or braces; 0: what follows is none, but the end of the text that holds the URL. The next
 * sign of its kind decides, or else the time would be quadratic in a text of many that are never closed.
 */
function endOfEnclosed(text: string, from: number, closing: string, separator: string): number {
  const opening = text.charAt(from - 1);
  const end = Math.min(text.length, from + LONGEST_RUN);
  for (let at = from; at < end; at++) {
    const character = text.charAt(at);
    if (character === closing) {
      const next = text.charAt(at + 1);
      // Within a value it is doubled.
      if (next !== closing) return isAfterEnclosed(next) ? at : 0;
      at++;
    } else if (character === opening || !mayBeEnclosed(character, at === from, separator)) return 0;
  }
  return 0;
}

const isAfterEnclosed = (character: string): boolean =>
  character === '' || AFTER_ENCLOSED.includes(character) || WHITE_SPACE.test(character);

function mayBeEnclosed(character: string, isFirst: boolean, separator: string): boolean {
  if (separator === SEMICOLON) return !NOT_ENCLOSED.includes(character) && !(isFirst && WHITE_SPACE.test(character));
  // A plus sign after the quote joins texts in source code.
  if (isFirst && character === '+') return false;
  return (classOf(character.charCodeAt(0)) & LONG_VALUE.classes) !== 0 || LONG_VALUE.also.includes(character);
}

function endOfValue(text: string, from: number, separator: string): number {
  const end = Math.min(text.length, from + LONGEST_RUN);
  for (let at = from; at < end; at++) {
    if ((classOf(text.charCodeAt(at)) & NAME) !== 0) continue;
    const character = text.charAt(at);
    if (character === separator || VALUE_ENDS.includes(character) || WHITE_SPACE.test(character)) return at;
  }
  return end;
}
