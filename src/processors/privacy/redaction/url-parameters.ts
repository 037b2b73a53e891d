/**
 * Secrets in the parameters of URLs and connection strings: `?access_token=…`, `&sig=…`, `;Password=…`. The convention
 * of `url.full` asks for them to be redacted:
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
];
/** `trustStorePassword`, `client_secret`, `X-Amz-Signature`, `accessToken`. Other tokens than these are of pages. */
const SECRET_NAME =
  /(?:passw(?:or)?d|pwd|passphrase|secret|signature|api[_-]?key|secret[_-]?key|(?:access|refresh|id|auth|session|security)[_-]?token)$|^(?:token|sig|awsaccesskeyid)$/i;
const LONGEST_NAME = 64;
const NAME = BASE64_URL | DOT;
const BEFORE_NAME = '?&;#';
const SEMICOLON = ';';
/** These and white space end a value, beside the character before the name of the next parameter. */
const VALUE_ENDS = '"\'<>';
const WHITE_SPACE = /\s/;
/** What may follow in a value longer than a step. */
const LONG_VALUE: Run = { classes: NAME, also: '~+/=%' };

/** Only the value is replaced. */
export const scanUrlParameters: Scan = (text, start, end, found, cut) => {
  for (let equals = text.indexOf('=', start); equals >= 0; ) {
    if (equals >= end) return equals;
    const from = equals + 1;
    const before = beforeName(text, equals);
    const to = before < 0 ? from : endOfValue(text, from, text.charAt(before) === SEMICOLON ? SEMICOLON : '&');
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
  while (at > floor && (classOf(text.charCodeAt(at - 1)) & NAME) !== 0) at--;
  return at > 0 && BEFORE_NAME.includes(text.charAt(at - 1)) && SECRET_NAME.test(text.slice(at, equals)) ? at - 1 : -1;
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
