/** Secrets that are recognised by the text around them: bearer tokens, JWTs, private keys, passwords in URLs. */
import {
  ALPHANUMERIC,
  BASE64_URL,
  classOf,
  DASH,
  DIGIT,
  DOT,
  endOfMixedRun,
  endOfRun,
  LONGEST_RUN,
  type Run,
  type Scan,
  UNDERSCORE,
} from './scan.ts';

const MIN_TOKEN = 8;
/** Words of prose are shorter. */
const LONG_WORD = 20;
/** Case-insensitive, without unbounded repetition. */
const INTRODUCTION =
  /bearer[ \t]{1,4}|authorization["']?[ \t]{0,4}[:=][ \t]{0,4}["']?(?:(?:basic|bearer|token|negotiate|digest|apikey)[ \t]{1,4})?/iy;
const SMALL_A = 0x61;
const SMALL_B = 0x62;
const SMALL_E = 0x65;
const SMALL_T = 0x74;
const SMALL_U = 0x75;
const CASE_BIT = 0x20;
const TOKEN: Run = { classes: BASE64_URL | DOT, also: '~+/=:' };

/** Only the token is replaced; the word before it stays. */
export const scanBearerTokens: Scan = (text, start, end, found, cut) => {
  let at = start;
  while (at < end) {
    const letter = text.charCodeAt(at) | CASE_BIT;
    const introduction = letter === SMALL_A || letter === SMALL_B ? endOfIntroduction(text, at) : -1;
    if (introduction < 0) {
      at++;
      continue;
    }
    // A match inside a token introduces only what follows the token.
    at = introduction;
    if (introduction < (found.at(-1) ?? 0)) continue;
    const to = endOfMixedRun(text, introduction, TOKEN);
    if (to - introduction >= MIN_TOKEN && (letter === SMALL_A || isTokenLike(text, introduction, to)))
      found.push(introduction, to);
    if (to - introduction < LONGEST_RUN) continue;
    cut.push(TOKEN);
    return to;
  }
  return at;
};

function endOfIntroduction(text: string, at: number): number {
  // Two more letters reject nearly everything before the expression runs.
  const second = text.charCodeAt(at + 1) | CASE_BIT;
  const third = text.charCodeAt(at + 2) | CASE_BIT;
  if (second === SMALL_E ? third !== SMALL_A : second !== SMALL_U || third !== SMALL_T) return -1;
  INTRODUCTION.lastIndex = at;
  return INTRODUCTION.test(text) ? INTRODUCTION.lastIndex : -1;
}

/** After `bearer`, a word of prose is no token. */
function isTokenLike(text: string, from: number, to: number): boolean {
  if (to - from >= LONG_WORD) return true;
  for (let at = from; at < to; at++) {
    const code = text.charCodeAt(at);
    if ((classOf(code) & (DIGIT | UNDERSCORE | DOT)) !== 0 || '=~+/'.includes(text.charAt(at))) return true;
  }
  return false;
}

const JWT_BEGIN = 'eyJ';
const MIN_HEADER = 10;
const MIN_PAYLOAD = 4;

const LONG_JWT: Run = { classes: BASE64_URL | DOT, also: '' };

/** Three parts in base64 with dots between them; the first begins a JSON object and is shorter than the longest run. */
export const scanJwts: Scan = (text, start, end, found, cut) => {
  for (let from = text.indexOf(JWT_BEGIN, start); from >= 0; ) {
    if (from >= end) return from;
    const header = endOfRun(text, from, BASE64_URL);
    const payload = text.charAt(header) === '.' ? endOfRun(text, header + 1, BASE64_URL) : header;
    let next = header;
    if (header - from >= MIN_HEADER && payload - header > MIN_PAYLOAD) {
      next = text.charAt(payload) === '.' ? endOfRun(text, payload + 1, BASE64_URL) : payload;
      found.push(from, next);
      if (next - header > LONGEST_RUN) {
        cut.push(LONG_JWT);
        return next;
      }
    }
    from = text.indexOf(JWT_BEGIN, next);
  }
  return text.length;
};

const PEM_BEGIN = '-----BEGIN ';
const PEM_END = '-----END';
const PEM_DASHES = '-----';
const PEM_REST = /(?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----/y;
/** Characters of the last line. */
const PEM_LAST_LINE = 80;

/** From the first line to the last, or to the end of the text when the last line is missing. */
export const scanPrivateKeys: Scan = (text, start, end, found) => {
  for (let from = text.indexOf(PEM_BEGIN, start); from >= 0; ) {
    if (from >= end) return from;
    PEM_REST.lastIndex = from + PEM_BEGIN.length;
    if (!PEM_REST.test(text)) {
      from = text.indexOf(PEM_BEGIN, from + 1);
      continue;
    }
    const last = text.indexOf(PEM_END, from);
    const close = last < 0 ? -1 : text.indexOf(PEM_DASHES, last + PEM_END.length);
    const to = close < 0 || close > last + PEM_LAST_LINE ? text.length : close + PEM_DASHES.length;
    found.push(from, to);
    from = text.indexOf(PEM_BEGIN, to);
  }
  return text.length;
};

const URL_BEGIN = '://';
const MAX_USER = 256;
/** Tokens that are used as passwords are long. */
const MAX_PASSWORD = 4096;
/** These characters and white space end a user or a password. A password may have an `@`, and the last one ends it. */
const PASSWORD_STOPS = '/"\'<>';
const USER_STOPS = `:@${PASSWORD_STOPS}`;

/** Only the password is replaced. */
export const scanUrlPasswords: Scan = (text, start, end, found) => {
  for (let at = text.indexOf(URL_BEGIN, start); at >= 0; ) {
    if (at >= end) return at;
    const from = at + URL_BEGIN.length;
    const user = endOfUrlPart(text, from, MAX_USER, USER_STOPS);
    const to = text.charAt(user) === ':' ? endOfPassword(text, user + 1) : user;
    const isPassword = to > user + 1;
    if (isPassword) found.push(user + 1, to);
    at = text.indexOf(URL_BEGIN, isPassword ? to + 1 : at + 1);
  }
  return text.length;
};

const WHITE_SPACE = /\s/;

/** The last `@` before the host; `from` when there is none. */
function endOfPassword(text: string, from: number): number {
  const end = endOfUrlPart(text, from, MAX_PASSWORD, PASSWORD_STOPS);
  return from + Math.max(text.slice(from, end + 1).lastIndexOf('@'), 0);
}

function endOfUrlPart(text: string, from: number, limit: number, stops: string): number {
  const end = Math.min(text.length, from + limit);
  for (let at = from; at < end; at++) {
    if ((classOf(text.charCodeAt(at)) & (ALPHANUMERIC | DASH)) !== 0) continue;
    const character = text.charAt(at);
    if (stops.includes(character) || WHITE_SPACE.test(character)) return at;
  }
  return end;
}

/** Slashes after the colon, in JSON perhaps with backslashes. */
const MAX_SLASHES = 6;
/** Bytes after which anything may be a password. */
const LONG_PASSWORD = 256;

/** Whether a user and a password may follow the colon of a URL, over bytes, before anything is decoded. */
export function mayBeginLogin(bytes: Uint8Array, from: number, end: number): boolean {
  let at = from + 1;
  while (at < end && at <= from + MAX_SLASHES && (bytes[at] === 0x2f || bytes[at] === 0x5c)) at++;
  const user = endOfLoginPart(bytes, at, Math.min(end, at + MAX_USER), 0x3a);
  if (user >= end || bytes[user] !== 0x3a) return false;
  const to = endOfLoginPart(bytes, user + 1, Math.min(end, user + 1 + LONG_PASSWORD), 0x40);
  return to === user + 1 + LONG_PASSWORD || (to > user + 1 && to < end && bytes[to] === 0x40);
}

/** A byte beyond ASCII may be part of any character, so it does not end the part. */
function endOfLoginPart(bytes: Uint8Array, from: number, end: number, stop: number): number {
  let at = from;
  for (; at < end; at++) {
    const byte = bytes[at] as number;
    if (byte === stop || byte === 0x2f || byte === 0x40 || byte === 0x20 || (byte >= 0x09 && byte <= 0x0d)) break;
  }
  return at;
}
